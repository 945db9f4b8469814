/* Wrong input of every kind: the codes that HIP has for it, and no crash. Arguments: a code
 * object, one for another architecture, a file that is none. */
#include "hip.h"

#include <string.h>

static void devices(void) {
    int value;
    char name[8];
    EXPECT(hipErrorInvalidDevice, hipSetDevice(2));
    EXPECT(hipErrorInvalidDevice, hipSetDevice(-1));
    EXPECT(hipErrorInvalidDevice, hipGetLastError());
    OK(hipGetLastError());
    EXPECT(hipErrorInvalidDevice, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 7));
    EXPECT(hipErrorInvalidValue, hipDeviceGetAttribute(NULL, hipDeviceAttributeWarpSize, 0));
    EXPECT(hipErrorInvalidValue, hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)9999, 0));
    EXPECT(hipErrorInvalidValue, hipGetDeviceCount(NULL));
    OK(hipDeviceGetName(name, sizeof name, 0));
    TRUE(strlen(name) == 7);
    OK(hipDeviceCanAccessPeer(&value, 0, 0));
    TRUE(value == 0);
    EXPECT(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(0, 0));
    EXPECT(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(5, 0));
    EXPECT(hipErrorInvalidValue, hipDeviceEnablePeerAccess(1, 1));
}

static void memory(void) {
    void *a, *b, *host, *none = (void *)1;
    char bytes[64] = {0};
    EXPECT(hipErrorOutOfMemory, hipMalloc(&a, (size_t)1 << 40));
    EXPECT(hipErrorOutOfMemory, hipMalloc(&a, ~(size_t)0));
    EXPECT(hipErrorOutOfMemory, hipHostMalloc(&a, ~(size_t)0, 0));
    EXPECT(hipErrorOutOfMemory, hipPeekAtLastError());
    OK(hipMalloc(&a, 48 << 20));
    EXPECT(hipErrorOutOfMemory, hipMalloc(&b, 48 << 20)); /* 64 MiB in all */
    OK(hipFree(a));
    OK(hipMalloc(&b, 48 << 20));
    OK(hipFree(b));
    EXPECT(hipErrorInvalidDevicePointer, hipFree(b));
    EXPECT(hipErrorInvalidDevicePointer, hipFree(bytes));
    OK(hipFree(NULL));
    OK(hipMalloc(&none, 0));
    TRUE(none == NULL);
    EXPECT(hipErrorInvalidValue, hipMalloc(NULL, 4));

    OK(hipMalloc(&a, 64));
    OK(hipMalloc(&b, 64));
    OK(hipHostMalloc(&host, 64, 0));
    EXPECT(hipErrorInvalidDevicePointer, hipFree((char *)a + 4));
    EXPECT(hipErrorInvalidDevicePointer, hipFree(host));
    EXPECT(hipErrorInvalidValue, hipHostFree(a));
    EXPECT(hipErrorInvalidValue, hipMemcpy(a, bytes, 65, hipMemcpyHostToDevice));
    EXPECT(hipErrorInvalidValue, hipMemcpy((char *)a + 60, bytes, 8, hipMemcpyHostToDevice));
    EXPECT(hipErrorInvalidValue, hipMemcpy(host, a, 65, hipMemcpyDeviceToHost));
    EXPECT(hipErrorInvalidValue, hipMemcpy(bytes, a, 64, hipMemcpyHostToDevice));
    EXPECT(hipErrorInvalidValue, hipMemcpy(a, b, 64, hipMemcpyHostToDevice));
    EXPECT(hipErrorInvalidValue, hipMemcpy(bytes, a, 64, hipMemcpyDeviceToDevice));
    EXPECT(hipErrorInvalidMemcpyDirection, hipMemcpy(a, bytes, 64, (hipMemcpyKind)99));
    EXPECT(hipErrorInvalidValue, hipMemcpy(NULL, bytes, 64, hipMemcpyHostToDevice));
    OK(hipMemcpy(NULL, NULL, 0, hipMemcpyHostToDevice));
    EXPECT(hipErrorInvalidValue, hipMemcpyPeer(a, 1, b, 0, 64));
    EXPECT(hipErrorInvalidDevice, hipMemcpyPeer(a, 0, b, 9, 64));
    EXPECT(hipErrorInvalidValue, hipMemset(a, 0, 65));
    EXPECT(hipErrorInvalidValue, hipMemset(bytes, 0, 64));
    EXPECT(hipErrorInvalidValue, hipMemsetD32((hipDeviceptr_t)((char *)a + 2), 0, 4));
    OK(hipMemcpy(a, bytes, 64, hipMemcpyHostToDevice));
    OK(hipMemcpyDtoD((hipDeviceptr_t)b, (hipDeviceptr_t)a, 64));
    OK(hipFree(a));
    EXPECT(hipErrorInvalidValue, hipMemcpy(bytes, a, 64, hipMemcpyDeviceToHost));
    OK(hipFree(b));
    OK(hipHostFree(host));
    EXPECT(hipErrorInvalidValue, hipHostFree(host));
}

static void handles(void) {
    hipStream_t stream, other;
    hipEvent_t event, fresh, foreign;
    hipFunction_t function;
    float milliseconds;
    hipStream_t junk = (hipStream_t)0x1234;
    OK(hipStreamCreate(&stream));
    OK(hipStreamDestroy(stream));
    EXPECT(hipErrorInvalidHandle, hipStreamDestroy(stream));
    EXPECT(hipErrorInvalidHandle, hipStreamSynchronize(stream));
    EXPECT(hipErrorInvalidHandle, hipStreamQuery(junk));
    EXPECT(hipErrorInvalidHandle, hipStreamDestroy(NULL));
    EXPECT(hipErrorInvalidValue, hipStreamCreateWithFlags(&stream, 77));
    EXPECT(hipErrorInvalidValue, hipStreamCreate(NULL));

    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    OK(hipEventCreate(&fresh));
    OK(hipEventRecord(event, stream));
    EXPECT(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, event, fresh));
    EXPECT(hipErrorInvalidValue, hipEventElapsedTime(NULL, event, event));
    OK(hipEventElapsedTime(&milliseconds, event, event));
    EXPECT(hipErrorInvalidHandle, hipEventRecord((hipEvent_t)stream, stream));
    EXPECT(hipErrorInvalidHandle, hipEventRecord(event, (hipStream_t)event));
    EXPECT(hipErrorInvalidValue, hipEventCreateWithFlags(&event, 0x100));
    OK(hipSetDevice(1));
    OK(hipEventCreate(&foreign));
    OK(hipStreamCreate(&other));
    OK(hipSetDevice(0));
    EXPECT(hipErrorInvalidHandle, hipEventRecord(foreign, stream));
    OK(hipStreamWaitEvent(other, event, 0));
    OK(hipEventDestroy(event));
    EXPECT(hipErrorInvalidHandle, hipEventDestroy(event));
    EXPECT(hipErrorInvalidHandle, hipEventSynchronize(event));
    EXPECT(hipErrorInvalidHandle, hipStreamWaitEvent(stream, event, 0));

    EXPECT(hipErrorInvalidHandle, hipModuleGetFunction(&function, (hipModule_t)stream, "f"));
    EXPECT(hipErrorInvalidHandle, hipModuleUnload((hipModule_t)0x10));
    EXPECT(hipErrorInvalidHandle,
           hipModuleLaunchKernel((hipFunction_t)stream, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(hipErrorInvalidValue, hipGraphLaunch((hipGraphExec_t)stream, stream));
    EXPECT(hipErrorInvalidValue, hipGraphDestroy((hipGraph_t)stream));
    EXPECT(hipErrorInvalidValue, hipGraphExecDestroy((hipGraphExec_t)0));
    OK(hipStreamDestroy(stream));
    OK(hipStreamDestroy(other));
}

static void launches(char **arguments) {
    hipModule_t module;
    hipFunction_t multiply, neighbours;
    hipDeviceptr_t address;
    size_t size;
    void *a;
    int value;
    unsigned count = 1;
    static char nothing[4096];
    EXPECT(hipErrorFileNotFound, hipModuleLoad(&module, "no/such/file"));
    EXPECT(hipErrorInvalidValue, hipModuleLoad(&module, NULL));
    EXPECT(hipErrorInvalidValue, hipModuleLoadData(&module, NULL));
    EXPECT(hipErrorInvalidImage, hipModuleLoadData(&module, nothing));
    EXPECT(hipErrorNoBinaryForGpu, hipModuleLoad(&module, arguments[2]));
    EXPECT(hipErrorInvalidImage, hipModuleLoad(&module, arguments[3]));
    /* Headers that tell of what is not there. */
    memcpy(nothing, "\177ELF\2\1", 6);
    EXPECT(hipErrorInvalidImage, hipModuleLoadData(&module, nothing));
    memset(nothing + 16, 0x7f, 48);
    EXPECT(hipErrorInvalidImage, hipModuleLoadData(&module, nothing));
    EXPECT(hipErrorInvalidImage, hipModuleLoadData(&module, (void *)16));
    OK(hipModuleLoad(&module, arguments[1]));
    EXPECT(hipErrorNotFound, hipModuleGetFunction(&multiply, module, "divide"));
    EXPECT(hipErrorInvalidValue, hipModuleGetFunction(&multiply, module, NULL));
    EXPECT(hipErrorNotFound, hipModuleGetGlobal(&address, &size, module, "none"));
    OK(hipModuleGetFunction(&multiply, module, "multiply"));
    OK(hipModuleGetFunction(&neighbours, module, "neighbours"));
    EXPECT(hipErrorInvalidValue, hipFuncGetAttribute(&value, (hipFunction_attribute)55, multiply));
    EXPECT(hipErrorInvalidValue, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, multiply, 2000, 0));
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, multiply, 256, 1 << 20));
    TRUE(value == 0);

    OK(hipMalloc(&a, 4096));
    OK(hipMemset(a, 0, 4096));
    void *each[] = {&a, &a, &a, &count};
#define LAUNCH(function, gx, gy, bx, by, lds, each, extra) \
    hipModuleLaunchKernel(function, gx, gy, 1, bx, by, 1, lds, NULL, each, extra)
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, 1, 1, 2048, 1, 0, each, NULL));
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, 1, 1, 1024, 1, 0, each, NULL)); /* made for 256 */
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, 1, 1, 65536, 65536, 0, each, NULL));
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, 0, 1, 256, 1, 0, each, NULL));
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, 1, 1, 256, 0, 0, each, NULL));
    EXPECT(hipErrorInvalidConfiguration, LAUNCH(multiply, ~0u, ~0u, 256, 1, 0, each, NULL));
    EXPECT(hipErrorInvalidValue, LAUNCH(neighbours, 1, 1, 256, 1, 200 << 10, each, NULL));
    EXPECT(hipErrorInvalidValue, LAUNCH(multiply, 1, 1, 256, 1, 0, NULL, NULL));
    void *missing[] = {&a, NULL, &a, &count};
    EXPECT(hipErrorInvalidValue, LAUNCH(multiply, 1, 1, 256, 1, 0, missing, NULL));
    size_t given = 8;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &a, HIP_LAUNCH_PARAM_BUFFER_SIZE, &given,
                     HIP_LAUNCH_PARAM_END};
    EXPECT(hipErrorInvalidValue, LAUNCH(multiply, 1, 1, 256, 1, 0, NULL, extra));
    EXPECT(hipErrorInvalidValue, LAUNCH(multiply, 1, 1, 256, 1, 0, each, extra));
    void *without[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &a, HIP_LAUNCH_PARAM_END};
    EXPECT(hipErrorInvalidValue, LAUNCH(multiply, 1, 1, 256, 1, 0, NULL, without));
    /* A module belongs to the device it was loaded for. */
    OK(hipSetDevice(1));
    EXPECT(hipErrorInvalidHandle, LAUNCH(multiply, 1, 1, 256, 1, 0, each, NULL));
    OK(hipSetDevice(0));
    OK(LAUNCH(multiply, 1, 1, 256, 1, 0, each, NULL));
    OK(hipModuleUnload(module));
    EXPECT(hipErrorInvalidHandle, LAUNCH(multiply, 1, 1, 256, 1, 0, each, NULL));
    EXPECT(hipErrorInvalidHandle, hipModuleUnload(module));
    OK(hipFree(a));
    OK(hipDeviceSynchronize());
}

static void captures(void) {
    hipStream_t stream, second, blocking;
    hipEvent_t event;
    hipGraph_t graph;
    hipStreamCaptureStatus status;
    void *a, *b;
    OK(hipMalloc(&a, 64));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    OK(hipStreamCreate(&blocking));
    OK(hipEventCreate(&event));
    EXPECT(hipErrorStreamCaptureUnsupported, hipStreamBeginCapture(NULL, hipStreamCaptureModeGlobal));
    EXPECT(hipErrorInvalidValue, hipStreamBeginCapture(stream, (hipStreamCaptureMode)9));
    EXPECT(hipErrorIllegalState, hipStreamEndCapture(stream, &graph));

    /* Waiting is nothing to capture. */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipErrorStreamCaptureUnsupported, hipStreamSynchronize(stream));
    OK(hipStreamIsCapturing(stream, &status));
    TRUE(status == hipStreamCaptureStatusInvalidated);
    EXPECT(hipErrorStreamCaptureInvalidated, hipMemsetAsync(a, 0, 64, stream));
    EXPECT(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
    OK(hipStreamSynchronize(stream));

    /* Neither are calls that all streams wait for. */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    EXPECT(hipErrorStreamCaptureUnsupported, hipMalloc(&b, 64));
    EXPECT(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
    OK(hipMalloc(&b, 64));
    EXPECT(hipErrorNotSupported, hipFreeAsync(b, stream));
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphDestroy(graph));
    OK(hipFree(b));

    /* The default stream waits for blocking ones. */
    OK(hipStreamBeginCapture(blocking, hipStreamCaptureModeRelaxed));
    EXPECT(hipErrorStreamCaptureImplicit, hipMemsetAsync(a, 0, 64, NULL));
    EXPECT(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(blocking, &graph));

    /* A second stream that is not joined, and one that did not begin. */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipEventRecord(event, stream));
    OK(hipStreamWaitEvent(second, event, 0));
    EXPECT(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(second, &graph));
    OK(hipMemsetAsync(a, 0, 64, second));
    EXPECT(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream, &graph));
    OK(hipMemsetAsync(a, 0, 64, second));
    OK(hipStreamSynchronize(second));

    /* A stream that ends takes its capture along. */
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    OK(hipStreamDestroy(stream));
    OK(hipMalloc(&b, 64));
    OK(hipFree(b));
    OK(hipFree(a));
}

int main(int count, char **arguments) {
    TRUE(count == 4);
    devices();
    memory();
    handles();
    launches(arguments);
    captures();
    printf("every code is right\n");
    return 0;
}

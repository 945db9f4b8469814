/* A kernel does something wrong: the next call that waits says so, and every one after it
 * until the device is reset. Arguments: a code object, the kernel, the code, `graph` to
 * launch it by a graph. */
#include "hip.h"

#include <string.h>

int main(int count, char **arguments) {
    hipModule_t module;
    hipFunction_t kernel;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t executable;
    void *a, *b, *other;
    unsigned some = 64, value = 7;
    TRUE(count >= 4);
    int code = atoi(arguments[3]), by_graph = count == 5;
    OK(hipSetDevice(1));
    OK(hipMalloc(&other, 256));
    OK(hipSetDevice(0));
    OK(hipModuleLoad(&module, arguments[1]));
    OK(hipModuleGetFunction(&kernel, module, arguments[2]));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMalloc(&a, 256));
    OK(hipMalloc(&b, 256));
    void *beyond[] = {&a, &some};
    void *unwritten[] = {&a, &b};
    int endless = strcmp(arguments[2], "endless") == 0;
    if (endless) OK(hipMemset(a, 0, 256));
    if (by_graph) OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    void **each = strcmp(arguments[2], "beyond") == 0 ? beyond : unwritten;
    OK(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, each, NULL));
    if (by_graph) {
        OK(hipStreamEndCapture(stream, &graph));
        OK(hipGraphInstantiate(&executable, graph, NULL, NULL, 0));
        OK(hipGraphLaunch(executable, stream));
    }
    /* What is given without waiting is taken. */
    OK(hipMemcpyAsync(b, &value, sizeof value, hipMemcpyHostToDevice, stream));
    OK(hipPeekAtLastError());
    EXPECT(code, hipStreamSynchronize(stream));
    EXPECT(code, hipDeviceSynchronize());
    EXPECT(code, hipMemcpy(&value, b, sizeof value, hipMemcpyDeviceToHost));
    EXPECT(code, hipMalloc(&b, 16));
    EXPECT(code, hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, each, NULL));
    EXPECT(code, hipGetLastError());
    EXPECT(code, hipGetLastError());
    /* Another device is as before. */
    OK(hipSetDevice(1));
    OK(hipMemset(other, 0, 256));
    OK(hipDeviceSynchronize());
    OK(hipFree(other));
    OK(hipSetDevice(0));
    OK(hipDeviceReset());
    OK(hipDeviceSynchronize());
    EXPECT(hipErrorInvalidDevicePointer, hipFree(a));
    EXPECT(hipErrorInvalidHandle, hipStreamSynchronize(stream));
    OK(hipMalloc(&a, 256));
    OK(hipMemset(a, 0, 256));
    OK(hipDeviceSynchronize());
    printf("the fault was told\n");
    return 0;
}

/* Every device computes with every part of the interface that Cairn uses, and passes what
 * it has computed to the next. Arguments: a code object, the number of devices. */
#include "hip.h"

#define COUNT 1000
#define BYTES (COUNT * sizeof(float))

typedef struct {
    void *a, *b, *out;
    hipStream_t stream;
    hipModule_t module;
    hipFunction_t multiply, neighbours;
} Device;

static float host[COUNT], other[COUNT];

static void begin(Device *device, int number, const char *object) {
    int found = -1, value = 0;
    char name[256];
    OK(hipSetDevice(number));
    OK(hipGetDevice(&found));
    TRUE(found == number);
    OK(hipDeviceGetName(name, sizeof name, number));
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, number));
    TRUE(value == 64);
    OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxThreadsPerBlock, number));
    TRUE(value == 1024);

    size_t before, after, total;
    OK(hipMemGetInfo(&before, &total));
    OK(hipMalloc(&device->a, BYTES));
    OK(hipMalloc(&device->b, BYTES));
    OK(hipMalloc(&device->out, BYTES));
    OK(hipMemGetInfo(&after, &total));
    TRUE(before - after == 3 * BYTES && before <= total);

    OK(hipStreamCreateWithFlags(&device->stream, hipStreamNonBlocking));
    OK(hipModuleLoad(&device->module, object));
    OK(hipModuleGetFunction(&device->multiply, device->module, "multiply"));
    OK(hipModuleGetFunction(&device->neighbours, device->module, "neighbours"));
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device->multiply));
    TRUE(value == 256);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, device->multiply, 256, 0));
    TRUE(value == 8);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, device->multiply, 256, 32 << 10));
    TRUE(value >= 2 && value < 8);
}

/* Both ways to pass arguments, and a variable of the module. */
static void launch(Device *device, int number) {
    for (int i = 0; i < COUNT; i++) host[i] = (float)(i + number);
    OK(hipMemcpyAsync(device->a, host, BYTES, hipMemcpyHostToDevice, device->stream));
    OK(hipMemsetD32((hipDeviceptr_t)device->b, 0x40000000, COUNT)); /* 2.0f */
    unsigned count = COUNT;
    void *each[] = {&device->a, &device->b, &device->out, &count};
    OK(hipModuleLaunchKernel(device->multiply, 4, 1, 1, 256, 1, 1, 0, device->stream, each, NULL));
    OK(hipMemcpyAsync(other, device->out, BYTES, hipMemcpyDeviceToHost, device->stream));
    OK(hipStreamSynchronize(device->stream));
    for (int i = 0; i < COUNT; i++) TRUE(other[i] == 2.0f * (float)(i + number) + 3.0f);

    hipDeviceptr_t scale;
    size_t size;
    unsigned value = 5;
    OK(hipModuleGetGlobal(&scale, &size, device->module, "scale"));
    TRUE(size == sizeof value);
    OK(hipMemcpyHtoD(scale, &value, size));
    struct {
        void *a, *b, *out;
        unsigned count;
    } all = {device->a, device->b, device->out, COUNT};
    size_t all_size = sizeof all;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &all, HIP_LAUNCH_PARAM_BUFFER_SIZE, &all_size,
                     HIP_LAUNCH_PARAM_END};
    OK(hipModuleLaunchKernel(device->multiply, 4, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
    OK(hipDeviceSynchronize());
    OK(hipMemcpyDtoH(other, (hipDeviceptr_t)device->out, BYTES));
    for (int i = 0; i < COUNT; i++) TRUE(other[i] == 2.0f * (float)(i + number) + 5.0f);
}

/* LDS that the launch sizes, pinned memory that the kernel reads, events around it. */
static void pinned(Device *device) {
    float *in, milliseconds = -1.0f;
    hipEvent_t start, stop, untimed;
    OK(hipHostMalloc((void **)&in, 768 * sizeof(float), 0));
    TRUE((size_t)in % 4096 == 0);
    for (int i = 0; i < 768; i++) in[i] = (float)i;
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    OK(hipEventRecord(start, device->stream));
    void *arguments[] = {&in, &device->out};
    OK(hipModuleLaunchKernel(device->neighbours, 3, 1, 1, 256, 1, 1, 256 * sizeof(float), device->stream, arguments,
                             NULL));
    OK(hipEventRecord(stop, device->stream));
    OK(hipEventRecord(untimed, device->stream));
    OK(hipStreamWaitEvent(NULL, untimed, 0));
    OK(hipEventSynchronize(stop));
    OK(hipEventQuery(untimed));
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    TRUE(milliseconds > 0.0f);
    /* A copy takes as long as the link of the model, 64 GB/s, needs. */
    OK(hipEventRecord(start, device->stream));
    OK(hipMemcpyAsync(device->a, host, BYTES, hipMemcpyHostToDevice, device->stream));
    OK(hipEventRecord(stop, device->stream));
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    TRUE(milliseconds > BYTES / 64e6 * 0.999 && milliseconds < BYTES / 64e6 * 1.001);
    OK(hipMemcpy(other, device->out, 768 * sizeof(float), hipMemcpyDefault));
    for (int i = 0; i < 768; i++) {
        int next = i / 256 * 256 + (i + 1) % 256;
        TRUE(other[i] == (float)(i + next + i % 4 + 1));
    }
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    OK(hipEventDestroy(untimed));
    OK(hipHostFree(in));
}

/* Two streams, captured as one graph, launched twice on other data. */
static void graph(Device *device) {
    hipStream_t second;
    hipEvent_t fork, join;
    hipGraph_t graph;
    hipGraphExec_t executable;
    hipStreamCaptureStatus status;
    size_t nodes = 0;
    unsigned count = COUNT;
    OK(hipStreamCreateWithPriority(&second, hipStreamNonBlocking, -1));
    OK(hipEventCreate(&fork));
    OK(hipEventCreate(&join));
    OK(hipStreamBeginCapture(device->stream, hipStreamCaptureModeGlobal));
    OK(hipMemcpyAsync(device->a, host, BYTES, hipMemcpyHostToDevice, device->stream));
    OK(hipEventRecord(fork, device->stream));
    OK(hipStreamWaitEvent(second, fork, 0));
    OK(hipStreamIsCapturing(second, &status));
    TRUE(status == hipStreamCaptureStatusActive);
    OK(hipMemsetAsync(device->b, 0, BYTES, second));
    OK(hipEventRecord(join, second));
    OK(hipStreamWaitEvent(device->stream, join, 0));
    void *each[] = {&device->a, &device->b, &device->out, &count};
    OK(hipModuleLaunchKernel(device->multiply, 4, 1, 1, 256, 1, 1, 0, device->stream, each, NULL));
    void *square[] = {&device->a, &device->a, &device->b, &count};
    OK(hipModuleLaunchKernel(device->multiply, 4, 1, 1, 256, 1, 1, 0, device->stream, square, NULL));
    OK(hipStreamEndCapture(device->stream, &graph));
    OK(hipStreamIsCapturing(second, &status));
    TRUE(status == hipStreamCaptureStatusNone);
    OK(hipGraphGetNodes(graph, NULL, &nodes));
    TRUE(nodes == 4);
    OK(hipGraphInstantiate(&executable, graph, NULL, NULL, 0));
    OK(hipGraphDestroy(graph));

    /* Nothing was done while it was captured. */
    OK(hipMemset(device->b, 0xff, BYTES));
    for (int round = 1; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) host[i] = (float)(i * round);
        OK(hipGraphLaunch(executable, device->stream));
        OK(hipStreamSynchronize(device->stream));
        OK(hipMemcpy(other, device->out, BYTES, hipMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++) TRUE(other[i] == 5.0f);
        OK(hipMemcpy(other, device->b, BYTES, hipMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++) TRUE(other[i] == host[i] * host[i] + 5.0f);
    }
    OK(hipGraphExecDestroy(executable));
    OK(hipEventDestroy(fork));
    OK(hipEventDestroy(join));
    OK(hipStreamDestroy(second));
}

/* A kernel of this device on the memory of another, and copies between the two. */
static void peers(Device *all, int number, int next) {
    int can = 0;
    Device *own = &all[number], *peer = &all[next];
    unsigned count = COUNT;
    OK(hipSetDevice(number));
    OK(hipDeviceCanAccessPeer(&can, number, next));
    TRUE(can == 1);
    OK(hipDeviceEnablePeerAccess(next, 0));
    EXPECT(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(next, 0));
    OK(hipMemcpy(own->a, host, BYTES, hipMemcpyHostToDevice));
    OK(hipMemcpyPeerAsync(peer->a, next, own->a, number, BYTES, own->stream));
    OK(hipMemset(own->b, 0, BYTES));
    void *each[] = {&peer->a, &peer->a, &peer->b, &count};
    OK(hipModuleLaunchKernel(own->multiply, 4, 1, 1, 256, 1, 1, 0, own->stream, each, NULL));
    OK(hipMemcpyPeer(own->b, number, peer->b, next, BYTES));
    OK(hipMemcpy(other, own->b, BYTES, hipMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) TRUE(other[i] == host[i] * host[i] + 5.0f);
    OK(hipDeviceDisablePeerAccess(next));
    EXPECT(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(next));
}

int main(int count, char **arguments) {
    static Device all[64];
    int devices = 0, version = 0, expected = atoi(arguments[2]);
    TRUE(count == 3);
    OK(hipInit(0));
    OK(hipRuntimeGetVersion(&version));
    TRUE(version >= 60000000);
    OK(hipDriverGetVersion(&version));
    OK(hipGetDeviceCount(&devices));
    TRUE(devices == expected);
    for (int number = 0; number < devices; number++) {
        begin(&all[number], number, arguments[1]);
        launch(&all[number], number);
        pinned(&all[number]);
        graph(&all[number]);
    }
    for (int number = 0; number + 1 < devices; number++) peers(all, number, number + 1);
    for (int number = 0; number < devices; number++) {
        size_t left, total;
        OK(hipSetDevice(number));
        OK(hipFree(all[number].a));
        OK(hipFree(all[number].b));
        OK(hipFree(all[number].out));
        OK(hipStreamDestroy(all[number].stream));
        OK(hipModuleUnload(all[number].module));
        OK(hipMemGetInfo(&left, &total));
        TRUE(left == total);
    }
    EXPECT(devices > 1 ? hipErrorPeerAccessNotEnabled : hipSuccess, hipGetLastError());
    OK(hipGetLastError());
    printf("%d devices are right\n", devices);
    return 0;
}

// Host and device code in one source, as compilers for HIP build it: kernels and variables
// are registered before `main`, and launched with <<<>>>. Nothing of ROCm is needed.
#include <stdio.h>

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
typedef int hipError_t;
typedef struct ihipStream_t *hipStream_t;

extern "C" {
hipError_t __hipPushCallConfiguration(dim3, dim3, size_t, hipStream_t);
hipError_t __hipPopCallConfiguration(dim3 *, dim3 *, size_t *, hipStream_t *);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, size_t, hipStream_t);
hipError_t hipGetDeviceCount(int *);
hipError_t hipSetDevice(int);
hipError_t hipMalloc(void **, size_t);
hipError_t hipFree(void *);
hipError_t hipMemcpy(void *, const void *, size_t, int);
hipError_t hipMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
hipError_t hipGetLastError();
}

__device__ int offset = 1;

__global__ void fill(int *out, int count, int factor) {
    int at = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
    if (at < count) out[at] = at * factor + offset;
}

#define OK(call)                                              \
    do {                                                      \
        int got = (call);                                     \
        if (got != 0) {                                       \
            fprintf(stderr, "%d: %s is %d\n", __LINE__, #call, got); \
            return 1;                                         \
        }                                                     \
    } while (0)

int main() {
    const int count = 1000;
    static int host[count];
    int devices = 0, blocks = 0;
    OK(hipGetDeviceCount(&devices));
    for (int device = 0; device < devices; device++) {
        int *out;
        OK(hipSetDevice(device));
        OK(hipMalloc((void **)&out, sizeof host));
        fill<<<dim3(16), dim3(64), 0, nullptr>>>(out, count, 3);
        OK(hipGetLastError());
        OK(hipMemcpy(host, out, sizeof host, 2));
        for (int i = 0; i < count; i++) OK(host[i] != 3 * i + 1);
        int five = 5 + device;
        OK(hipMemcpyToSymbol(&offset, &five, sizeof five, 0, 1));
        fill<<<dim3(16), dim3(64), 0, nullptr>>>(out, count, -1);
        OK(hipMemcpy(host, out, sizeof host, 2));
        for (int i = 0; i < count; i++) OK(host[i] != five - i);
        OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)fill, 64, 0));
        OK(blocks < 1);
        OK(hipFree(out));
        // More lanes than a workgroup may have.
        fill<<<dim3(1), dim3(2048), 0, nullptr>>>(out, count, 1);
        OK(hipGetLastError() != 9);
    }
    printf("%d devices are right\n", devices);
    return 0;
}

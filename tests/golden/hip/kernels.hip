// Kernels as they are written for HIP: its own header, and its device library.
#include <hip/hip_runtime.h>

// y += a * x
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x;
    for (; at < n; at += stride) y[at] = a * x[at] + y[at];
}

// One sum a block, of whatever size it is: shuffles in a wave, shared memory between waves.
extern "C" __global__ void sums(const float *x, float *out, int n) {
    __shared__ float waves[16];
    float sum = 0.0f;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) sum += x[at];
    for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % warpSize == 0) waves[threadIdx.x / warpSize] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0.0f;
        for (unsigned wave = 0; wave < blockDim.x / warpSize; wave++) all += waves[wave];
        out[blockIdx.x] = all;
    }
}

// Functions of the device library, an atomic and a ballot, over a grid of two dimensions.
extern "C" __global__ void functions(const float *x, float *out, int *count, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    bool inside = column < width && row < height;
    float value = inside ? x[row * width + column] : -1.0f;
    unsigned long long positive = __ballot(value > 0.0f);
    if (__lane_id() == 0) atomicAdd(count, __popcll(positive));
    if (inside) out[row * width + column] = sinf(value) + expf(value) * sqrtf(fabsf(value)) + tanhf(value) / (1.0f + value * value);
}

/* Two threads a device multiply matrices with a kernel of the library, each in its own
 * stream; the last one adds up. Arguments: the code object, the number of devices. */
#include "hip.h"

#include <pthread.h>
#include <stdint.h>

#define MOST 16

typedef struct {
    const char *object;
    int number, wrong;
    pthread_t thread;
} Task;

static int small(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return (int)(*state >> 30) - 1; /* -1 to 2 */
}

/* bf16 has eight bits of mantissa, so that all values and sums here are exact. */
static uint16_t bf16(int value) {
    union {
        float value;
        uint32_t bits;
    } both = {(float)value};
    return (uint16_t)(both.bits >> 16);
}

static void *multiply(void *argument) {
    Task *task = argument;
    unsigned m = 33 + (unsigned)task->number, n = 70, k = 40, state = (unsigned)task->number;
    int device = task->number / 2;
    uint16_t *a = malloc(2 * m * k), *b = malloc(2 * k * n), *c = malloc(2 * m * n);
    int *x = malloc(m * k * sizeof(int)), *y = malloc(k * n * sizeof(int));
    void *a_at, *b_at, *c_at;
    hipStream_t stream;
    hipModule_t module;
    hipFunction_t kernel;
    for (unsigned i = 0; i < m * k; i++) a[i] = bf16(x[i] = small(&state));
    for (unsigned i = 0; i < k * n; i++) b[i] = bf16(y[i] = small(&state));
    OK(hipSetDevice(device));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipModuleLoad(&module, task->object));
    OK(hipModuleGetFunction(&kernel, module, "gemm_bf16_nn"));
    OK(hipMallocAsync(&a_at, 2 * m * k, stream));
    OK(hipMallocAsync(&b_at, 2 * k * n, stream));
    OK(hipMallocAsync(&c_at, 2 * m * n, stream));
    OK(hipMemcpyAsync(a_at, a, 2 * m * k, hipMemcpyHostToDevice, stream));
    OK(hipMemcpyAsync(b_at, b, 2 * k * n, hipMemcpyHostToDevice, stream));
    void *each[] = {&a_at, &b_at, &c_at, &m, &n, &k, &k, &n, &n};
    OK(hipModuleLaunchKernel(kernel, 1, 1, 1, 512, 1, 1, 0, stream, each, NULL));
    OK(hipMemcpyAsync(c, c_at, 2 * m * n, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    for (unsigned row = 0; row < m; row++) {
        for (unsigned column = 0; column < n; column++) {
            int sum = 0;
            for (unsigned i = 0; i < k; i++) sum += x[row * k + i] * y[i * n + column];
            task->wrong += c[row * n + column] != bf16(sum);
        }
    }
    OK(hipFreeAsync(a_at, stream));
    OK(hipFreeAsync(b_at, stream));
    OK(hipFreeAsync(c_at, stream));
    OK(hipModuleUnload(module));
    OK(hipStreamDestroy(stream));
    free(a), free(b), free(c), free(x), free(y);
    return NULL;
}

int main(int count, char **arguments) {
    static Task tasks[MOST];
    int devices, wrong = 0;
    TRUE(count == 3);
    OK(hipGetDeviceCount(&devices));
    TRUE(devices == atoi(arguments[2]) && 2 * devices <= MOST);
    for (int number = 0; number < 2 * devices; number++) {
        tasks[number].object = arguments[1];
        tasks[number].number = number;
        TRUE(pthread_create(&tasks[number].thread, NULL, multiply, &tasks[number]) == 0);
    }
    for (int number = 0; number < 2 * devices; number++) {
        TRUE(pthread_join(tasks[number].thread, NULL) == 0);
        wrong += tasks[number].wrong;
    }
    printf("%d threads, %d wrong values\n", 2 * devices, wrong);
    return 0;
}

/* Without a device every call says so, and none crashes. */
#include "hip.h"

int main(void) {
    int count = 7;
    void *memory;
    hipStream_t stream;
    EXPECT(hipErrorNoDevice, hipInit(0));
    EXPECT(hipErrorNoDevice, hipGetDeviceCount(&count));
    TRUE(count == 0);
    EXPECT(hipErrorNoDevice, hipGetDevice(&count));
    EXPECT(hipErrorNoDevice, hipSetDevice(0));
    EXPECT(hipErrorNoDevice, hipMalloc(&memory, 4));
    EXPECT(hipErrorNoDevice, hipFree(NULL));
    EXPECT(hipErrorNoDevice, hipStreamCreate(&stream));
    EXPECT(hipErrorNoDevice, hipDeviceSynchronize());
    EXPECT(hipErrorNoDevice, hipGetLastError());
    OK(hipGetLastError());
    OK(hipRuntimeGetVersion(&count));
    fprintf(stderr, "no device\n");
    return 0;
}

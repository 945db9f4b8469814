// c = a + b.
#include "device.h"

KERNEL(256) add(const f32* a, const f32* b, f32* c, u32 n) {
    u32 at = workgroup() * 256 + lane_of_workgroup();
    if (at < n) {
        c[at] = a[at] + b[at];
    }
}

// What the programs here launch.
#include "device.h"

__attribute__((device)) u32 scale = 3;
__attribute__((device)) f32 table[4] = {1.0f, 2.0f, 3.0f, 4.0f};

// out = a * b + scale
KERNEL(256) multiply(const f32* a, const f32* b, f32* out, u32 count) {
    u32 at = workgroup() * 256 + lane_of_workgroup();
    if (at < count) out[at] = a[at] * b[at] + (f32)scale;
}

// Each value and its neighbour in the workgroup, over LDS that the launch sizes.
extern __attribute__((shared)) f32 tile[];
KERNEL(256) neighbours(const f32* in, f32* out) {
    u32 lane = lane_of_workgroup();
    u32 at = workgroup() * 256 + lane;
    tile[lane] = in[at];
    barrier();
    out[at] = tile[lane] + tile[(lane + 1) % 256] + table[lane % 4];
}

// Writes one value too many.
KERNEL(64) beyond(f32* out, u32 count) {
    u32 at = lane_of_workgroup();
    if (at < count) out[at + 1] = 1.0f;
}

// Uses a value that nobody has written.
KERNEL(64) unwritten(const f32* in, f32* out) {
    u32 at = lane_of_workgroup();
    if (in[at] > 0.0f) out[at] = 1.0f;
}

// Never ends.
KERNEL(64) endless(volatile u32* flag) {
    while (*flag == 0) {
    }
}

// What all attention kernels share: the sizes of a problem and who sees whom.
#pragma once
#include "device.h"

typedef long i64;

// Part of the arguments.
struct Sizes {
    u32 batch, queries, keys, query_heads, key_heads, size, value_size, causal;
    i32 start;
    f32 scale;
};

// Keys that a query sees.
DEVICE u32 visible(const Sizes& sizes, const i32* start_at, u32 query) {
    if (sizes.causal == 0) {
        return sizes.keys;
    }
    i32 start = start_at ? start_at[0] : sizes.start;
    i32 count = start + (i32)query + 1;
    return count < 0 ? 0 : smaller((u32)count, sizes.keys);
}

// Where the elements of arrays lie that have the same dims and strides of
// their own.
#pragma once
#include "device.h"

// Dims from the outermost on; what is not needed has size 1. Strides are in
// elements. Part of the arguments.
template <u32 ARRAYS>
struct Geometry {
    static constexpr u32 DIMS = 6;

    u32 count;
    u32 dims[DIMS];
    u32 unused;
    u64 strides[ARRAYS][DIMS];

    // Offset of the element `index` of each array.
    MEMBER void at(u32 index, u64 (&offsets)[ARRAYS]) const {
        for (u32 array = 0; array < ARRAYS; ++array) {
            offsets[array] = 0;
        }
#pragma unroll
        for (u32 back = 1; back <= DIMS; ++back) {
            u32 dim = DIMS - back;
            u32 inside = index % dims[dim];
            index /= dims[dim];
            for (u32 array = 0; array < ARRAYS; ++array) {
                offsets[array] += inside * strides[array][dim];
            }
        }
    }
};

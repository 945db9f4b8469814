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
    // 1, or elements that make 16 bytes: so many lie behind each other in every array, or are one
    // element in it, wherever a multiple of it begins.
    u32 at_once;
    u64 strides[ARRAYS][DIMS];

    // Offset of the element `index` of each array.
    MEMBER void at(u32 index, u64 (&offsets)[ARRAYS]) const {
        for (u32 array = 0; array < ARRAYS; ++array) {
            offsets[array] = 0;
        }
#pragma unroll
        for (u32 back = 1; back <= DIMS; ++back) {
            u32 dim = DIMS - back;
            // Only dims that are not needed have size 1, and they are in front.
            if (dims[dim] == 1) {
                return;
            }
            u32 inside = index % dims[dim];
            index /= dims[dim];
            for (u32 array = 0; array < ARRAYS; ++array) {
                offsets[array] += inside * strides[array][dim];
            }
        }
    }
};

// Whether 16 bytes can be moved at once from here on.
template <typename T>
DEVICE bool is_aligned(const T* at) {
    return (u64)at % 16 == 0;
}

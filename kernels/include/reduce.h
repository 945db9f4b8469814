// Sums and maxima over a wave and over a workgroup. The order of additions is
// fixed by the lanes, so results have the same bits in every run.
#pragma once
#include "device.h"

struct Sum {
    static MEMBER f32 of(f32 a, f32 b) { return a + b; }
};

struct Max {
    static MEMBER f32 of(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
};

// The value of another lane of the same row of 16 lanes.
template <u32 CONTROL>
DEVICE f32 from_lane(f32 value) {
    i32 bits = __builtin_bit_cast(i32, value);
    return __builtin_bit_cast(f32, __builtin_amdgcn_update_dpp(bits, bits, CONTROL, 0xf, 0xf, true));
}

DEVICE f32 read_lane(f32 value, u32 lane) {
    return __builtin_bit_cast(f32, __builtin_amdgcn_readlane(__builtin_bit_cast(i32, value), lane));
}

// Over all 64 lanes, which must all be active; the result is the same in each.
template <typename Op>
DEVICE f32 over_wave(f32 value) {
    constexpr u32 SWAP_1 = 0xb1;         // quad_perm 1, 0, 3, 2
    constexpr u32 SWAP_2 = 0x4e;         // quad_perm 2, 3, 0, 1
    constexpr u32 MIRROR_HALF = 0x141;   // 8 lanes mirrored
    constexpr u32 MIRROR = 0x140;        // 16 lanes mirrored
    value = Op::of(value, from_lane<SWAP_1>(value));
    value = Op::of(value, from_lane<SWAP_2>(value));
    value = Op::of(value, from_lane<MIRROR_HALF>(value));
    value = Op::of(value, from_lane<MIRROR>(value));
    f32 low = Op::of(read_lane(value, 0), read_lane(value, 16));
    f32 high = Op::of(read_lane(value, 32), read_lane(value, 48));
    return Op::of(low, high);
}

// Over all lanes of a workgroup of WAVES waves. `scratch` has WAVES places in
// LDS and may be used again at once.
template <typename Op, u32 WAVES>
DEVICE f32 over_workgroup(f32 value, f32* scratch) {
    value = over_wave<Op>(value);
    if (lane_of_wave() == 0) {
        scratch[wave_of_workgroup()] = value;
    }
    barrier();
    f32 total = scratch[0];
    for (u32 wave = 1; wave < WAVES; ++wave) {
        total = Op::of(total, scratch[wave]);
    }
    barrier();
    return total;
}

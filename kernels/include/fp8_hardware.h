// The conversions of processors that have instructions for them. The bits mean
// FNUZ on CDNA3 and OCP on CDNA4; only the largest value differs here.
#pragma once
#include "fp8.h"

#if defined(__gfx942__)
constexpr f32 LARGEST_E4M3 = 240.0f;
#elif defined(__gfx950__)
constexpr f32 LARGEST_E4M3 = 448.0f;
#else
#error "this architecture has no conversions to 8-bit floats"
#endif

struct Fp8E4m3 {
    static constexpr f32 LARGEST = LARGEST_E4M3;

    static MEMBER u32 encode(f32x4 x) {
        i32 low = __builtin_amdgcn_cvt_pk_fp8_f32(x[0], x[1], 0, false);
        return (u32)__builtin_amdgcn_cvt_pk_fp8_f32(x[2], x[3], low, true);
    }

    static MEMBER f32x4 decode(u32 bits) {
        f32x2 low = __builtin_amdgcn_cvt_pk_f32_fp8((i32)bits, false);
        f32x2 high = __builtin_amdgcn_cvt_pk_f32_fp8((i32)bits, true);
        return {low[0], low[1], high[0], high[1]};
    }
};

struct Fp8E5m2 {
    static constexpr f32 LARGEST = 57344.0f;

    static MEMBER u32 encode(f32x4 x) {
        i32 low = __builtin_amdgcn_cvt_pk_bf8_f32(x[0], x[1], 0, false);
        return (u32)__builtin_amdgcn_cvt_pk_bf8_f32(x[2], x[3], low, true);
    }

    static MEMBER f32x4 decode(u32 bits) {
        f32x2 low = __builtin_amdgcn_cvt_pk_f32_bf8((i32)bits, false);
        f32x2 high = __builtin_amdgcn_cvt_pk_f32_bf8((i32)bits, true);
        return {low[0], low[1], high[0], high[1]};
    }
};

// Quantising to 8-bit floats with one scale for a tensor, and back.
//
// The scale is the format's largest value by the largest magnitude of the
// tensor, found in two stages. A value is multiplied by the scale, held within
// the format's range and rounded to nearest even; NaN stays NaN. Each file that
// includes this says how its architecture converts: `Fp8E4m3` and `Fp8E5m2`
// with LARGEST, `encode` (4 values to 4 bytes) and `decode`.
#pragma once
#include "device.h"
#include "reduce.h"
#include "vector.h"

// Elements a workgroup looks for the largest magnitude in.
constexpr u32 AMAX_PART = 4096;

// The first of the `count` elements that this lane handles.
DEVICE u64 first_element(u32 count) { return element() * count; }

DEVICE f32 magnitude_of(f32 x) { return __builtin_fabsf(x); }

template <typename T>
DEVICE void amax_part(const T* x, f32* parts, u64 count) {
    SHARED f32 scratch[4];
    f32 largest = 0.0f;
    // Two blocks of each wave.
    for (u32 block = 0; block < AMAX_PART; block += 2048) {
        u64 start = (u64)workgroup() * AMAX_PART + block;
        over_blocks_from<order_of<T>()>(start, count, [&](auto move, u64 at, u32 here) {
            auto magnitude = each(widen(move.load(x + at, here)), magnitude_of);
            largest = __builtin_fmaxf(largest, over_lane<Max>(magnitude));
        });
    }
    largest = over_workgroup<Max, 4>(largest, scratch);
    if (lane_of_workgroup() == 0) {
        parts[workgroup()] = largest;
    }
}

// scales[0] quantises, scales[1] is its inverse.
template <typename Format>
DEVICE void scale_from(const f32* parts, f32* scales, u32 count) {
    SHARED f32 scratch[4];
    f32 largest = 0.0f;
    for (u32 at = lane_of_workgroup(); at < count; at += 256) {
        largest = __builtin_fmaxf(largest, parts[at]);
    }
    largest = over_workgroup<Max, 4>(largest, scratch);
    if (lane_of_workgroup() == 0) {
        f32 scale = Format::LARGEST / __builtin_fmaxf(largest, 1e-12f);
        scales[0] = scale;
        scales[1] = 1.0f / scale;
    }
}

// Within the format's range; comparisons let NaN pass.
template <typename Format>
DEVICE f32 in_range(f32 x) {
    x = x > Format::LARGEST ? Format::LARGEST : x;
    return x < -Format::LARGEST ? -Format::LARGEST : x;
}

template <typename Format, typename T>
DEVICE void quantize(const T* x, const f32* scales, u8* out, u64 count) {
    typedef VECTOR(T, 4) Four;
    f32 scale = scales[0];
    u64 at = first_element(4);
    if (at + 4 <= count) {
        Four in = *(const Four*)(x + at);
        f32x4 values;
        for (u32 i = 0; i < 4; ++i) {
            values[i] = in_range<Format>((f32)in[i] * scale);
        }
        *(u32*)(out + at) = Format::encode(values);
        return;
    }
    for (; at < count; ++at) {
        f32x4 one = {in_range<Format>((f32)x[at] * scale), 0.0f, 0.0f, 0.0f};
        out[at] = (u8)Format::encode(one);
    }
}

template <typename Format, typename T>
DEVICE void dequantize(const u8* in, const f32* scales, T* out, u64 count) {
    typedef VECTOR(T, 4) Four;
    f32 scale = scales[1];
    u64 at = first_element(4);
    if (at + 4 <= count) {
        f32x4 values = Format::decode(*(const u32*)(in + at));
        Four result;
        for (u32 i = 0; i < 4; ++i) {
            result[i] = (T)(values[i] * scale);
        }
        *(Four*)(out + at) = result;
        return;
    }
    for (; at < count; ++at) {
        out[at] = (T)(Format::decode(in[at])[0] * scale);
    }
}

#define FP8_KERNELS(name, Format)                                                                          \
    KERNEL(256) fp8_scale_##name(const f32* parts, f32* scales, u32 count) {                               \
        scale_from<Format>(parts, scales, count);                                                          \
    }                                                                                                      \
    KERNEL(256) fp8_quantize_##name##_f32(const f32* x, const f32* scales, u8* out, u64 count) {           \
        quantize<Format>(x, scales, out, count);                                                           \
    }                                                                                                      \
    KERNEL(256) fp8_quantize_##name##_bf16(const bf16* x, const f32* scales, u8* out, u64 count) {         \
        quantize<Format>(x, scales, out, count);                                                           \
    }                                                                                                      \
    KERNEL(256) fp8_dequantize_##name##_f32(const u8* in, const f32* scales, f32* out, u64 count) {        \
        dequantize<Format>(in, scales, out, count);                                                        \
    }                                                                                                      \
    KERNEL(256) fp8_dequantize_##name##_bf16(const u8* in, const f32* scales, bf16* out, u64 count) {      \
        dequantize<Format>(in, scales, out, count);                                                        \
    }

#define FP8_AMAX_KERNELS                                                                                   \
    KERNEL(256) fp8_amax_f32(const f32* x, f32* parts, u64 count) { amax_part(x, parts, count); }          \
    KERNEL(256) fp8_amax_bf16(const bf16* x, f32* parts, u64 count) { amax_part(x, parts, count); }

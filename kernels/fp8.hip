// 8-bit floats without instructions for them: OCP formats, largest values 448 and 57344.
//
// kernels:  fp8_amax_f32, fp8_amax_bf16
// computes: the largest magnitude of 4096 elements; ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 elements
// lds:      [0, 16) maxima of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  fp8_scale_e4m3, fp8_scale_e5m2
// computes: the scale of a tensor and its inverse from all parts; one workgroup
// tiles:    256 parts at a time
// lds:      [0, 16) maxima of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
//
// kernels:  fp8_quantize_e4m3_f32, fp8_quantize_e4m3_bf16, fp8_quantize_e5m2_f32, fp8_quantize_e5m2_bf16
// computes: 1024 elements, four a lane, whose arrays begin at multiples of 16 bytes
// tiles:    1024 elements
// lds:      none
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 0
//
// kernels:  fp8_dequantize_e4m3_f32, fp8_dequantize_e4m3_bf16, fp8_dequantize_e5m2_f32, fp8_dequantize_e5m2_bf16
// computes: 1024 elements, four a lane, whose arrays begin at multiples of 16 bytes
// tiles:    1024 elements
// lds:      none
// limit:    workgroup 256, vgprs 40, sgprs 48, lds 0
#include "fp8.h"

// An OCP format with this many mantissa bits, no infinity where FINITE.
template <u32 MANTISSA, i32 BIAS, bool FINITE>
struct Software {
    // The largest code below NaN or infinity.
    static constexpr f32 LARGEST = FINITE ? 448.0f : 57344.0f;
    static constexpr u32 NAN_CODE = 0x7f;

    // The sum with STEPS has the smallest magnitude as its last bit, so the
    // addition rounds to it; above, the rounding happens in the bits.
    static MEMBER u32 code(f32 x) {
        constexpr u32 DROPPED = 23 - MANTISSA;
        constexpr f32 STEPS = 0x1p23f / (f32)(1ul << (BIAS - 1 + MANTISSA));
        u32 bits = __builtin_bit_cast(u32, x);
        u32 sign = bits >> 24 & 0x80;
        u32 magnitude = bits & 0x7fffffff;
        f32 small = __builtin_bit_cast(f32, magnitude) + STEPS;
        u32 below = __builtin_bit_cast(u32, small) - __builtin_bit_cast(u32, STEPS);
        u32 rounded = magnitude + ((1u << (DROPPED - 1)) - 1) + (magnitude >> DROPPED & 1);
        u32 above = (rounded >> DROPPED) - ((127u - BIAS) << MANTISSA);
        u32 normal = (128u - BIAS) << 23;
        u32 code = magnitude < normal ? below : above;
        return sign | (magnitude > 0x7f800000 ? NAN_CODE : code);
    }

    // The code's bits as those of an f32 are the value by a power of two.
    static MEMBER f32 value(u32 code) {
        f32 power = __builtin_bit_cast(f32, (u32)(254 - BIAS) << 23);
        f32 magnitude = __builtin_bit_cast(f32, (code & 0x7f) << (23 - MANTISSA)) * power;
        constexpr u32 FIRST_SPECIAL = FINITE ? 0x7f : 0x7c;
        f32 special = (code & 0x7f) == 0x7c ? __builtin_inff() : __builtin_nanf("");
        magnitude = (code & 0x7f) >= FIRST_SPECIAL ? special : magnitude;
        return code & 0x80 ? -magnitude : magnitude;
    }

    static MEMBER u32 encode(f32x4 x) { return code(x[0]) | code(x[1]) << 8 | code(x[2]) << 16 | code(x[3]) << 24; }

    static MEMBER f32x4 decode(u32 bits) {
        return {value(bits & 0xff), value(bits >> 8 & 0xff), value(bits >> 16 & 0xff), value(bits >> 24)};
    }
};

typedef Software<3, 7, true> Fp8E4m3;
typedef Software<2, 15, false> Fp8E5m2;

FP8_AMAX_KERNELS
FP8_KERNELS(e4m3, Fp8E4m3)
FP8_KERNELS(e5m2, Fp8E5m2)

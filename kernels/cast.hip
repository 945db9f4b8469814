// Casts between the dtypes of indices, of masks and of numbers. To integers
// fractions are cut off, and what is beyond the ends becomes the end.
//
// kernels:  cast_i32_u8, cast_i32_i64, cast_i32_f32, cast_i32_bf16, cast_i32_f64, cast_i64_u8,
//           cast_i64_i32, cast_i64_f32, cast_i64_bf16, cast_i64_f64, cast_f32_u8, cast_f32_i32,
//           cast_f32_i64, cast_f32_f64, cast_bf16_u8, cast_bf16_i32, cast_bf16_i64, cast_bf16_f64,
//           cast_f64_u8, cast_f64_i32, cast_f64_i64, cast_f64_f32, cast_f64_bf16
// computes: 4096 elements of out = in; floats are rounded to nearest even; arrays begin at multiples of
//           16 bytes, ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes of the wider array at a time
// lds:      none
// limit:    workgroup 256, vgprs 48, sgprs 48, lds 0
#include "device.h"
#include "vector.h"

typedef long i64;

// Ends of integer types, as floats that are inside them.
template <typename T>
struct Ends;

template <>
struct Ends<u8> {
    static constexpr f64 LEAST = 0.0, MOST = 255.0;
};

template <>
struct Ends<i32> {
    static constexpr f64 LEAST = -2147483648.0, MOST = 2147483647.0;
};

template <>
struct Ends<i64> {
    static constexpr f64 LEAST = -9223372036854775808.0, MOST = 9223372036854774784.0;
};

template <typename From, typename To>
struct Cast {
    static MEMBER To of(From x) { return (To)x; }
};

// From a float to an integer; NaN becomes 0.
template <typename To>
DEVICE To whole(f64 x) {
    f64 inside = x < Ends<To>::LEAST ? Ends<To>::LEAST : x > Ends<To>::MOST ? Ends<To>::MOST : x;
    return x != x ? (To)0 : (To)inside;
}

template <>
struct Cast<f32, u8> {
    static MEMBER u8 of(f32 x) { return whole<u8>((f64)x); }
};

template <>
struct Cast<f32, i32> {
    static MEMBER i32 of(f32 x) { return whole<i32>((f64)x); }
};

template <>
struct Cast<f32, i64> {
    static MEMBER i64 of(f32 x) { return whole<i64>((f64)x); }
};

template <>
struct Cast<bf16, u8> {
    static MEMBER u8 of(bf16 x) { return whole<u8>((f64)x); }
};

template <>
struct Cast<bf16, i32> {
    static MEMBER i32 of(bf16 x) { return whole<i32>((f64)x); }
};

template <>
struct Cast<bf16, i64> {
    static MEMBER i64 of(bf16 x) { return whole<i64>((f64)x); }
};

template <>
struct Cast<f64, u8> {
    static MEMBER u8 of(f64 x) { return whole<u8>((f64)x); }
};

template <>
struct Cast<f64, i32> {
    static MEMBER i32 of(f64 x) { return whole<i32>((f64)x); }
};

template <>
struct Cast<f64, i64> {
    static MEMBER i64 of(f64 x) { return whole<i64>((f64)x); }
};

template <typename From, typename To>
DEVICE void cast(const From* in, To* out, u64 count) {
    over_runs<run_of<From, To>()>(count, [=](auto run, u64 at) {
        auto values = run.load(in + at);
        if constexpr (sizeof(values) == 16) {
            // Else the compiler loads only the bytes that a narrower type needs, each by itself.
            __asm__("" : "+v"(values));
        }
        typename decltype(run)::template Values<To> results;
#pragma unroll
        for (u32 i = 0; i < run.COUNT; ++i) {
            results[i] = Cast<From, To>::of(values[i]);
        }
        run.store(out + at, results);
    });
}

KERNEL(256) cast_i32_u8(const i32* in, u8* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i32_i64(const i32* in, i64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i32_f32(const i32* in, f32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i32_bf16(const i32* in, bf16* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i32_f64(const i32* in, f64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i64_u8(const i64* in, u8* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i64_i32(const i64* in, i32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i64_f32(const i64* in, f32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i64_bf16(const i64* in, bf16* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_i64_f64(const i64* in, f64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f32_u8(const f32* in, u8* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f32_i32(const f32* in, i32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f32_i64(const f32* in, i64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f32_f64(const f32* in, f64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_bf16_u8(const bf16* in, u8* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_bf16_i32(const bf16* in, i32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_bf16_i64(const bf16* in, i64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_bf16_f64(const bf16* in, f64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f64_u8(const f64* in, u8* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f64_i32(const f64* in, i32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f64_i64(const f64* in, i64* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f64_f32(const f64* in, f32* out, u64 count) { cast(in, out, count); }

KERNEL(256) cast_f64_bf16(const f64* in, bf16* out, u64 count) { cast(in, out, count); }

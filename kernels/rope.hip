// Rotary positions: a table of cosines and sines, and the rotation of heads.
//
// kernels:  rope_table
// computes: 256 angles, each its cosine and its sine, in f64, rounded once; ceil(positions * half / 256) workgroups
// tiles:    256 angles
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 64, lds 0
//
// kernels:  rope_f32, rope_bf16
// computes: 256 pairs (i, i + half) of heads, turned by the angles of their position;
//           ceil(pairs / 256) workgroups
// tiles:    256 pairs
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
#include "device.h"

// Cosine and sine of an angle below 2^20, within 1e-15: what is left of it
// after whole quarter turns, in three pieces of pi / 2, goes through Taylor's
// polynomials.
DEVICE void cosine_and_sine(f64 angle, f64& cosine, f64& sine) {
    constexpr f64 TWO_OVER_PI = 0.6366197723675814;
    constexpr f64 PI_2_A = 0x1.921fb54400000p+0, PI_2_B = 0x1.0b4611a600000p-34, PI_2_C = 0x1.3198a2e037073p-69;
    f64 turns = __builtin_rint(angle * TWO_OVER_PI);
    f64 x = __builtin_fma(-turns, PI_2_A, angle);
    x = __builtin_fma(-turns, PI_2_B, x);
    x = __builtin_fma(-turns, PI_2_C, x);
    f64 y = x * x;
    // 1 / n!, from the last term on.
    f64 s = 1.0 / 355687428096000.0;
    s = __builtin_fma(s, -y, 1.0 / 1307674368000.0);
    s = __builtin_fma(s, -y, 1.0 / 6227020800.0);
    s = __builtin_fma(s, -y, 1.0 / 39916800.0);
    s = __builtin_fma(s, -y, 1.0 / 362880.0);
    s = __builtin_fma(s, -y, 1.0 / 5040.0);
    s = __builtin_fma(s, -y, 1.0 / 120.0);
    s = __builtin_fma(s, -y, 1.0 / 6.0);
    s = x - x * y * s;
    f64 c = 1.0 / 20922789888000.0;
    c = __builtin_fma(c, -y, 1.0 / 87178291200.0);
    c = __builtin_fma(c, -y, 1.0 / 479001600.0);
    c = __builtin_fma(c, -y, 1.0 / 3628800.0);
    c = __builtin_fma(c, -y, 1.0 / 40320.0);
    c = __builtin_fma(c, -y, 1.0 / 720.0);
    c = __builtin_fma(c, -y, 1.0 / 24.0);
    c = __builtin_fma(c, -y, 0.5);
    c = 1.0 - y * c;
    i32 quarter = (i32)turns & 3;
    f64 first = quarter & 1 ? s : c, second = quarter & 1 ? c : s;
    cosine = quarter == 1 || quarter == 2 ? -first : first;
    sine = quarter >= 2 ? -second : second;
}

KERNEL(256) rope_table(const i32* positions, const f64* frequencies, f32* out, u32 count, u32 half) {
    u64 index = (u64)workgroup() * 256 + lane_of_workgroup();
    if (index < (u64)count * half) {
        u64 position = index / half, i = index % half;
        f64 cosine, sine;
        cosine_and_sine((f64)positions[position] * frequencies[i], cosine, sine);
        f32* row = out + position * 2 * half;
        row[i] = (f32)cosine;
        row[half + i] = (f32)sine;
    }
}

// Heads lie as [batch, position, head, 2 half].
template <typename T>
DEVICE void rope(const T* x, const f32* table, T* out, u64 pairs, u32 positions, u32 heads, u32 half, f32 sign) {
    u64 index = (u64)workgroup() * 256 + lane_of_workgroup();
    if (index < pairs) {
        u64 head = index / half;
        u32 i = index % half;
        u32 position = head / heads % positions;
        u64 first = head * 2 * half + i, second = first + half;
        f32 cosine = table[(u64)position * 2 * half + i], sine = sign * table[(u64)position * 2 * half + half + i];
        f32 a = (f32)x[first], b = (f32)x[second];
        out[first] = (T)(a * cosine - b * sine);
        out[second] = (T)(b * cosine + a * sine);
    }
}

KERNEL(256)
rope_f32(const f32* x, const f32* table, f32* out, u64 pairs, u32 positions, u32 heads, u32 half, f32 sign) {
    rope(x, table, out, pairs, positions, heads, half, sign);
}

KERNEL(256)
rope_bf16(const bf16* x, const f32* table, bf16* out, u64 pairs, u32 positions, u32 heads, u32 half, f32 sign) {
    rope(x, table, out, pairs, positions, heads, half, sign);
}

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
#include "trigonometry.h"

KERNEL(256) rope_table(const i32* positions, const f64* frequencies, f32* out, u32 count, u32 half) {
    u64 index = element();
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
    u64 index = element();
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

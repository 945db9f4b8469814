// Rotary positions: a table of cosines and sines, and the rotation of heads.
//
// kernels:  rope_table
// computes: the angles of 64 positions, each its cosine and its sine, in f64, rounded once;
//           ceil(positions / 64) workgroups
// tiles:    256 lanes x 4 angles
// lds:      [0, 4096) frequencies, [4096, 4352) positions
// limit:    workgroup 256, vgprs 80, sgprs 80, lds 4352
//
// kernels:  rope_f32, rope_bf16
// computes: the heads of one position in every sequence, whose pairs (i, i + half) are turned by the
//           position's angles; one workgroup a position; arrays begin at multiples of 16 bytes
// tiles:    256 lanes x 16 bytes of both halves, or 256 pairs where half a head is no multiple of it
// lds:      [0, 4096) the position's cosines and sines, where they fit
// limit:    workgroup 256, vgprs 64, sgprs 80, lds 4096
#include "device.h"
#include "trigonometry.h"
#include "vector.h"

constexpr u32 MOST = 512;
constexpr u32 POSITIONS = 64;

// N angles a lane.
template <u32 N>
DEVICE void table(const i32* positions, const f64* frequencies, f32* out, u32 here, u32 half) {
    u32 runs = half / N;
    for (u32 at = lane_of_workgroup(); at < here * runs; at += 256) {
        u32 position = at / runs, i = at % runs * N;
        VECTOR(f32, N) cosines, sines;
#pragma unroll
        for (u32 j = 0; j < N; ++j) {
            f64 cosine, sine;
            cosine_and_sine((f64)positions[position] * frequencies[i + j], cosine, sine);
            cosines[j] = (f32)cosine;
            sines[j] = (f32)sine;
        }
        f32* row = out + (u64)position * 2 * half;
        Run<N>::store(row + i, cosines);
        Run<N>::store(row + half + i, sines);
    }
}

KERNEL(256) rope_table(const i32* positions, const f64* frequencies, f32* out, u32 count, u32 half) {
    SHARED f64 of_half[MOST];
    SHARED i32 own[POSITIONS];
    u32 lane = lane_of_workgroup(), first = workgroup() * POSITIONS, here = smaller(POSITIONS, count - first);
    out += (u64)first * 2 * half;
    if (half > MOST || half % 4 != 0) {
        return table<1>(positions + first, frequencies, out, here, half);
    }
    for (u32 i = lane * 2; i < half; i += 512) {
        *(VECTOR(f64, 2)*)(of_half + i) = *(const VECTOR(f64, 2)*)(frequencies + i);
    }
    if (lane < here) {
        own[lane] = positions[first + lane];
    }
    barrier();
    table<4>(own, of_half, out, here, half);
}

// Heads lie as [batch, position, head, 2 half]; N pairs a lane.
template <u32 N, typename T>
DEVICE void turn(const T* x, const f32* cosines, T* out, u32 batches, u32 positions, u32 heads, u32 half, f32 sign) {
    u32 runs = half / N;
    for (u32 at = lane_of_workgroup(); at < batches * heads * runs; at += 256) {
        u32 head = at / runs, i = at % runs * N;
        u64 row = ((u64)(head / heads) * positions + workgroup()) * heads + head % heads;
        u64 first = row * 2 * half + i, second = first + half;
        auto a = Run<N>::load(x + first), b = Run<N>::load(x + second);
#pragma unroll
        for (u32 j = 0; j < N; ++j) {
            f32 cosine = cosines[i + j], sine = sign * cosines[half + i + j], one = (f32)a[j], other = (f32)b[j];
            a[j] = (T)(one * cosine - other * sine);
            b[j] = (T)(other * cosine + one * sine);
        }
        Run<N>::store(out + first, a);
        Run<N>::store(out + second, b);
    }
}

template <typename T>
DEVICE void rope(const T* x, const f32* table, T* out, u32 batches, u32 positions, u32 heads, u32 half, f32 sign) {
    constexpr u32 N = 16 / sizeof(T);
    SHARED f32 angles[2 * MOST];
    const f32* row = table + (u64)workgroup() * 2 * half;
    if (half > MOST || half % N != 0) {
        return turn<1>(x, row, out, batches, positions, heads, half, sign);
    }
    u32 lane = lane_of_workgroup();
    if (lane * 4 < 2 * half) {
        *(f32x4*)(angles + lane * 4) = *(const f32x4*)(row + lane * 4);
    }
    barrier();
    turn<N>(x, angles, out, batches, positions, heads, half, sign);
}

KERNEL(256)
rope_f32(const f32* x, const f32* table, f32* out, u32 batches, u32 positions, u32 heads, u32 half, f32 sign) {
    rope(x, table, out, batches, positions, heads, half, sign);
}

KERNEL(256)
rope_bf16(const bf16* x, const f32* table, bf16* out, u32 batches, u32 positions, u32 heads, u32 half, f32 sign) {
    rope(x, table, out, batches, positions, heads, half, sign);
}

// Dropout by counter-based random numbers: Philox4x32-10 (Salmon, Moraes,
// Dror and Shaw, SC11), keyed by seed and scope, counted by step and element.
// A mask depends on nothing else and is the same as the CPU's.
//
// kernels:  dropout_f32, dropout_bf16
// computes: 2048 elements of out = kept ? x / (1 - p) : 0; `rng` is seed and step; arrays begin at
//           multiples of 16 bytes, ceil(count / 2048) workgroups
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 64, sgprs 80, lds 0
#include "device.h"
#include "vector.h"

// The finaliser of SplitMix64.
DEVICE u64 mix(u64 x) {
    x += 0x9e3779b97f4a7c15ul;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
    return x ^ (x >> 31);
}

// The random bits of the four elements of a block of a stream.
DEVICE u32x4 random_bits(u64 key, u64 step, u64 block) {
    u32 a = (u32)block, b = (u32)(block >> 32), c = (u32)step, d = (u32)(step >> 32);
    u32 low = (u32)key, high = (u32)(key >> 32);
    for (u32 round = 0; round < 10; ++round) {
        u64 left = (u64)a * 0xd2511f53u, right = (u64)c * 0xcd9e8d57u;
        a = (u32)(right >> 32) ^ b ^ low;
        c = (u32)(left >> 32) ^ d ^ high;
        b = (u32)right;
        d = (u32)left;
        low += 0x9e3779b9u;
        high += 0xbb67ae85u;
    }
    return {a, b, c, d};
}

DEVICE f32 drawn(u32 bits) { return (f32)(bits >> 8) * 0x1p-24f; }

// A number in [0, 1) for each value of a block of elements that begins at `first`.
template <Order ORDER>
DEVICE f32x8 draw(Wide<ORDER> move, u64 key, u64 step, u64 first) {
    f32x8 out;
#pragma unroll
    for (u32 i = 0; i < 8; i += 4) {
        u32x4 bits = random_bits(key, step, (first + move.index(i)) / 4);
#pragma unroll
        for (u32 j = 0; j < 4; ++j) {
            out[i + j] = drawn(bits[j]);
        }
    }
    return out;
}

DEVICE f32 draw(Single move, u64 key, u64 step, u64 first) {
    u64 element = first + move.index(0);
    u32x4 bits = random_bits(key, step, element / 4);
    u32 low = element & 1 ? bits[1] : bits[0], high = element & 1 ? bits[3] : bits[2];
    return drawn(element & 2 ? high : low);
}

DEVICE f32 choose(f32 drawn, f32 p, f32 x, f32 kept) { return drawn >= p ? x / kept : 0.0f; }

DEVICE f32x8 choose(f32x8 drawn, f32 p, f32x8 x, f32 kept) {
#pragma unroll
    for (u32 i = 0; i < 8; ++i) {
        x[i] = choose(drawn[i], p, x[i], kept);
    }
    return x;
}

template <typename T>
DEVICE void dropout(const T* x, const u64* rng, T* out, u64 count, u64 scope, f32 p, f32 kept) {
    u64 key = mix(mix(rng[0]) ^ scope), step = rng[1];
    over_blocks<order_of<T>()>(count, [=](auto move, u64 at, u32 here) {
        auto value = widen(move.load(x + at, here));
        move.store(out + at, choose(draw(move, key, step, at), p, value, kept), here);
    });
}

KERNEL(256) dropout_f32(const f32* x, const u64* rng, f32* out, u64 count, u64 scope, f32 p, f32 kept) {
    dropout(x, rng, out, count, scope, p, kept);
}

KERNEL(256) dropout_bf16(const bf16* x, const u64* rng, bf16* out, u64 count, u64 scope, f32 p, f32 kept) {
    dropout(x, rng, out, count, scope, p, kept);
}

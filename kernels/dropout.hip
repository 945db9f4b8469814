// Dropout by counter-based random numbers: Philox4x32-10 (Salmon, Moraes,
// Dror and Shaw, SC11), keyed by seed and scope, counted by step and element.
// A mask depends on nothing else and is the same as the CPU's.
//
// kernels:  dropout_f32, dropout_bf16
// computes: 256 elements of out = kept ? x / (1 - p) : 0; `rng` is seed and step
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 64, lds 0
#include "device.h"

// The finaliser of SplitMix64.
DEVICE u64 mix(u64 x) {
    x += 0x9e3779b97f4a7c15ul;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ul;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebul;
    return x ^ (x >> 31);
}

// 32 random bits of an element of a stream.
DEVICE u32 random_bits(u64 key, u64 step, u64 element) {
    u64 block = element / 4;
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
    u32 word = (u32)element % 4;
    return word == 0 ? a : word == 1 ? b : word == 2 ? c : d;
}

template <typename T>
DEVICE void dropout(const T* x, const u64* rng, T* out, u64 count, u64 scope, f32 p, f32 kept) {
    u64 at = element();
    if (at < count) {
        u64 key = mix(mix(rng[0]) ^ scope);
        f32 drawn = (f32)(random_bits(key, rng[1], at) >> 8) * 0x1p-24f;
        out[at] = (T)(drawn >= p ? (f32)x[at] / kept : 0.0f);
    }
}

KERNEL(256) dropout_f32(const f32* x, const u64* rng, f32* out, u64 count, u64 scope, f32 p, f32 kept) {
    dropout(x, rng, out, count, scope, p, kept);
}

KERNEL(256) dropout_bf16(const bf16* x, const u64* rng, bf16* out, u64 count, u64 scope, f32 p, f32 kept) {
    dropout(x, rng, out, count, scope, p, kept);
}

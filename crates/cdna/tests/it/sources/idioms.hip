// Idioms that compilers expand into other instructions than plain code has.
#include "device.h"

KERNEL(64) division(const f32* a, const f32* b, f32* c, const double* x, const double* y, double* z) {
    u32 at = lane_of_workgroup();
    c[at] = a[at] / b[at];
    c[at + 64] = __builtin_sqrtf(a[at]);
    c[at + 128] = __builtin_exp2f(b[at]);
    c[at + 192] = __builtin_log2f(a[at]);
    z[at] = x[at] / y[at];
    z[at + 64] = __builtin_sqrt(x[at]);
}

KERNEL(64) reductions(const i32* in, i32* out) {
    u32 at = lane_of_workgroup();
    i32 value = in[at];
    i32 sum = value;
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x111, 0xf, 0xf, true);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x112, 0xf, 0xf, true);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x114, 0xf, 0xe, true);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x118, 0xf, 0xc, true);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x142, 0xa, 0xf, false);
    sum += __builtin_amdgcn_update_dpp(0, sum, 0x143, 0xc, 0xf, false);
    out[at] = sum;
    out[at + 64] = __builtin_amdgcn_ds_bpermute((at ^ 5) * 4, value);
    out[at + 128] = __builtin_amdgcn_ds_permute((at + 1) * 4, value);
    out[at + 192] = __builtin_amdgcn_ds_swizzle(value, 0x401f);
    out[at + 256] = __builtin_amdgcn_readlane(value, 63) + __builtin_amdgcn_readfirstlane(value);
    out[at + 320] = (i32)__builtin_popcountl(__builtin_amdgcn_ballot_w64(value > 0));
    out[at + 384] = __builtin_amdgcn_update_dpp(7, value, 0x1b, 0xf, 0xf, false);
    out[at + 448] = __builtin_amdgcn_update_dpp(7, value, 0x140, 0x5, 0xf, false);
}

KERNEL(64) atomics(u32* counts, f32* sums, u64* wide, const u32* in, u32* out) {
    SHARED u32 local[8];
    u32 at = lane_of_workgroup();
    if (at < 8) local[at] = at;
    barrier();
    out[at] = __atomic_fetch_add(&local[in[at] % 8], 3, __ATOMIC_RELAXED);
    barrier();
    if (at < 8) out[64 + at] = local[at];
    __atomic_fetch_add(&counts[in[at] % 16], 1, __ATOMIC_RELAXED);
    __atomic_fetch_max(&counts[16], in[at], __ATOMIC_RELAXED);
    __atomic_fetch_add(&wide[in[at] % 4], 0x100000001ul, __ATOMIC_RELAXED);
    u32 expected = 0;
    if (at == 5) __atomic_compare_exchange_n(&counts[17], &expected, 99, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __scoped_atomic_fetch_add(&sums[0], 0.5f, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

KERNEL(64) small_types(const u8* bytes, const i16* shorts, bf16* halves, u8* out, const f32* in, _Float16* h) {
    u32 at = lane_of_workgroup();
    out[at] = bytes[at] * 3 + (u8)shorts[at];
    halves[at] = (bf16)in[at];
    h[at] = (_Float16)in[at] * (_Float16)2.5f + (_Float16)1.0f;
    h[64 + at] = (_Float16)__builtin_fmaf(in[at], in[at], 1.0f);
    out[64 + at] = (u8)(i32)in[at];
    ((i16*)out)[64 + at] = (i16)(shorts[at] << 3);
}

KERNEL(64) wide_integers(const u64* a, const u64* b, u64* c) {
    u32 at = lane_of_workgroup();
    c[at] = a[at] * b[at] + (a[at] >> (b[at] & 63));
    c[64 + at] = a[at] / (b[at] | 1);
    c[128 + at] = (u64)((long)a[at] >> 7) - b[at];
    c[192 + at] = a[at] < b[at] ? __builtin_clzl(a[at] | 1) : __builtin_ctzl(b[at] | 1);
}

typedef VECTOR(u32, 4) descriptor;
extern "C" __attribute__((device)) f32 buffer_load(descriptor, u32, u32, i32) __asm("llvm.amdgcn.raw.buffer.load.f32");
extern "C" __attribute__((device)) void buffer_store(f32, descriptor, u32, u32, i32) __asm("llvm.amdgcn.raw.buffer.store.f32");

KERNEL(64) buffers(const f32* in, f32* out, u32 n) {
    u32 at = lane_of_workgroup();
    descriptor from = {(u32)(u64)in, (u32)((u64)in >> 32), n * 4, 0x27000};
    descriptor to = {(u32)(u64)out, (u32)((u64)out >> 32), n * 4, 0x27000};
    buffer_store(buffer_load(from, at * 4, 0, 0) + 1.0f, to, at * 4, 0, 0);
}

// Elements of one array or another, by a condition.
//
// kernels:  select_f32_32, select_bf16_16, select_i32_16, select_i32_32, select_u8_16, select_u8_32
// computes: 4096 elements of out = condition != 0 ? a : b; named by the condition's dtype and the
//           elements' bits; arrays begin at multiples of 16 bytes, ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes of the wider array at a time
// lds:      none
// limit:    workgroup 256, vgprs 48, sgprs 48, lds 0
#include "device.h"
#include "vector.h"

template <typename C, typename T>
DEVICE void select(const C* condition, const T* a, const T* b, T* out, u64 count) {
    over_runs<run_of<C, T>()>(count, [=](auto run, u64 at) {
        auto wanted = run.load(condition + at);
        auto chosen = run.load(a + at), other = run.load(b + at);
#pragma unroll
        for (u32 i = 0; i < run.COUNT; ++i) {
            chosen[i] = wanted[i] != (C)0 ? chosen[i] : other[i];
        }
        run.store(out + at, chosen);
    });
}

KERNEL(256) select_f32_32(const f32* condition, const u32* a, const u32* b, u32* out, u64 count) {
    select(condition, a, b, out, count);
}

KERNEL(256) select_bf16_16(const bf16* condition, const u16* a, const u16* b, u16* out, u64 count) {
    select(condition, a, b, out, count);
}

KERNEL(256) select_i32_16(const i32* condition, const u16* a, const u16* b, u16* out, u64 count) {
    select(condition, a, b, out, count);
}

KERNEL(256) select_i32_32(const i32* condition, const u32* a, const u32* b, u32* out, u64 count) {
    select(condition, a, b, out, count);
}

KERNEL(256) select_u8_16(const u8* condition, const u16* a, const u16* b, u16* out, u64 count) {
    select(condition, a, b, out, count);
}

KERNEL(256) select_u8_32(const u8* condition, const u32* a, const u32* b, u32* out, u64 count) {
    select(condition, a, b, out, count);
}

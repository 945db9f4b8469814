// Elements of one array or another, by a condition.
//
// kernels:  select_f32_32, select_bf16_16, select_i32_16, select_i32_32, select_u8_16, select_u8_32
// computes: 256 elements of out = condition != 0 ? a : b; named by the condition's dtype and the
//           elements' bits
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "device.h"

template <typename C, typename T>
DEVICE void select(const C* condition, const T* a, const T* b, T* out, u64 count) {
    u64 at = element();
    if (at < count) {
        out[at] = condition[at] != (C)0 ? a[at] : b[at];
    }
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

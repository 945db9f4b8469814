// Copies between arrays that lie differently, and constants.
//
// kernels:  copy_8, copy_16, copy_32, copy_64
// computes: 256 elements of out = in, each at its place; ceil(count / 256) workgroups
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 96, lds 0
//
// kernels:  fill_8, fill_16, fill_32, fill_64
// computes: 256 elements with the same bits
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
//
// kernels:  iota_i32
// computes: 256 elements, each its own index
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "device.h"
#include "geometry.h"

template <typename T>
DEVICE void copy(const T* in, T* out, const Geometry<2>& geometry) {
    u64 index = element();
    if (index < geometry.count) {
        u64 offsets[2];
        geometry.at((u32)index, offsets);
        out[offsets[1]] = in[offsets[0]];
    }
}

template <typename T>
DEVICE void fill(T* out, u64 count, u64 bits) {
    u64 index = element();
    if (index < count) {
        out[index] = (T)bits;
    }
}

KERNEL(256) copy_8(const u8* in, u8* out, Geometry<2> geometry) { copy(in, out, geometry); }

KERNEL(256) copy_16(const u16* in, u16* out, Geometry<2> geometry) { copy(in, out, geometry); }

KERNEL(256) copy_32(const u32* in, u32* out, Geometry<2> geometry) { copy(in, out, geometry); }

KERNEL(256) copy_64(const u64* in, u64* out, Geometry<2> geometry) { copy(in, out, geometry); }

KERNEL(256) fill_8(u8* out, u64 count, u64 bits) { fill(out, count, bits); }

KERNEL(256) fill_16(u16* out, u64 count, u64 bits) { fill(out, count, bits); }

KERNEL(256) fill_32(u32* out, u64 count, u64 bits) { fill(out, count, bits); }

KERNEL(256) fill_64(u64* out, u64 count, u64 bits) { fill(out, count, bits); }

KERNEL(256) iota_i32(i32* out, u32 count) {
    u64 index = element();
    if (index < count) {
        out[index] = (i32)index;
    }
}

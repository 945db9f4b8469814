// Copies between arrays that lie differently, and constants.
//
// kernels:  copy_8, copy_16, copy_32, copy_64
// computes: 4096 elements of out = in, each at its place; ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes at a time where `at_once` says so, else an element
// lds:      none
// limit:    workgroup 256, vgprs 48, sgprs 96, lds 0
//
// kernels:  fill_8, fill_16, fill_32, fill_64
// computes: 4096 elements with the same bits; ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes at a time
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
//
// kernels:  iota_i32
// computes: 4096 elements, each its own index; ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes at a time
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 0
#include "device.h"
#include "geometry.h"
#include "vector.h"

template <typename T>
DEVICE void copy(const T* in, T* out, const Geometry<2>& geometry) {
    auto body = [&](auto run, u64 index) {
        u64 offsets[2];
        geometry.at((u32)index, offsets);
        run.store(out + offsets[1], run.load(in + offsets[0]));
    };
    constexpr u32 N = 16 / sizeof(T);
    if (geometry.at_once == N && is_aligned(in) && is_aligned(out)) {
        over_runs<N>(geometry.count, body);
    } else {
        over_runs<1>(geometry.count, body);
    }
}

template <typename T>
DEVICE void fill(T* out, u64 count, u64 bits) {
    over_runs<16 / sizeof(T)>(count, [=](auto run, u64 at) {
        run.store(out + at, (typename decltype(run)::template Values<T>)(T)bits);
    });
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
    over_runs<4>(count, [=](auto run, u64 at) {
        typename decltype(run)::template Values<i32> values;
#pragma unroll
        for (u32 i = 0; i < run.COUNT; ++i) {
            values[i] = (i32)at + (i32)i;
        }
        run.store(out + at, values);
    });
}

// Writes new keys or values into a cache: [batch, position, head, size].
//
// A write past the end stops the kernel with a trap.
//
// kernels:  cache_write_16, cache_write_32
// computes: 4096 elements of what is new, at their place in the cache; arrays begin at multiples of
//           16 bytes, ceil(count / 4096) workgroups
// tiles:    256 lanes x 16 bytes at a time where `entry` is a multiple, else an element
// lds:      none
// limit:    workgroup 256, vgprs 48, sgprs 64, lds 0
#include "device.h"
#include "vector.h"

// `entry` elements a position, `length` new positions of `most` a sequence.
template <typename T>
DEVICE void write(const T* fresh, const i32* position, T* cache, u64 count, u32 most, u32 length, u32 entry) {
    i32 first = position[0];
    if (first < 0 || (u64)first + length > most) {
        __builtin_trap();
    }
    auto body = [=](auto run, u64 at) {
        u64 sequence = at / ((u64)length * entry), rest = at % ((u64)length * entry);
        run.store(cache + (sequence * most + (u64)first) * entry + rest, run.load(fresh + at));
    };
    constexpr u32 N = 16 / sizeof(T);
    if (entry % N == 0) {
        over_runs<N>(count, body);
    } else {
        over_runs<1>(count, body);
    }
}

KERNEL(256)
cache_write_16(const u16* fresh, const i32* position, u16* cache, u64 count, u32 most, u32 length, u32 entry) {
    write(fresh, position, cache, count, most, length, entry);
}

KERNEL(256)
cache_write_32(const u32* fresh, const i32* position, u32* cache, u64 count, u32 most, u32 length, u32 entry) {
    write(fresh, position, cache, count, most, length, entry);
}

// Writes new keys or values into a cache: [batch, position, head, size].
//
// A write past the end stops the kernel with a trap.
//
// kernels:  cache_write_16, cache_write_32
// computes: 256 elements of what is new, at their place in the cache
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
#include "device.h"

// `entry` elements a position, `length` new positions of `most` a sequence.
template <typename T>
DEVICE void write(const T* fresh, const i32* position, T* cache, u64 count, u32 most, u32 length, u32 entry) {
    i32 first = position[0];
    if (first < 0 || (u64)first + length > most) {
        __builtin_trap();
    }
    u64 at = element();
    if (at < count) {
        u64 sequence = at / ((u64)length * entry), rest = at % ((u64)length * entry);
        cache[(sequence * most + (u64)first) * entry + rest] = fresh[at];
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

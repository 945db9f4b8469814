// Rows of a table by index, and the gradient of the table. Arrays begin at
// multiples of 16 bytes.
//
// An index outside the table stops the kernel with a trap.
//
// For the gradient, the positions of the indices are sorted by index first, so
// that positions of one index stay in order: 9 bits at a time, from the lowest
// on, each time in three stages: how often each digit is in a block of 1024,
// where its positions of each block begin, and the positions to there. Sums and
// atomics of these stages are of integers, so that their order decides nothing.
// Then each row of the table adds its gradients in the order of the positions.
//
// kernels:  embedding_16, embedding_32
// computes: one row of the result; one workgroup per index
// tiles:    256 lanes x 16 bytes at a time where rows are a multiple, else 256 columns
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
//
// kernels:  embedding_sort_count
// computes: how often each digit is in a block of 1024 indices: counts[digit][block]
// tiles:    256 indices at a time
// lds:      [0, 2048) counts
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 2048
//
// kernels:  embedding_sort_scan
// computes: to each of `count` counts the sum of those before it; one workgroup
// tiles:    1024 counts at a time
// lds:      [0, 64) sums of the waves
// limit:    workgroup 1024, vgprs 32, sgprs 64, lds 64
//
// kernels:  embedding_sort_scatter
// computes: the indices and positions of a block of 1024 at their places; `positions` may be null: those
//           before the first sort
// tiles:    64 indices at a time
// lds:      [0, 2048) where the next of each digit goes
// limit:    workgroup 64, vgprs 48, sgprs 80, lds 2048
//
// kernels:  embedding_sort_starts
// computes: where the positions of 256 rows begin among the sorted ones; ceil((rows + 1) / 256) workgroups
// tiles:    256 rows
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 0
//
// kernels:  embedding_backward_f32_f32, embedding_backward_bf16_f32, embedding_backward_bf16_bf16
// computes: one row of the table's gradient; one workgroup per row
// tiles:    4 waves x 512 columns at a time
// lds:      none
// limit:    workgroup 256, vgprs 72, sgprs 96, lds 0
#include "device.h"
#include "vector.h"

template <typename T>
DEVICE void embedding(const T* table, const i32* indices, T* out, u32 rows, u32 columns) {
    i32 row = indices[workgroup()];
    if (row < 0 || (u32)row >= rows) {
        __builtin_trap();
    }
    const T* from = table + (u64)row * columns;
    T* to = out + (u64)workgroup() * columns;
    auto copy = [=](auto run) {
        for (u32 column = lane_of_workgroup() * run.COUNT; column < columns; column += 256 * run.COUNT) {
            run.store(to + column, run.load(from + column));
        }
    };
    constexpr u32 N = 16 / sizeof(T);
    columns % N == 0 ? copy(Run<N>()) : copy(Run<1>());
}

KERNEL(256) embedding_16(const u16* table, const i32* indices, u16* out, u32 rows, u32 columns) {
    embedding(table, indices, out, rows, columns);
}

KERNEL(256) embedding_32(const u32* table, const i32* indices, u32* out, u32 rows, u32 columns) {
    embedding(table, indices, out, rows, columns);
}

constexpr u32 DIGIT = 9;
constexpr u32 DIGITS = 1 << DIGIT;
constexpr u32 TILE = 1024;

DEVICE u32 digit_of(u32 index, u32 shift) { return index >> shift & (DIGITS - 1); }

KERNEL(256)
embedding_sort_count(const u32* indices, u32* counts, u32 count, u32 rows, u32 blocks, u32 shift) {
    SHARED u32 found[DIGITS];
    u32 lane = lane_of_workgroup();
    for (u32 digit = lane; digit < DIGITS; digit += 256) {
        found[digit] = 0;
    }
    barrier();
    for (u32 at = workgroup() * TILE + lane; at < smaller(count, (workgroup() + 1) * TILE); at += 256) {
        u32 index = indices[at];
        if (index >= rows) {
            __builtin_trap();
        }
        __scoped_atomic_fetch_add(&found[digit_of(index, shift)], 1u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    }
    barrier();
    for (u32 digit = lane; digit < DIGITS; digit += 256) {
        counts[digit * blocks + workgroup()] = found[digit];
    }
}

// The sum of the values of the lanes up to this one.
DEVICE u32 up_to(u32 value) {
    u32 lane = lane_of_wave();
#pragma unroll
    for (u32 back = 1; back < WAVE; back *= 2) {
        u32 before = from(lane - back, value);
        value += lane >= back ? before : 0;
    }
    return value;
}

KERNEL(1024) embedding_sort_scan(u32* counts, u32 count) {
    SHARED u32 sums[16];
    u32 before = 0;
    for (u32 start = 0; start < count; start += 1024) {
        u32 at = start + lane_of_workgroup();
        u32 own = at < count ? counts[at] : 0, sum = up_to(own);
        if (lane_of_wave() == WAVE - 1) {
            sums[wave_of_workgroup()] = sum;
        }
        barrier();
        u32 here = before;
        for (u32 wave = 0; wave < 16; ++wave) {
            here += wave < wave_of_workgroup() ? sums[wave] : 0;
            before += sums[wave];
        }
        barrier();
        if (at < count) {
            counts[at] = here + sum - own;
        }
    }
}

KERNEL(64)
embedding_sort_scatter(const u32* indices, const u32* positions, const u32* counts, u32* to_indices, u32* to_positions,
                       u32 count, u32 blocks, u32 shift) {
    SHARED u32 next[DIGITS];
    u32 lane = lane_of_wave();
    for (u32 digit = lane; digit < DIGITS; digit += WAVE) {
        next[digit] = counts[digit * blocks + workgroup()];
    }
    u32 start = workgroup() * TILE, end = smaller(count, start + TILE);
    for (; start < end; start += WAVE) {
        u32 at = start + lane;
        bool here = at < end;
        u32 index = here ? indices[at] : 0, digit = digit_of(index, shift);
        // The lanes with the same digit.
        u64 same = __builtin_amdgcn_ballot_w64(here);
#pragma unroll
        for (u32 bit = 0; bit < DIGIT; ++bit) {
            bool set = digit >> bit & 1;
            u64 those = __builtin_amdgcn_ballot_w64(set);
            same &= set ? those : ~those;
        }
        u32 rank = (u32)__builtin_popcountl(same & ((1ul << lane) - 1));
        barrier();
        u32 first = next[digit];
        barrier();
        if (here) {
            to_indices[first + rank] = index;
            to_positions[first + rank] = positions ? positions[at] : at;
            if (rank == 0) {
                next[digit] = first + (u32)__builtin_popcountl(same);
            }
        }
    }
}

KERNEL(256) embedding_sort_starts(const u32* indices, u32* starts, u32 count, u32 rows) {
    u32 row = workgroup() * 256 + lane_of_workgroup();
    if (row > rows) {
        return;
    }
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = low + (high - low) / 2;
        if (indices[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    starts[row] = low;
}

template <typename T, typename S>
DEVICE void backward(const T* gradient, const u32* positions, const u32* starts, S* out, u32 columns) {
    u32 row = workgroup(), start = together(starts + row), end = together(starts + row + 1);
    auto add = [=](auto move) {
        typedef decltype(move) Move;
        u32 first = wave_of_workgroup() * Move::COUNT;
        for (; first < columns; first += 4 * Move::COUNT) {
            u32 here = smaller(Move::COUNT, columns - first);
            decltype(widen(Move::load(gradient, 0))) sum = 0.0f;
            auto load = [=](u32 at) {
                u64 position = together(positions + at);
                return Move::load(gradient + position * columns + first, here);
            };
            // Two loads at once, added in order.
            u32 at = start;
            for (; at + 2 <= end; at += 2) {
                auto one = load(at), next = load(at + 1);
                sum += widen(one);
                sum += widen(next);
            }
            if (at < end) {
                sum += widen(load(at));
            }
            Move::store(out + (u64)row * columns + first, sum, here);
        }
    };
    columns % aligned_count<T, S>() == 0 ? add(Wide<order_of<T, S>()>()) : add(Single());
}

KERNEL(256)
embedding_backward_f32_f32(const f32* gradient, const u32* positions, const u32* starts, f32* out, u32 columns) {
    backward(gradient, positions, starts, out, columns);
}

KERNEL(256)
embedding_backward_bf16_f32(const bf16* gradient, const u32* positions, const u32* starts, f32* out, u32 columns) {
    backward(gradient, positions, starts, out, columns);
}

KERNEL(256)
embedding_backward_bf16_bf16(const bf16* gradient, const u32* positions, const u32* starts, bf16* out, u32 columns) {
    backward(gradient, positions, starts, out, columns);
}

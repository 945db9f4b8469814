// What the bf16 matrix multiplication has of its own on CDNA4: a matrix
// instruction with twice the depth, LDS for stages of twice the depth, and
// reads from LDS that transpose, so that operands whose rows are contiguous
// need no work on the way.
//
// A stage in LDS has SIDE rows of 64 k in units of 16 bytes, unit (k / 8) ^
// (row % 8) ^ (row / 8 % 2) of its row; or, where rows are contiguous, 64 k of
// SIDE rows in units of 32 bytes, unit (row / 16) ^ (k % 4) ^ (k % 2 * 4), or
// without the last where a row has but 4 units.
#pragma once
#include "gemm_bf16.h"

template <typename Shape, Along ALONG>
struct PiecesOf;

// What a wave reads of a stage: BLOCKS times 32 rows by 16 k, of which lanes 0
// to 31 have the first 8.
template <typename Shape, Along ALONG, u32 BLOCKS>
struct FragmentsOf;

DEVICE u32 unit_of(u32 row, u32 piece) { return row * 8 + (piece ^ (row % 8) ^ (row / 8 % 2)); }

// Where k is contiguous: four pieces of 8 k, eight lanes to a row.
template <typename Shape>
struct PiecesOf<Shape, Along::K> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = Shape::SIDE * DEPTH / 8;

    u32 first_row, first_k;
    SHARED_SPACE u32x4* place;

    MEMBER PiecesOf(SHARED_SPACE u32x4* lds, Lane lane)
        : first_row(lane.number / 8),
          first_k(lane.number % 8 * 8),
          place(lds + unit_of(first_row, first_k / 8)) {
        keep(place);
    }

    MEMBER u32 row(u32 piece) const { return first_row + piece * (Shape::LANES / 8); }

    MEMBER u32 k(u32) const { return first_k; }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * Shape::LANES] = values[piece];
        }
    }
};

template <typename Shape, u32 BLOCKS>
struct FragmentsOf<Shape, Along::K, BLOCKS> {
    SHARED_SPACE u32x4* places[4];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row, Lane lane) {
        for (u32 step = 0; step < 4; ++step) {
            places[step] = lds + row * 8 + unit_of(lane.in_wave % BLOCK, lane.in_wave / BLOCK + 2 * step);
            keep(places[step]);
        }
    }

    MEMBER bf16x8 read(u32 start, u32 block, u32 step) const {
        return __builtin_bit_cast(bf16x8, places[step][start + block * BLOCK * 8]);
    }
};

// Which 16 rows of a k lie in which 32 bytes.
template <typename Shape>
DEVICE u32 unit_of_rows(u32 rows, u32 k) {
    return rows ^ (k % 4) ^ (Shape::SIDE > 64 ? k % 2 * 4 : 0);
}

// Where rows are contiguous: four pieces of 8 rows, SIDE / 8 lanes to a k.
template <typename Shape>
struct PiecesOf<Shape, Along::Rows> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = Shape::SIDE * DEPTH / 8;
    static constexpr u32 ACROSS = Shape::SIDE / 8;

    u32 first_row, first_k;
    SHARED_SPACE u32x4* place;

    MEMBER PiecesOf(SHARED_SPACE u32x4* lds, Lane lane)
        : first_row(lane.number % ACROSS * 8),
          first_k(lane.number / ACROSS),
          place(lds + first_k * ACROSS + unit_of_rows<Shape>(first_row / 16, first_k) * 2 + first_row / 8 % 2) {
        keep(place);
    }

    MEMBER u32 row(u32) const { return first_row; }

    MEMBER u32 k(u32 piece) const { return first_k + piece * (Shape::LANES / ACROSS); }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * Shape::LANES] = values[piece];
        }
    }
};

// A read gives each of 16 lanes 4 k of its row, when lane i of them names 4
// rows of k i / 4.
template <typename Shape, u32 BLOCKS>
struct FragmentsOf<Shape, Along::Rows, BLOCKS> {
    static constexpr u32 ACROSS = Shape::SIDE / 4;

    SHARED_SPACE bf16x4* places[BLOCKS];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row, Lane lane) {
        u32 in_wave = lane.in_wave, k = in_wave % 16 / 4;
        for (u32 block = 0; block < BLOCKS; ++block) {
            u32 unit = unit_of_rows<Shape>((row + block * BLOCK) / 16 + in_wave / 16 % 2, k);
            places[block] = (SHARED_SPACE bf16x4*)lds + (in_wave / BLOCK * 8 + k) * ACROSS + unit * 4 + in_wave % 4;
            keep(places[block]);
        }
    }

    MEMBER bf16x8 read(u32 start, u32 block, u32 step) const {
        SHARED_SPACE bf16x4* from = places[block] + 2 * start + step * 16 * ACROSS;
        bf16x4 low = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from);
        bf16x4 high = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from + 4 * ACROSS);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
};

template <typename SHAPE>
struct Cdna4 {
    typedef SHAPE Shape;
    typedef bf16x8 Fragment;
    static constexpr u32 DEPTH = 64, STEPS = DEPTH / 16, UNITS = Shape::SIDE * DEPTH / 8;

    template <Along ALONG>
    using Pieces = PiecesOf<Shape, ALONG>;

    template <Along ALONG, u32 BLOCKS>
    using Fragments = FragmentsOf<Shape, ALONG, BLOCKS>;

    template <u32 ROWS, u32 COLUMNS>
    static MEMBER void multiply(const Fragment (&a)[ROWS], const Fragment (&b)[COLUMNS], f32x16 (*sums)[COLUMNS]) {
        for (u32 j = 0; j < COLUMNS; ++j) {
            for (u32 i = 0; i < ROWS; ++i) {
                sums[i][j] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[j], a[i], sums[i][j], 0, 0, 0);
            }
        }
    }
};

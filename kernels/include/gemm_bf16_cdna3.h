// What the bf16 matrix multiplication has of its own on CDNA3 (and CDNA2): the
// matrix instruction, and a layout of LDS that is the same for both kinds of
// operands.
//
// A stage in LDS has SIDE rows of 32 k in units of 16 bytes, two rows in 8
// units: unit (4 (row % 2) + k / 8) ^ (row / 2 % 8).
#pragma once
#include "gemm_bf16.h"

// Rows and pieces of K lie in LDS so that neither the eight lanes that read 16
// bytes each at once nor the sixteen that write 8 meet in a bank: the rows of
// a fragment are neighbours, and so are the rows or pieces that are written.
DEVICE u32 unit_of(u32 row, u32 piece) { return row / 2 * 8 + ((row % 2 * 4 + piece) ^ (row / 2 % 8)); }

template <typename Shape, Along ALONG>
struct PiecesOf;

// Where k is contiguous: two pieces of 8 k, four lanes to a row.
template <typename Shape>
struct PiecesOf<Shape, Along::K> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 2, WIDTH = 8, DEPTH = 32, UNITS = Shape::SIDE * DEPTH / 8;

    u32 first_row, first_k;
    SHARED_SPACE u32x4* place;

    MEMBER PiecesOf(SHARED_SPACE u32x4* lds, Lane lane)
        : first_row(lane.number / 4),
          first_k(lane.number % 4 * 8),
          place(lds + unit_of(first_row, first_k / 8)) {
        keep(place);
    }

    MEMBER u32 row(u32 piece) const { return first_row + piece * (Shape::LANES / 4); }

    MEMBER u32 k(u32) const { return first_k; }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * Shape::LANES] = values[piece];
        }
    }
};

// Where rows are contiguous: 4 k of 4 rows, which the lane transposes. Of a
// wave's lanes, 16 have neighbouring rows and 4 neighbouring k, in an order in
// which sixteen lanes that follow each other write to all banks.
template <typename Shape>
struct PiecesOf<Shape, Along::Rows> {
    typedef u32x2 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 4, DEPTH = 32, UNITS = Shape::SIDE * DEPTH / 8;

    u32 first_row;
    u32 first_k;
    SHARED_SPACE u32x2* places[4];

    MEMBER PiecesOf(SHARED_SPACE u32x4* lds, Lane lane) {
        constexpr u32 ACROSS = Shape::SIDE / 64;
        u32 wave = lane.wave, in_wave = lane.in_wave;
        first_row = (wave % ACROSS * 16 + in_wave / 16 * 4 + in_wave % 4) * 4;
        first_k = wave / ACROSS * 16 + in_wave / 4 % 4 * 4;
        for (u32 i = 0; i < 4; ++i) {
            places[i] = (SHARED_SPACE u32x2*)(lds + unit_of(first_row + i, first_k / 8)) + first_k / 4 % 2;
            keep(places[i]);
        }
    }

    MEMBER u32 row(u32) const { return first_row; }

    MEMBER u32 k(u32 piece) const { return first_k + piece; }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        constexpr u32 LOW = 0x05040100, HIGH = 0x07060302;
        for (u32 i = 0; i < 4; ++i) {
            u32 take = i % 2 == 0 ? LOW : HIGH;
            u32x2 column = {__builtin_amdgcn_perm(values[1][i / 2], values[0][i / 2], take),
                            __builtin_amdgcn_perm(values[3][i / 2], values[2][i / 2], take)};
            places[i][2 * start] = column;
        }
    }
};

// What a wave reads of a stage: blocks of 32 rows by 16 k. 16 bytes are the
// operands of two instructions: lanes 0 to 31 have k 0 to 7 of 16 and the
// others 8 to 15. Each instruction takes half of both, for A and B alike, so
// every product is there once.
struct FragmentsOf {
    SHARED_SPACE u32x4* places[2];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row, Lane lane) {
        for (u32 group = 0; group < 2; ++group) {
            places[group] = lds + row * 4 + unit_of(lane.in_wave % BLOCK, lane.in_wave / BLOCK + 2 * group);
            keep(places[group]);
        }
    }

    MEMBER u32x4 read(u32 start, u32 block, u32 group) const { return places[group][start + block * BLOCK * 4]; }
};

template <typename SHAPE>
struct Cdna3 {
    typedef SHAPE Shape;
    typedef u32x4 Fragment;
    static constexpr u32 DEPTH = 32, STEPS = DEPTH / 16, UNITS = Shape::SIDE * DEPTH / 8;

    template <Along ALONG>
    using Pieces = PiecesOf<Shape, ALONG>;

    template <Along, u32>
    using Fragments = FragmentsOf;

    static MEMBER i16x4 half_of(u32x4 fragment, u32 half) {
        u32x2 part = {fragment[2 * half], fragment[2 * half + 1]};
        return __builtin_bit_cast(i16x4, part);
    }

    template <u32 ROWS, u32 COLUMNS>
    static MEMBER void multiply(const Fragment (&a)[ROWS], const Fragment (&b)[COLUMNS], f32x16 (*sums)[COLUMNS]) {
        for (u32 half = 0; half < 2; ++half) {
            for (u32 j = 0; j < COLUMNS; ++j) {
                i16x4 column = half_of(b[j], half);
                for (u32 i = 0; i < ROWS; ++i) {
                    sums[i][j] =
                        __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(column, half_of(a[i], half), sums[i][j], 0, 0, 0);
                }
            }
        }
    }
};

// The f32 matrix multiplication. A workgroup of 256 lanes computes a square
// tile of C, and a lane EDGE x EDGE elements of it. Each product is added to its sum in the
// order of k, with one rounding.
#pragma once
#include "device.h"
#include "gemm.h"

constexpr u32 DEPTH = 16, LANES = 256;

template <u32 EDGE>
constexpr u32 SIDE_OF = 16 * EDGE;

// A lane's elements of a tile of SIDE rows x 16 k: pieces of four neighbours.
template <Along ALONG, u32 SIDE>
struct Operand {
    static constexpr u32 PIECES = SIDE * DEPTH / LANES / 4;

    const f32* data;
    u64 stride;
    u32 first, rows, depth;
    Lane lane;
    f32 values[PIECES][4];

    // Neighbours are read by neighbouring lanes where rows are contiguous; a
    // lane reads four neighbours where k is.
    MEMBER u32 row() const { return ALONG == Along::K ? lane.number % SIDE : lane.number % (SIDE / 4) * 4; }

    MEMBER u32 k(u32 piece) const {
        return ALONG == Along::K ? (lane.number / SIDE + piece * (LANES / SIDE)) * 4
                                 : lane.number / (SIDE / 4) + piece * (LANES / (SIDE / 4));
    }

    MEMBER void load(u32 start) {
        for (u32 piece = 0; piece < PIECES; ++piece) {
            for (u32 i = 0; i < 4; ++i) {
                u32 at_row = first + row() + (ALONG == Along::K ? 0 : i);
                u32 at_k = start + k(piece) + (ALONG == Along::K ? i : 0);
                bool inside = at_row < rows && at_k < depth;
                u64 at = ALONG == Along::K ? at_row * stride + at_k : at_k * stride + at_row;
                values[piece][i] = inside ? data[inside ? at : 0] : 0.0f;
            }
        }
    }

    MEMBER void store(SHARED_SPACE f32* tile) const {
        for (u32 piece = 0; piece < PIECES; ++piece) {
            for (u32 i = 0; i < 4; ++i) {
                u32 at_k = k(piece) + (ALONG == Along::K ? i : 0), at_row = row() + (ALONG == Along::K ? 0 : i);
                tile[at_k * SIDE + at_row] = values[piece][i];
            }
        }
    }
};

// What a lane has of C: EDGE rows that follow each other, and four columns of
// each 64.
template <u32 EDGE>
struct Sums {
    f32x4 quads[EDGE][EDGE / 4];
};

// The sums of a unit. `lds` has 16 k x SIDE rows of A, then as much of B.
template <u32 EDGE, Along LEFT, Along RIGHT>
DEVICE void sum_unit(SHARED_SPACE f32* lds, const Product& product, const Unit& unit, Lane lane, Sums<EDGE>& sums) {
    constexpr u32 SIDE = SIDE_OF<EDGE>;
    SHARED_SPACE f32 *a_tile = lds, *b_tile = lds + DEPTH * SIDE;
    Operand<LEFT, SIDE> left = {(const f32*)product.a, product.lda, unit.tile.row * SIDE,
                                product.m,             unit.first_k + unit.length, lane, {}};
    Operand<RIGHT, SIDE> right = {(const f32*)product.b, product.ldb, unit.tile.column * SIDE,
                                  product.n,             unit.first_k + unit.length, lane, {}};
    u32 row = lane.number / 16 * EDGE, column = lane.number % 16 * 4;
    u32 end = unit.first_k + unit.length;
    if (unit.length > 0) {
        left.load(unit.first_k);
        right.load(unit.first_k);
    }
#pragma nounroll
    for (u32 start = unit.first_k; start < end; start += DEPTH) {
        left.store(a_tile);
        right.store(b_tile);
        barrier();
        // What comes next is on its way while this is multiplied.
        if (start + DEPTH < end) {
            left.load(start + DEPTH);
            right.load(start + DEPTH);
        }
#pragma unroll 4
        for (u32 step = 0; step < DEPTH; ++step) {
            f32x4 x[EDGE / 4], y[EDGE / 4];
            for (u32 part = 0; part < EDGE / 4; ++part) {
                x[part] = *(SHARED_SPACE const f32x4*)&a_tile[step * SIDE + row + part * 4];
                y[part] = *(SHARED_SPACE const f32x4*)&b_tile[step * SIDE + column + part * 64];
            }
            for (u32 i = 0; i < EDGE; ++i) {
                for (u32 part = 0; part < EDGE / 4; ++part) {
                    for (u32 j = 0; j < 4; ++j) {
                        sums.quads[i][part][j] = __builtin_fmaf(x[i / 4][i % 4], y[part][j], sums.quads[i][part][j]);
                    }
                }
            }
        }
        barrier();
    }
}

// Finishes a tile, two rows of each lane at a time.
template <u32 EDGE>
DEVICE void store_sums(SHARED_SPACE f32x4* lds, const Sums<EDGE>& sums, const Product& product, const Unit& unit,
                       Lane lane) {
    constexpr u32 SIDE = SIDE_OF<EDGE>, ROWS = 2;
#pragma nounroll
    for (u32 pass = 0; pass < EDGE / ROWS; ++pass) {
        // Which registers are meant must be known to the compiler.
#pragma unroll
        for (u32 i = 0; i < EDGE; ++i) {
            if (i / ROWS == pass) {
                for (u32 part = 0; part < EDGE / 4; ++part) {
                    u32 row = lane.number / 16 * ROWS + i % ROWS;
                    lds[place_of_sums<SIDE>(row, lane.number % 16 + part * 16)] = sums.quads[i][part];
                }
            }
        }
        barrier();
        finish_rows<SIDE, LANES, 16 * ROWS>(lds, product, unit, lane, [=](u32 row) {
            return row / ROWS * EDGE + pass * ROWS + row % ROWS;
        });
        barrier();
    }
}

// What a workgroup does of a product: each `groups`-th unit.
template <u32 EDGE, Along LEFT, Along RIGHT>
DEVICE void multiply(f32x4* lds) {
    u32 taken = workgroup(), wave = wave_of_workgroup();
    while (true) {
        Sums<EDGE> sums = {};
        {
            Arguments arguments = fresh_arguments();
            Product product = arguments.product();
            Work work(product, SIDE_OF<EDGE>, arguments.depth);
            if (taken >= work.units) {
                return;
            }
            Unit unit = work.unit(product, taken);
            sum_unit<EDGE, LEFT, RIGHT>((SHARED_SPACE f32*)lds, product, unit, fresh_lane(wave), sums);
        }
        Arguments arguments = fresh_arguments();
        Product product = arguments.product();
        Unit unit = Work(product, SIDE_OF<EDGE>, arguments.depth).unit(product, taken);
        store_sums<EDGE>((SHARED_SPACE f32x4*)lds, sums, product, unit, fresh_lane(wave));
        taken += arguments.groups;
    }
}

#define LDS_OF(edge) SHARED f32x4 lds[2 * DEPTH * SIDE_OF<edge> / 4]

// An entry point that takes everything.
#define GEMM_F32(name, edge, left, right)                   \
    KERNEL(LANES) name(ARGUMENTS(const f32*)) {             \
        LDS_OF(edge);                                       \
        multiply<edge, Along::left, Along::right>(lds);     \
    }

// An entry point for C = A B and nothing else, one tile a workgroup.
#define GEMM_F32_PLAIN(name, edge, left, right)                                                                      \
    KERNEL(LANES) name(const f32* a, const f32* b, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {          \
        LDS_OF(edge);                                                                                                \
        Product product = {a, b, nullptr, nullptr, c, m, n, k, lda, ldb, ldc, Activation::None, true};               \
        Unit unit = Work(product, SIDE_OF<edge>, k).unit(product, workgroup());                                      \
        Sums<edge> sums = {};                                                                                        \
        u32 wave = wave_of_workgroup();                                                                              \
        sum_unit<edge, Along::left, Along::right>((SHARED_SPACE f32*)lds, product, unit, fresh_lane(wave), sums);    \
        store_sums<edge>((SHARED_SPACE f32x4*)lds, sums, product, unit, fresh_lane(wave));                           \
    }

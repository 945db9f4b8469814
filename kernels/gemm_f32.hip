// C = A B in f32 through LDS. C is m x n and row-major; A is m x k and B is
// k x n, each row-major or, where the name says T, the transpose of a
// row-major matrix: nn, nt (B is stored n x k), tn (A is stored k x m).
// Each product is added to its sum in the order of k, with one rounding.
//
// The form with `add` adds the product to a matrix that lies like C, in C's
// place or elsewhere.
//
// kernels:  gemm_f32_nn, gemm_f32_nt, gemm_f32_tn, gemm_f32_add_nn, gemm_f32_add_nt, gemm_f32_add_tn
// computes: a 64 x 64 tile of C, 4 x 4 elements a lane; ceil(m / 64) * ceil(n / 64) workgroups
// tiles:    64 x 64 x 16
// lds:      [0, 4096) A as 16 k x 64 rows, [4096, 8192) B as 16 k x 64 columns
// limit:    workgroup 256, vgprs 64, sgprs 64, lds 8192
#include "device.h"
#include "gemm.h"

constexpr u32 SIDE = 64, DEPTH = 16;

// A lane's four elements of a tile of 64 rows x 16 k.
template <Along ALONG>
struct Operand {
    const f32* data;
    u64 stride;
    u32 first, rows, depth;
    f32 values[4];

    // Neighbours are read by neighbouring lanes where rows are contiguous; a
    // lane reads four neighbours where k is.
    static MEMBER u32 row() {
        return ALONG == Along::K ? lane_of_workgroup() % SIDE : lane_of_workgroup() % 16 * 4;
    }

    static MEMBER u32 k() { return ALONG == Along::K ? lane_of_workgroup() / SIDE * 4 : lane_of_workgroup() / 16; }

    MEMBER void load(u32 start) {
        for (u32 i = 0; i < 4; ++i) {
            u32 at_row = first + row() + (ALONG == Along::K ? 0 : i);
            u32 at_k = start + k() + (ALONG == Along::K ? i : 0);
            bool inside = at_row < rows && at_k < depth;
            u64 at = ALONG == Along::K ? at_row * stride + at_k : at_k * stride + at_row;
            values[i] = inside ? data[inside ? at : 0] : 0.0f;
        }
    }

    MEMBER void store(f32 (*tile)[SIDE]) const {
        for (u32 i = 0; i < 4; ++i) {
            tile[k() + (ALONG == Along::K ? i : 0)][row() + (ALONG == Along::K ? 0 : i)] = values[i];
        }
    }
};

template <Along A_ALONG, Along B_ALONG>
DEVICE void gemm(const f32* a, const f32* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    SHARED f32 a_tile[DEPTH][SIDE] __attribute__((aligned(16)));
    SHARED f32 b_tile[DEPTH][SIDE] __attribute__((aligned(16)));
    Tile tile = tile_of_workgroup(ceil_div(m, SIDE), ceil_div(n, SIDE));
    Operand<A_ALONG> left = {a, lda, tile.row * SIDE, m, k, {}};
    Operand<B_ALONG> right = {b, ldb, tile.column * SIDE, n, k, {}};
    u32 row = lane_of_workgroup() / 16 * 4, column = lane_of_workgroup() % 16 * 4;
    f32x4 sums[4] = {};
    if (k > 0) {
        left.load(0);
        right.load(0);
    }
    for (u32 start = 0; start < k; start += DEPTH) {
        left.store(a_tile);
        right.store(b_tile);
        barrier();
        // What comes next is on its way while this is multiplied.
        if (start + DEPTH < k) {
            left.load(start + DEPTH);
            right.load(start + DEPTH);
        }
#pragma unroll
        for (u32 step = 0; step < DEPTH; ++step) {
            f32x4 x = *(const f32x4*)&a_tile[step][row];
            f32x4 y = *(const f32x4*)&b_tile[step][column];
            for (u32 i = 0; i < 4; ++i) {
                for (u32 j = 0; j < 4; ++j) {
                    sums[i][j] = __builtin_fmaf(x[i], y[j], sums[i][j]);
                }
            }
        }
        barrier();
    }
    for (u32 i = 0; i < 4; ++i) {
        for (u32 j = 0; j < 4; ++j) {
            u32 at_row = tile.row * SIDE + row + i, at_column = tile.column * SIDE + column + j;
            if (at_row < m && at_column < n) {
                u64 at = (u64)at_row * ldc + at_column;
                c[at] = added ? sums[i][j] + added[at] : sums[i][j];
            }
        }
    }
}

KERNEL(256)
gemm_f32_nn(const f32* a, const f32* b, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::K, Along::Rows>(a, b, nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(256)
gemm_f32_nt(const f32* a, const f32* b, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::K, Along::K>(a, b, nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(256)
gemm_f32_tn(const f32* a, const f32* b, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::Rows, Along::Rows>(a, b, nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(256)
gemm_f32_add_nn(const f32* a, const f32* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::K, Along::Rows>(a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(256)
gemm_f32_add_nt(const f32* a, const f32* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::K, Along::K>(a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(256)
gemm_f32_add_tn(const f32* a, const f32* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    gemm<Along::Rows, Along::Rows>(a, b, added, c, m, n, k, lda, ldb, ldc);
}

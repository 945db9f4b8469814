// C = A B in bf16 with sums in f32, as gemm_bf16.hip, with what CDNA4 adds: a
// matrix instruction with twice the depth, LDS for stages of twice the depth,
// and reads from LDS that transpose, so that operands whose rows are
// contiguous need no work on the way.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn
// computes: a 256 x 256 tile of C, 128 x 64 a wave; ceil(m / 256) * ceil(n / 256) workgroups
// tiles:    256 x 256 x 64, by v_mfma_f32_32x32x16_bf16
// lds:      [0, 65536) two stages of A, [65536, 131072) two of B; a stage has 256 rows of 64 k in
//           units of 16 bytes, unit (k / 8) ^ (row % 8) ^ (row / 8 % 2) of its row; or, where rows are
//           contiguous, 64 k of 256 rows in units of 32 bytes, unit (row / 16) ^ (k % 4) ^ (k % 2 * 4)
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 131072
#include "gemm_bf16.h"

// Where k is contiguous: four pieces of 8 k, eight lanes to a row.
struct PiecesAlongK {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = SIDE * DEPTH / 8;

    static MEMBER u32 unit_of(u32 row, u32 piece) { return row * 8 + (piece ^ (row % 8) ^ (row / 8 % 2)); }

    static MEMBER u32 row(u32 piece) { return piece * (LANES / 8) + lane_of_workgroup() / 8; }

    static MEMBER u32 k(u32) { return lane_of_workgroup() % 8 * 8; }

    static MEMBER void store(u32x4* lds, const Packed (&values)[COUNT]) {
        u32x4* at = lds + unit_of(row(0), k(0) / 8);
        for (u32 piece = 0; piece < COUNT; ++piece) {
            at[piece * LANES] = values[piece];
        }
    }

    // 32 rows from `row` on by 16 k: lanes 0 to 31 have the first 8 of these.
    static MEMBER bf16x8 fragment(const u32x4* lds, u32 row, u32 block, u32 step) {
        u32 lane = lane_of_wave();
        u32 at = unit_of(lane % BLOCK, lane / BLOCK + 2 * step);
        return __builtin_bit_cast(bf16x8, lds[(row + block * BLOCK) * 8 + at]);
    }
};

// Where rows are contiguous: four pieces of 8 rows, 32 lanes to a k.
struct PiecesAlongRows {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = SIDE * DEPTH / 8;

    static MEMBER u32 row(u32) { return lane_of_workgroup() % 32 * 8; }

    static MEMBER u32 k(u32 piece) { return piece * (LANES / 32) + lane_of_workgroup() / 32; }

    // Which 16 rows of a k lie in which 32 bytes.
    static MEMBER u32 place_of(u32 rows, u32 k) { return rows ^ (k % 4) ^ (k % 2 * 4); }

    static MEMBER void store(u32x4* lds, const Packed (&values)[COUNT]) {
        u32x4* at = lds + k(0) * 32 + place_of(row(0) / 16, k(0)) * 2 + row(0) / 8 % 2;
        for (u32 piece = 0; piece < COUNT; ++piece) {
            at[piece * LANES] = values[piece];
        }
    }

    // As above. A read gives each of 16 lanes 4 k of its row, when lane i of
    // them names 4 rows of k i / 4.
    static MEMBER bf16x8 fragment(const u32x4* lds, u32 row, u32 block, u32 step) {
        u32 lane = lane_of_wave();
        u32 k = lane % 16 / 4;
        u32 place = place_of((row + block * BLOCK) / 16 + lane / 16 % 2, k);
        u32 at = (lane / BLOCK * 8 + k) * 64 + place * 4 + lane % 4;
        typedef SHARED_SPACE bf16x4 Source;
        Source* from = (Source*)(bf16x4*)lds + at + step * 16 * 64;
        bf16x4 low = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from);
        bf16x4 high = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from + 4 * 64);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
};

template <Along ALONG>
struct ShapeFor;

template <>
struct ShapeFor<Along::K> {
    typedef PiecesAlongK type;
};

template <>
struct ShapeFor<Along::Rows> {
    typedef PiecesAlongRows type;
};

struct Cdna4 {
    static constexpr u32 DEPTH = 64, UNITS = PiecesAlongK::UNITS;

    template <Along ALONG>
    using Shape = typename ShapeFor<ALONG>::type;

    template <typename Left, typename Right>
    static MEMBER void multiply(const u32x4* left_lds, const u32x4* right_lds, u32 buffer, Sums& sums) {
#pragma unroll
        for (u32 step = 0; step < DEPTH / 16; ++step) {
            bf16x8 a[BLOCK_ROWS], b[BLOCK_COLUMNS];
            for (u32 i = 0; i < BLOCK_ROWS; ++i) {
                a[i] = Left::fragment(left_lds + buffer * UNITS, row_of_wave(), i, step);
            }
            for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
                b[j] = Right::fragment(right_lds + buffer * UNITS, column_of_wave(), j, step);
            }
            for (u32 i = 0; i < BLOCK_ROWS; ++i) {
                for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
                    sums.blocks[i][j] =
                        __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[j], a[i], sums.blocks[i][j], 0, 0, 0);
                }
            }
        }
    }
};

#define LDS SHARED u32x4 lds[4 * Cdna4::UNITS]

KERNEL(512)
gemm_bf16_nn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::Rows>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_nt(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::K>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_tn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::Rows, Along::Rows>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

// C = A B in bf16 with sums in f32. C is m x n and row-major; A is m x k and B
// is k x n, each row-major or, where the name says T, the transpose of a
// row-major matrix: nn, nt (B is stored n x k), tn (A is stored k x m).
// Any sizes; operands whose rows begin at multiples of 16 bytes are read in
// pieces of that size. Strides are below 2^23 elements.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn
// computes: a 256 x 256 tile of C, 128 x 64 a wave; ceil(m / 256) * ceil(n / 256) workgroups
// tiles:    256 x 256 x 32, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 32768) two stages of A, [32768, 65536) two of B; a stage has 256 rows of 32 k in
//           units of 16 bytes, two rows in 8 units: unit (4 (row % 2) + k / 8) ^ (row / 2 % 8)
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 65536
#include "gemm_bf16.h"

// Rows and pieces of K lie in LDS so that neither the eight lanes that read 16
// bytes each at once nor the sixteen that write 8 meet in a bank: the rows of
// a fragment are neighbours, and so are the rows or pieces that are written.
DEVICE u32 unit_of(u32 row, u32 piece) { return row / 2 * 8 + ((row % 2 * 4 + piece) ^ (row / 2 % 8)); }

// Where k is contiguous: two pieces of 8 k, four lanes to a row.
struct PiecesAlongK {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 2, WIDTH = 8, DEPTH = 32, UNITS = SIDE * DEPTH / 8;

    static MEMBER u32 row(u32 piece) { return piece * (LANES / 4) + lane_of_workgroup() / 4; }

    static MEMBER u32 k(u32) { return lane_of_workgroup() % 4 * 8; }

    static MEMBER void store(u32x4* lds, const Packed (&values)[COUNT]) {
        u32x4* at = lds + unit_of(row(0), k(0) / 8);
        for (u32 piece = 0; piece < COUNT; ++piece) {
            at[piece * (LANES / 4) * 4] = values[piece];
        }
    }
};

// Where rows are contiguous: 4 k of 4 rows, which the lane transposes.
struct PiecesAlongRows {
    typedef u32x2 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 4, DEPTH = 32, UNITS = SIDE * DEPTH / 8;

    // Of a wave's lanes, 16 have neighbouring rows and 4 neighbouring k, in
    // an order in which sixteen lanes that follow each other write to all banks.
    static MEMBER u32 row(u32) {
        u32 lane = lane_of_wave();
        return (wave_of_workgroup() % 4 * 16 + lane / 16 * 4 + lane % 4) * 4;
    }

    static MEMBER u32 first_k() { return wave_of_workgroup() / 4 * 16 + lane_of_wave() / 4 % 4 * 4; }

    static MEMBER u32 k(u32 piece) { return first_k() + piece; }

    static MEMBER void store(u32x4* lds, const Packed (&values)[COUNT]) {
        constexpr u32 LOW = 0x05040100, HIGH = 0x07060302;
        u32 half = first_k() / 4 % 2;
        for (u32 i = 0; i < 4; ++i) {
            u32 take = i % 2 == 0 ? LOW : HIGH;
            u32x2 column = {__builtin_amdgcn_perm(values[1][i / 2], values[0][i / 2], take),
                            __builtin_amdgcn_perm(values[3][i / 2], values[2][i / 2], take)};
            ((u32x2*)(lds + unit_of(row(0) + i, first_k() / 8)))[half] = column;
        }
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

// 16 bytes are the operands of two instructions: lanes 0 to 31 have k 0 to 7
// of 16 and the others 8 to 15. Each instruction takes half of both, for A and
// B alike, so every product is there once.
struct Cdna3 {
    static constexpr u32 DEPTH = 32, UNITS = PiecesAlongK::UNITS;

    template <Along ALONG>
    using Shape = typename ShapeFor<ALONG>::type;

    static MEMBER u32x4 fragment(const u32x4* lds, u32 row, u32 group) {
        u32 lane = lane_of_wave();
        return lds[row * 4 + unit_of(lane % BLOCK, lane / BLOCK + 2 * group)];
    }

    static MEMBER i16x4 half_of(u32x4 fragment, u32 half) {
        u32x2 part = {fragment[2 * half], fragment[2 * half + 1]};
        return __builtin_bit_cast(i16x4, part);
    }

    template <typename Left, typename Right>
    static MEMBER void multiply(const u32x4* left_lds, const u32x4* right_lds, u32 buffer, Sums& sums) {
        const u32x4* left = left_lds + buffer * UNITS;
        const u32x4* right = right_lds + buffer * UNITS;
#pragma unroll
        for (u32 group = 0; group < DEPTH / 16; ++group) {
            u32x4 a[BLOCK_ROWS], b[BLOCK_COLUMNS];
            for (u32 i = 0; i < BLOCK_ROWS; ++i) {
                a[i] = fragment(left, row_of_wave() + i * BLOCK, group);
            }
            for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
                b[j] = fragment(right, column_of_wave() + j * BLOCK, group);
            }
#pragma unroll
            for (u32 half = 0; half < 2; ++half) {
                for (u32 i = 0; i < BLOCK_ROWS; ++i) {
                    for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
                        sums.blocks[i][j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
                            half_of(b[j], half), half_of(a[i], half), sums.blocks[i][j], 0, 0, 0);
                    }
                }
            }
        }
    }
};

#define LDS SHARED u32x4 lds[4 * Cdna3::UNITS]

KERNEL(512)
gemm_bf16_nn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::Rows>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_nt(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::K>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_tn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::Rows, Along::Rows>(lds, a, b, c, m, n, k, lda, ldb, ldc);
}

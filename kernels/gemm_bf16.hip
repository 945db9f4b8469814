// C = A B in bf16 with sums in f32. C is m x n and row-major; A is m x k and B
// is k x n, each row-major or, where the name says T, the transpose of a
// row-major matrix: nn, nt (B is stored n x k), tn (A is stored k x m).
// Any sizes; operands whose rows begin at multiples of 16 bytes are read in
// pieces of that size. Strides are below 2^23 elements.
//
// The form with `f32` gives f32, added to a matrix that lies like C where one is given, in C's place
// or elsewhere.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn, gemm_bf16_f32_nn, gemm_bf16_f32_nt, gemm_bf16_f32_tn
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

template <Along ALONG>
struct PiecesOf;

// Where k is contiguous: two pieces of 8 k, four lanes to a row.
template <>
struct PiecesOf<Along::K> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 2, WIDTH = 8, DEPTH = 32, UNITS = SIDE * DEPTH / 8;

    u32 first_row = lane_of_workgroup() / 4;
    u32 first_k = lane_of_workgroup() % 4 * 8;
    SHARED_SPACE u32x4* place;

    MEMBER explicit PiecesOf(SHARED_SPACE u32x4* lds) : place(lds + unit_of(first_row, first_k / 8)) { keep(place); }

    MEMBER u32 row(u32 piece) const { return first_row + piece * (LANES / 4); }

    MEMBER u32 k(u32) const { return first_k; }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * (LANES / 4) * 4] = values[piece];
        }
    }
};

// Where rows are contiguous: 4 k of 4 rows, which the lane transposes. Of a
// wave's lanes, 16 have neighbouring rows and 4 neighbouring k, in an order in
// which sixteen lanes that follow each other write to all banks.
template <>
struct PiecesOf<Along::Rows> {
    typedef u32x2 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 4, DEPTH = 32, UNITS = SIDE * DEPTH / 8;

    u32 first_row;
    u32 first_k;
    SHARED_SPACE u32x2* places[4];

    MEMBER explicit PiecesOf(SHARED_SPACE u32x4* lds) {
        u32 lane = lane_of_wave(), wave = wave_of_workgroup();
        first_row = (wave % 4 * 16 + lane / 16 * 4 + lane % 4) * 4;
        first_k = wave / 4 * 16 + lane / 4 % 4 * 4;
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

// What a wave reads of a stage: BLOCKS times 32 rows by 16 k. 16 bytes are the
// operands of two instructions: lanes 0 to 31 have k 0 to 7 of 16 and the
// others 8 to 15. Each instruction takes half of both, for A and B alike, so
// every product is there once.
template <u32 BLOCKS>
struct FragmentsOf {
    SHARED_SPACE u32x4* places[2];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row) {
        u32 lane = lane_of_wave();
        for (u32 group = 0; group < 2; ++group) {
            places[group] = lds + row * 4 + unit_of(lane % BLOCK, lane / BLOCK + 2 * group);
            keep(places[group]);
        }
    }

    MEMBER u32x4 read(u32 start, u32 block, u32 group) const { return places[group][start + block * BLOCK * 4]; }
};

struct Cdna3 {
    typedef u32x4 Fragment;
    static constexpr u32 DEPTH = 32, STEPS = DEPTH / 16, UNITS = PiecesOf<Along::K>::UNITS;

    template <Along ALONG>
    using Pieces = PiecesOf<ALONG>;

    // Both kinds of operands lie in LDS alike.
    template <Along, u32 BLOCKS>
    using Fragments = FragmentsOf<BLOCKS>;

    static MEMBER i16x4 half_of(u32x4 fragment, u32 half) {
        u32x2 part = {fragment[2 * half], fragment[2 * half + 1]};
        return __builtin_bit_cast(i16x4, part);
    }

    static MEMBER void multiply(const Fragment (&a)[2], const Fragment (&b)[BLOCK_COLUMNS],
                                f32x16 (&first)[BLOCK_COLUMNS], f32x16 (&second)[BLOCK_COLUMNS]) {
        for (u32 half = 0; half < 2; ++half) {
            for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
                i16x4 column = half_of(b[j], half);
                first[j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(column, half_of(a[0], half), first[j], 0, 0, 0);
                second[j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(column, half_of(a[1], half), second[j], 0, 0, 0);
            }
        }
    }
};

#define LDS SHARED u32x4 lds[4 * Cdna3::UNITS]

KERNEL(512)
gemm_bf16_nn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::Rows>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_nt(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::K>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_tn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna3, Along::Rows, Along::Rows>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_nn(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::Rows>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_nt(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna3, Along::K, Along::K>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_tn(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna3, Along::Rows, Along::Rows>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

// C = A B in bf16 with sums in f32, as gemm_bf16.hip, with what CDNA4 adds: a
// matrix instruction with twice the depth, LDS for stages of twice the depth,
// and reads from LDS that transpose, so that operands whose rows are
// contiguous need no work on the way.
//
// The form with `f32` gives f32, added to a matrix that lies like C where one is given, in C's place
// or elsewhere.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn, gemm_bf16_f32_nn, gemm_bf16_f32_nt, gemm_bf16_f32_tn
// computes: a 256 x 256 tile of C, 128 x 64 a wave; ceil(m / 256) * ceil(n / 256) workgroups
// tiles:    256 x 256 x 64, by v_mfma_f32_32x32x16_bf16
// lds:      [0, 65536) two stages of A, [65536, 131072) two of B; a stage has 256 rows of 64 k in
//           units of 16 bytes, unit (k / 8) ^ (row % 8) ^ (row / 8 % 2) of its row; or, where rows are
//           contiguous, 64 k of 256 rows in units of 32 bytes, unit (row / 16) ^ (k % 4) ^ (k % 2 * 4)
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 131072
#include "gemm_bf16.h"

template <Along ALONG>
struct PiecesOf;

// What a wave reads of a stage: BLOCKS times 32 rows by 16 k, of which lanes 0
// to 31 have the first 8.
template <Along ALONG, u32 BLOCKS>
struct FragmentsOf;

DEVICE u32 unit_of(u32 row, u32 piece) { return row * 8 + (piece ^ (row % 8) ^ (row / 8 % 2)); }

// Where k is contiguous: four pieces of 8 k, eight lanes to a row.
template <>
struct PiecesOf<Along::K> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::K;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = SIDE * DEPTH / 8;

    u32 first_row = lane_of_workgroup() / 8;
    u32 first_k = lane_of_workgroup() % 8 * 8;
    SHARED_SPACE u32x4* place;

    MEMBER explicit PiecesOf(SHARED_SPACE u32x4* lds) : place(lds + unit_of(first_row, first_k / 8)) { keep(place); }

    MEMBER u32 row(u32 piece) const { return first_row + piece * (LANES / 8); }

    MEMBER u32 k(u32) const { return first_k; }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * LANES] = values[piece];
        }
    }
};

template <u32 BLOCKS>
struct FragmentsOf<Along::K, BLOCKS> {
    SHARED_SPACE u32x4* places[4];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row) {
        u32 lane = lane_of_wave();
        for (u32 step = 0; step < 4; ++step) {
            places[step] = lds + row * 8 + unit_of(lane % BLOCK, lane / BLOCK + 2 * step);
            keep(places[step]);
        }
    }

    MEMBER bf16x8 read(u32 start, u32 block, u32 step) const {
        return __builtin_bit_cast(bf16x8, places[step][start + block * BLOCK * 8]);
    }
};

// Which 16 rows of a k lie in which 32 bytes.
DEVICE u32 place_of(u32 rows, u32 k) { return rows ^ (k % 4) ^ (k % 2 * 4); }

// Where rows are contiguous: four pieces of 8 rows, 32 lanes to a k.
template <>
struct PiecesOf<Along::Rows> {
    typedef u32x4 Packed;
    static constexpr Along ALONG = Along::Rows;
    static constexpr u32 COUNT = 4, WIDTH = 8, DEPTH = 64, UNITS = SIDE * DEPTH / 8;

    u32 first_row = lane_of_workgroup() % 32 * 8;
    u32 first_k = lane_of_workgroup() / 32;
    SHARED_SPACE u32x4* place;

    MEMBER explicit PiecesOf(SHARED_SPACE u32x4* lds)
        : place(lds + first_k * 32 + place_of(first_row / 16, first_k) * 2 + first_row / 8 % 2) {
        keep(place);
    }

    MEMBER u32 row(u32) const { return first_row; }

    MEMBER u32 k(u32 piece) const { return first_k + piece * (LANES / 32); }

    MEMBER void store(u32 start, const Packed (&values)[COUNT]) const {
        for (u32 piece = 0; piece < COUNT; ++piece) {
            place[start + piece * LANES] = values[piece];
        }
    }
};

// A read gives each of 16 lanes 4 k of its row, when lane i of them names 4
// rows of k i / 4.
template <u32 BLOCKS>
struct FragmentsOf<Along::Rows, BLOCKS> {
    SHARED_SPACE bf16x4* places[BLOCKS];

    MEMBER FragmentsOf(SHARED_SPACE u32x4* lds, u32 row) {
        u32 lane = lane_of_wave();
        u32 k = lane % 16 / 4;
        for (u32 block = 0; block < BLOCKS; ++block) {
            u32 place = place_of((row + block * BLOCK) / 16 + lane / 16 % 2, k);
            places[block] = (SHARED_SPACE bf16x4*)lds + (lane / BLOCK * 8 + k) * 64 + place * 4 + lane % 4;
            keep(places[block]);
        }
    }

    MEMBER bf16x8 read(u32 start, u32 block, u32 step) const {
        SHARED_SPACE bf16x4* from = places[block] + 2 * start + step * 16 * 64;
        bf16x4 low = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from);
        bf16x4 high = __builtin_amdgcn_ds_read_tr16_b64_v4bf16(from + 4 * 64);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
};

struct Cdna4 {
    typedef bf16x8 Fragment;
    static constexpr u32 DEPTH = 64, STEPS = DEPTH / 16, UNITS = PiecesOf<Along::K>::UNITS;

    template <Along ALONG>
    using Pieces = PiecesOf<ALONG>;

    template <Along ALONG, u32 BLOCKS>
    using Fragments = FragmentsOf<ALONG, BLOCKS>;

    static MEMBER void multiply(const Fragment (&a)[2], const Fragment (&b)[BLOCK_COLUMNS],
                                f32x16 (&first)[BLOCK_COLUMNS], f32x16 (&second)[BLOCK_COLUMNS]) {
        for (u32 j = 0; j < BLOCK_COLUMNS; ++j) {
            first[j] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[j], a[0], first[j], 0, 0, 0);
            second[j] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(b[j], a[1], second[j], 0, 0, 0);
        }
    }
};

#define LDS SHARED u32x4 lds[4 * Cdna4::UNITS]

KERNEL(512)
gemm_bf16_nn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::Rows>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_nt(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::K>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_tn(const bf16* a, const bf16* b, bf16* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb, u32 ldc) {
    LDS;
    gemm<Cdna4, Along::Rows, Along::Rows>(lds, a, b, (const bf16*)nullptr, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_nn(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::Rows>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_nt(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna4, Along::K, Along::K>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

KERNEL(512)
gemm_bf16_f32_tn(const bf16* a, const bf16* b, const f32* added, f32* c, u32 m, u32 n, u32 k, u32 lda, u32 ldb,
                 u32 ldc) {
    LDS;
    gemm<Cdna4, Along::Rows, Along::Rows>(lds, a, b, added, c, m, n, k, lda, ldb, ldc);
}

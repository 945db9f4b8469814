// C = A B in f32 through LDS. C is m x n and row-major; A is m x k and B is
// k x n, each row-major or, where the name says t, the transpose of a
// row-major matrix: nn, nt (B is stored n x k), tn (A is stored k x m), tt.
//
// kernels:  gemm_f32_nn, gemm_f32_nt, gemm_f32_tn, gemm_f32_tt
// computes: a 64 x 64 tile of C, 4 x 4 elements a lane; ceil(m / 64) * ceil(n / 64) workgroups
// tiles:    64 x 64 x 16
// lds:      [0, 4096) A as 16 k x 64 rows, [4096, 8192) B as 16 k x 64 columns; then [0, 8192) the
//           sums of 32 rows
// limit:    workgroup 256, vgprs 56, sgprs 80, lds 8192
//
// Those that follow compute C = activation(A B + bias) + added: `mode` and the arguments before it
// are as in gemm_bf16_tiles.hip, but C, bias and added are f32 whatever `mode` says; `depth` is a
// multiple of 16.
//
// kernels:  gemm_f32_64x64_nn, gemm_f32_64x64_nt, gemm_f32_64x64_tn, gemm_f32_64x64_tt
// computes: 64 x 64 tiles of C, 4 x 4 elements a lane; `groups` workgroups
// tiles:    64 x 64 x 16
// lds:      as above
// limit:    workgroup 256, vgprs 80, sgprs 96, lds 8192
//
// kernels:  gemm_f32_128x128_nn, gemm_f32_128x128_nt, gemm_f32_128x128_tn, gemm_f32_128x128_tt
// computes: 128 x 128 tiles of C, 8 x 8 elements a lane; `groups` workgroups
// tiles:    128 x 128 x 16
// lds:      [0, 8192) A as 16 k x 128 rows, [8192, 16384) B as 16 k x 128 columns; then [0, 16384)
//           the sums of 32 rows
// limit:    workgroup 256, vgprs 128, sgprs 96, lds 16384
#include "gemm_f32.h"

GEMM_F32_PLAIN(gemm_f32_nn, 4, K, Rows)
GEMM_F32_PLAIN(gemm_f32_nt, 4, K, K)
GEMM_F32_PLAIN(gemm_f32_tn, 4, Rows, Rows)
GEMM_F32_PLAIN(gemm_f32_tt, 4, Rows, K)

GEMM_F32(gemm_f32_64x64_nn, 4, K, Rows)
GEMM_F32(gemm_f32_64x64_nt, 4, K, K)
GEMM_F32(gemm_f32_64x64_tn, 4, Rows, Rows)
GEMM_F32(gemm_f32_64x64_tt, 4, Rows, K)

GEMM_F32(gemm_f32_128x128_nn, 8, K, Rows)
GEMM_F32(gemm_f32_128x128_nt, 8, K, K)
GEMM_F32(gemm_f32_128x128_tn, 8, Rows, Rows)
GEMM_F32(gemm_f32_128x128_tt, 8, Rows, K)

// C = A B as gemm_bf16.hip, with what CDNA4 adds.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn, gemm_bf16_tt
// computes: a 256 x 256 tile of C, 128 x 64 a wave; ceil(m / 256) * ceil(n / 256) workgroups
// tiles:    256 x 256 x 64, by v_mfma_f32_32x32x16_bf16
// lds:      [0, 65536) two stages of A, [65536, 131072) two of B, see gemm_bf16_cdna4.h; then
//           [0, 65536) the sums of 64 rows
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 131072
#include "gemm_bf16_cdna4.h"

typedef Cdna4<Shape256> Machine;

GEMM_BF16_PLAIN(gemm_bf16_nn, Machine, K, Rows)
GEMM_BF16_PLAIN(gemm_bf16_nt, Machine, K, K)
GEMM_BF16_PLAIN(gemm_bf16_tn, Machine, Rows, Rows)
GEMM_BF16_PLAIN(gemm_bf16_tt, Machine, Rows, K)

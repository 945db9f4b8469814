// C = A B in bf16 with sums in f32. C is m x n and row-major; A is m x k and B
// is k x n, each row-major or, where the name says t, the transpose of a
// row-major matrix: nn, nt (B is stored n x k), tn (A is stored k x m), tt.
// Any sizes; operands whose rows begin at multiples of 16 bytes are read in
// pieces of that size. Strides are below 2^23 elements.
//
// kernels:  gemm_bf16_nn, gemm_bf16_nt, gemm_bf16_tn, gemm_bf16_tt
// computes: a 256 x 256 tile of C, 128 x 64 a wave; ceil(m / 256) * ceil(n / 256) workgroups
// tiles:    256 x 256 x 32, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 32768) two stages of A, [32768, 65536) two of B, see gemm_bf16_cdna3.h; then
//           [0, 65536) the sums of 64 rows
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 65536
#include "gemm_bf16_cdna3.h"

typedef Cdna3<Shape256> Machine;

GEMM_BF16_PLAIN(gemm_bf16_nn, Machine, K, Rows)
GEMM_BF16_PLAIN(gemm_bf16_nt, Machine, K, K)
GEMM_BF16_PLAIN(gemm_bf16_tn, Machine, Rows, Rows)
GEMM_BF16_PLAIN(gemm_bf16_tt, Machine, Rows, K)

// C = activation(A B + bias) + added, of A and B in bf16 that lie as in
// gemm_bf16.hip. C, bias and added are bf16, or f32 where `mode` is odd; mode / 2
// is the activation, numbered as in gemm.h. The sum is rounded once, at the end.
//
// K is taken in parts of `depth`, a multiple of 64. Where there are several,
// their sums are stored one after the other, without bias, activation and
// what is added: gemm_finish.hip adds them up. Workgroup g of `groups` takes
// units of work g, g + groups and so on.
//
// kernels:  gemm_bf16_256x256_nn, gemm_bf16_256x256_nt, gemm_bf16_256x256_tn, gemm_bf16_256x256_tt
// computes: 256 x 256 tiles of C, 128 x 64 a wave; `groups` workgroups
// tiles:    256 x 256 x 32, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 32768) two stages of A, [32768, 65536) two of B, see gemm_bf16_cdna3.h; then
//           [0, 65536) the sums of 64 rows
// limit:    workgroup 512, vgprs 256, sgprs 96, lds 65536
//
// kernels:  gemm_bf16_128x128_nn, gemm_bf16_128x128_nt, gemm_bf16_128x128_tn, gemm_bf16_128x128_tt
// computes: 128 x 128 tiles of C, 64 x 64 a wave; `groups` workgroups
// tiles:    128 x 128 x 32, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 16384) two stages of A, [16384, 32768) two of B; then [0, 32768) the sums of 64 rows
// limit:    workgroup 256, vgprs 176, sgprs 96, lds 32768
//
// kernels:  gemm_bf16_64x64_nn, gemm_bf16_64x64_nt, gemm_bf16_64x64_tn, gemm_bf16_64x64_tt
// computes: 64 x 64 tiles of C, 64 x 32 a wave; `groups` workgroups
// tiles:    64 x 64 x 32, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 8192) two stages of A, [8192, 16384) two of B; then [0, 8192) the sums of 32 rows
// limit:    workgroup 128, vgprs 176, sgprs 96, lds 16384
#include "gemm_bf16_cdna3.h"

typedef Cdna3<Shape256> Large;
typedef Cdna3<Shape128> Middle;
typedef Cdna3<Shape64> Small;

GEMM_BF16(gemm_bf16_256x256_nn, Large, K, Rows)
GEMM_BF16(gemm_bf16_256x256_nt, Large, K, K)
GEMM_BF16(gemm_bf16_256x256_tn, Large, Rows, Rows)
GEMM_BF16(gemm_bf16_256x256_tt, Large, Rows, K)

GEMM_BF16(gemm_bf16_128x128_nn, Middle, K, Rows)
GEMM_BF16(gemm_bf16_128x128_nt, Middle, K, K)
GEMM_BF16(gemm_bf16_128x128_tn, Middle, Rows, Rows)
GEMM_BF16(gemm_bf16_128x128_tt, Middle, Rows, K)

GEMM_BF16(gemm_bf16_64x64_nn, Small, K, Rows)
GEMM_BF16(gemm_bf16_64x64_nt, Small, K, K)
GEMM_BF16(gemm_bf16_64x64_tn, Small, Rows, Rows)
GEMM_BF16(gemm_bf16_64x64_tt, Small, Rows, K)

// Attention with grouped heads and matrix instructions, for heads of these sizes: 64, 96, 128 and
// 192, and 192 with values of 128. Operands are as those of attention.hip; they begin at multiples
// of 16 bytes, and a sequence has less than 2^31 of them.
//
// kernels:  attention_forward_bf16_64
// computes: 128 queries of one head, 32 a wave, and their logarithmic sums; batch * heads * ceil(queries / 128)
//           workgroups
// tiles:    128 queries x 64 keys, by v_mfma_f32_32x32x8_bf16
// lds:      [0, 8192) rows of keys, [8192, 16384) columns of values
// limit:    workgroup 256, vgprs 168, sgprs 96, lds 16384
// limit gfx90a: workgroup 256, vgprs 256, sgprs 96, lds 16384
//
// kernels:  attention_forward_bf16_96, attention_forward_bf16_128
// computes: as attention_forward_bf16_64
// tiles:    128 queries x 64 keys
// lds:      [0, 16384) rows of keys, then columns of values
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 32768
//
// kernels:  attention_forward_bf16_192, attention_forward_bf16_192_128
// computes: as attention_forward_bf16_64
// tiles:    128 queries x 64 keys
// lds:      [0, 24576) rows of keys, then columns of values
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 49152
//
// kernels:  attention_statistics_bf16
// computes: of 32 rows of the output two numbers for the kernels below; ceil(batch * queries * heads / 32)
//           workgroups
// tiles:    32 rows
// lds:      none
// limit:    workgroup 256, vgprs 40, sgprs 64, lds 0
//
// kernels:  attention_backward_queries_bf16_64, attention_backward_queries_bf16_128
// computes: the gradients of 128 queries of one head, 32 a wave; batch * heads * ceil(queries / 128) workgroups
// tiles:    128 queries x 64 or, with heads of 128, 32 keys
// lds:      [0, 8192) rows and [8192, 16384) columns of keys, then rows of values
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 24576
//
// kernels:  attention_backward_queries_bf16_96, attention_backward_queries_bf16_192,
//           attention_backward_queries_bf16_192_128
// computes: as attention_backward_queries_bf16_64
// tiles:    128 queries x 64 or, with heads of 192, 32 keys
// lds:      rows and columns of keys, then rows of values
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 45056
//
// kernels:  attention_backward_keys_bf16_64
// computes: the gradients of 128 keys and values of one key head, 32 a wave, over the query heads of its group
//           in order; batch * key heads * ceil(keys / 128) workgroups
// tiles:    128 keys x 32 queries
// lds:      [0, 4096) rows and [4096, 8192) columns of queries, [8192, 16384) those of gradients of the output,
//           [16384, 16640) statistics
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 16640
//
// kernels:  attention_backward_keys_bf16_96, attention_backward_keys_bf16_128, attention_backward_keys_bf16_192,
//           attention_backward_keys_bf16_192_128
// computes: as attention_backward_keys_bf16_64
// tiles:    128 keys x 32 or, with heads of 96, 64 queries
// lds:      rows and columns of queries, then those of gradients of the output, then statistics
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 57856
#include "attention_bf16_cdna3.h"

#define MACHINE Cdna3
#include "attention_bf16_kernels.h"

KERNEL(256)
attention_statistics_bf16(const bf16* out, const bf16* gradient, const f32* lse, f32x2* result, Sizes sizes) {
    statistics(out, gradient, lse, result, sizes);
}

#ifdef __gfx90a__
FORWARD(2, 64, 64, 64)
#else
FORWARD(3, 64, 64, 64)
#endif
FORWARD(2, 96, 96, 96)
FORWARD(2, 128, 128, 128)
FORWARD(1, 192, 192, 192)
FORWARD(1, 192_128, 192, 128)

BACKWARD_QUERIES(2, 64, 64, 64, 64)
BACKWARD_QUERIES(1, 96, 96, 96, 64)
BACKWARD_QUERIES(2, 128, 128, 128, 32)
BACKWARD_QUERIES(1, 192, 192, 192, 32)
BACKWARD_QUERIES(1, 192_128, 192, 128, 32)

BACKWARD_KEYS(2, 64, 64, 64, 32)
BACKWARD_KEYS(1, 96, 96, 96, 64)
BACKWARD_KEYS(1, 128, 128, 128, 32)
BACKWARD_KEYS(1, 192, 192, 192, 32)
BACKWARD_KEYS(1, 192_128, 192, 128, 32)

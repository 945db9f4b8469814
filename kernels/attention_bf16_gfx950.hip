// Attention with matrix instructions, as attention_bf16.hip, with what CDNA4 adds: a matrix instruction
// with twice the depth, reads from LDS that transpose, and an instruction that rounds to bf16.
//
// kernels:  attention_forward_bf16_64
// computes: 128 queries of one head, 32 a wave, and their logarithmic sums; batch * heads * ceil(queries / 128)
//           workgroups
// tiles:    128 queries x 64 keys, by v_mfma_f32_32x32x16_bf16
// lds:      [0, 8192) rows of keys, [8192, 16384) rows of values
// limit:    workgroup 256, vgprs 168, sgprs 96, lds 16384
//
// kernels:  attention_forward_bf16_96, attention_forward_bf16_128, attention_forward_bf16_192_128
// computes: as attention_forward_bf16_64
// tiles:    128 queries x 64 keys
// lds:      rows of keys, then rows of values
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 40960
//
// kernels:  attention_forward_bf16_192
// computes: as attention_forward_bf16_64
// tiles:    128 queries x 64 keys
// lds:      [0, 24576) rows of keys, [24576, 49152) rows of values
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 49152
//
// kernels:  attention_backward_queries_bf16_64, attention_backward_queries_bf16_96,
//           attention_backward_queries_bf16_128
// computes: the gradients of 128 queries of one head, 32 a wave; batch * heads * ceil(queries / 128) workgroups
// tiles:    128 queries x 64 or, with heads of 128, 32 keys
// lds:      rows of keys, then rows of values
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 32768
//
// kernels:  attention_backward_queries_bf16_192, attention_backward_queries_bf16_192_128
// computes: as attention_backward_queries_bf16_64
// tiles:    128 queries x 32 keys
// lds:      [0, 12288) rows of keys, then rows of values
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 24576
//
// kernels:  attention_backward_keys_bf16_64
// computes: the gradients of 128 keys and values of one key head, 32 a wave, over the query heads of its group
//           in order; batch * key heads * ceil(keys / 128) workgroups
// tiles:    128 keys x 32 queries
// lds:      [0, 4096) rows of queries, [4096, 8192) those of gradients of the output, [8192, 8448) statistics
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 8448
//
// kernels:  attention_backward_keys_bf16_96, attention_backward_keys_bf16_128, attention_backward_keys_bf16_192,
//           attention_backward_keys_bf16_192_128
// computes: as attention_backward_keys_bf16_64
// tiles:    128 keys x 32 or, with heads of 96, 64 queries
// lds:      rows of queries, then those of gradients of the output, then statistics
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 33280
#include "attention_bf16_cdna4.h"

#define MACHINE Cdna4
#include "attention_bf16_kernels.h"

FORWARD(3, 64, 64, 64)
FORWARD(2, 96, 96, 96)
FORWARD(2, 128, 128, 128)
FORWARD(1, 192, 192, 192)
FORWARD(2, 192_128, 192, 128)

BACKWARD_QUERIES(2, 64, 64, 64, 64)
BACKWARD_QUERIES(2, 96, 96, 96, 64)
BACKWARD_QUERIES(2, 128, 128, 128, 32)
BACKWARD_QUERIES(1, 192, 192, 192, 32)
BACKWARD_QUERIES(1, 192_128, 192, 128, 32)

BACKWARD_KEYS(2, 64, 64, 64, 32)
BACKWARD_KEYS(1, 96, 96, 96, 64)
BACKWARD_KEYS(1, 128, 128, 128, 32)
BACKWARD_KEYS(1, 192, 192, 192, 32)
BACKWARD_KEYS(1, 192_128, 192, 128, 32)

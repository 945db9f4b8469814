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
// computes: as above
// tiles:    as above
// lds:      [0, 16384) rows of keys, then columns of values
// limit:    workgroup 256, vgprs 256, sgprs 96, lds 32768
//
// kernels:  attention_forward_bf16_192, attention_forward_bf16_192_128
// computes: as above
// tiles:    as above
// lds:      [0, 24576) rows of keys, then columns of values
// limit:    workgroup 256, vgprs 512, sgprs 96, lds 49152
#include "attention_bf16_cdna3.h"
#include "attention_bf16_forward.h"

#define FORWARD(waves, name, d, dv)                                                                            \
    ATTENTION_KERNEL(waves)                                                                                    \
    attention_forward_bf16_##name(const bf16* q, const bf16* k, const bf16* v, const i32* start_at, bf16* out, \
                                  f32* lse, Sizes sizes) {                                                     \
        typedef Forward<Cdna3, d, dv> Problem;                                                                 \
        SHARED u32x4 lds[Problem::LDS];                                                                        \
        Problem().run(lds, q, k, v, start_at, out, lse, sizes);                                                \
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

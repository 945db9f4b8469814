// The entry points of attention with matrix instructions: `waves` that shall
// fit on a SIMD, what the kernel's name ends with, the sizes of heads, and what
// a tile has of the side that is gone through. `MACHINE` is defined before.
#pragma once
#include "attention_bf16_backward.h"
#include "attention_bf16_forward.h"

#define FORWARD(waves, name, d, dv)                                                                            \
    ATTENTION_KERNEL(waves)                                                                                    \
    attention_forward_bf16_##name(const bf16* q, const bf16* k, const bf16* v, const i32* start_at, bf16* out, \
                                  f32* lse, Sizes sizes) {                                                     \
        typedef Forward<MACHINE, d, dv> Problem;                                                                 \
        SHARED u32x4 lds[Problem::LDS];                                                                        \
        Problem().run(lds, q, k, v, start_at, out, lse, sizes);                                                \
    }

#define BACKWARD_QUERIES(waves, name, d, dv, keys)                                                                \
    ATTENTION_KERNEL(waves)                                                                                       \
    attention_backward_queries_bf16_##name(const bf16* q, const bf16* k, const bf16* v, const bf16* gradient,     \
                                           const f32x2* statistics, const i32* start_at, bf16* of_q, Sizes sizes) { \
        typedef BackwardQueries<MACHINE, d, dv, keys> Problem;                                                      \
        SHARED u32x4 lds[Problem::LDS];                                                                           \
        Problem().run(lds, q, k, v, gradient, statistics, start_at, of_q, sizes);                                 \
    }

#define BACKWARD_KEYS(waves, name, d, dv, queries)                                                           \
    ATTENTION_KERNEL(waves)                                                                                  \
    attention_backward_keys_bf16_##name(const bf16* q, const bf16* k, const bf16* v, const bf16* gradient,   \
                                        const f32x2* statistics, const i32* start_at, bf16* of_k, bf16* of_v, \
                                        Sizes sizes) {                                                       \
        typedef BackwardKeys<MACHINE, d, dv, queries> Problem;                                                 \
        SHARED u32x4 lds[Problem::LDS];                                                                      \
        Problem().run(lds, q, k, v, gradient, statistics, start_at, of_k, of_v, sizes);                      \
    }

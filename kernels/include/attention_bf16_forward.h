// Forward attention with matrix instructions: softmax as it goes along (Dao et
// al., 2022; Milakov and Gimelshein, 2018).
//
// A workgroup has 128 queries of a head, 32 a wave, and takes keys in tiles of
// 64. While a tile is multiplied the next one is on its way to registers. A
// lane has one query, so that maxima and sums need no other lane but the one
// with the other half of the keys.
#pragma once
#include "attention_bf16.h"

constexpr u32 QUERIES = WAVES * BLOCK;
constexpr u32 KEYS = 64;

template <typename Machine, u32 D, u32 DV>
struct Forward {
    typedef Images<Machine, KEYS, D, true, false, 0> OfKeys;
    typedef Images<Machine, KEYS, DV, false, true, OfKeys::END> OfValues;
    static constexpr u32 LDS = OfValues::END;
    static constexpr u32 KEY_BLOCKS = KEYS / BLOCK, VALUE_BLOCKS = DV / BLOCK;
    // Sums are scaled again once a score has grown by so many powers of two.
    static constexpr f32 SLACK = 8.0f;

    f32 factor;
    f32 reference = -__FLT_MAX__;
    f32x2 total = {0.0f, 0.0f};
    f32x16 sums[VALUE_BLOCKS] = {};

    // The largest score of a lane. The first step waits for the matrix
    // instructions as the compiler knows them, so the others need not.
    static MEMBER f32 largest(const f32x16 (&scores)[KEY_BLOCKS]) {
        f32 top = __builtin_fmaxf(scores[0][0], scores[1][0]);
        for (u32 i = 1; i < 16; ++i) {
            __asm__("v_max3_f32 %0, %0, %1, %2" : "+v"(top) : "v"(scores[0][i]), "v"(scores[1][i]));
        }
        return top;
    }

    // Makes the largest score so far the reference.
    MEMBER void rescale(f32 top) {
        f32 both = factor * __builtin_fmaxf(top, from_other_half(top));
        f32 next = __builtin_fmaxf(reference, both);
        f32 shrink = power_of_two(reference - next);
        reference = next;
        total *= shrink;
        for (u32 block = 0; block < VALUE_BLOCKS; ++block) {
            sums[block] *= shrink;
        }
    }

    // Adds a tile of which a lane's query sees the first `seen` keys.
    template <bool MASKED>
    MEMBER void add(const Rows<Machine, D>& keys, const typename Machine::template Columns<KEYS, DV>& values,
                    const Fixed<D>& query, i32 seen) {
        f32x16 scores[KEY_BLOCKS] = {};
        for (u32 step = 0; step < D / 16; ++step) {
            for (u32 block = 0; block < KEY_BLOCKS; ++block) {
                scores[block] = Machine::multiply(keys.template read<OfKeys::ROWS>(block, step), query.parts[step], scores[block]);
            }
        }
        for (u32 block = 0; MASKED && block < KEY_BLOCKS; ++block) {
            for (u32 i = 0; i < 16; ++i) {
                bool sees = (i32)(block * BLOCK + row_of(i)) < seen;
                scores[block][i] = sees ? scores[block][i] : -__builtin_inff();
            }
        }
        f32 top = largest(scores);
        bool grown = __builtin_fmaf(top, factor, -SLACK) > reference;
        if (__builtin_expect(__builtin_amdgcn_ballot_w64(grown) != 0, 0)) {
            rescale(top);
        }
        Operand probabilities[KEY_BLOCKS];
        for (u32 block = 0; block < KEY_BLOCKS; ++block) {
            f32x16 exponents = __builtin_elementwise_fma(scores[block], (f32x16)factor, (f32x16)-reference);
            for (u32 i = 0; i < 16; i += 2) {
                f32x2 pair = {power_of_two(exponents[i]), power_of_two(exponents[i + 1])};
                total += pair;
                exponents[i] = pair[0];
                exponents[i + 1] = pair[1];
            }
            probabilities[block] = operand_of<Machine>(exponents);
        }
        for (u32 step = 0; step < KEYS / 16; ++step) {
            for (u32 block = 0; block < VALUE_BLOCKS; ++block) {
                u32x4 part = probabilities[step / 2].parts[step % 2];
                sums[block] = Machine::multiply(values.template read<OfValues::COLUMNS>(block, step), part, sums[block]);
            }
        }
    }

    MEMBER void run(u32x4* memory, const bf16* q, const bf16* k, const bf16* v, const i32* start_at, bf16* out,
                    f32* lse, const Sizes& sizes) {
        u32 tiles = ceil_div(sizes.queries, QUERIES);
        // Heads side by side share keys; the last queries have most to do.
        u32 head = workgroup() % sizes.query_heads, rest = workgroup() / sizes.query_heads;
        u32 tile = tiles - 1 - rest % tiles, batch = rest / tiles;
        u32 key_head = head / (sizes.query_heads / sizes.key_heads);
        u32 first_query = tile * QUERIES + wave_of_workgroup() * BLOCK, query = first_query + lane_of_wave() % BLOCK;
        Head of_q(q, sizes.queries, sizes.query_heads, D, batch, head);
        Head of_k(k, sizes.keys, sizes.key_heads, D, batch, key_head);
        Head of_v(v, sizes.keys, sizes.key_heads, DV, batch, key_head);
        // What the first and the last query of the workgroup see.
        u32 least = visible(sizes, start_at, tile * QUERIES);
        u32 most = visible(sizes, start_at, smaller(tile * QUERIES + QUERIES, sizes.queries) - 1);
        i32 seen = (i32)visible(sizes, start_at, query);
        u32 most_of_wave = visible(sizes, start_at, first_query + BLOCK - 1);

        Place lds = (Place)memory;
        Stage<Machine, KEYS, OfKeys, OfValues> stage(lds);
        Rows<Machine, D> keys(lds);
        typename Machine::template Columns<KEYS, DV> values(lds);
        Fixed<D> fixed(of_q, query);
        factor = sizes.scale * LOG2_E;

        u32 whole = least / KEYS, all = ceil_div(most, KEYS);
        stage.go_to(of_k, of_v, 0);
        stage.load_next();
        stage.store();
        barrier();
        u32 at = 0;
#pragma nounroll
        for (; at < whole; ++at) {
            stage.load_next();
            __builtin_amdgcn_sched_barrier(0);
            add<false>(keys, values, fixed, KEYS);
            barrier();
            __builtin_amdgcn_sched_barrier(0);
            stage.store();
            barrier();
        }
#pragma nounroll
        for (; at < all; ++at) {
            stage.load_next();
            if (at * KEYS < most_of_wave) {
                add<true>(keys, values, fixed, seen - (i32)(at * KEYS));
            }
            barrier();
            stage.store();
            barrier();
        }
        if (query < sizes.queries) {
            finish(out + (((u64)batch * sizes.queries + query) * sizes.query_heads + head) * DV,
                   lse + ((u64)batch * sizes.query_heads + head) * sizes.queries + query);
        }
    }

    MEMBER void finish(bf16* out, f32* lse) {
        f32 sum = total[0] + total[1];
        sum += from_other_half(sum);
        store_sums<DV>(sums, sum == 0.0f ? 0.0f : 1.0f / sum, out);
        if (lane_of_wave() < BLOCK) {
            *lse = sum == 0.0f ? -__builtin_inff() : (reference + __builtin_amdgcn_logf(sum)) * LN_2;
        }
    }
};

// Backward attention with matrix instructions. Probabilities are computed
// again, once for the gradients of keys and values and once for those of
// queries, so that each sum has one owner and an order of its own.
//
// Statistics are two numbers a query: its logarithmic sum, in powers of two
// and negative, and the product of its output and that one's gradient,
// negative: what is added to scores and to gradients of probabilities.
#pragma once
#include "attention_bf16.h"
#include "reduce.h"

// Statistics of 32 queries of one position after another, eight lanes each.
template <typename T>
DEVICE void statistics(const T* out, const T* gradient, const f32* lse, f32x2* result, const Sizes& sizes) {
    u32 rows = sizes.batch * sizes.queries * sizes.query_heads, mine = workgroup() * 32 + lane_of_workgroup() / 8;
    u32 row = smaller(mine, rows - 1), lane = lane_of_wave() % 8;
    u32 head = row % sizes.query_heads, rest = row / sizes.query_heads;
    u32 query = rest % sizes.queries, batch = rest / sizes.queries;
    f32 sum = 0.0f;
    for (u32 i = lane * 8; i < sizes.value_size; i += 64) {
        u64 at = (u64)row * sizes.value_size + i;
        bf16x8 a = *(const bf16x8*)(out + at), b = *(const bf16x8*)(gradient + at);
        for (u32 j = 0; j < 8; ++j) {
            sum = __builtin_fmaf((f32)a[j], (f32)b[j], sum);
        }
    }
    constexpr u32 SWAP_1 = 0xb1, SWAP_2 = 0x4e, MIRROR_HALF = 0x141;
    sum += from_lane<SWAP_1>(sum);
    sum += from_lane<SWAP_2>(sum);
    sum += from_lane<MIRROR_HALF>(sum);
    if (lane == 0 && mine < rows) {
        u32 at = (batch * sizes.query_heads + head) * sizes.queries + query;
        result[at] = f32x2{-lse[at] * LOG2_E, -sum};
    }
}

// The statistics of a head.
DEVICE Buffer statistics_of(const f32x2* all, const Sizes& sizes, u32 batch, u32 head) {
    return buffer_of(all + ((u64)batch * sizes.query_heads + head) * sizes.queries, sizes.queries * sizeof(f32x2));
}

// Probabilities and the gradients of scores, from scores and the gradients of
// probabilities; of the latter `scale` is left to the end.
template <bool MASKED, typename Added, typename Sees>
DEVICE void differentiate(f32x16& scores, f32x16& gradients, f32 factor, Added added, Sees sees) {
    for (u32 i = 0; i < 16; i += 2) {
        f32x2 pair = {scores[i], scores[i + 1]};
        pair = __builtin_elementwise_fma(pair, (f32x2)factor, added(i));
        scores[i] = power_of_two(pair[0]);
        scores[i + 1] = power_of_two(pair[1]);
    }
    gradients *= scores;
    for (u32 i = 0; MASKED && i < 16; ++i) {
        scores[i] = sees(i) ? scores[i] : 0.0f;
        gradients[i] = sees(i) ? gradients[i] : 0.0f;
    }
}

// Gradients of keys and values. A workgroup has 128 keys of a head, 32 a wave,
// and takes the queries of its heads in order, in tiles of T.
template <typename Machine, u32 D, u32 DV, u32 T>
struct BackwardKeys {
    typedef Images<Machine, T, D, true, true, 0> OfQueries;
    typedef Images<Machine, T, DV, true, true, OfQueries::END> OfGradients;
    static constexpr u32 STATISTICS = OfGradients::END, LDS = STATISTICS + T / 2;
    static constexpr u32 KEYS = WAVES * BLOCK;

    f32x16 of_keys[D / BLOCK] = {};
    f32x16 of_values[DV / BLOCK] = {};

    // What a lane has of the statistics of a tile on the way to LDS: one
    // number. With T = 32 all waves have the same.
    struct Carried {
        Buffer buffer;
        u32 offset;
        u32 value;
        SHARED_SPACE u32* place;

        MEMBER explicit Carried(Place lds) : place((SHARED_SPACE u32*)lds + lane_of_workgroup() % (2 * T)) {}

        MEMBER void go_to(Buffer of_head, u32 first) {
            u32 lane = lane_of_workgroup() % (2 * T);
            buffer = of_head;
            offset = (first + lane % T) * sizeof(f32x2) + lane / T * sizeof(f32);
        }

        MEMBER void load_next() {
            value = __builtin_amdgcn_raw_buffer_load_b32(buffer, offset, 0, 0);
            offset += T * sizeof(f32x2);
        }

        MEMBER void store() const { *place = value; }
    };

    struct Readers {
        Both<Rows<Machine, D>, Rows<Machine, DV>> rows;
        Both<typename Machine::template Columns<T, D>, typename Machine::template Columns<T, DV>> columns;
        Place statistics;

        MEMBER explicit Readers(Place lds) : rows(lds), columns(lds), statistics(lds + lane_of_wave() / BLOCK) {
            keep(statistics);
        }

        // Of the queries whose rows a lane has, the first or second number.
        MEMBER f32x16 numbers(u32 which, u32 block) const {
            f32x16 result;
            for (u32 quad = 0; quad < 4; ++quad) {
                u32x4 bits = statistics[STATISTICS + (which * T + block * BLOCK) / 4 + quad * 2];
                f32x4 four = __builtin_bit_cast(f32x4, bits);
                for (u32 i = 0; i < 4; ++i) {
                    result[quad * 4 + i] = four[i];
                }
            }
            return result;
        }
    };

    // Adds a tile, of which the queries from `hidden` on see the lane's key.
    template <bool MASKED>
    MEMBER void add(const Readers& readers, const Fixed<D>& key, const Fixed<DV>& value, f32 factor, i32 hidden) {
        for (u32 block = 0; block < T / BLOCK; ++block) {
            f32x16 scores = {}, gradients = readers.numbers(1, block);
            for (u32 step = 0; step < D / 16; ++step) {
                u32x4 part = readers.rows.first().template read<OfQueries::ROWS>(block, step);
                scores = Machine::multiply(part, key.parts[step], scores);
            }
            for (u32 step = 0; step < DV / 16; ++step) {
                u32x4 part = readers.rows.second().template read<OfGradients::ROWS>(block, step);
                gradients = Machine::multiply(part, value.parts[step], gradients);
            }
            f32x16 added = readers.numbers(0, block);
            differentiate<MASKED>(
                scores, gradients, factor, [&](u32 i) { return f32x2{added[i], added[i + 1]}; },
                [&](u32 i) { return (i32)(block * BLOCK + row_of(i)) >= hidden; });
            Operand probabilities = operand_of<Machine>(scores), of_scores = operand_of<Machine>(gradients);
            for (u32 part = 0; part < 2; ++part) {
                u32 step = block * 2 + part;
                for (u32 i = 0; i < DV / BLOCK; ++i) {
                    u32x4 columns = readers.columns.second().template read<OfGradients::COLUMNS>(i, step);
                    of_values[i] = Machine::multiply(columns, probabilities.parts[part], of_values[i]);
                }
                for (u32 i = 0; i < D / BLOCK; ++i) {
                    u32x4 columns = readers.columns.first().template read<OfQueries::COLUMNS>(i, step);
                    of_keys[i] = Machine::multiply(columns, of_scores.parts[part], of_keys[i]);
                }
            }
        }
    }

    MEMBER void run(u32x4* memory, const bf16* q, const bf16* k, const bf16* v, const bf16* gradient,
                    const f32x2* statistics, const i32* start_at, bf16* out_k, bf16* out_v, const Sizes& sizes) {
        u32 key_head = workgroup() % sizes.key_heads, rest = workgroup() / sizes.key_heads;
        u32 tiles = ceil_div(sizes.keys, KEYS), tile = rest % tiles, batch = rest / tiles;
        u32 group = sizes.query_heads / sizes.key_heads;
        u32 first_key = tile * KEYS, last_key = smaller(first_key + KEYS, sizes.keys) - 1;
        u32 key_of_wave = first_key + wave_of_workgroup() * BLOCK, key = key_of_wave + lane_of_wave() % BLOCK;
        Fixed<D> own_key(Head(k, sizes.keys, sizes.key_heads, D, batch, key_head), key);
        Fixed<DV> own_value(Head(v, sizes.keys, sizes.key_heads, DV, batch, key_head), key);
        // Tiles before `begin` see no key of the workgroup, those from `whole` on see all.
        u32 all = ceil_div(sizes.queries, T), begin = 0, whole = 0;
        i64 start = 0;
        if (sizes.causal != 0) {
            start = start_at ? start_at[0] : sizes.start;
            i64 first = (i64)first_key - start, last = (i64)last_key - start;
            begin = first <= 0 ? 0 : (u32)smaller<i64>(first / T, all);
            whole = last <= 0 ? 0 : (u32)smaller<i64>((last + T - 1) / T, all);
        }

        Place lds = (Place)memory;
        Stage<Machine, T, OfQueries, OfGradients> stage(lds);
        Carried carried(lds + STATISTICS);
        Readers readers(lds);
        f32 factor = sizes.scale * LOG2_E;
        for (u32 head = key_head * group; head < (key_head + 1) * group; ++head) {
            stage.go_to(Head(q, sizes.queries, sizes.query_heads, D, batch, head),
                        Head(gradient, sizes.queries, sizes.query_heads, DV, batch, head), begin * T);
            carried.go_to(statistics_of(statistics, sizes, batch, head), begin * T);
            stage.load_next();
            carried.load_next();
            stage.store();
            carried.store();
            barrier();
            u32 at = begin;
#pragma nounroll
            for (; at < whole; ++at) {
                stage.load_next();
                carried.load_next();
                i64 hidden = (i64)key_of_wave - start - (i64)at * T;
                if (hidden < T) {
                    add<true>(readers, own_key, own_value, factor, (i32)hidden + (i32)(lane_of_wave() % BLOCK));
                }
                barrier();
                stage.store();
                carried.store();
                barrier();
            }
#pragma nounroll
            for (; at < all; ++at) {
                stage.load_next();
                carried.load_next();
                __builtin_amdgcn_sched_barrier(0);
                add<false>(readers, own_key, own_value, factor, 0);
                barrier();
                __builtin_amdgcn_sched_barrier(0);
                stage.store();
                carried.store();
                barrier();
            }
        }
        if (key < sizes.keys) {
            u64 row = ((u64)batch * sizes.keys + key) * sizes.key_heads + key_head;
            store_sums<D>(of_keys, sizes.scale, out_k + row * D);
            store_sums<DV>(of_values, 1.0f, out_v + row * DV);
        }
    }
};

// Gradients of queries. A workgroup has 128 queries of a head, 32 a wave, and
// takes keys in order, in tiles of T.
template <typename Machine, u32 D, u32 DV, u32 T>
struct BackwardQueries {
    typedef Images<Machine, T, D, true, true, 0> OfKeys;
    typedef Images<Machine, T, DV, true, false, OfKeys::END> OfValues;
    static constexpr u32 LDS = OfValues::END;
    static constexpr u32 QUERIES = WAVES * BLOCK;

    f32x16 of_queries[D / BLOCK] = {};

    struct Readers {
        Both<Rows<Machine, D>, Rows<Machine, DV>> rows;
        typename Machine::template Columns<T, D> columns;

        MEMBER explicit Readers(Place lds) : rows(lds), columns(lds) {}
    };

    // Adds a tile of which a lane's query sees the first `seen` keys.
    template <bool MASKED>
    MEMBER void add(const Readers& readers, const Fixed<D>& query, const Fixed<DV>& gradient, f32 factor,
                    f32x2 numbers, i32 seen) {
        for (u32 block = 0; block < T / BLOCK; ++block) {
            // Opaque, so that it stays in two registers.
            f32x2 added = numbers[0];
            __asm__("" : "+v"(added));
            f32x16 scores = {}, gradients = numbers[1];
            for (u32 step = 0; step < D / 16; ++step) {
                u32x4 part = readers.rows.first().template read<OfKeys::ROWS>(block, step);
                scores = Machine::multiply(part, query.parts[step], scores);
            }
            next_phase(scores);
            for (u32 step = 0; step < DV / 16; ++step) {
                u32x4 part = readers.rows.second().template read<OfValues::ROWS>(block, step);
                gradients = Machine::multiply(part, gradient.parts[step], gradients);
            }

            differentiate<MASKED>(
                scores, gradients, factor, [&](u32) { return added; },
                [&](u32 i) { return (i32)(block * BLOCK + row_of(i)) < seen; });
            Operand of_scores = operand_of<Machine>(gradients);
            next_phase(of_scores.parts[1]);
            for (u32 part = 0; part < 2; ++part) {
                for (u32 i = 0; i < D / BLOCK; ++i) {
                    u32x4 columns = readers.columns.template read<OfKeys::COLUMNS>(i, block * 2 + part);
                    of_queries[i] = Machine::multiply(columns, of_scores.parts[part], of_queries[i]);
                }
            }
        }
    }

    MEMBER void run(u32x4* memory, const bf16* q, const bf16* k, const bf16* v, const bf16* gradient,
                    const f32x2* statistics, const i32* start_at, bf16* out, const Sizes& sizes) {
        u32 tiles = ceil_div(sizes.queries, QUERIES);
        u32 head = workgroup() % sizes.query_heads, rest = workgroup() / sizes.query_heads;
        u32 tile = tiles - 1 - rest % tiles, batch = rest / tiles;
        u32 key_head = head / (sizes.query_heads / sizes.key_heads);
        u32 first_query = tile * QUERIES + wave_of_workgroup() * BLOCK, query = first_query + lane_of_wave() % BLOCK;
        Fixed<D> own(Head(q, sizes.queries, sizes.query_heads, D, batch, head), query);
        Fixed<DV> own_gradient(Head(gradient, sizes.queries, sizes.query_heads, DV, batch, head), query);
        f32x2 numbers = __builtin_bit_cast(
            f32x2, __builtin_amdgcn_raw_buffer_load_b64(statistics_of(statistics, sizes, batch, head),
                                                        query * sizeof(f32x2), 0, 0));
        u32 least = visible(sizes, start_at, tile * QUERIES);
        u32 most = visible(sizes, start_at, smaller(tile * QUERIES + QUERIES, sizes.queries) - 1);
        u32 most_of_wave = visible(sizes, start_at, first_query + BLOCK - 1);
        i32 seen = (i32)visible(sizes, start_at, query);

        Place lds = (Place)memory;
        Stage<Machine, T, OfKeys, OfValues> stage(lds);
        Readers readers(lds);
        f32 factor = sizes.scale * LOG2_E;
        u32 whole = least / T, all = ceil_div(most, T), at = 0;
        stage.go_to(Head(k, sizes.keys, sizes.key_heads, D, batch, key_head),
                    Head(v, sizes.keys, sizes.key_heads, DV, batch, key_head), 0);
        stage.load_next();
        stage.store();
        barrier();
#pragma nounroll
        for (; at < whole; ++at) {
            stage.load_next();
            __builtin_amdgcn_sched_barrier(0);
            add<false>(readers, own, own_gradient, factor, numbers, 0);
            barrier();
            __builtin_amdgcn_sched_barrier(0);
            stage.store();
            barrier();
        }
#pragma nounroll
        for (; at < all; ++at) {
            stage.load_next();
            if (at * T < most_of_wave) {
                add<true>(readers, own, own_gradient, factor, numbers, seen - (i32)(at * T));
            }
            barrier();
            stage.store();
            barrier();
        }
        if (query < sizes.queries) {
            store_sums<D>(of_queries, sizes.scale,
                          out + (((u64)batch * sizes.queries + query) * sizes.query_heads + head) * D);
        }
    }
};

// Attention with grouped heads, plain form: sums in f32, one key or query a
// lane, no matrix instructions. Scores of 256 keys at a time are in LDS, so
// memory does not grow with the square of the length. Every sum is taken in an
// order that depends on the sizes alone.
//
// Tensors lie as [batch, position, head, size]. Query head h reads key head
// h / (query heads / key heads). With `causal`, query i sees the keys
// 0 ..= start + i; `start_at`, where it is not null, holds start.
//
// kernels:  attention_forward_f32, attention_forward_bf16
// computes: one query of one head and its logarithmic sum; one workgroup each
// tiles:    1 query x 256 keys
// lds:      [0, 1024) probabilities, [1024, 1040) parts of the four waves
// limit:    workgroup 256, vgprs 64, sgprs 96, lds 1040
//
// kernels:  attention_delta_f32, attention_delta_bf16
// computes: sum(out * dout) of one query of one head a wave; ceil(queries / 4) workgroups
// tiles:    4 queries
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 64, lds 0
//
// kernels:  attention_backward_queries_f32, attention_backward_queries_bf16
// computes: the gradient of one query of one head; one workgroup each
// tiles:    1 query x 256 keys
// lds:      [0, 1024) gradients of scores
// limit:    workgroup 256, vgprs 64, sgprs 96, lds 1024
//
// kernels:  attention_backward_keys_f32, attention_backward_keys_bf16
// computes: the gradients of one key and value of one key head, over the query heads of its group in
//           order; one workgroup each
// tiles:    1 key x 256 queries
// lds:      [0, 1024) gradients of scores, [1024, 2048) probabilities
// limit:    workgroup 256, vgprs 64, sgprs 104, lds 2048
#include "attention.h"
#include "exp.h"
#include "reduce.h"

constexpr u32 TILE = 256;

// First element of a head of a position.
template <typename T>
DEVICE const T* head_of(const T* data, u32 positions, u32 heads, u32 size, u32 batch, u32 position, u32 head) {
    return data + (((u64)batch * positions + position) * heads + head) * size;
}

template <typename T>
DEVICE f32 product(const T* a, const T* b, u32 size) {
    f32 sum = 0.0f;
    for (u32 i = 0; i < size; ++i) {
        sum = __builtin_fmaf((f32)a[i], (f32)b[i], sum);
    }
    return sum;
}

template <typename T>
DEVICE void forward(const T* q, const T* k, const T* v, const i32* start_at, T* out, f32* lse, const Sizes& sizes) {
    SHARED f32 probabilities[TILE];
    SHARED f32 scratch[4];
    u32 lane = lane_of_workgroup();
    u32 query = workgroup() % sizes.queries, rest = workgroup() / sizes.queries;
    u32 head = rest % sizes.query_heads, batch = rest / sizes.query_heads;
    u32 key_head = head / (sizes.query_heads / sizes.key_heads);
    u32 count = visible(sizes, start_at, query);
    const T* own = head_of(q, sizes.queries, sizes.query_heads, sizes.size, batch, query, head);
    f32 largest = -__builtin_inff(), total = 0.0f, sum = 0.0f;
    for (u32 first = 0; first < count; first += TILE) {
        u32 here = smaller(count - first, TILE);
        f32 score = -__builtin_inff();
        if (lane < here) {
            const T* key = head_of(k, sizes.keys, sizes.key_heads, sizes.size, batch, first + lane, key_head);
            score = sizes.scale * product(own, key, sizes.size);
        }
        f32 before = largest;
        largest = __builtin_fmaxf(largest, over_workgroup<Max, 4>(score, scratch));
        f32 probability = exponential(score - largest);
        probabilities[lane] = probability;
        f32 shrink = exponential(before - largest);
        total = total * shrink + over_workgroup<Sum, 4>(probability, scratch);
        sum *= shrink;
        if (lane < sizes.value_size) {
            const T* value = head_of(v, sizes.keys, sizes.key_heads, sizes.value_size, batch, first, key_head) + lane;
            for (u32 key = 0; key < here; ++key) {
                f32 element = (f32)value[(u64)key * sizes.key_heads * sizes.value_size];
                sum = __builtin_fmaf(probabilities[key], element, sum);
            }
        }
        barrier();
    }
    if (lane < sizes.value_size) {
        u64 at = (((u64)batch * sizes.queries + query) * sizes.query_heads + head) * sizes.value_size + lane;
        out[at] = (T)(count == 0 ? 0.0f : sum / total);
    }
    if (lane == 0) {
        f32 sum_of_all = count == 0 ? -__builtin_inff() : largest + __builtin_logf(total);
        lse[((u64)batch * sizes.query_heads + head) * sizes.queries + query] = sum_of_all;
    }
}

template <typename T>
DEVICE void delta(const T* out, const T* gradient, f32* deltas, const Sizes& sizes) {
    u32 index = workgroup() * 4 + wave_of_workgroup();
    if (index >= sizes.batch * sizes.query_heads * sizes.queries) {
        return;
    }
    u32 query = index % sizes.queries, rest = index / sizes.queries;
    u32 head = rest % sizes.query_heads, batch = rest / sizes.query_heads;
    const T* a = head_of(out, sizes.queries, sizes.query_heads, sizes.value_size, batch, query, head);
    const T* b = head_of(gradient, sizes.queries, sizes.query_heads, sizes.value_size, batch, query, head);
    f32 sum = 0.0f;
    for (u32 i = lane_of_wave(); i < sizes.value_size; i += WAVE) {
        sum = __builtin_fmaf((f32)a[i], (f32)b[i], sum);
    }
    sum = over_wave<Sum>(sum);
    if (lane_of_wave() == 0) {
        deltas[index] = sum;
    }
}

// The probability of a pair, and the gradient of its score.
struct Pair {
    f32 probability, gradient;
};

template <typename T>
DEVICE Pair pair_of(const T* q, const T* k, const T* v, const T* gradient, f32 lse, f32 delta, const Sizes& sizes) {
    f32 score = sizes.scale * product(q, k, sizes.size);
    f32 probability = exponential(score - lse);
    f32 of_probability = product(gradient, v, sizes.value_size);
    return {probability, probability * (of_probability - delta) * sizes.scale};
}

template <typename T>
DEVICE void backward_queries(const T* q, const T* k, const T* v, const T* gradient, const f32* lse, const f32* deltas,
                             const i32* start_at, T* of_q, const Sizes& sizes) {
    SHARED f32 of_scores[TILE];
    u32 lane = lane_of_workgroup();
    u32 query = workgroup() % sizes.queries, rest = workgroup() / sizes.queries;
    u32 head = rest % sizes.query_heads, batch = rest / sizes.query_heads;
    u32 key_head = head / (sizes.query_heads / sizes.key_heads);
    u32 count = visible(sizes, start_at, query);
    const T* own = head_of(q, sizes.queries, sizes.query_heads, sizes.size, batch, query, head);
    const T* own_gradient = head_of(gradient, sizes.queries, sizes.query_heads, sizes.value_size, batch, query, head);
    f32 sum = 0.0f;
    for (u32 first = 0; first < count; first += TILE) {
        u32 here = smaller(count - first, TILE);
        if (lane < here) {
            const T* key = head_of(k, sizes.keys, sizes.key_heads, sizes.size, batch, first + lane, key_head);
            const T* value = head_of(v, sizes.keys, sizes.key_heads, sizes.value_size, batch, first + lane, key_head);
            Pair pair = pair_of(own, key, value, own_gradient, lse[workgroup()], deltas[workgroup()], sizes);
            of_scores[lane] = pair.gradient;
        }
        barrier();
        if (lane < sizes.size) {
            const T* key = head_of(k, sizes.keys, sizes.key_heads, sizes.size, batch, first, key_head) + lane;
            for (u32 i = 0; i < here; ++i) {
                sum = __builtin_fmaf(of_scores[i], (f32)key[(u64)i * sizes.key_heads * sizes.size], sum);
            }
        }
        barrier();
    }
    if (lane < sizes.size) {
        of_q[(((u64)batch * sizes.queries + query) * sizes.query_heads + head) * sizes.size + lane] = (T)sum;
    }
}

template <typename T>
DEVICE void backward_keys(const T* q, const T* k, const T* v, const T* gradient, const f32* lse, const f32* deltas,
                          const i32* start_at, T* of_k, T* of_v, const Sizes& sizes) {
    SHARED f32 of_scores[TILE];
    SHARED f32 probabilities[TILE];
    u32 lane = lane_of_workgroup();
    u32 position = workgroup() % sizes.keys, rest = workgroup() / sizes.keys;
    u32 key_head = rest % sizes.key_heads, batch = rest / sizes.key_heads;
    u32 group = sizes.query_heads / sizes.key_heads;
    const T* key = head_of(k, sizes.keys, sizes.key_heads, sizes.size, batch, position, key_head);
    const T* value = head_of(v, sizes.keys, sizes.key_heads, sizes.value_size, batch, position, key_head);
    f32 key_sum = 0.0f, value_sum = 0.0f;
    for (u32 head = key_head * group; head < (key_head + 1) * group; ++head) {
        u64 row = ((u64)batch * sizes.query_heads + head) * sizes.queries;
        for (u32 first = 0; first < sizes.queries; first += TILE) {
            u32 here = smaller(sizes.queries - first, TILE);
            Pair pair = {0.0f, 0.0f};
            u32 query = first + lane;
            if (lane < here && position < visible(sizes, start_at, query)) {
                const T* own = head_of(q, sizes.queries, sizes.query_heads, sizes.size, batch, query, head);
                const T* of_out =
                    head_of(gradient, sizes.queries, sizes.query_heads, sizes.value_size, batch, query, head);
                pair = pair_of(own, key, value, of_out, lse[row + query], deltas[row + query], sizes);
            }
            of_scores[lane] = pair.gradient;
            probabilities[lane] = pair.probability;
            barrier();
            if (lane < sizes.size) {
                const T* own = head_of(q, sizes.queries, sizes.query_heads, sizes.size, batch, first, head) + lane;
                for (u32 i = 0; i < here; ++i) {
                    f32 element = (f32)own[(u64)i * sizes.query_heads * sizes.size];
                    key_sum = __builtin_fmaf(of_scores[i], element, key_sum);
                }
            }
            if (lane < sizes.value_size) {
                const T* of_out =
                    head_of(gradient, sizes.queries, sizes.query_heads, sizes.value_size, batch, first, head) + lane;
                for (u32 i = 0; i < here; ++i) {
                    f32 element = (f32)of_out[(u64)i * sizes.query_heads * sizes.value_size];
                    value_sum = __builtin_fmaf(probabilities[i], element, value_sum);
                }
            }
            barrier();
        }
    }
    u64 at = ((u64)batch * sizes.keys + position) * sizes.key_heads + key_head;
    if (lane < sizes.size) {
        of_k[at * sizes.size + lane] = (T)key_sum;
    }
    if (lane < sizes.value_size) {
        of_v[at * sizes.value_size + lane] = (T)value_sum;
    }
}

KERNEL(256)
attention_forward_f32(const f32* q, const f32* k, const f32* v, const i32* start_at, f32* out, f32* lse, Sizes sizes) {
    forward(q, k, v, start_at, out, lse, sizes);
}

KERNEL(256)
attention_forward_bf16(const bf16* q, const bf16* k, const bf16* v, const i32* start_at, bf16* out, f32* lse,
                       Sizes sizes) {
    forward(q, k, v, start_at, out, lse, sizes);
}

KERNEL(256) attention_delta_f32(const f32* out, const f32* gradient, f32* deltas, Sizes sizes) {
    delta(out, gradient, deltas, sizes);
}

KERNEL(256) attention_delta_bf16(const bf16* out, const bf16* gradient, f32* deltas, Sizes sizes) {
    delta(out, gradient, deltas, sizes);
}

KERNEL(256)
attention_backward_queries_f32(const f32* q, const f32* k, const f32* v, const f32* gradient, const f32* lse,
                               const f32* deltas, const i32* start_at, f32* of_q, Sizes sizes) {
    backward_queries(q, k, v, gradient, lse, deltas, start_at, of_q, sizes);
}

KERNEL(256)
attention_backward_queries_bf16(const bf16* q, const bf16* k, const bf16* v, const bf16* gradient, const f32* lse,
                                const f32* deltas, const i32* start_at, bf16* of_q, Sizes sizes) {
    backward_queries(q, k, v, gradient, lse, deltas, start_at, of_q, sizes);
}

KERNEL(256)
attention_backward_keys_f32(const f32* q, const f32* k, const f32* v, const f32* gradient, const f32* lse,
                            const f32* deltas, const i32* start_at, f32* of_k, f32* of_v, Sizes sizes) {
    backward_keys(q, k, v, gradient, lse, deltas, start_at, of_k, of_v, sizes);
}

KERNEL(256)
attention_backward_keys_bf16(const bf16* q, const bf16* k, const bf16* v, const bf16* gradient, const f32* lse,
                             const f32* deltas, const i32* start_at, bf16* of_k, bf16* of_v, Sizes sizes) {
    backward_keys(q, k, v, gradient, lse, deltas, start_at, of_k, of_v, sizes);
}

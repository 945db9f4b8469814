// Cross entropy from logits in f32, which the projection's product makes for a
// chunk of tokens at a time, and the gradient of the logits.
//
// A negative target is ignored; one outside the vocabulary stops the kernel
// with a trap.
//
// kernels:  cross_entropy_loss
// computes: the loss of one token; one workgroup per token
// tiles:    1 token, 256 logits at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 48, sgprs 64, lds 16
//
// kernels:  cross_entropy_gradient_f32, cross_entropy_gradient_bf16
// computes: the loss of one token and dloss ((1 + 2 z lse) softmax - onehot(target)), which may lie
//           where the logits do; one workgroup per token
// tiles:    1 token, 256 logits at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 48, sgprs 64, lds 16
//
// kernels:  cross_entropy_sum
// computes: the sum of the tokens' losses and the number of those that count; one workgroup
// tiles:    256 tokens at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 32, lds 16
#include "device.h"
#include "exp.h"
#include "reduce.h"

struct Token {
    bool counts;
    u32 target;
    f32 lse, loss;
};

DEVICE Token token_of(const f32* logits, const i32* targets, f32* losses, u32 vocabulary, f32 z_loss) {
    SHARED f32 scratch[4];
    Token token = {false, 0, 0.0f, 0.0f};
    i32 target = targets[workgroup()];
    if (target >= 0) {
        if ((u32)target >= vocabulary) {
            __builtin_trap();
        }
        f32 largest = -__builtin_inff();
        for (u32 at = lane_of_workgroup(); at < vocabulary; at += 256) {
            largest = __builtin_fmaxf(largest, logits[at]);
        }
        largest = over_workgroup<Max, 4>(largest, scratch);
        f32 sum = 0.0f;
        for (u32 at = lane_of_workgroup(); at < vocabulary; at += 256) {
            sum += exponential(logits[at] - largest);
        }
        sum = over_workgroup<Sum, 4>(sum, scratch);
        f32 lse = largest + __builtin_logf(sum);
        token = {true, (u32)target, lse, lse - logits[target] + z_loss * lse * lse};
    }
    if (lane_of_workgroup() == 0) {
        losses[workgroup()] = token.loss;
    }
    return token;
}

template <typename T>
DEVICE void gradient(const f32* logits, const i32* targets, const f32* of_loss, T* of_logits, f32* losses,
                     u32 vocabulary, f32 z_loss) {
    const f32* own = logits + (u64)workgroup() * vocabulary;
    T* out = of_logits + (u64)workgroup() * vocabulary;
    Token token = token_of(own, targets, losses, vocabulary, z_loss);
    // The gradient may overwrite the logits: all lanes have read theirs.
    barrier();
    f32 factor = of_loss[0];
    for (u32 at = lane_of_workgroup(); at < vocabulary; at += 256) {
        f32 value = 0.0f;
        if (token.counts) {
            f32 probability = exponential(own[at] - token.lse) * (1.0f + 2.0f * z_loss * token.lse);
            value = factor * (probability - (at == token.target ? 1.0f : 0.0f));
        }
        out[at] = (T)value;
    }
}

KERNEL(256) cross_entropy_loss(const f32* logits, const i32* targets, f32* losses, u32 vocabulary, f32 z_loss) {
    token_of(logits + (u64)workgroup() * vocabulary, targets, losses, vocabulary, z_loss);
}

KERNEL(256)
cross_entropy_gradient_f32(const f32* logits, const i32* targets, const f32* of_loss, f32* of_logits, f32* losses,
                           u32 vocabulary, f32 z_loss) {
    gradient(logits, targets, of_loss, of_logits, losses, vocabulary, z_loss);
}

KERNEL(256)
cross_entropy_gradient_bf16(const f32* logits, const i32* targets, const f32* of_loss, bf16* of_logits, f32* losses,
                            u32 vocabulary, f32 z_loss) {
    gradient(logits, targets, of_loss, of_logits, losses, vocabulary, z_loss);
}

KERNEL(256) cross_entropy_sum(const f32* losses, const i32* targets, f32* loss, f32* count, u32 tokens) {
    SHARED f32 scratch[4];
    f32 sum = 0.0f, counted = 0.0f;
    for (u32 at = lane_of_workgroup(); at < tokens; at += 256) {
        sum += losses[at];
        counted += targets[at] >= 0 ? 1.0f : 0.0f;
    }
    sum = over_workgroup<Sum, 4>(sum, scratch);
    counted = over_workgroup<Sum, 4>(counted, scratch);
    if (lane_of_workgroup() == 0) {
        loss[0] = sum;
        count[0] = counted;
    }
}

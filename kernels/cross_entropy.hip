// Cross entropy from logits in f32, which the projection's product makes for a
// chunk of tokens at a time, and the gradient of the logits. Arrays begin at
// multiples of 16 bytes.
//
// A negative target is ignored; one outside the vocabulary stops the kernel
// with a trap.
//
// The loss reads logits once. So does the gradient up to 113664 of them, of
// which 98304 stay in registers and the others in LDS, where the vocabulary is
// a multiple of 8; what is beyond is read a second time.
//
// kernels:  cross_entropy_loss
// computes: the loss of one token; one workgroup per token
// tiles:    1 token, 16 waves x 512 logits at a time
// lds:      [0, 64) parts of the waves
// limit:    workgroup 1024, vgprs 64, sgprs 80, lds 64
//
// kernels:  cross_entropy_gradient_f32, cross_entropy_gradient_bf16
// computes: the loss of one token and dloss ((1 + 2 z lse) softmax - onehot(target)), which may lie
//           where the logits do; one workgroup per token
// tiles:    1 token, 16 waves x 512 logits at a time
// lds:      [0, 61440) logits, [61440, 61504) parts of the waves
// limit:    workgroup 1024, vgprs 128, sgprs 104, lds 61504
//
// kernels:  cross_entropy_sum
// computes: the sum of the tokens' losses and the number of those that count; one workgroup
// tiles:    256 lanes x 4 tokens at a time
// lds:      [0, 16) parts of the four waves
// limit:    workgroup 256, vgprs 32, sgprs 48, lds 16
#include "device.h"
#include "exp.h"
#include "reduce.h"
#include "vector.h"

constexpr u32 WAVES = 16;
// Blocks of a wave that stay in registers, and of all waves that stay in LDS.
constexpr u32 HELD = 12, STORED = 30;
// Below every logit, and finite: differences of two are no NaN.
constexpr f32 LEAST = -3.4028234663852886e38f;

// The largest of the logits seen so far, and the sum of exp(x - largest).
struct Online {
    f32 largest = LEAST, sum = 0.0f;

    template <typename V>
    MEMBER void add(V logits) {
        f32 next = Max::of(largest, over_lane<Max>(logits));
        sum = sum * exponential(largest - next) + over_lane<Sum>(each(logits - next, exponential));
        largest = next;
    }
};

struct Token {
    f32 lse, loss;
};

// From what each lane has seen; lane 0 knows the loss.
DEVICE Token token_of(Online seen, const f32* logits, u32 target, f32 z_loss) {
    SHARED f32 scratch[WAVES];
    f32 chosen = lane_of_workgroup() == 0 ? logits[target] : 0.0f;
    f32 largest = over_workgroup<Max, WAVES>(seen.largest, scratch);
    f32 sum = over_workgroup<Sum, WAVES>(seen.sum * exponential(seen.largest - largest), scratch);
    f32 lse = largest + __builtin_logf(sum);
    return {lse, lse - chosen + z_loss * lse * lse};
}

// Calls body(first, here) for the blocks of this wave, from a block of all on.
template <typename Move, typename Body>
DEVICE void blocks(u32 from, u32 count, Body body) {
    for (u32 first = (from + wave_of_workgroup()) * Move::COUNT; first < count; first += WAVES * Move::COUNT) {
        body(first, smaller(Move::COUNT, count - first));
    }
}

DEVICE bool counts(i32 target, u32 vocabulary) {
    if (target >= 0 && (u32)target >= vocabulary) {
        __builtin_trap();
    }
    return target >= 0;
}

constexpr f32 NOTHING = -__builtin_inff();

KERNEL(1024)
cross_entropy_loss(const f32* logits, const i32* targets, f32* losses, u32 vocabulary, f32 z_loss) {
    i32 target = targets[workgroup()];
    const f32* own = logits + (u64)workgroup() * vocabulary;
    f32 loss = 0.0f;
    if (counts(target, vocabulary)) {
        Online seen;
        auto read = [&](auto move) {
            typedef decltype(move) Move;
            blocks<Move>(0, vocabulary, [&](u32 first, u32 here) { seen.add(Move::load(own + first, here, NOTHING)); });
        };
        vocabulary % 4 == 0 ? read(Wide<Order::Halves>()) : read(Single());
        loss = token_of(seen, own, (u32)target, z_loss).loss;
    }
    if (lane_of_workgroup() == 0) {
        losses[workgroup()] = loss;
    }
}

// What a lane keeps in LDS of a block, for itself alone.
DEVICE SHARED_SPACE f32x4* place_of(u32 block) {
    SHARED f32x4 logits[STORED * 2 * WAVE];
    return (SHARED_SPACE f32x4*)logits + block * 2 * WAVE + lane_of_wave();
}

// `STEPS` blocks of each wave stay in registers, then so many of all in LDS.
template <typename Move, u32 STEPS, u32 STORED, typename T>
DEVICE void gradient_row(const f32* own, T* out, f32* loss, u32 target, f32 factor, u32 vocabulary, f32 z_loss) {
    decltype(widen(Move::load(own, 0))) kept[STEPS == 0 ? 1 : STEPS];
    auto held = [&](auto body) {
#pragma unroll
        for (u32 step = 0; step < STEPS; ++step) {
            u32 first = (step * WAVES + wave_of_workgroup()) * Move::COUNT;
            if (first < vocabulary) {
                body(step, first, smaller(Move::COUNT, vocabulary - first));
            }
        }
    };
    auto stored = [&](auto body) {
        for (u32 block = wave_of_workgroup(); block < STORED; block += WAVES) {
            u32 first = (STEPS * WAVES + block) * Move::COUNT;
            if (first < vocabulary) {
                body(place_of(block), first, smaller(Move::COUNT, vocabulary - first));
            }
        }
    };
    constexpr u32 REST = STEPS * WAVES + STORED;
    Online seen;
    held([&](u32 step, u32 first, u32 here) { kept[step] = widen(Move::load(own + first, here, NOTHING)); });
    held([&](u32 step, u32, u32) { seen.add(kept[step]); });
    if constexpr (STORED > 0) {
        stored([&](SHARED_SPACE f32x4* place, u32 first, u32 here) {
            f32x8 logits = Move::load(own + first, here, NOTHING);
            place[0] = __builtin_shufflevector(logits, logits, 0, 1, 2, 3);
            place[WAVE] = __builtin_shufflevector(logits, logits, 4, 5, 6, 7);
            seen.add(logits);
        });
    }
    blocks<Move>(REST, vocabulary, [&](u32 first, u32 here) { seen.add(Move::load(own + first, here, NOTHING)); });
    // The gradient may overwrite the logits: all lanes have read theirs.
    Token token = token_of(seen, own, target, z_loss);
    if (lane_of_workgroup() == 0) {
        *loss = token.loss;
    }
    f32 scale = 1.0f + 2.0f * z_loss * token.lse;
    auto write = [&](u32 first, u32 here, auto logits) {
        auto value = each(logits - token.lse, exponential) * scale;
        if constexpr (sizeof(value) == sizeof(f32)) {
            value -= first + Move::index(0) == target ? 1.0f : 0.0f;
        } else {
#pragma unroll
            for (u32 i = 0; i < 8; ++i) {
                value[i] -= first + Move::index(i) == target ? 1.0f : 0.0f;
            }
        }
        Move::store(out + first, factor * value, here);
    };
    held([&](u32 step, u32 first, u32 here) { write(first, here, kept[step]); });
    if constexpr (STORED > 0) {
        stored([&](SHARED_SPACE f32x4* place, u32 first, u32 here) {
            write(first, here, __builtin_shufflevector(place[0], place[WAVE], 0, 1, 2, 3, 4, 5, 6, 7));
        });
    }
    blocks<Move>(REST, vocabulary, [&](u32 first, u32 here) { write(first, here, Move::load(own + first, here)); });
}

template <typename T>
DEVICE void gradient(const f32* logits, const i32* targets, const f32* of_loss, T* of_logits, f32* losses,
                     u32 vocabulary, f32 z_loss) {
    const f32* own = logits + (u64)workgroup() * vocabulary;
    T* out = of_logits + (u64)workgroup() * vocabulary;
    f32* loss = losses + workgroup();
    f32 factor = of_loss[0];
    i32 target = targets[workgroup()];
    bool whole = vocabulary % aligned_count<f32, T>() == 0;
    if (counts(target, vocabulary)) {
        if (whole) {
            gradient_row<Wide<Order::Halves>, HELD, STORED>(own, out, loss, (u32)target, factor, vocabulary, z_loss);
        } else {
            gradient_row<Single, 0, 0>(own, out, loss, (u32)target, factor, vocabulary, z_loss);
        }
        return;
    }
    if (lane_of_workgroup() == 0) {
        *loss = 0.0f;
    }
    auto zeros = [&](auto move) {
        typedef decltype(move) Move;
        blocks<Move>(0, vocabulary, [&](u32 first, u32 here) {
            decltype(widen(Move::load(own, 0))) zero = 0.0f;
            Move::store(out + first, zero, here);
        });
    };
    whole ? zeros(Wide<Order::Halves>()) : zeros(Single());
}

KERNEL(1024)
cross_entropy_gradient_f32(const f32* logits, const i32* targets, const f32* of_loss, f32* of_logits, f32* losses,
                           u32 vocabulary, f32 z_loss) {
    gradient(logits, targets, of_loss, of_logits, losses, vocabulary, z_loss);
}

KERNEL(1024)
cross_entropy_gradient_bf16(const f32* logits, const i32* targets, const f32* of_loss, bf16* of_logits, f32* losses,
                            u32 vocabulary, f32 z_loss) {
    gradient(logits, targets, of_loss, of_logits, losses, vocabulary, z_loss);
}

KERNEL(256) cross_entropy_sum(const f32* losses, const i32* targets, f32* loss, f32* count, u32 tokens) {
    SHARED f32 scratch[4];
    f32 sum = 0.0f, counted = 0.0f;
    u32 whole = tokens / 4 * 4;
    for (u32 at = lane_of_workgroup() * 4; at < whole; at += 1024) {
        f32x4 values = *(const f32x4*)(losses + at);
        VECTOR(i32, 4) wanted = *(const VECTOR(i32, 4)*)(targets + at);
#pragma unroll
        for (u32 i = 0; i < 4; ++i) {
            sum += values[i];
            counted += wanted[i] >= 0 ? 1.0f : 0.0f;
        }
    }
    if (u32 at = whole + lane_of_workgroup(); at < tokens) {
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

// AdamW with scaling, clipping and the copy for the next forward pass in one
// pass over parameter, gradient and moments, which are updated in place.
//
// Arrays begin at multiples of 16 bytes; the grid has ceil(count / 2048)
// workgroups.
//
// kernels:  adamw_f32, adamw_bf16
// computes: 2048 elements; the suffix is the gradient's dtype. Nothing changes where `apply` is 0.
//           `copy` may be null.
// tiles:    4 waves x 512 elements
// lds:      none
// limit:    workgroup 256, vgprs 80, sgprs 80, lds 0
#include "device.h"
#include "vector.h"

// Part of the arguments.
struct Rates {
    f32 beta1, rest1, beta2, rest2, epsilon, decay;
};

DEVICE f32 root(f32 x) { return __builtin_sqrtf(x); }

template <typename T>
DEVICE void adamw(f32* parameter, const T* gradient, f32* m, f32* v, const f32* schedule, const f32* scale,
                  const f32* apply, bf16* copy, u64 count, const Rates& rates) {
    f32 rate = schedule[0], correction1 = schedule[1], correction2 = schedule[2], scaled = scale[0];
    if (apply[0] == 0.0f) {
        return;
    }
    over_blocks<Order::Halves>(count, [=](auto move, u64 at, u32 here) {
        auto g = widen(move.load(gradient + at, here)) * scaled;
        auto first = rates.beta1 * move.load(m + at, here) + rates.rest1 * g;
        auto second = rates.beta2 * move.load(v + at, here) + rates.rest2 * g * g;
        auto value = move.load(parameter + at, here);
        auto step = first / correction1 / (each(second / correction2, root) + rates.epsilon);
        value -= rate * (step + rates.decay * value);
        move.store(m + at, first, here);
        move.store(v + at, second, here);
        move.store(parameter + at, value, here);
        if (copy) {
            move.store(copy + at, value, here);
        }
    });
}

KERNEL(256)
adamw_f32(f32* parameter, const f32* gradient, f32* m, f32* v, const f32* schedule, const f32* scale, const f32* apply,
          bf16* copy, u64 count, Rates rates) {
    adamw(parameter, gradient, m, v, schedule, scale, apply, copy, count, rates);
}

KERNEL(256)
adamw_bf16(f32* parameter, const bf16* gradient, f32* m, f32* v, const f32* schedule, const f32* scale,
           const f32* apply, bf16* copy, u64 count, Rates rates) {
    adamw(parameter, gradient, m, v, schedule, scale, apply, copy, count, rates);
}

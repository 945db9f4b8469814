// AdamW with scaling, clipping and the copy for the next forward pass in one
// pass over parameter, gradient and moments, which are updated in place.
//
// kernels:  adamw_f32, adamw_bf16
// computes: 256 elements; the suffix is the gradient's dtype. Nothing changes where `apply` is 0.
//           `copy` may be null.
// tiles:    256 elements
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 64, lds 0
#include "device.h"

// Part of the arguments.
struct Rates {
    f32 beta1, rest1, beta2, rest2, epsilon, decay;
};

template <typename T>
DEVICE void adamw(f32* parameter, const T* gradient, f32* m, f32* v, const f32* schedule, const f32* scale,
                  const f32* apply, bf16* copy, u64 count, const Rates& rates) {
    u64 at = element();
    if (at >= count || apply[0] == 0.0f) {
        return;
    }
    f32 g = (f32)gradient[at] * scale[0];
    f32 first = rates.beta1 * m[at] + rates.rest1 * g;
    f32 second = rates.beta2 * v[at] + rates.rest2 * g * g;
    f32 step = first / schedule[1] / (__builtin_sqrtf(second / schedule[2]) + rates.epsilon);
    f32 value = parameter[at];
    value -= schedule[0] * (step + rates.decay * value);
    m[at] = first;
    v[at] = second;
    parameter[at] = value;
    if (copy) {
        copy[at] = (bf16)value;
    }
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

// The exponential function.
#pragma once
#include "device.h"

// e to the power of x, within two units in the last place. NaN stays NaN. The
// argument is cut into whole powers of two and a rest of at most a half, so
// that the hardware's exponential sees only arguments it is accurate for.
DEVICE f32 exponential(f32 x) {
    constexpr f32 LOG2_E = 1.44269502162933349609375f;
    constexpr f32 LOG2_E_REST = 1.92596303350e-8f;
    // Beyond these the result is 0 or infinity; comparisons let NaN pass.
    x = x > 200.0f ? 200.0f : x;
    x = x < -200.0f ? -200.0f : x;
    f32 whole = __builtin_rintf(x * LOG2_E);
    f32 rest = __builtin_fmaf(x, LOG2_E_REST, __builtin_fmaf(x, LOG2_E, -whole));
    return __builtin_amdgcn_ldexpf(__builtin_amdgcn_exp2f(rest), (i32)whole);
}

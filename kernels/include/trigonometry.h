// Cosines and sines in f64.
#pragma once
#include "device.h"

// Cosine and sine of an angle below 2^20, within 1e-15: what is left of it
// after whole quarter turns, in three pieces of pi / 2, goes through Taylor's
// polynomials.
DEVICE void cosine_and_sine(f64 angle, f64& cosine, f64& sine) {
    constexpr f64 TWO_OVER_PI = 0.6366197723675814;
    constexpr f64 PI_2_A = 0x1.921fb54400000p+0, PI_2_B = 0x1.0b4611a600000p-34, PI_2_C = 0x1.3198a2e037073p-69;
    f64 turns = __builtin_rint(angle * TWO_OVER_PI);
    f64 x = __builtin_fma(-turns, PI_2_A, angle);
    x = __builtin_fma(-turns, PI_2_B, x);
    x = __builtin_fma(-turns, PI_2_C, x);
    f64 y = x * x;
    // 1 / n!, from the last term on.
    f64 s = 1.0 / 355687428096000.0;
    s = __builtin_fma(s, -y, 1.0 / 1307674368000.0);
    s = __builtin_fma(s, -y, 1.0 / 6227020800.0);
    s = __builtin_fma(s, -y, 1.0 / 39916800.0);
    s = __builtin_fma(s, -y, 1.0 / 362880.0);
    s = __builtin_fma(s, -y, 1.0 / 5040.0);
    s = __builtin_fma(s, -y, 1.0 / 120.0);
    s = __builtin_fma(s, -y, 1.0 / 6.0);
    s = x - x * y * s;
    f64 c = 1.0 / 20922789888000.0;
    c = __builtin_fma(c, -y, 1.0 / 87178291200.0);
    c = __builtin_fma(c, -y, 1.0 / 479001600.0);
    c = __builtin_fma(c, -y, 1.0 / 3628800.0);
    c = __builtin_fma(c, -y, 1.0 / 40320.0);
    c = __builtin_fma(c, -y, 1.0 / 720.0);
    c = __builtin_fma(c, -y, 1.0 / 24.0);
    c = __builtin_fma(c, -y, 0.5);
    c = 1.0 - y * c;
    i32 quarter = (i32)turns & 3;
    f64 first = quarter & 1 ? s : c, second = quarter & 1 ? c : s;
    cosine = quarter == 1 || quarter == 2 ? -first : first;
    sine = quarter >= 2 ? -second : second;
}

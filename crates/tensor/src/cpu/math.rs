//! Elementary functions in f32 as straight-line code that becomes vector code.
//!
//! Separate multiplications and additions: the same bits on every instruction set.
//! Polynomial coefficients are those of the Cephes library (S. L. Moshier), `expf`,
//! `logf` and `tanhf`. The largest errors are measured by the tests below.

/// ln 2 in two parts; the first has so few bits that multiples up to 2^9 are exact.
const LN2_HIGH: f32 = 0.693_359_375;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
const ROUND: f32 = 12_582_912.0;

/// `e^x`, error below 1 unit in the last place where the result is normal; gradual
/// underflow.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond these the result is infinite or zero; NaN passes both comparisons.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN2_HIGH;
    let r = r - n * LN2_LOW;
    let mut p = 1.987_569_1e-4;
    p = p * r + 1.398_199_9e-3;
    p = p * r + 8.333_452e-3;
    p = p * r + 4.166_579_6e-2;
    p = p * r + 1.666_666_5e-1;
    p = p * r + 5.000_000_1e-1;
    let p = p * (r * r) + r + 1.0;
    // 2^n in two factors, so that neither leaves the range of the exponent.
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    let power = |n: i32| f32::from_bits((n.wrapping_add(127) as u32) << 23);
    p * power(half) * power(n.wrapping_sub(half))
}

/// Natural logarithm, error below 1 unit in the last place; NaN below zero.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let subnormal = x < f32::MIN_POSITIVE;
    let scaled = if subnormal { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits();
    let exponent = (bits.wrapping_sub(SQRT_HALF) as i32) >> 23;
    let m = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23)) - 1.0;
    let e = exponent as f32 - if subnormal { 23.0 } else { 0.0 };
    let z = m * m;
    let mut p = 7.037_683_6e-2;
    p = p * m - 1.151_461e-1;
    p = p * m + 1.167_699_9e-1;
    p = p * m - 1.242_014_1e-1;
    p = p * m + 1.424_932_3e-1;
    p = p * m - 1.666_805_8e-1;
    p = p * m + 2.000_071_5e-1;
    p = p * m - 2.499_999_4e-1;
    p = p * m + 3.333_333_1e-1;
    let tail = m * z * p + e * LN2_LOW - 0.5 * z;
    let mut y = m + tail + e * LN2_HIGH;
    y = if x == f32::INFINITY { x } else { y };
    y = if x == 0.0 { f32::NEG_INFINITY } else { y };
    if x < 0.0 || x.is_nan() { f32::NAN } else { y }
}

/// Hyperbolic tangent, error below 2 units in the last place.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let mut p = -5.704_988_7e-3;
    p = p * z + 2.063_908_9e-2;
    p = p * z - 5.373_971_6e-2;
    p = p * z + 1.333_144_2e-1;
    p = p * z - 3.333_328_2e-1;
    let small = x + x * (z * p);
    let large = 1.0 - 2.0 / (exp(a + a) + 1.0);
    let large = if x < 0.0 { -large } else { large };
    // NaN fails the comparison and is NaN in `large`.
    if a < 0.625 { small } else { large }
}

/// `1 / (1 + e^-x)`, error below 3 units in the last place, for any sign of `x`.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    let s = 1.0 / (1.0 + e);
    if x < 0.0 { e * s } else { s }
}

/// As [`sigmoid`], in f64.
#[inline(always)]
pub(super) fn sigmoid_f64(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    let s = 1.0 / (1.0 + e);
    if x < 0.0 { e * s } else { s }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest error in units in the last place of the true value, over every
    /// `step`-th bit pattern; results below the normal range count by absolute error.
    fn worst(f: fn(f32) -> f32, truth: fn(f64) -> f64, step: usize) -> (f64, f32) {
        let mut worst = (0.0, 0.0);
        for bits in (0..=u32::MAX).step_by(step) {
            let x = f32::from_bits(bits);
            let (got, want) = (f(x), truth(f64::from(x)));
            if want.is_nan() || x.is_nan() {
                assert!(got.is_nan(), "{x}: {got}, want NaN");
                continue;
            }
            let rounded = want as f32;
            if rounded.is_infinite() || got.is_infinite() {
                assert_eq!(got, rounded, "{x}");
                continue;
            }
            let magnitude = rounded.abs().max(f32::MIN_POSITIVE);
            let ulp = f64::from(magnitude.next_up() - magnitude);
            let error = (f64::from(got) - want).abs() / ulp;
            if error > worst.0 {
                worst = (error, x);
            }
        }
        worst
    }

    #[test]
    fn errors_are_below_the_documented_bounds() {
        let step = 251;
        let sigmoid_truth = |x: f64| {
            if x < 0.0 {
                x.exp() / (1.0 + x.exp())
            } else {
                1.0 / (1.0 + (-x).exp())
            }
        };
        type Case = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64);
        let cases: [Case; 4] = [
            ("exp", exp, f64::exp, 1.0),
            ("ln", ln, f64::ln, 1.0),
            ("tanh", tanh, f64::tanh, 2.0),
            ("sigmoid", sigmoid, sigmoid_truth, 3.0),
        ];
        for (name, f, truth, bound) in cases {
            let (error, at) = worst(f, truth, step);
            println!("{name}: {error:.3} ulp at {at}");
            assert!(error < bound, "{name}: {error} ulp at {at}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(ln(0.0), f32::NEG_INFINITY);
        assert_eq!(ln(1.0), 0.0);
        assert!(ln(-1.0).is_nan());
        assert_eq!(tanh(f32::INFINITY), 1.0);
        assert_eq!(tanh(f32::NEG_INFINITY), -1.0);
        assert_eq!(sigmoid(f32::NEG_INFINITY), 0.0);
        assert_eq!(sigmoid(f32::INFINITY), 1.0);
    }
}

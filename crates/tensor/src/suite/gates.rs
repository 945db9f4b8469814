//! When a result is right: signal-to-noise ratio and a bound on each element.

use cairn_formats::DType;

/// How far a result is from what is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// Signal-to-noise ratio in dB; infinite for equal results.
    pub snr_db: f64,
    /// Largest difference.
    pub max_error: f64,
    /// Row-major position of the largest excess over the bound of an element.
    pub position: usize,
    /// Value found there.
    pub found: f64,
    /// Value expected there.
    pub expected: f64,
    /// Both gates hold.
    pub pass: bool,
}

/// Least signal-to-noise ratio in dB, relative tolerance, and absolute
/// tolerance in units of the expected values' root mean square.
fn gates(dtype: DType) -> (f64, f64, f64) {
    match dtype {
        DType::F64 => (220.0, 1e-11, 1e-11),
        DType::F32 => (100.0, 1e-5, 2e-5),
        DType::F16 => (40.0, 4e-3, 1e-2),
        DType::BF16 => (40.0, 1.6e-2, 2e-2),
        _ => (f64::INFINITY, 0.0, 0.0),
    }
}

/// Compares `found` with `expected` by the gates of `dtype`. Values that are not
/// finite must be equal; of an all-zero expectation nothing may differ.
#[must_use]
pub fn measure(dtype: DType, found: &[f64], expected: &[f64]) -> Measure {
    let (least_db, rtol, atol) = gates(dtype);
    let finite = || expected.iter().filter(|value| value.is_finite());
    let count = finite().count().max(1) as f64;
    let signal: f64 = finite().map(|value| value * value).sum();
    let rms = (signal / count).sqrt();
    let mut worst = Measure {
        snr_db: f64::INFINITY,
        max_error: 0.0,
        position: 0,
        found: found.first().copied().unwrap_or(0.0),
        expected: expected.first().copied().unwrap_or(0.0),
        pass: found.len() == expected.len(),
    };
    let (mut noise, mut excess) = (0.0, f64::NEG_INFINITY);
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let error = if same {
            0.0
        } else if found.is_finite() && expected.is_finite() {
            (found - expected).abs()
        } else {
            f64::INFINITY
        };
        noise += error * error;
        worst.max_error = worst.max_error.max(error);
        let over = error
            - if same {
                0.0
            } else {
                atol * rms + rtol * expected.abs()
            };
        if over > excess {
            (excess, worst.position) = (over, position);
            (worst.found, worst.expected) = (*found, *expected);
        }
    }
    if noise > 0.0 {
        worst.snr_db = 10.0 * (signal / noise).log10();
    }
    worst.pass &= worst.snr_db >= least_db && excess <= 0.0;
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    const DTYPES: [DType; 5] = [DType::F64, DType::F32, DType::BF16, DType::F16, DType::I32];

    #[test]
    fn all_zero_answers_fail() {
        for dtype in DTYPES {
            for scale in [1e-20, 1.0, 1e20] {
                let expected: Vec<f64> = (1..40).map(|i| scale * f64::from(i % 7)).collect();
                let found = vec![0.0; expected.len()];
                assert!(!measure(dtype, &found, &expected).pass, "{dtype} {scale}");
                assert!(measure(dtype, &expected, &expected).pass, "{dtype} {scale}");
            }
        }
    }

    #[test]
    fn one_wrong_element_fails_and_is_named() {
        let expected = vec![1.0; 1_000_000];
        let mut found = expected.clone();
        found[77] = 1.001;
        let measure = measure(DType::F32, &found, &expected);
        assert!(!measure.pass);
        assert_eq!((measure.position, measure.found), (77, 1.001));
    }

    #[test]
    fn values_that_are_not_finite_must_be_equal() {
        let expected = [1.0, f64::NEG_INFINITY, f64::NAN];
        assert!(measure(DType::F32, &expected, &expected).pass);
        assert!(!measure(DType::F32, &[1.0, f64::MIN, f64::NAN], &expected).pass);
        assert!(
            !measure(
                DType::F32,
                &[f64::NAN, f64::NEG_INFINITY, f64::NAN],
                &expected
            )
            .pass
        );
    }

    #[test]
    fn a_missing_element_fails() {
        assert!(!measure(DType::F32, &[1.0], &[1.0, 1.0]).pass);
    }
}

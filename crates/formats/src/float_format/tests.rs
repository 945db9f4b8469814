//! Every encoding of every format, against published constants and a search for the
//! nearest value.

use super::*;
use half::{bf16, f16};
use proptest::prelude::*;

use Overflow::{NonSaturate, Saturate};
use Rounding::{NearestEven, Stochastic, TowardZero};

/// The formats with few enough encodings to walk through all of them.
fn formats() -> impl Iterator<Item = (DType, FloatFormat)> {
    let small = |d: &DType| d.bits() <= 16;
    DType::ALL
        .into_iter()
        .filter(small)
        .filter_map(|d| Some((d, FloatFormat::of(d)?)))
}

fn format(dtype: DType) -> FloatFormat {
    FloatFormat::of(dtype).unwrap()
}

/// The finite non-negative encodings in ascending order with their values.
fn finite(f: &FloatFormat) -> Vec<(u32, f64)> {
    (0..1 << (f.bits() - u32::from(f.has_sign())))
        .map(|code| (code, f.decode(code)))
        .filter(|(_, x)| x.is_finite())
        .collect()
}

#[test]
fn widths_agree_with_the_dtypes() {
    assert_eq!(formats().count(), 10);
    for (dtype, f) in formats() {
        assert_eq!(f.bits() as usize, dtype.bits(), "{dtype}");
    }
    for dtype in DType::ALL {
        let has_format = dtype.is_float() && dtype != DType::F64;
        assert_eq!(FloatFormat::of(dtype).is_some(), has_format, "{dtype}");
    }
}

#[test]
fn constants_of_the_specifications() {
    let e = |n: i32| 2_f64.powi(n);
    // dtype, largest, smallest normal, smallest positive
    let table = [
        (DType::F16, 65504.0, e(-14), e(-24)),
        (DType::BF16, e(127) * (2.0 - e(-7)), e(-126), e(-133)),
        (DType::F32, f64::from(f32::MAX), e(-126), e(-149)),
        (DType::F8E4M3Fnuz, 240.0, e(-7), e(-10)),
        (DType::F8E5M2Fnuz, 57344.0, e(-15), e(-17)),
        (DType::F8E4M3, 448.0, e(-6), e(-9)),
        (DType::F8E5M2, 57344.0, e(-14), e(-16)),
        (DType::F6E2M3, 7.5, 1.0, 0.125),
        (DType::F6E3M2, 28.0, 0.25, 0.0625),
        (DType::F4E2M1, 6.0, 1.0, 0.5),
        (DType::E8M0, e(127), e(-127), e(-127)),
    ];
    for (dtype, max, min_normal, min_positive) in table {
        let f = format(dtype);
        let found = (f.max(), f.min_normal(), f.min_positive());
        assert_eq!(found, (max, min_normal, min_positive), "{dtype}");
        let above_one = f.decode(f.encode(1.0, NearestEven, Saturate) + 1);
        assert_eq!(above_one - 1.0, f.epsilon(), "{dtype}");
    }
    let values = |dtype| -> Vec<f64> { finite(&format(dtype)).iter().map(|p| p.1).collect() };
    assert_eq!(
        values(DType::F4E2M1),
        [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    );
}

#[test]
fn specials_have_the_encodings_of_the_specifications() {
    // dtype, NaN encodings, infinity encodings
    let table: [(DType, &[u32], &[u32]); 8] = [
        (DType::F8E4M3Fnuz, &[0x80], &[]),
        (DType::F8E5M2Fnuz, &[0x80], &[]),
        (DType::F8E4M3, &[0x7f, 0xff], &[]),
        (
            DType::F8E5M2,
            &[0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff],
            &[0x7c, 0xfc],
        ),
        (DType::F6E2M3, &[], &[]),
        (DType::F6E3M2, &[], &[]),
        (DType::F4E2M1, &[], &[]),
        (DType::E8M0, &[0xff], &[]),
    ];
    for (dtype, nans, infinities) in table {
        let f = format(dtype);
        let all = || 0..1_u32 << f.bits();
        let found: Vec<_> = all().filter(|c| f.decode(*c).is_nan()).collect();
        assert_eq!(found, nans, "{dtype}");
        let found: Vec<_> = all().filter(|c| f.decode(*c).is_infinite()).collect();
        assert_eq!(found, infinities, "{dtype}");
        assert_eq!(f.has_nan(), !nans.is_empty());
        assert_eq!(f.has_infinity(), !infinities.is_empty());
    }
}

#[test]
fn sixteen_bit_formats_agree_with_the_scalar_library() {
    let (b, h) = (format(DType::BF16), format(DType::F16));
    for bits in 0..=u16::MAX {
        let code = u32::from(bits);
        let (bx, hx) = (
            bf16::from_bits(bits).to_f64(),
            f16::from_bits(bits).to_f64(),
        );
        assert_eq!(b.decode(code).to_bits(), bx.to_bits(), "bf16 {bits:#06x}");
        assert_eq!(h.decode(code).to_bits(), hx.to_bits(), "f16 {bits:#06x}");
    }
}

#[test]
fn encoding_inverts_decoding() {
    for (dtype, f) in formats() {
        for code in 0..1_u32 << f.bits() {
            let x = f.decode(code);
            assert!(
                f64::from(f.decode_f32(code)).total_cmp(&x).is_eq(),
                "{dtype} {code:#x} is no f32"
            );
            // Signalling NaNs become quiet, as in every conversion.
            let expected = match dtype {
                _ if !x.is_nan() => code,
                DType::F16 => code | 0x0200,
                DType::BF16 => code | 0x0040,
                DType::F8E5M2 => code | 0x02,
                _ => code,
            };
            for overflow in [Saturate, NonSaturate] {
                for rounding in [NearestEven, TowardZero, Stochastic(0), Stochastic(u32::MAX)] {
                    if x.is_infinite() && overflow == Saturate {
                        continue;
                    }
                    let back = f.encode(x, rounding, overflow);
                    assert_eq!(back, expected, "{dtype} {code:#x} {rounding:?}");
                }
            }
        }
    }
}

#[test]
fn decoding_is_monotone_and_odd() {
    for (dtype, f) in formats() {
        let values = finite(&f);
        assert!(values.windows(2).all(|p| p[0].1 < p[1].1), "{dtype}");
        let sign = 1 << (f.bits() - 1);
        for (code, x) in values.iter().filter(|_| f.has_sign()) {
            if *x != 0.0 || f.specials() != Specials::Fnuz {
                assert_eq!(f.decode(code | sign).to_bits(), (-x).to_bits(), "{dtype}");
            }
        }
    }
}

/// What would follow the largest finite value if the format went on.
fn beyond(values: &[(u32, f64)]) -> f64 {
    let (last, before) = (values[values.len() - 1].1, values[values.len() - 2].1);
    // Powers of two grow by their ratio; else the gap is that below, as no format's largest
    // finite value begins a binade.
    if last == 2.0 * before {
        2.0 * last
    } else {
        2.0 * last - before
    }
}

/// The encoding nearest to a positive `x` by search, ties to the even significand; one past
/// the largest if `x` is nearer to what would follow it.
fn nearest(dtype: DType, values: &[(u32, f64)], x: f64) -> u32 {
    let last_code = values[values.len() - 1].0;
    let next = beyond(values);
    let above = values.partition_point(|(_, v)| *v < x);
    let upper = values.get(above).copied().unwrap_or((last_code + 1, next));
    if x > next {
        return last_code + 1;
    }
    if above == 0 {
        return upper.0;
    }
    let lower = values[above - 1];
    // Exact: neighbours and the points tried lie within a factor of two of each other,
    // or the difference has few bits.
    let (down, up) = (x - lower.1, upper.1 - x);
    match down.total_cmp(&up) {
        std::cmp::Ordering::Less => lower.0,
        std::cmp::Ordering::Greater => upper.0,
        // Among powers of two every significand is one, which is odd.
        std::cmp::Ordering::Equal if dtype == DType::E8M0 => upper.0,
        std::cmp::Ordering::Equal => lower.0 + (lower.0 & 1),
    }
}

/// What the search finds, with the overflow rule spelled out anew.
fn oracle(dtype: DType, values: &[(u32, f64)], x: f64, overflow: Overflow) -> u32 {
    let f = format(dtype);
    let max = values[values.len() - 1].0;
    let magnitude = nearest(dtype, values, x.abs());
    let sign = if x < 0.0 { 1 << (f.bits() - 1) } else { 0 };
    match dtype {
        _ if magnitude <= max && !(magnitude == 0 && f.specials() == Specials::Fnuz) => {
            magnitude | sign
        }
        _ if magnitude == 0 => 0,
        DType::F4E2M1 | DType::F6E2M3 | DType::F6E3M2 => max | sign,
        _ if overflow == Saturate => max | sign,
        DType::F8E4M3Fnuz | DType::F8E5M2Fnuz => 0x80,
        DType::E8M0 => 0xff,
        // One past the largest is the NaN of E4M3 and the infinity of the IEEE formats.
        _ => (max + 1) | sign,
    }
}

#[test]
fn rounding_is_to_nearest_with_ties_to_even() {
    for (dtype, f) in formats() {
        let values = finite(&f);
        let beyond = beyond(&values);
        let ends = values
            .iter()
            .skip(1)
            .map(|p| p.1)
            .chain([beyond, 2.0 * beyond]);
        let mut n_ties = 0;
        for ((_, low), high) in values.iter().zip(ends) {
            let tie = low + (high - low) / 2.0;
            n_ties += 1;
            for x in [
                tie.next_down(),
                tie,
                tie.next_up(),
                low.next_up(),
                high.next_down(),
            ] {
                for x in if f.has_sign() { vec![x, -x] } else { vec![x] } {
                    for overflow in [Saturate, NonSaturate] {
                        let found = f.encode(x, NearestEven, overflow);
                        let expected = oracle(dtype, &values, x, overflow);
                        assert_eq!(found, expected, "{dtype} of {x:e}, {overflow:?}");
                    }
                }
            }
        }
        assert!(n_ties >= values.len() - 1);
    }
}

#[test]
fn special_values() {
    // dtype, then encodings of inf and -inf saturated, inf and -inf not, NaN, -0.0
    let table = [
        (DType::F8E4M3Fnuz, [0x7f, 0xff, 0x80, 0x80, 0x80, 0x00]),
        (DType::F8E5M2Fnuz, [0x7f, 0xff, 0x80, 0x80, 0x80, 0x00]),
        (DType::F8E4M3, [0x7e, 0xfe, 0x7f, 0xff, 0x7f, 0x80]),
        (DType::F8E5M2, [0x7b, 0xfb, 0x7c, 0xfc, 0x7e, 0x80]),
        (DType::F6E2M3, [0x1f, 0x3f, 0x1f, 0x3f, 0x1f, 0x20]),
        (DType::F6E3M2, [0x1f, 0x3f, 0x1f, 0x3f, 0x1f, 0x20]),
        (DType::F4E2M1, [0x7, 0xf, 0x7, 0xf, 0x7, 0x8]),
        (DType::E8M0, [0xfe, 0xff, 0xff, 0xff, 0xff, 0x00]),
        (DType::F16, [0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x8000]),
        (
            DType::BF16,
            [0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x8000],
        ),
    ];
    let inf = f64::INFINITY;
    let nan = f64::from_bits(0x7ff8_0000_0000_0000);
    for (dtype, expected) in table {
        let f = format(dtype);
        let found = [
            f.encode(inf, NearestEven, Saturate),
            f.encode(-inf, NearestEven, Saturate),
            f.encode(inf, NearestEven, NonSaturate),
            f.encode(-inf, NearestEven, NonSaturate),
            f.encode(nan, NearestEven, Saturate),
            f.encode(-0.0, NearestEven, Saturate),
        ];
        assert_eq!(found, expected, "{dtype}: {found:x?}");
        // What underflows keeps its sign where there is a negative zero.
        let tiny = f.encode(-f64::from_bits(1), NearestEven, Saturate);
        let negative = if dtype == DType::E8M0 {
            0xff
        } else {
            expected[5]
        };
        assert_eq!(tiny, negative, "{dtype}");
    }
}

#[test]
fn truncation_and_stochastic_rounding_at_the_edges() {
    for (dtype, f) in formats() {
        for pair in finite(&f).windows(2) {
            let ((low_code, low), (high_code, high)) = (pair[0], pair[1]);
            let three_quarters = low + (high - low) * 0.75;
            let at = |rounding| f.encode(three_quarters, rounding, Saturate);
            assert_eq!(at(TowardZero), low_code, "{dtype} {three_quarters:e}");
            assert_eq!(f.encode(high.next_down(), TowardZero, Saturate), low_code);
            // A carry needs a random word of at least a quarter of 2^32.
            assert_eq!(at(Stochastic((1 << 30) - 1)), low_code, "{dtype}");
            assert_eq!(at(Stochastic(1 << 30)), high_code, "{dtype}");
        }
    }
    let scale = format(DType::E8M0);
    assert_eq!(scale.encode(0.0, TowardZero, Saturate), 0);
    assert_eq!(scale.encode(7.99, TowardZero, Saturate), 127 + 2);
    // Ties between powers of two go up, whichever encoding is even.
    assert_eq!(scale.encode(1.5, NearestEven, Saturate), 128);
    assert_eq!(scale.encode(3.0, NearestEven, Saturate), 129);
    assert_eq!(scale.encode(2.999, NearestEven, Saturate), 128);
}

#[test]
fn stochastic_rounding_is_unbiased() {
    let f = format(DType::F8E4M3);
    // 1.03 is 0.24 of the way from 1 to 1.125; a walk through all upper halves of
    // the word must round up in that share of the cases.
    let ups = (0..1_u32 << 16)
        .filter(|r| f.encode(1.03, Stochastic(r << 16), Saturate) == 0x39)
        .count();
    let share = ups as f64 / f64::from(1 << 16);
    assert!((share - 0.24).abs() <= 2_f64.powi(-16), "{share}");
}

proptest! {
    #[test]
    fn f32_is_one_of_the_formats(bits in any::<u64>()) {
        let x = f64::from_bits(bits);
        let f = format(DType::F32);
        let code = f.encode(x, NearestEven, NonSaturate);
        prop_assert_eq!(code, (x as f32).to_bits());
        let back = f64::from(f32::from_bits(code));
        prop_assert_eq!(f.decode(code).to_bits(), back.to_bits());
    }

    #[test]
    fn scalars_and_format_agree_on_sixteen_bits(bits in any::<u32>()) {
        let x = f32::from_bits(bits);
        let b = format(DType::BF16).encode_f32(x, NearestEven, NonSaturate);
        prop_assert_eq!(b, u32::from(crate::bf16_from_f32(x).to_bits()));
        let h = format(DType::F16).encode_f32(x, NearestEven, NonSaturate);
        prop_assert_eq!(h, u32::from(crate::f16_from_f32(x).to_bits()));
    }

    #[test]
    fn stochastic_bf16_agrees_with_the_format(bits in any::<u32>(), random in any::<u32>()) {
        let x = f32::from_bits(bits);
        let word = random << 16;
        let expected = format(DType::BF16).encode_f32(x, Stochastic(word), NonSaturate);
        let found = crate::bf16_from_f32_stochastic(x, random).to_bits();
        prop_assert_eq!(u32::from(found), expected);
    }

    #[test]
    fn any_value_rounds_as_the_search_finds(bits in any::<u64>()) {
        // Exponents around those of the small formats; the search needs exact differences.
        let bits = bits & !(0x7ff << 52) | (1023 - 24 + (bits >> 52) % 48) << 52;
        let x = f64::from_bits(bits) as f32;
        for (dtype, f) in formats().filter(|(d, _)| d.bits() <= 8) {
            let x = if f.has_sign() { f64::from(x) } else { f64::from(x.abs()) };
            let found = f.encode(x, NearestEven, NonSaturate);
            let expected = oracle(dtype, &finite(&f), x, NonSaturate);
            prop_assert_eq!(found, expected, "{} of {:e}", dtype, x);
        }
    }
}

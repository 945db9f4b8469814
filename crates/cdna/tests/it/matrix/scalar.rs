//! A second form of the hardware's sums: one element at a time, in 128-bit integers.
//!
//! Written from the model's statement, not from the vector form: nothing is normalised to
//! a common significand, nothing is a float, and every rounding is a shift.

use cairn_cdna::matrix::{Arch, Element};
use cairn_formats::{FloatFormat, Specials};

/// An encoding taken apart: magnitude * 2^unit, or something special.
#[derive(Clone, Copy, Debug)]
struct Number {
    negative: bool,
    magnitude: u64,
    /// The exponent of the last bit of `magnitude`.
    unit: i32,
    /// The exponent the model gives it.
    exponent: i32,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Finite,
    Infinite,
    Nan,
}

fn take_apart(format: &FloatFormat, code: u32, scale: i32) -> Number {
    let (mb, eb) = (format.mantissa_bits(), format.exponent_bits());
    let mantissa = u64::from(code & ((1 << mb) - 1));
    let field = code >> mb & ((1 << eb) - 1);
    let negative = code >> (mb + eb) & 1 == 1;
    let ones = field == (1 << eb) - 1;
    let what = match format.specials() {
        Specials::Ieee if ones && mantissa == 0 => What::Infinite,
        Specials::Ieee if ones => What::Nan,
        Specials::NanOnly if ones && mantissa == (1 << mb) - 1 => What::Nan,
        Specials::Fnuz if negative && field == 0 && mantissa == 0 => What::Nan,
        _ if scale == 255 => What::Nan,
        _ => What::Finite,
    };
    let what = if scale == 255 { What::Nan } else { what };
    let magnitude = if field == 0 {
        mantissa
    } else {
        mantissa | 1 << mb
    };
    let exponent = field.max(1) as i32 - format.bias() + scale - 127;
    Number {
        negative,
        magnitude,
        unit: exponent - mb as i32,
        exponent: if magnitude == 0 { -126 } else { exponent },
        what,
    }
}

/// value * 2^shift, rounded down.
fn shifted(value: i128, shift: i32) -> i128 {
    if shift >= 0 {
        value << shift
    } else {
        value >> (-shift).min(126)
    }
}

/// The f32 nearest to value * 2^unit, ties to even.
fn nearest(value: i128, unit: i32) -> u32 {
    if value == 0 {
        return 0;
    }
    let sign = u32::from(value < 0) << 31;
    let magnitude = value.unsigned_abs();
    let leading = magnitude.ilog2() as i32 + unit;
    let last = leading.max(-126) - 23;
    let drop = last - unit;
    let mut kept = if drop <= 0 {
        magnitude << -drop
    } else {
        let kept = magnitude >> drop;
        let rest = magnitude & ((1 << drop) - 1);
        let half = 1_u128 << (drop - 1);
        kept + u128::from(rest > half || rest == half && kept & 1 == 1)
    };
    let mut last = last;
    if kept == 1 << 24 {
        (kept, last) = (1 << 23, last + 1);
    }
    if last + 23 > 127 {
        return sign | 0x7f80_0000;
    }
    let field = if kept < 1 << 23 { 0 } else { last + 23 + 127 };
    sign | (field as u32) << 23 | (kept as u32 & 0x7f_ffff)
}

const NAN: u32 = 0x7fc0_0000;

fn infinities(signs: impl Iterator<Item = bool>) -> Option<u32> {
    let (mut plus, mut minus) = (false, false);
    for negative in signs {
        if negative {
            minus = true;
        } else {
            plus = true;
        }
    }
    match (plus, minus) {
        (false, false) => None,
        (true, false) => Some(0x7f80_0000),
        (false, true) => Some(0xff80_0000),
        (true, true) => Some(NAN),
    }
}

/// The products cut at 24 bits below the largest exponent: sum, in units of
/// 2^(exponent - 24), and exponent.
fn cut(products: &[(Number, Number)]) -> (i128, i32) {
    let exponent = products
        .iter()
        .map(|(a, b)| a.exponent + b.exponent)
        .max()
        .unwrap();
    let mut sum = 0;
    for (a, b) in products {
        let magnitude = i128::from(a.magnitude * b.magnitude);
        let down = exponent - 24 - (a.unit + b.unit);
        // Toward zero, so the magnitude is shifted.
        let kept = if magnitude == 0 {
            0
        } else {
            shifted(magnitude, -down)
        };
        sum += if a.negative != b.negative {
            -kept
        } else {
            kept
        };
    }
    (sum, exponent)
}

fn group(products: &[(Number, Number)], acc: u32, split: bool) -> u32 {
    let f32_format = FloatFormat::of(cairn_formats::DType::F32).unwrap();
    let c = take_apart(&f32_format, acc, 127);
    let nan = products.iter().any(|(a, b)| {
        a.what == What::Nan
            || b.what == What::Nan
            || a.what == What::Infinite && b.what == What::Finite && b.magnitude == 0
            || b.what == What::Infinite && a.what == What::Finite && a.magnitude == 0
    });
    if nan || c.what == What::Nan {
        return NAN;
    }
    let infinite = products
        .iter()
        .filter(|(a, b)| a.what == What::Infinite || b.what == What::Infinite)
        .map(|(a, b)| a.negative != b.negative)
        .chain((c.what == What::Infinite).then_some(c.negative));
    if let Some(sum) = infinities(infinite) {
        return sum;
    }
    let huge = products
        .iter()
        .filter(|(a, b)| {
            let magnitude = a.magnitude * b.magnitude;
            magnitude > 0 && magnitude.ilog2() as i32 + a.unit + b.unit >= 128
        })
        .map(|(a, b)| a.negative != b.negative);
    if let Some(sum) = infinities(huge) {
        return sum;
    }
    let (sum, exponent) = if split {
        let half =
            |odd: usize| -> Vec<_> { products.iter().skip(odd).step_by(2).copied().collect() };
        let ((even, e0), (odd, e1)) = (cut(&half(0)), cut(&half(1)));
        let exponent = e0.max(e1);
        (
            shifted(even, e0 - exponent) + shifted(odd, e1 - exponent),
            exponent,
        )
    } else {
        cut(products)
    };
    let top = exponent.max(c.exponent);
    let sum = shifted(sum, exponent - 24 - (top - 31));
    let mut own = i128::from(c.magnitude);
    if c.negative {
        own = -own;
    }
    let own = if split && c.exponent < top - 25 {
        0
    } else {
        shifted(own, c.unit - (top - 24))
    };
    nearest(sum + (own << 7), top - 31)
}

/// The sum of the products of the encodings `a[k]` and `b[k]` and an accumulator, for
/// floats of at most 16 bits and xf32. `scales` are E8M0.
pub(super) fn dot(
    [ta, tb]: [Element; 2],
    arch: Arch,
    a: &[u32],
    b: &[u32],
    scales: &[(u32, u32)],
    mut acc: u32,
) -> u32 {
    let format = |element: Element| FloatFormat::of(element.dtype(arch).unwrap()).unwrap();
    let (fa, fb) = (format(ta), format(tb));
    let keep = if ta == Element::Xf32 { !0x1fff } else { !0 };
    let numbers: Vec<_> = (0..a.len())
        .map(|k| {
            let (one, two) = scales.get(k).copied().unwrap_or((127, 127));
            (
                take_apart(&fa, a[k] & keep, one as i32),
                take_apart(&fb, b[k] & keep, two as i32),
            )
        })
        .collect();
    let (size, split) = match ta {
        Element::Xf32 => (4, false),
        Element::F16 | Element::Bf16 => (8, false),
        _ => (16, true),
    };
    for products in numbers.chunks(size) {
        acc = group(products, acc, split);
    }
    acc
}

/// Bounds of the exact sum of products and accumulator, as f64: the sum and the sum of
/// magnitudes. For finite inputs.
pub(super) fn exact_f64(
    [ta, tb]: [Element; 2],
    arch: Arch,
    a: &[u32],
    b: &[u32],
    acc: f32,
) -> (f64, f64) {
    let decode = |element: Element, code: u32| {
        FloatFormat::of(element.dtype(arch).unwrap())
            .unwrap()
            .decode(code)
    };
    let products = a
        .iter()
        .zip(b)
        .map(|(a, b)| decode(ta, *a) * decode(tb, *b));
    let terms: Vec<f64> = products.chain([f64::from(acc)]).collect();
    (
        terms.iter().sum(),
        terms.iter().map(|term| term.abs()).sum(),
    )
}

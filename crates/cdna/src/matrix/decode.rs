//! Registers to planes: the elements of an operand as numbers, rows of one k side by side.

use std::array;
use std::sync::LazyLock;

use cairn_formats::{DType, FloatFormat, f16, f16_to_f32};

use super::Lanes;
use super::forms::{Arch, Element};
use super::layout::InputLayout;

/// The most elements an operand has.
const MAX: usize = 2048;

/// The fraction bits of a decoded significand.
pub(super) const FRACTION: u32 = 10;

/// The exponent of infinities (significand not zero) and NaNs (significand zero): far
/// above every finite one, so that a sum with it stands out.
pub(super) const SPECIAL: i32 = 8192;

/// The exponent the model gives to a zero.
const ZERO: i32 = -126;

/// The elements of an operand. Those of one block and one k follow each other, row by row;
/// then comes the next k, then the next block.
pub(super) struct Plane {
    /// Signed significands with [`FRACTION`] fraction bits, or integers.
    pub(super) significand: [i32; MAX],
    /// Exponents of two.
    pub(super) exponent: [i32; MAX],
    /// Values as f32.
    pub(super) value: [f32; MAX],
}

impl Default for Plane {
    fn default() -> Self {
        Self {
            significand: [0; MAX],
            exponent: [0; MAX],
            value: [0.0; MAX],
        }
    }
}

/// What a plane is filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// Significands and exponents.
    Parts,
    /// Values.
    Values,
    /// Integers, as significands.
    Integers,
}

/// How to read an element.
pub(super) struct Reader {
    element: Element,
    /// Every encoding, for formats of at most 8 bits.
    table: Option<&'static Table>,
}

impl Reader {
    pub(super) fn new(element: Element, arch: Arch) -> Self {
        Self {
            element,
            table: element.dtype(arch).and_then(table),
        }
    }

    /// Fills a plane from an operand's registers of `N` rows. `lanes` says which lane each
    /// lane is read from.
    #[inline(always)]
    pub(super) fn fill<const N: usize>(
        &self,
        plane: &mut Plane,
        fill: Fill,
        layout: &InputLayout,
        registers: &[Lanes],
        lanes: Option<&[u8; 64]>,
    ) {
        for slot in 0..layout.per_lane() {
            let mut codes = codes(registers, slot, self.element.bits());
            if let Some(lanes) = lanes {
                let from = codes;
                for lane in 0..64 {
                    codes[lane] = from[usize::from(lanes[lane] & 63)];
                }
            }
            match fill {
                Fill::Parts => {
                    let (mut significand, mut exponent) = ([0; 64], [0; 64]);
                    self.parts(&codes, &mut significand, &mut exponent);
                    scatter::<_, N>(&mut plane.significand, layout, slot, &significand);
                    scatter::<_, N>(&mut plane.exponent, layout, slot, &exponent);
                }
                Fill::Values => {
                    let mut value = [0.0; 64];
                    self.values(&codes, &mut value);
                    scatter::<_, N>(&mut plane.value, layout, slot, &value);
                }
                Fill::Integers => {
                    let integers = each(&codes, |code| i32::from(code as i8));
                    scatter::<_, N>(&mut plane.significand, layout, slot, &integers);
                }
            }
        }
    }

    #[inline(always)]
    fn parts(&self, codes: &Lanes, significand: &mut [i32; 64], exponent: &mut [i32; 64]) {
        match self.element {
            Element::Bf16 => ieee::<7, 8>(codes, significand, exponent),
            Element::F16 => ieee::<10, 5>(codes, significand, exponent),
            // The low 13 of 23 mantissa bits are dropped.
            Element::Xf32 => ieee::<10, 8>(&each(codes, |code| code >> 13), significand, exponent),
            _ => {
                for lane in 0..64 {
                    let part = self.part(codes[lane]);
                    significand[lane] = i32::from(part.significand);
                    exponent[lane] = i32::from(part.exponent);
                }
            }
        }
    }

    #[inline(always)]
    fn values(&self, codes: &Lanes, value: &mut [f32; 64]) {
        match self.element {
            Element::F32 => *value = each(codes, f32::from_bits),
            Element::Xf32 => *value = each(codes, |code| f32::from_bits(code & !0x1fff)),
            Element::Bf16 => *value = each(codes, |code| f32::from_bits(code << 16)),
            Element::F16 => *value = each(codes, |code| f16_to_f32(f16::from_bits(code as u16))),
            _ => *value = each(codes, |code| self.part(code).value),
        }
    }

    #[inline(always)]
    fn part(&self, code: u32) -> Part {
        let table = self
            .table
            .expect("wider formats are decoded without a table");
        table[(code & 0xff) as usize]
    }
}

/// `f` of each word. (The array's own `map` is not always inlined, and then not compiled
/// for the instruction set at hand.)
#[inline(always)]
fn each<T: Copy + Default>(words: &Lanes, f: impl Fn(u32) -> T) -> [T; 64] {
    let mut out = [T::default(); 64];
    for (out, word) in out.iter_mut().zip(words) {
        *out = f(*word);
    }
    out
}

/// The encodings in one slot of all lanes.
#[inline(always)]
fn codes(registers: &[Lanes], slot: usize, bits: usize) -> Lanes {
    let (register, shift) = (slot * bits / 32, (slot * bits % 32) as u32);
    let low = &registers[register];
    if bits == 32 {
        return *low;
    }
    let mask = (1_u32 << bits) - 1;
    let mut codes = each(low, |word| (word >> shift) & mask);
    if 32 - (shift as usize) < bits {
        let high = &registers[register + 1];
        for (code, word) in codes.iter_mut().zip(high) {
            *code |= (word << (32 - shift)) & mask;
        }
    }
    codes
}

/// Writes the elements of one slot to their rows.
#[inline(always)]
fn scatter<T: Copy, const N: usize>(
    plane: &mut [T; MAX],
    layout: &InputLayout,
    slot: usize,
    values: &[T; 64],
) {
    for group in 0..layout.groups() {
        for block in 0..layout.blocks() {
            let from = layout.first_lane(block, group);
            let to = (block * layout.k() + layout.k_of(group, slot)) * N;
            plane[to..to + N].copy_from_slice(&values[from..from + N]);
        }
    }
}

/// Significands and exponents of a format with IEEE's special values, of up to ten
/// mantissa bits.
#[inline(always)]
fn ieee<const MANTISSA: u32, const EXPONENT: u32>(
    codes: &Lanes,
    significand: &mut [i32; 64],
    exponent: &mut [i32; 64],
) {
    let top = (1 << EXPONENT) - 1;
    let bias = top / 2;
    for lane in 0..64 {
        let code = codes[lane];
        let field = ((code >> MANTISSA) & top) as i32;
        let mantissa = (code & ((1 << MANTISSA) - 1)) as i32;
        let hidden = if field == 0 { 0 } else { 1 << MANTISSA };
        let magnitude = (mantissa | hidden) << (FRACTION - MANTISSA);
        let finite = if magnitude == 0 {
            ZERO
        } else {
            field.max(1) - bias as i32
        };
        let is_special = field == top as i32;
        let is_nan = is_special && mantissa != 0;
        let negative = (code >> (MANTISSA + EXPONENT)) & 1 == 1;
        let signed = if negative { -magnitude } else { magnitude };
        significand[lane] = if is_nan { 0 } else { signed };
        exponent[lane] = if is_special { SPECIAL } else { finite };
    }
}

/// An encoding of a small format.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    significand: i16,
    exponent: i16,
    value: f32,
}

type Table = [Part; 256];

/// The table of a format of at most 8 bits.
fn table(dtype: DType) -> Option<&'static Table> {
    static TABLES: LazyLock<Vec<(DType, Box<Table>)>> = LazyLock::new(|| {
        DType::ALL
            .into_iter()
            .filter(|dtype| dtype.bits() <= 8)
            .filter_map(|dtype| Some((dtype, FloatFormat::of(dtype)?)))
            .map(|(dtype, format)| (dtype, Box::new(tabulate(&format))))
            .collect()
    });
    let found = TABLES.iter().find(|(of, _)| *of == dtype)?;
    Some(&found.1)
}

fn tabulate(format: &FloatFormat) -> Table {
    let least = 1 - format.bias();
    array::from_fn(|code| {
        let value = format.decode(code as u32);
        let magnitude = value.abs();
        let (significand, exponent) = if value.is_nan() {
            (0, SPECIAL)
        } else if value.is_infinite() {
            (value.signum() as i16 * (1 << FRACTION), SPECIAL)
        } else if value == 0.0 {
            (0, ZERO)
        } else {
            let leading = (magnitude.to_bits() >> 52) as i32 - 1023;
            let exponent = leading.max(least);
            let unit = f64::from(exponent - FRACTION as i32).exp2();
            ((value / unit) as i16, exponent)
        };
        Part {
            significand,
            exponent: exponent as i16,
            value: value as f32,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the parts of a decoded element stand for.
    fn value_of(significand: i32, exponent: i32) -> f64 {
        match (significand, exponent) {
            (0, SPECIAL) => f64::NAN,
            (_, SPECIAL) => f64::from(significand) * f64::INFINITY,
            _ => f64::from(significand) * f64::from(exponent - FRACTION as i32).exp2(),
        }
    }

    #[test]
    fn parts_are_the_value_of_every_encoding() {
        let table = [
            (Element::F16, Arch::Gfx942),
            (Element::Bf16, Arch::Gfx942),
            (Element::Fp8, Arch::Gfx942),
            (Element::Bf8, Arch::Gfx942),
            (Element::Fp8, Arch::Gfx950),
            (Element::Bf8, Arch::Gfx950),
            (Element::Fp6, Arch::Gfx950),
            (Element::Bf6, Arch::Gfx950),
            (Element::Fp4, Arch::Gfx950),
        ];
        for (element, arch) in table {
            let dtype = element.dtype(arch).unwrap();
            let format = FloatFormat::of(dtype).unwrap();
            let least = 1 - format.bias();
            let reader = Reader::new(element, arch);
            for base in (0..1_u32 << element.bits()).step_by(64) {
                let codes: Lanes = array::from_fn(|lane| base + lane as u32);
                let (mut significand, mut exponent) = ([0; 64], [0; 64]);
                let mut values = [0.0; 64];
                reader.parts(&codes, &mut significand, &mut exponent);
                reader.values(&codes, &mut values);
                for lane in 0..64.min(1 << element.bits()) {
                    let expected = format.decode(codes[lane]);
                    let (s, e) = (significand[lane], exponent[lane]);
                    let found = value_of(s, e);
                    let same = found == expected || found.is_nan() && expected.is_nan();
                    assert!(same, "{dtype} {:#x}: {found} {expected}", codes[lane]);
                    let value = f64::from(values[lane]);
                    assert!(value == expected || value.is_nan() && expected.is_nan());
                    if s != 0 && e != SPECIAL {
                        assert!(s.abs() < 2 << FRACTION);
                        assert!(s.abs() >= 1 << FRACTION || e == least, "not normalised");
                    } else if e != SPECIAL {
                        assert_eq!(e, ZERO);
                    }
                }
            }
        }
    }

    #[test]
    fn xf32_drops_the_low_bits() {
        let reader = Reader::new(Element::Xf32, Arch::Gfx942);
        let (mut significand, mut exponent) = ([0; 64], [0; 64]);
        let codes = [(-1.999_999_f32).to_bits(); 64];
        reader.parts(&codes, &mut significand, &mut exponent);
        assert_eq!((significand[3], exponent[3]), (-2047, 0));
        let mut values = [0.0; 64];
        reader.values(&codes, &mut values);
        assert_eq!(values[0], -2047.0 / 1024.0);
        // A NaN that has only dropped bits becomes an infinity.
        reader.parts(&[0x7f80_0001; 64], &mut significand, &mut exponent);
        assert_eq!((significand[0], exponent[0]), (1024, SPECIAL));
    }
}

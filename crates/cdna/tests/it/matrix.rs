//! Matrix instructions: against exact rationals from a script, and against a scalar form.

mod differential;
mod golden;
mod properties;
mod scalar;

use cairn_cdna::matrix::{Arch, Form, Lanes, Mfma, Modifiers};
use cairn_formats::FloatFormat;

/// A dense instruction without modifiers.
fn plain(mnemonic: &str, arch: Arch) -> Mfma {
    Mfma::new(Form::find(mnemonic).unwrap(), arch, Modifiers::default()).unwrap()
}

fn registers(n: usize) -> Vec<Lanes> {
    vec![[0; 64]; n]
}

/// Writes an element that may continue in the next register.
fn put(registers: &mut [Lanes], place: cairn_cdna::matrix::Place, bits: usize, code: u32) {
    let (register, lane) = (place.register, place.lane);
    let wide = u64::from(code) << place.bit;
    let mask = (((1_u64 << bits) - 1) << place.bit) as u128;
    for (word, shift) in [(register, 0), (register + 1, 32)] {
        let (mask, bits) = ((mask >> shift) as u32, (wide >> shift) as u32);
        if mask != 0 {
            registers[word][lane] = registers[word][lane] & !mask | bits;
        }
    }
}

/// The encoding of an element that may continue in the next register.
fn get(registers: &[Lanes], place: cairn_cdna::matrix::Place, bits: usize) -> u32 {
    let low = u64::from(registers[place.register][place.lane]);
    let next = registers.get(place.register + 1);
    let high = u64::from(next.map_or(0, |register| register[place.lane]));
    ((low | high << 32) >> place.bit & ((1_u64 << bits) - 1)) as u32
}

/// A source of random numbers that is the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u32) -> u32 {
        (((self.word() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// An encoding with an exponent within `span` of `centre`, and one in `special` any at
    /// all.
    fn code(&mut self, format: &FloatFormat, centre: i32, span: i32, special: u32) -> u32 {
        let any = self.word() as u32 & (((1_u64 << format.bits()) - 1) as u32);
        if special > 0 && self.below(special) == 0 {
            let top = ((1 << format.exponent_bits()) - 1) << format.mantissa_bits();
            return match self.below(5) {
                0 => any,
                1 => any & !top,
                2 => any | top,
                3 => any & (1 << (format.bits() - 1)),
                _ => top,
            };
        }
        let offset = self.below(2 * span as u32 + 1) as i32 - span;
        let last = (1 << format.exponent_bits()) - 1 - i32::from(format.has_infinity());
        let field = (format.bias() + centre + offset).clamp(0, last) as u32;
        let keep = !(((1 << format.exponent_bits()) - 1) << format.mantissa_bits());
        let code = any & keep | field << format.mantissa_bits();
        if format.decode(code).is_nan() {
            0
        } else {
            code
        }
    }
}

//! Random inputs: the vector form against the scalar one, at least 100 000 dot products for
//! each pair of element types.

use cairn_cdna::matrix::{
    Arch, Element, Form, InputLayout, Lanes, Mfma, Mode, Modifiers, Scales, Sources,
};
use cairn_formats::FloatFormat;

use super::{Random, get, plain, put, registers, scalar};

const CASES: usize = 100_000;

/// A row of A or column of B: centre and span of its exponents, and one in how many
/// elements is anything at all.
type Regime = (i32, i32, u32);

fn operand(
    random: &mut Random,
    layout: &InputLayout,
    format: &FloatFormat,
    bits: usize,
    regimes: &[Regime],
) -> Vec<Lanes> {
    let mut out = registers(layout.registers());
    for block in 0..layout.blocks() {
        for row in 0..layout.rows() {
            let (centre, span, special) = regimes[random.below(regimes.len() as u32) as usize];
            for k in 0..layout.k() {
                let code = random.code(format, centre, span, special);
                put(&mut out, layout.place(block, row, k), bits, code);
            }
            if random.below(3) == 0 {
                nearly_cancel(&mut out, layout, format, bits, (block, row));
            }
        }
    }
    out
}

/// Makes elements repeat with the sign flipped, so that what was cut off shows.
fn nearly_cancel(
    out: &mut [Lanes],
    layout: &InputLayout,
    format: &FloatFormat,
    bits: usize,
    (block, row): (usize, usize),
) {
    for k in (0..layout.k().saturating_sub(2)).step_by(4) {
        let code = get(out, layout.place(block, row, k), bits) ^ 1 << (format.bits() - 1);
        put(out, layout.place(block, row, k + 2), bits, code);
    }
}

/// Runs one execution on random inputs and compares every element. Returns how many.
fn compare(mfma: &Mfma, arch: Arch, random: &mut Random, regimes: &[Regime]) -> usize {
    let elements = mfma.elements();
    let [fa, fb] = elements.map(|element| FloatFormat::of(element.dtype(arch).unwrap()).unwrap());
    let [wa, wb] = elements.map(Element::bits);
    let (al, bl, dl) = (mfma.a_layout(), mfma.b_layout(), mfma.d_layout());
    let a = operand(random, &al, &fa, wa, regimes);
    let b = operand(random, &bl, &fb, wb, regimes);
    let f32_format = FloatFormat::of(cairn_formats::DType::F32).unwrap();
    let accumulators = [(0, 4, 0), (0, 30, 0), (-126, 2, 0), (0, 90, 20)];
    let c: Vec<Lanes> = (0..dl.registers())
        .map(|_| {
            std::array::from_fn(|_| {
                let (centre, span, special) = accumulators[random.below(4) as usize];
                random.code(&f32_format, centre, span, special)
            })
        })
        .collect();
    let scale = |random: &mut Random| -> Lanes {
        std::array::from_fn(|_| match random.below(60) {
            0 => random.word() as u32,
            _ => 0x7f7f_7f7f ^ (random.word() as u32 & 0x0707_0707),
        })
    };
    let (sa, sb) = (scale(random), scale(random));
    let bytes = [random.below(4) as u8, random.below(4) as u8];
    let scales = [(&sa, bytes[0]), (&sb, bytes[1])].map(|(lanes, byte)| Scales { lanes, byte });
    let sources = Sources {
        a: &a,
        b: &b,
        index: None,
        scales: Some(scales),
    };
    let mut d = registers(dl.registers());
    mfma.execute(Mode::Exact, &sources, &c, &mut d).unwrap();
    let scaled = mfma.form().kind == cairn_cdna::matrix::Kind::Scaled;
    let (m, n) = (al.rows(), bl.rows());
    for block in 0..al.blocks() {
        for i in 0..m {
            let a: Vec<_> = (0..al.k())
                .map(|k| get(&a, al.place(block, i, k), wa))
                .collect();
            for j in 0..n {
                let b: Vec<_> = (0..bl.k())
                    .map(|k| get(&b, bl.place(block, j, k), wb))
                    .collect();
                let scales: Vec<_> = (0..if scaled { al.k() } else { 0 })
                    .map(|k| {
                        let byte = |lanes: &Lanes, rows: usize, row: usize, byte: u8| {
                            lanes[k / 32 * rows + row].to_le_bytes()[usize::from(byte)]
                        };
                        let one = byte(&sa, m, i, bytes[0]);
                        let two = byte(&sb, n, j, bytes[1]);
                        (u32::from(one), u32::from(two))
                    })
                    .collect();
                let place = dl.place(block, i, j);
                let acc = c[place.register][place.lane];
                let expected = scalar::dot(elements, arch, &a, &b, &scales, acc);
                let found = d[place.register][place.lane];
                assert_eq!(
                    found,
                    expected,
                    "{}: {found:x} {expected:x} of {a:x?} {b:x?} {scales:?} {acc:x}",
                    mfma.form().mnemonic
                );
            }
        }
    }
    m * n * al.blocks()
}

fn compare_many(mfma: &Mfma, arch: Arch, regimes: &[Regime], cases: usize) {
    let mut random = Random(7);
    let mut done = 0;
    while done < cases {
        done += compare(mfma, arch, &mut random, regimes);
    }
}

#[test]
fn bf16() {
    let regimes = [
        (0, 2, 0),
        (0, 14, 0),
        (0, 14, 9),
        (-64, 8, 0),
        (63, 3, 30),
        (-126, 2, 0),
        (0, 120, 40),
    ];
    for name in ["v_mfma_f32_16x16x16_bf16", "v_mfma_f32_4x4x4_16b_bf16"] {
        compare_many(&plain(name, Arch::Gfx942), Arch::Gfx942, &regimes, CASES);
    }
    let wide = plain("v_mfma_f32_32x32x16_bf16", Arch::Gfx950);
    compare_many(&wide, Arch::Gfx950, &regimes, CASES);
}

#[test]
fn f16() {
    let regimes = [(0, 2, 0), (0, 14, 0), (0, 14, 9), (-14, 3, 0), (13, 3, 30)];
    for name in ["v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x4_2b_f16"] {
        compare_many(&plain(name, Arch::Gfx942), Arch::Gfx942, &regimes, CASES);
    }
}

#[test]
fn xf32() {
    let regimes = [
        (0, 2, 0),
        (0, 14, 0),
        (0, 14, 9),
        (-64, 8, 0),
        (63, 3, 30),
        (-126, 2, 0),
        (0, 120, 40),
    ];
    let mfma = plain("v_mfma_f32_16x16x8_xf32", Arch::Gfx942);
    compare_many(&mfma, Arch::Gfx942, &regimes, CASES);
}

#[test]
fn eight_bit_floats() {
    let regimes = [(0, 1, 0), (0, 8, 0), (3, 5, 11), (-7, 2, 0)];
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        for pair in ["fp8_fp8", "fp8_bf8", "bf8_fp8", "bf8_bf8"] {
            let mfma = plain(&format!("v_mfma_f32_16x16x32_{pair}"), arch);
            compare_many(&mfma, arch, &regimes, CASES);
        }
    }
}

#[test]
fn block_scaled() {
    let regimes = [(0, 1, 0), (0, 8, 0), (3, 5, 11), (-7, 2, 0)];
    let form = Form::find("v_mfma_scale_f32_16x16x128_f8f6f4").unwrap();
    for cbsz in 0..5 {
        for blgp in 0..5 {
            let modifiers = Modifiers {
                cbsz,
                abid: 0,
                blgp,
            };
            let mfma = Mfma::new(form, Arch::Gfx950, modifiers).unwrap();
            compare_many(&mfma, Arch::Gfx950, &regimes, CASES / 5);
        }
    }
}

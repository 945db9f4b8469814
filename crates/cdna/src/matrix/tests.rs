//! Errors, labels, and the same bits on every instruction set.

use super::*;

fn form(mnemonic: &str) -> &'static Form {
    Form::find(mnemonic).unwrap()
}

fn error(mnemonic: &str, arch: Arch, cbsz: u8, abid: u8, blgp: u8) -> String {
    let modifiers = Modifiers { cbsz, abid, blgp };
    Mfma::new(form(mnemonic), arch, modifiers)
        .unwrap_err()
        .to_string()
}

#[test]
fn what_means_nothing_is_an_error() {
    use Arch::{Gfx942, Gfx950};
    let bf16 = "v_mfma_f32_16x16x4_4b_bf16";
    let scaled = "v_mfma_scale_f32_16x16x128_f8f6f4";
    let sparse = "v_smfmac_f32_16x16x32_f16";
    let table = [
        (
            error("v_mfma_f32_16x16x8_xf32", Gfx950, 0, 0, 0),
            "gfx950 has no v_mfma_f32_16x16x8_xf32",
        ),
        (
            error(scaled, Gfx942, 0, 0, 0),
            "gfx942 has no v_mfma_scale_f32_16x16x128_f8f6f4",
        ),
        (
            error(scaled, Gfx950, 5, 0, 0),
            "v_mfma_scale_f32_16x16x128_f8f6f4 takes a cbsz of at most 4, not 5",
        ),
        (
            error(scaled, Gfx950, 0, 0, 7),
            "v_mfma_scale_f32_16x16x128_f8f6f4 takes a blgp of at most 4, not 7",
        ),
        (
            error(bf16, Gfx942, 3, 0, 0),
            "v_mfma_f32_16x16x4_4b_bf16 takes a cbsz of at most 2, not 3",
        ),
        (
            error(bf16, Gfx942, 1, 2, 0),
            "v_mfma_f32_16x16x4_4b_bf16 takes a abid of at most 1, not 2",
        ),
        (
            error(sparse, Gfx942, 0, 4, 0),
            "v_smfmac_f32_16x16x32_f16 takes a abid of at most 3, not 4",
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
    assert_eq!(Form::find("v_mfma_f32_16x16x4_4b_bf17"), None);
}

#[test]
fn operands_that_do_not_fit_change_nothing() {
    let mfma = Mfma::new(
        form("v_smfmac_f32_16x16x32_f16"),
        Arch::Gfx942,
        Modifiers::default(),
    )
    .unwrap();
    let (a, b, c) = ([[1; 64]; 2], [[2; 64]; 4], [[3; 64]; 4]);
    let mut d = [[4; 64]; 4];
    let mut run = |a: &[Lanes], b: &[Lanes], c: &[Lanes], index| {
        let sources = Sources {
            index,
            ..Sources::dense(a, b)
        };
        let result = mfma.execute(Mode::Exact, &sources, c, &mut d);
        (result.map_err(|error| error.to_string()), d == [[4; 64]; 4])
    };
    let wrong = |operand: &str, expected: usize, found: usize| {
        let text = format!(
            "v_smfmac_f32_16x16x32_f16 takes {expected} registers for {operand}, not {found}"
        );
        (Err(text), true)
    };
    let index = [0x4444_4444; 64];
    assert_eq!(run(&a[..1], &b, &c, Some(&index)), wrong("A", 2, 1));
    assert_eq!(run(&a, &b[..2], &c, Some(&index)), wrong("B", 4, 2));
    assert_eq!(run(&a, &b, &c[..3], Some(&index)), wrong("C", 4, 3));
    let missing = "v_smfmac_f32_16x16x32_f16 needs compression indices";
    assert_eq!(run(&a, &b, &c, None), (Err(missing.to_owned()), true));
    assert_eq!(run(&a, &b, &c, Some(&index)), (Ok(()), false));
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut state = 1_u32;
    // Exponents near those of 1 in most formats, and then anything, NaNs included.
    let mut word = |mask: u32| {
        state = state.wrapping_mul(0x915f_77f5).wrapping_add(0x1234_5677);
        0x3838_3838 ^ (state.rotate_left(13) & mask)
    };
    let levels = simd::Level::all();
    let masks = [0x8787_8787, 0xffff_ffff];
    for (form, mask) in Form::all()
        .iter()
        .flat_map(|form| masks.map(|mask| (form, mask)))
    {
        let arch = if form.is_on(Arch::Gfx942) {
            Arch::Gfx942
        } else {
            Arch::Gfx950
        };
        let mfma = Mfma::new(form, arch, Modifiers::default()).unwrap();
        let mut registers = |n: usize| -> Vec<Lanes> {
            (0..n)
                .map(|_| std::array::from_fn(|_| word(mask)))
                .collect()
        };
        let a = registers(mfma.a_layout().registers());
        let b = registers(mfma.b_layout().registers());
        let c = registers(mfma.d_layout().registers());
        let index = registers(1);
        let scales = Scales {
            lanes: &index[0],
            byte: 1,
        };
        let sources = Sources {
            a: &a,
            b: &b,
            index: (form.kind == Kind::Sparse).then_some(&index[0]),
            scales: Some([scales; 2]),
        };
        for mode in [Mode::Exact, Mode::Fast] {
            let results: Vec<_> = levels
                .iter()
                .map(|level| {
                    let mut d = c.clone();
                    mfma.run(mode, &sources, &mut d, *level);
                    d
                })
                .collect();
            assert!(results.iter().any(|d| *d != c), "{}", form.mnemonic);
            for (level, result) in levels.iter().zip(&results) {
                assert_eq!(result, &results[0], "{} {mode:?} {level:?}", form.mnemonic);
            }
        }
    }
}

/// Whole numbers whose sums are exact: both modes give the same bits, everywhere.
#[test]
fn modes_agree_where_nothing_is_rounded() {
    let mut state = 1_u32;
    let mut digit = || {
        state = state.wrapping_mul(0x915f_77f5).wrapping_add(0x1234_5677);
        (state >> 24) % 15
    };
    // -7 to 7 as bf16 and f16.
    let half = |element: Element, digit: u32| {
        let value = digit as f32 - 7.0;
        match element {
            Element::Bf16 => value.to_bits() >> 16,
            _ => u32::from(cairn_formats::f16_from_f32(value).to_bits()),
        }
    };
    let forms = Form::all().iter().filter(|form| {
        let halves = matches!(form.a, Element::Bf16 | Element::F16);
        halves && form.a == form.b && form.kind == Kind::Dense
    });
    let mut count = 0;
    for (form, blgp) in forms.flat_map(|form| [(form, 0), (form, 3)]) {
        let arch = if form.is_on(Arch::Gfx942) {
            Arch::Gfx942
        } else {
            Arch::Gfx950
        };
        let modifiers = Modifiers {
            blgp,
            ..Modifiers::default()
        };
        let mfma = Mfma::new(form, arch, modifiers).unwrap();
        let mut registers = |n: usize| -> Vec<Lanes> {
            let mut word = |_| half(form.a, digit()) | half(form.a, digit()) << 16;
            (0..n).map(|_| std::array::from_fn(&mut word)).collect()
        };
        let a = registers(mfma.a_layout().registers());
        let b = registers(mfma.b_layout().registers());
        let c: Vec<Lanes> = (0..mfma.d_layout().registers())
            .map(|r| std::array::from_fn(|lane| ((64 * r + lane) as f32).to_bits()))
            .collect();
        let [exact, fast] = [Mode::Exact, Mode::Fast].map(|mode| {
            let mut d = c.clone();
            mfma.accumulate(mode, &Sources::dense(&a, &b), &mut d)
                .unwrap();
            d
        });
        assert_eq!(exact, fast, "{} {blgp}", form.mnemonic);
        assert_ne!(exact, c, "{}", form.mnemonic);
        count += 1;
    }
    assert!(count >= 20, "{count} forms");
}

#[test]
fn work_is_counted() {
    let flops = |mnemonic, arch| {
        Mfma::new(form(mnemonic), arch, Modifiers::default())
            .unwrap()
            .flops()
    };
    assert_eq!(flops("v_mfma_f32_32x32x8_bf16", Arch::Gfx942), 16384);
    assert_eq!(flops("v_mfma_f32_4x4x4_16b_f16", Arch::Gfx942), 2048);
    // Only the stored half of A is multiplied.
    assert_eq!(flops("v_smfmac_f32_16x16x32_f16", Arch::Gfx942), 8192);
}

//! What follows from the model, and what `fast` promises.

use cairn_cdna::matrix::{Arch, Lanes, Mfma, Mode, Sources};
use cairn_formats::FloatFormat;

use super::{Random, get, plain, put, registers, scalar};

/// D[0][0] for a row of A and a column of B.
fn first(mfma: &Mfma, mode: Mode, a: &[u32], b: &[u32], c: u32) -> u32 {
    let [wa, wb] = mfma.elements().map(|element| element.bits());
    let mut ra = registers(mfma.a_layout().registers());
    let mut rb = registers(mfma.b_layout().registers());
    for k in 0..a.len() {
        put(&mut ra, mfma.a_layout().place(0, 0, k), wa, a[k]);
        put(&mut rb, mfma.b_layout().place(0, 0, k), wb, b[k]);
    }
    let mut d = registers(mfma.d_layout().registers());
    d[0][0] = c;
    mfma.accumulate(mode, &Sources::dense(&ra, &rb), &mut d)
        .unwrap();
    d[0][0]
}

fn random_codes(random: &mut Random, mfma: &Mfma, arch: Arch, span: i32) -> [Vec<u32>; 2] {
    let k = mfma.a_layout().k();
    mfma.elements().map(|element| {
        let format = FloatFormat::of(element.dtype(arch).unwrap()).unwrap();
        (0..k).map(|_| random.code(&format, 0, span, 0)).collect()
    })
}

#[test]
fn order_within_a_group_matters_only_between_even_and_odd_fp8() {
    let mut random = Random(1);
    let half = plain("v_mfma_f32_16x16x16_f16", Arch::Gfx942);
    let fp8 = plain("v_mfma_f32_16x16x32_bf8_bf8", Arch::Gfx942);
    let mut differ = 0;
    for _ in 0..400 {
        let [a, b] = random_codes(&mut random, &half, Arch::Gfx942, 12);
        let swap = |codes: &[u32], i: usize, j: usize| {
            let mut codes = codes.to_vec();
            codes.swap(i, j);
            codes
        };
        let c = (random.word() as u32 & 0x007f_ffff) | 0x3f80_0000;
        let exact = |mfma: &Mfma, a: &[u32], b: &[u32]| first(mfma, Mode::Exact, a, b, c);
        let swapped = exact(&half, &swap(&a, 1, 6), &swap(&b, 1, 6));
        assert_eq!(exact(&half, &a, &b), swapped);
        let [a, b] = random_codes(&mut random, &fp8, Arch::Gfx942, 12);
        let straight = exact(&fp8, &a, &b);
        let even = exact(&fp8, &swap(&a, 2, 14), &swap(&b, 2, 14));
        assert_eq!(straight, even, "even with even");
        let crossed = exact(&fp8, &swap(&a, 2, 5), &swap(&b, 2, 5));
        differ += usize::from(straight != crossed);
    }
    assert!(differ > 0, "even and odd positions are summed apart");
}

#[test]
fn negated_inputs_do_not_always_give_negated_results() {
    let mfma = plain("v_mfma_f32_32x32x8_bf16", Arch::Gfx942);
    let mut random = Random(2);
    let mut differ = 0;
    for _ in 0..2000 {
        let [a, b] = random_codes(&mut random, &mfma, Arch::Gfx942, 6);
        let c = (random.word() as u32 & 0x007f_ffff) | 0x4080_0000;
        let negated: Vec<_> = a.iter().map(|code| code ^ 0x8000).collect();
        let plus = first(&mfma, Mode::Exact, &a, &b, c);
        let minus = first(&mfma, Mode::Exact, &negated, &b, c ^ 0x8000_0000);
        differ += usize::from(plus ^ 0x8000_0000 != minus);
    }
    assert!(differ > 0);
}

#[test]
fn splitting_k_can_change_bits() {
    // Two groups of four against one of eight.
    let four = plain("v_mfma_f32_16x16x4_4b_bf16", Arch::Gfx942);
    let eight = plain("v_mfma_f32_32x32x8_bf16", Arch::Gfx942);
    let mut random = Random(3);
    let mut differ = 0;
    for _ in 0..2000 {
        let [a, b] = random_codes(&mut random, &eight, Arch::Gfx942, 8);
        let whole = first(&eight, Mode::Exact, &a, &b, 0);
        let part = first(&four, Mode::Exact, &a[..4], &b[..4], 0);
        let split = first(&four, Mode::Exact, &a[4..], &b[4..], part);
        differ += usize::from(whole != split);
    }
    assert!(differ > 0);
}

#[test]
fn twice_k_is_two_executions_by_the_same_rules() {
    let once = plain("v_mfma_f32_16x16x16_f16", Arch::Gfx950);
    let twice = plain("v_mfma_f32_16x16x32_f16", Arch::Gfx950);
    assert_eq!(once.label(), Some("CDNA3 rules"));
    assert_eq!(plain("v_mfma_f32_16x16x16_f16", Arch::Gfx942).label(), None);
    let mut random = Random(4);
    for _ in 0..500 {
        let [a, b] = random_codes(&mut random, &twice, Arch::Gfx950, 10);
        let whole = first(&twice, Mode::Exact, &a, &b, 0x3f80_0000);
        let part = first(&once, Mode::Exact, &a[..16], &b[..16], 0x3f80_0000);
        assert_eq!(whole, first(&once, Mode::Exact, &a[16..], &b[16..], part));
    }
}

/// Both modes stay within the rounding of the sum of magnitudes.
#[test]
fn fast_is_close_to_exact() {
    let table = [
        ("v_mfma_f32_32x32x8_bf16", Arch::Gfx942),
        ("v_mfma_f32_16x16x16_f16", Arch::Gfx942),
        ("v_mfma_f32_16x16x32_fp8_bf8", Arch::Gfx942),
        ("v_mfma_f32_16x16x8_xf32", Arch::Gfx942),
        ("v_mfma_f32_16x16x4_f32", Arch::Gfx942),
        ("v_mfma_f32_32x32x64_f8f6f4", Arch::Gfx950),
    ];
    for (name, arch) in table {
        let mfma = plain(name, arch);
        let mut random = Random(5);
        for _ in 0..300 {
            let [mut a, mut b] = random_codes(&mut random, &mfma, arch, 4);
            if name.ends_with("xf32") {
                a.iter_mut().chain(&mut b).for_each(|code| *code &= !0x1fff);
            }
            let c = 0.75_f32;
            let (sum, magnitude) = scalar::exact_f64(mfma.elements(), arch, &a, &b, c);
            for mode in [Mode::Exact, Mode::Fast] {
                let found = f32::from_bits(first(&mfma, mode, &a, &b, c.to_bits()));
                let error = (f64::from(found) - sum).abs();
                // A unit of 2^-22 of the largest partial sum for each of the roundings.
                let most = magnitude * (-22_f64).exp2() * a.len() as f64;
                assert!(
                    error <= most,
                    "{name} {mode:?}: {found} {sum} {error} {most}"
                );
            }
        }
    }
}

#[test]
fn integers_wrap() {
    let mfma = plain("v_mfma_i32_16x16x32_i8", Arch::Gfx942);
    let a = [0x80; 32];
    let found = first(&mfma, Mode::Exact, &a, &a, i32::MAX as u32) as i32;
    assert_eq!(found, i32::MAX.wrapping_add(32 * 128 * 128));
    assert_eq!(
        found,
        first(&mfma, Mode::Fast, &a, &a, i32::MAX as u32) as i32
    );
}

/// One element of every input set, and nothing else: it reaches its row or column only.
#[test]
fn an_element_reaches_its_row_and_column() {
    let mfma = plain("v_mfma_f32_16x16x16_f16", Arch::Gfx942);
    let ones = |n: usize| -> Vec<Lanes> { vec![[0x3c00_3c00; 64]; n] };
    let mut a = registers(2);
    put(&mut a, mfma.a_layout().place(0, 11, 13), 16, 0x4200);
    let mut d = registers(4);
    mfma.accumulate(Mode::Exact, &Sources::dense(&a, &ones(2)), &mut d)
        .unwrap();
    for i in 0..16 {
        for j in 0..16 {
            let found = get(&d, mfma.d_layout().place(0, i, j), 32);
            let expected = if i == 11 { 3.0_f32 } else { 0.0 };
            assert_eq!(f32::from_bits(found), expected, "{i} {j}");
        }
    }
}

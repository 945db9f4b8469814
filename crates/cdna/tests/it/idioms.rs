//! What compilers expand: divisions and roots, lane permutations, atomics,
//! 64-bit integers, buffers. Expected values are the host's own arithmetic.

use cairn_cdna::Options;

use crate::support::{Args, Device, assert_clean, compile_test, has_compiler, random_floats};

const ARCHS: [&str; 2] = ["gfx942", "gfx950"];

fn words(device: &Device, address: u64, count: usize) -> Vec<u32> {
    let bytes = device.memory.read(address, 4 * count as u64).unwrap();
    let word = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap());
    bytes.chunks(4).map(word).collect()
}

fn wides(device: &Device, address: u64, count: usize) -> Vec<u64> {
    let pairs = words(device, address, 2 * count);
    let wide = |pair: &[u32]| u64::from(pair[0]) | u64::from(pair[1]) << 32;
    pairs.chunks(2).map(wide).collect()
}

fn put_words(device: &mut Device, values: &[u32], name: &str) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    device.bytes(&bytes, name)
}

fn put_wides(device: &mut Device, values: &[u64], name: &str) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    device.bytes(&bytes, name)
}

fn run(device: &mut Device, kernel: &str, args: Args) {
    let report = device.run(kernel, [1; 3], [64, 1, 1], args, &Options::default());
    assert_clean(&report);
}

#[test]
fn divisions_and_roots_are_rounded_correctly() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let mut device = Device::new(&compile_test("idioms", arch));
        // All sizes, denormals and extremes among them.
        let scale = |at: usize| 2f32.powi(at as i32 * 4 - 126);
        let mut a = random_floats(64, 1);
        let mut b = random_floats(64, 2);
        for at in 0..64 {
            a[at] = a[at].abs() * scale(at);
            b[at] *= scale(at * 7 % 64);
        }
        (a[0], a[1], a[2], b[3], b[4], b[5]) =
            (1e-42, f32::MAX, 0.0, 1e-40, f32::MAX, f32::INFINITY);
        let x: Vec<f64> = a.iter().map(|x| f64::from(*x) * 1e-200).collect();
        let y: Vec<f64> = b.iter().map(|x| f64::from(*x) * 1e150).collect();
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let [a_at, b_at] = [&a, &b].map(|values| device.floats(values, "input"));
        let [x_at, y_at] = [&x, &y].map(|values| put_wides(&mut device, &bits(values), "input"));
        let (c, z) = (device.blank(1024, "c"), device.blank(1024, "z"));
        let args = [a_at, b_at, c, x_at, y_at, z];
        let args = args
            .iter()
            .fold(Args::default(), |args, at| args.pointer(*at));
        run(&mut device, "division", args);
        let (c, z) = (device.read_floats(c, 256), wides(&device, z, 128));
        for at in 0..64 {
            let (x, y) = (x[at], y[at]);
            assert_eq!(
                c[at].to_bits(),
                (a[at] / b[at]).to_bits(),
                "{arch}: {} / {}",
                a[at],
                b[at]
            );
            assert_eq!(
                c[64 + at].to_bits(),
                a[at].sqrt().to_bits(),
                "{arch}: sqrt {}",
                a[at]
            );
            assert_eq!(z[at], (x / y).to_bits(), "{arch}: {x} / {y}");
            assert_eq!(z[64 + at], x.sqrt().to_bits(), "{arch}: sqrt {x}");
        }
    }
}

#[test]
fn lanes_move_as_documented() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let mut device = Device::new(&compile_test("idioms", arch));
        let input: Vec<u32> = (0..64)
            .map(|at: u32| at.wrapping_mul(0x9e37_79b1) >> 8)
            .collect();
        let in_at = put_words(&mut device, &input, "input");
        let out = device.blank(4 * 512, "out");
        run(
            &mut device,
            "reductions",
            Args::default().pointer(in_at).pointer(out),
        );
        let got = words(&device, out, 512);
        for at in 0..64usize {
            let sum = input[..=at]
                .iter()
                .fold(0, |sum: u32, x| sum.wrapping_add(*x));
            assert_eq!(got[at], sum, "{arch}: prefix sum of lane {at}");
            assert_eq!(
                got[64 + at],
                input[at ^ 5],
                "{arch}: ds_bpermute of lane {at}"
            );
            assert_eq!(
                got[128 + at],
                input[(at + 63) % 64],
                "{arch}: ds_permute of lane {at}"
            );
            assert_eq!(
                got[192 + at],
                input[at ^ 16],
                "{arch}: ds_swizzle of lane {at}"
            );
            assert_eq!(got[256 + at], input[63].wrapping_add(input[0]));
            assert_eq!(
                got[320 + at],
                input.iter().filter(|x| **x > 0).count() as u32
            );
            assert_eq!(
                got[384 + at],
                input[at & !3 | (3 - at % 4)],
                "{arch}: quad_perm of lane {at}"
            );
            let mirrored = at / 16 % 2 == 0;
            let wanted = if mirrored {
                input[at & !15 | (15 - at % 16)]
            } else {
                7
            };
            assert_eq!(got[448 + at], wanted, "{arch}: row_mirror of lane {at}");
        }
    }
}

#[test]
fn atomics_and_wide_integers_are_right() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let mut device = Device::new(&compile_test("idioms", arch));
        let input: Vec<u32> = (0..64).map(|at: u32| at * 37 % 101).collect();
        let counts = put_words(&mut device, &[0; 18], "counts");
        let sums = device.floats(&[0.0; 4], "sums");
        let wide = put_wides(&mut device, &[0; 4], "wide");
        let in_at = put_words(&mut device, &input, "input");
        let out = device.blank(4 * 72, "out");
        let args = [counts, sums, wide, in_at, out];
        let args = args
            .iter()
            .fold(Args::default(), |args, at| args.pointer(*at));
        run(&mut device, "atomics", args);
        let counted = words(&device, counts, 18);
        for bin in 0..16 {
            let wanted = input.iter().filter(|x| **x % 16 == bin).count() as u32;
            assert_eq!(counted[bin as usize], wanted);
        }
        assert_eq!(counted[16], *input.iter().max().unwrap());
        assert_eq!(counted[17], 99);
        assert_eq!(device.read_floats(sums, 1), [32.0]);
        for (bin, sum) in wides(&device, wide, 4).into_iter().enumerate() {
            let count = input.iter().filter(|x| **x as usize % 4 == bin).count() as u64;
            assert_eq!(sum, count * 0x1_0000_0001);
        }
        for bin in 0..8 {
            let count = input.iter().filter(|x| **x % 8 == bin).count() as u32;
            assert_eq!(words(&device, out, 72)[64 + bin as usize], bin + 3 * count);
        }

        let a: Vec<u64> = (0..64)
            .map(|at: u64| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        let b: Vec<u64> = (0..64)
            .map(|at: u64| (at * at * at).wrapping_mul(0x1234_5679) >> (at % 40))
            .collect();
        let (a_at, b_at) = (
            put_wides(&mut device, &a, "a"),
            put_wides(&mut device, &b, "b"),
        );
        let c = device.blank(8 * 256, "c");
        run(
            &mut device,
            "wide_integers",
            Args::default().pointer(a_at).pointer(b_at).pointer(c),
        );
        let got = wides(&device, c, 256);
        for at in 0..64 {
            let (a, b) = (a[at], b[at]);
            assert_eq!(
                got[at],
                a.wrapping_mul(b).wrapping_add(a >> (b & 63)),
                "{arch} {at}"
            );
            assert_eq!(got[64 + at], a / (b | 1), "{arch}: {a} / {b}");
            assert_eq!(
                got[128 + at],
                ((a as i64 >> 7) as u64).wrapping_sub(b),
                "{arch} {at}"
            );
            let zeros = if a < b {
                (a | 1).leading_zeros()
            } else {
                (b | 1).trailing_zeros()
            };
            assert_eq!(got[192 + at], u64::from(zeros), "{arch} {at}");
        }
    }
}

#[test]
fn buffers_read_zero_beyond_their_end_and_drop_stores() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let mut device = Device::new(&compile_test("idioms", arch));
        let input = random_floats(50, 3);
        let in_at = device.floats(&input, "input");
        let out = device.blank(4 * 50, "out");
        run(
            &mut device,
            "buffers",
            Args::default().pointer(in_at).pointer(out).u32(50),
        );
        let wanted: Vec<f32> = input.iter().map(|x| x + 1.0).collect();
        assert_eq!(device.read_floats(out, 50), wanted);
    }
}

//! The library's kernels against f64, over odd sizes; the same bits under ten
//! schedules, and no finding.

use cairn_cdna::{Checks, Options};
use cairn_formats::{DType, FloatFormat, Overflow, Rounding, bf16, bf16_from_f32, bf16_to_f32};

use crate::support::{Args, Device, assert_clean, compile, has_compiler, random_floats, root, snr};

const ARCHS: [&str; 2] = ["gfx942", "gfx950"];

fn object(name: &str, arch: &str) -> Vec<u8> {
    let own = root().join(format!("kernels/{name}_{arch}.hip"));
    let common = root().join(format!("kernels/{name}.hip"));
    let source = if own.exists() { own } else { common };
    compile(&source, arch, &format!("library-{name}"))
}

/// Random values rounded to bf16, and their bytes.
fn halves(count: usize, seed: u64) -> (Vec<f64>, Vec<u8>) {
    let rounded: Vec<_> = random_floats(count, seed)
        .into_iter()
        .map(bf16_from_f32)
        .collect();
    let bytes = rounded
        .iter()
        .flat_map(|x| x.to_bits().to_le_bytes())
        .collect();
    (
        rounded
            .into_iter()
            .map(|x| f64::from(bf16_to_f32(x)))
            .collect(),
        bytes,
    )
}

fn read_halves(device: &Device, address: u64, count: usize) -> Vec<f32> {
    let bytes = device.memory.read(address, 2 * count as u64).unwrap();
    let word = |pair: &[u8]| bf16_to_f32(bf16::from_bits(u16::from_le_bytes([pair[0], pair[1]])));
    bytes.chunks(2).map(word).collect()
}

fn all(seed: u64) -> Options {
    Options {
        checks: Checks::ALL,
        seed,
        ..Options::default()
    }
}

#[test]
fn bf16_products_are_right_and_clean() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let object = object("gemm_bf16", arch);
        for (form, m, n, k) in [
            ("nn", 127, 129, 65),
            ("nt", 255, 1, 97),
            ("tn", 257, 64, 33),
            ("nn", 1, 1, 1),
        ] {
            let mut device = Device::new(&object);
            let (x, a) = halves(m * k, 1);
            let (y, b) = halves(k * n, 2);
            let (a, b) = (device.bytes(&a, "a"), device.bytes(&b, "b"));
            let c = device.blank(2 * (m * n) as u64, "c");
            let (a_t, b_t) = (form.starts_with('t'), form.ends_with('t'));
            let (lda, ldb) = (if a_t { m } else { k }, if b_t { k } else { n });
            let sizes = [m, n, k, lda, ldb, n];
            let args = sizes.iter().fold(
                Args::default().pointer(a).pointer(b).pointer(c),
                |args, size| args.u32(*size as u32),
            );
            let groups = (m.div_ceil(256) * n.div_ceil(256)) as u32;
            let name = format!("gemm_bf16_{form}");
            assert_clean(&device.run(&name, [groups, 1, 1], [512, 1, 1], args, &all(0)));
            let left = |row: usize, i: usize| x[if a_t { i * m + row } else { row * k + i }];
            let right =
                |i: usize, column: usize| y[if b_t { column * k + i } else { i * n + column }];
            let wanted: Vec<f64> = (0..m * n)
                .map(|at| (0..k).map(|i| left(at / n, i) * right(i, at % n)).sum())
                .collect();
            let got = read_halves(&device, c, m * n);
            let ratio = snr(&got, &wanted);
            assert!(ratio > 40.0, "{name} {arch} {m} {n} {k}: {ratio} dB");
        }
    }
}

#[test]
fn normalisations_are_right_and_clean() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        for (rows, columns) in [(3, 1), (2, 127), (33, 257)] {
            let count = rows * columns;
            let (x, w) = (random_floats(count, 3), random_floats(columns, 4));
            let mut device = Device::new(&object("rmsnorm", arch));
            let (x_at, w_at) = (device.floats(&x, "x"), device.floats(&w, "weight"));
            let (y_at, r_at) = (
                device.blank(4 * count as u64, "y"),
                device.blank(4 * rows as u64, "rstd"),
            );
            let args = Args::default()
                .pointer(x_at)
                .pointer(w_at)
                .pointer(y_at)
                .pointer(r_at);
            let args = args.u32(columns as u32).put(&1e-5f32.to_le_bytes());
            assert_clean(&device.run(
                "rmsnorm_forward_f32",
                [rows as u32, 1, 1],
                [256, 1, 1],
                args,
                &all(1),
            ));
            let wanted: Vec<f64> = x
                .chunks(columns)
                .flat_map(|row| {
                    let mean =
                        row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / columns as f64;
                    let scale = 1.0 / (mean + f64::from(1e-5f32)).sqrt();
                    row.iter()
                        .zip(&w)
                        .map(move |(x, w)| f64::from(*x) * scale * f64::from(*w))
                })
                .collect();
            assert!(snr(&device.read_floats(y_at, count), &wanted) > 100.0);

            let mut device = Device::new(&object("softmax", arch));
            let (x_at, y_at) = (device.floats(&x, "x"), device.blank(4 * count as u64, "y"));
            let args = Args::default()
                .pointer(x_at)
                .pointer(y_at)
                .u32(columns as u32);
            assert_clean(&device.run(
                "softmax_forward_f32",
                [rows as u32, 1, 1],
                [256, 1, 1],
                args,
                &all(2),
            ));
            let wanted: Vec<f64> = x
                .chunks(columns)
                .flat_map(|row| {
                    let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
                    row.iter().map(move |x| f64::from(*x).exp() / sum)
                })
                .collect();
            assert!(snr(&device.read_floats(y_at, count), &wanted) > 100.0);
        }
    }
}

#[test]
fn fp8_conversions_are_exact_and_clean() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let object = object("fp8", arch);
        for (name, fnuz, ocp) in [
            ("e4m3", DType::F8E4M3Fnuz, DType::F8E4M3),
            ("e5m2", DType::F8E5M2Fnuz, DType::F8E5M2),
        ] {
            let format = FloatFormat::of(if arch == "gfx942" { fnuz } else { ocp }).unwrap();
            let count = 1009;
            let x: Vec<f32> = random_floats(count, 5).iter().map(|x| x * 300.0).collect();
            let mut device = Device::new(&object);
            let x_at = device.floats(&x, "x");
            let scales = device.floats(&[1.0, 1.0], "scales");
            let out = device.blank(count as u64, "out");
            let args = Args::default()
                .pointer(x_at)
                .pointer(scales)
                .pointer(out)
                .put(&(count as u64).to_le_bytes());
            let kernel = format!("fp8_quantize_{name}_f32");
            assert_clean(&device.run(&kernel, [1, 1, 1], [256, 1, 1], args, &all(3)));
            let got = device.memory.read(out, count as u64).unwrap();
            for (at, x) in x.iter().enumerate() {
                let wanted = format.encode_f32(*x, Rounding::NearestEven, Overflow::Saturate);
                assert_eq!(u32::from(got[at]), wanted, "{kernel} {arch}: {x}");
            }
            let back = device.blank(4 * count as u64, "back");
            let args = Args::default()
                .pointer(out)
                .pointer(scales)
                .pointer(back)
                .put(&(count as u64).to_le_bytes());
            let kernel = format!("fp8_dequantize_{name}_f32");
            assert_clean(&device.run(&kernel, [1, 1, 1], [256, 1, 1], args, &all(4)));
            let wanted: Vec<f32> = got
                .iter()
                .map(|code| format.decode_f32(u32::from(*code)))
                .collect();
            assert_eq!(device.read_floats(back, count), wanted);
        }
    }
}

#[test]
fn schedules_and_threads_change_no_bits() {
    if !has_compiler() {
        return;
    }
    for arch in ARCHS {
        let object = object("gemm_f32", arch);
        let (m, n, k) = (130, 127, 31);
        let (x, y) = (random_floats(m * k, 6), random_floats(k * n, 7));
        let mut first: Option<Vec<u8>> = None;
        for seed in 0..10 {
            let mut device = Device::new(&object);
            let (a, b) = (device.floats(&x, "a"), device.floats(&y, "b"));
            let c = device.blank(4 * (m * n) as u64, "c");
            let args = [m, n, k, k, n, n].iter().fold(
                Args::default().pointer(a).pointer(b).pointer(c),
                |args, size| args.u32(*size as u32),
            );
            let options = Options {
                seed,
                threads: 1 + seed as usize % 3,
                ..Options::default()
            };
            assert_clean(&device.run("gemm_f32_nn", [6, 1, 1], [256, 1, 1], args, &options));
            let bytes = device.memory.read(c, 4 * (m * n) as u64).unwrap();
            assert_eq!(
                first.get_or_insert_with(|| bytes.clone()),
                &bytes,
                "seed {seed}"
            );
        }
    }
}

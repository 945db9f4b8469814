//! Code objects that others made run right, without a finding: Triton, and programs with
//! HIP's own headers and device library.

use cairn_cdna::{Checks, Options};
use cairn_formats::{bf16, bf16_from_f32, bf16_to_f32};

use crate::support::{Args, Device, assert_clean, random_floats, root, snr};

fn object(name: &str, arch: &str) -> Device {
    let path = root().join(format!("tests/golden/triton/{name}.{arch}.hsaco"));
    let mut device = Device::new(&std::fs::read(path).unwrap());
    // Triton asks for LDS when it starts a kernel.
    device.dynamic_lds = match (name, arch) {
        ("gemm", "gfx942") => 4096,
        ("gemm", _) => 16384,
        ("attention", "gfx942") => 8192,
        ("attention", _) => 20480,
        _ => 16,
    };
    device
}

fn options(seed: u64) -> Options {
    Options {
        checks: Checks::ALL,
        seed,
        ..Options::default()
    }
}

/// Values rounded to bf16, and their bytes.
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

/// Triton adds two scratch pointers, which these kernels do not use.
fn scratch(args: Args) -> Args {
    args.pointer(0).pointer(0)
}

#[test]
fn softmax_is_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        for columns in [1, 127, 1000] {
            let (rows, mut device) = (3, object("softmax", arch));
            let x = random_floats(rows * columns, 3);
            let input = device.floats(&x, "input");
            let output = device.blank(4 * (rows * columns) as u64, "output");
            let args = scratch(
                Args::default()
                    .pointer(output)
                    .pointer(input)
                    .u32(columns as u32),
            );
            assert_clean(&device.run(
                "softmax",
                [rows as u32, 1, 1],
                [256, 1, 1],
                args,
                &options(0),
            ));
            let wanted: Vec<f64> = x
                .chunks(columns)
                .flat_map(|row| {
                    let sum: f64 = row.iter().map(|x| f64::from(*x).exp()).sum();
                    row.iter().map(move |x| f64::from(*x).exp() / sum)
                })
                .collect();
            assert!(snr(&device.read_floats(output, rows * columns), &wanted) > 100.0);
        }
    }
}

#[test]
fn layer_norm_is_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        let (rows, columns, mut device) = (3, 513, object("layer_norm", arch));
        let x = random_floats(rows * columns, 4);
        let (w, b) = (random_floats(columns, 5), random_floats(columns, 6));
        let [x_at, w_at, b_at] = [&x, &w, &b].map(|values| device.floats(values, "input"));
        let output = device.blank(4 * (rows * columns) as u64, "output");
        let args = Args::default()
            .pointer(x_at)
            .pointer(w_at)
            .pointer(b_at)
            .pointer(output);
        let args = scratch(args.u32(columns as u32).put(&1e-5f32.to_le_bytes()));
        assert_clean(&device.run(
            "layer_norm",
            [rows as u32, 1, 1],
            [256, 1, 1],
            args,
            &options(1),
        ));
        let mut wanted = Vec::new();
        for row in x.chunks(columns) {
            let mean = row.iter().map(|x| f64::from(*x)).sum::<f64>() / columns as f64;
            let variance = row
                .iter()
                .map(|x| (f64::from(*x) - mean).powi(2))
                .sum::<f64>()
                / columns as f64;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            for (at, x) in row.iter().enumerate() {
                wanted.push((f64::from(*x) - mean) * scale * f64::from(w[at]) + f64::from(b[at]));
            }
        }
        assert!(snr(&device.read_floats(output, rows * columns), &wanted) > 100.0);
    }
}

#[test]
fn a_product_is_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        for (m, n, k) in [(64, 64, 64), (127, 65, 97)] {
            let mut device = object("gemm", arch);
            let (x, a) = halves(m * k, 7);
            let (y, b) = halves(k * n, 8);
            let (a, b) = (device.bytes(&a, "a"), device.bytes(&b, "b"));
            let c = device.blank(2 * (m * n) as u64, "c");
            let args = Args::default().pointer(a).pointer(b).pointer(c);
            let args = [m, n, k, k, n, n]
                .iter()
                .fold(args, |args, size| args.u32(*size as u32));
            let grid = [m.div_ceil(64) as u32, n.div_ceil(64) as u32, 1];
            let report = device.run("gemm", grid, [256, 1, 1], scratch(args), &options(2));
            assert_clean(&report);
            assert!(report.counters.matrix_flops >= 2 * (m * n * k) as u64);
            let wanted: Vec<f64> = (0..m * n)
                .map(|at| (0..k).map(|i| x[at / n * k + i] * y[i * n + at % n]).sum())
                .collect();
            assert!(snr(&read_halves(&device, c, m * n), &wanted) > 40.0);
        }
    }
}

#[test]
fn attention_is_right_and_clean() {
    const D: usize = 64;
    for arch in ["gfx942", "gfx950"] {
        let (heads, length, mut device) = (2, 100, object("attention", arch));
        let count = heads * length * D;
        let inputs: Vec<_> = (0..3).map(|at| halves(count, 9 + at)).collect();
        let places: Vec<_> = inputs
            .iter()
            .map(|(_, bytes)| device.bytes(bytes, "input"))
            .collect();
        let output = device.blank(2 * count as u64, "output");
        let scale = 0.125f32 * std::f32::consts::LOG2_E;
        let args = places
            .iter()
            .fold(Args::default(), |args, at| args.pointer(*at))
            .pointer(output);
        let args = scratch(args.u32(length as u32).put(&scale.to_le_bytes()));
        let grid = [length.div_ceil(64) as u32, heads as u32, 1];
        assert_clean(&device.run("attention", grid, [256, 1, 1], args, &options(3)));
        let [q, k, v] = [0, 1, 2].map(|at| &inputs[at].0);
        let mut wanted = Vec::new();
        for row in 0..heads * length {
            let head = row / length * length;
            let keys = head..=row;
            let dot =
                |key: usize| (0..D).map(|d| q[row * D + d] * k[key * D + d]).sum::<f64>() * 0.125;
            let weights: Vec<_> = keys.clone().map(|key| dot(key).exp()).collect();
            let sum: f64 = weights.iter().sum();
            for d in 0..D {
                let value: f64 = keys
                    .clone()
                    .zip(&weights)
                    .map(|(key, w)| w * v[key * D + d])
                    .sum();
                wanted.push(value / sum);
            }
        }
        assert!(snr(&read_halves(&device, output, count), &wanted) > 40.0);
    }
}

/// The code object with HIP's own headers and device library.
fn hip(arch: &str) -> Device {
    let path = root().join(format!("tests/golden/hip/kernels.{arch}.hsaco"));
    Device::new(&std::fs::read(path).unwrap())
}

#[test]
fn a_saxpy_with_hips_headers_is_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        for count in [1, 127, 1009] {
            let mut device = hip(arch);
            let (x, y) = (random_floats(count, 20), random_floats(count, 21));
            let (x_at, y_at) = (device.floats(&x, "x"), device.floats(&y, "y"));
            let args = Args::default()
                .put(&2.5f32.to_le_bytes())
                .pointer(x_at)
                .pointer(y_at)
                .u32(count as u32);
            let report = device.run("saxpy", [3, 1, 1], [96, 1, 1], args, &options(4));
            assert_clean(&report);
            let wanted: Vec<f32> = x
                .iter()
                .zip(&y)
                .map(|(x, y)| 2.5f32.mul_add(*x, *y))
                .collect();
            assert_eq!(device.read_floats(y_at, count), wanted, "{arch} {count}");
        }
    }
}

#[test]
fn sums_with_hips_shuffles_are_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        for (groups, lanes, count) in [(1, 64, 1), (3, 256, 1009), (2, 1024, 4099)] {
            let mut device = hip(arch);
            // Whole numbers, so that every order has one sum.
            let x: Vec<f32> = (0..count).map(|at| (at % 31) as f32 - 7.0).collect();
            let x_at = device.floats(&x, "x");
            let out = device.blank(4 * u64::from(groups), "out");
            let args = Args::default().pointer(x_at).pointer(out).u32(count as u32);
            let report = device.run("sums", [groups, 1, 1], [lanes, 1, 1], args, &options(5));
            assert_clean(&report);
            let of = |group: u32| {
                let in_group = |at: &usize| *at as u32 / lanes % groups == group;
                (0..count).filter(in_group).map(|at| x[at]).sum::<f32>()
            };
            let wanted: Vec<f32> = (0..groups).map(of).collect();
            assert_eq!(
                device.read_floats(out, groups as usize),
                wanted,
                "{arch} {lanes}"
            );
        }
    }
}

#[test]
fn functions_of_hips_device_library_are_right_and_clean() {
    for arch in ["gfx942", "gfx950"] {
        let (width, height, mut device) = (37, 11, hip(arch));
        let count = width * height;
        let x: Vec<f32> = random_floats(count, 22).iter().map(|x| x * 9.0).collect();
        let (x_at, out) = (
            device.floats(&x, "x"),
            device.blank(4 * count as u64, "out"),
        );
        let total = device.bytes(&[0; 4], "count");
        let args = Args::default().pointer(x_at).pointer(out).pointer(total);
        let args = args.u32(width as u32).u32(height as u32);
        let grid = [width.div_ceil(32) as u32, height.div_ceil(4) as u32, 1];
        // Workgroups meet in the atomic, so that races between them are no fault.
        let options = Options {
            checks: Checks::DEFAULT,
            ..options(6)
        };
        assert_clean(&device.run("functions", grid, [32, 4, 1], args, &options));
        let wanted: Vec<f64> = x
            .iter()
            .map(|x| f64::from(*x))
            .map(|x| x.sin() + x.exp() * x.abs().sqrt() + x.tanh() / (1.0 + x * x))
            .collect();
        let got = device.read_floats(out, count);
        for ((got, wanted), x) in got.iter().zip(&wanted).zip(&x) {
            let error = (f64::from(*got) - wanted).abs() / wanted.abs().max(1.0);
            assert!(error < 1e-6, "{arch}: {x} gives {got}, not {wanted}");
        }
        let positive = x.iter().filter(|x| **x > 0.0).count() as u32;
        assert_eq!(
            device.memory.read(total, 4).unwrap(),
            positive.to_le_bytes()
        );
    }
}

//! Code objects that Triton made run right, without a finding.

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

//! Compiled kernels give the right results, without a finding.

use cairn_cdna::Options;

use crate::support::{
    Args, Device, assert_clean, compile, compile_test, has_compiler, random_floats, root, snr,
};

#[test]
fn a_vector_sum_is_right_and_clean() {
    if !has_compiler() {
        return;
    }
    for arch in ["gfx942", "gfx950"] {
        let mut device = Device::new(&compile_test("add", arch));
        let n = 1000;
        let (x, y) = (random_floats(n, 1), random_floats(n, 2));
        let (a, b) = (device.floats(&x, "a"), device.floats(&y, "b"));
        let c = device.blank(4 * n as u64, "c");
        let args = Args::default()
            .pointer(a)
            .pointer(b)
            .pointer(c)
            .u32(n as u32);
        let report = device.run("add", [4, 1, 1], [256, 1, 1], args, &Options::default());
        assert_clean(&report);
        let wanted: Vec<_> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
        assert_eq!(device.read_floats(c, n), wanted);
    }
}

#[test]
fn an_f32_product_is_right_and_clean() {
    if !has_compiler() {
        return;
    }
    for arch in ["gfx942", "gfx950"] {
        let bytes = compile(&root().join("kernels/gemm_f32.hip"), arch, "gemm_f32");
        for (m, n, k) in [(1, 1, 1), (127, 129, 17), (64, 64, 64)] {
            let mut device = Device::new(&bytes);
            let (x, y) = (random_floats(m * k, 1), random_floats(k * n, 2));
            let (a, b) = (device.floats(&x, "a"), device.floats(&y, "b"));
            let c = device.blank(4 * (m * n) as u64, "c");
            let sizes = [m, n, k, k, n, n];
            let args = Args::default().pointer(a).pointer(b).pointer(c);
            let args = sizes.iter().fold(args, |args, size| args.u32(*size as u32));
            let groups = (m.div_ceil(64) * n.div_ceil(64)) as u32;
            let options = Options {
                threads: 2,
                ..Options::default()
            };
            let report = device.run("gemm_f32_nn", [groups, 1, 1], [256, 1, 1], args, &options);
            assert_clean(&report);
            let wanted: Vec<f64> = (0..m * n)
                .map(|at| {
                    (0..k)
                        .map(|i| f64::from(x[at / n * k + i]) * f64::from(y[i * n + at % n]))
                        .sum()
                })
                .collect();
            assert!(snr(&device.read_floats(c, m * n), &wanted) > 100.0);
        }
    }
}

//! The smallest compiled kernel gives the right results, without a finding;
//! `accuracy` has those of the library.

use cairn_cdna::Options;

use crate::support::{Args, Device, assert_clean, compile_test, has_compiler, random_floats};

/// Counts of a few workgroups stand for those of all, where all do the same.
#[test]
fn a_sample_of_workgroups_is_counted_as_all() {
    if !has_compiler() {
        return;
    }
    let (groups, n) = (300, 300 * 256);
    let run = |sample| {
        let mut device = Device::new(&compile_test("add", "gfx942"));
        let x = random_floats(n, 1);
        let (a, b) = (device.floats(&x, "a"), device.floats(&x, "b"));
        let c = device.blank(4 * n as u64, "c");
        let args = Args::default().pointer(a).pointer(b).pointer(c);
        let options = Options {
            sample,
            ..Options::default()
        };
        let report = device.run(
            "add",
            [groups, 1, 1],
            [256, 1, 1],
            args.u32(n as u32),
            &options,
        );
        let floats = device.read_floats(c, n);
        let right = x.iter().zip(floats).filter(|(x, sum)| *x + *x == *sum);
        (report.counters, right.count())
    };
    let (all, right) = run(0);
    assert_eq!(right, n);
    let (some, right) = run(7);
    // Three vectors of 16 lines a workgroup; lines are those of the workgroups that ran.
    assert_eq!(
        (all.distinct_lines, some.distinct_lines),
        (300 * 48, 7 * 48)
    );
    let mut scaled = some;
    scaled.distinct_lines = all.distinct_lines;
    assert_eq!(scaled, all);
    assert!(
        (7 * 256..8 * 256).contains(&right),
        "only seven workgroups ran: {right}"
    );
}

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

//! Planted faults are found and named; their clean twins are clean.

use cairn_cdna::{Checks, FindingKind, Options, Report};

use crate::support::{Args, Device, assert_clean, compile_test, has_compiler};

const N: u32 = 256;

fn run(object: &[u8], kernel: &str, workgroups: u32) -> Report {
    let mut device = Device::new(object);
    let input = device.floats(&vec![1.5; N as usize], "input");
    let output = device.blank(4 * u64::from(N), "output");
    let args = Args::default().pointer(input).pointer(output).u32(N);
    let options = Options {
        checks: Checks::ALL,
        budget: 100_000,
        ..Options::default()
    };
    device.run(
        kernel,
        [workgroups, 1, 1],
        [N / workgroups.max(1), 1, 1],
        args,
        &options,
    )
}

/// The faulty kernels, what each is to be found guilty of, and how many
/// workgroups it takes.
const FAULTS: &[(&str, FindingKind, u32)] = &[
    ("missing_barrier_1", FindingKind::LdsRace, 1),
    ("missing_barrier_2", FindingKind::LdsRace, 1),
    ("missing_barrier_3", FindingKind::LdsRace, 1),
    ("missing_wait_1", FindingKind::MissingWait, 1),
    ("missing_wait_2", FindingKind::MissingWait, 1),
    ("missing_wait_3", FindingKind::MissingWait, 1),
    ("missing_wait_4", FindingKind::LdsRace, 1),
    ("off_by_one_1", FindingKind::OutOfBounds, 1),
    ("off_by_one_2", FindingKind::OutOfBounds, 1),
    ("off_by_one_3", FindingKind::LdsOutOfBounds, 1),
    ("uninitialised_lds_1", FindingKind::UninitialisedLds, 1),
    ("uninitialised_lds_2", FindingKind::UninitialisedLds, 1),
    ("uninitialised_lds_3", FindingKind::UninitialisedLds, 1),
    ("global_race_1", FindingKind::GlobalRace, 4),
    ("global_race_2", FindingKind::GlobalRace, 4),
    ("global_race_3", FindingKind::GlobalRace, 4),
    ("divergent_barrier_1", FindingKind::DivergentBarrier, 1),
    ("divergent_barrier_2", FindingKind::DivergentBarrier, 1),
    ("divergent_barrier_3", FindingKind::DivergentBarrier, 1),
    ("divergent_barrier_4", FindingKind::DivergentBarrier, 1),
    (
        "uninitialised_memory_1",
        FindingKind::UninitialisedMemory,
        1,
    ),
    (
        "uninitialised_register_1",
        FindingKind::UninitialisedRegister,
        1,
    ),
    (
        "uninitialised_register_2",
        FindingKind::UninitialisedRegister,
        1,
    ),
    ("endless_1", FindingKind::EndlessLoop, 1),
];

#[test]
fn planted_faults_are_found_and_their_twins_are_clean() {
    if !has_compiler() {
        return;
    }
    let mut wrong = Vec::new();
    for arch in ["gfx942", "gfx950"] {
        let object = compile_test("faults", arch);
        for (kernel, kind, workgroups) in FAULTS {
            let report = run(&object, kernel, *workgroups);
            let found: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
            let named = report.findings.iter().find(|finding| finding.kind == *kind);
            let source = named.and_then(|finding| finding.source.clone());
            // The barrier itself is a function of the header.
            let told = source.is_some_and(|source| {
                source.starts_with("faults.hip:") || source.starts_with("device.h:")
            });
            if !found.contains(kind) || !told {
                wrong.push(format!("{kernel} on {arch}: {:?}", report.findings));
            }
            let clean = run(&object, &format!("{kernel}_clean"), *workgroups);
            if !clean.findings.is_empty() {
                wrong.push(format!("{kernel}_clean on {arch}: {:?}", clean.findings));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_schedule_changes_no_bits() {
    if !has_compiler() {
        return;
    }
    let mut device = Device::new(&compile_test("faults", "gfx942"));
    let input = device.floats(&vec![1.5; N as usize], "input");
    let mut first = None;
    for seed in 0..10 {
        let output = device.blank(4 * u64::from(N), "output");
        let args = Args::default().pointer(input).pointer(output).u32(N);
        let options = Options {
            seed,
            threads: 1 + seed as usize % 2,
            ..Options::default()
        };
        let report = device.run(
            "missing_barrier_1_clean",
            [1, 1, 1],
            [N, 1, 1],
            args,
            &options,
        );
        assert_clean(&report);
        let result = device.read_floats(output, N as usize);
        assert_eq!(first.get_or_insert_with(|| result.clone()), &result);
    }
}

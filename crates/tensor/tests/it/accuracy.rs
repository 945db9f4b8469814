//! Every operator of the table on every backend.

use std::collections::BTreeSet;

use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{Reference, suite};

use crate::support::pool;

#[test]
fn every_operator_has_a_row() {
    let rows: BTreeSet<&str> = suite::rows().iter().map(|row| row.op).collect();
    let leaves = ["input", "parameter", "state"];
    let operators: BTreeSet<&str> = cairn_graph::ops::registry()
        .names()
        .filter(|name| !leaves.contains(name))
        .collect();
    assert_eq!(rows, operators);
}

#[test]
fn reference() {
    let report = suite::check_backend(&Reference, &pool(1), &suite::rows(), &|_| true);
    println!("{report}");
    assert_eq!(
        report.failures().count(),
        0,
        "{}",
        report.describe_failures()
    );
    assert_eq!(report.missing(), []);
    assert!(report.cases.len() > 1000);
}

/// Instruction sets of this machine.
fn levels() -> Vec<Isa> {
    let all = [
        Isa::Portable,
        Isa::Avx2,
        Isa::Avx512,
        Isa::Avx512Bf16,
        Isa::Amx,
    ];
    all.into_iter()
        .filter(|isa| *isa <= Isa::detect())
        .collect()
}

#[test]
fn cpu() {
    let threads = pool(2);
    let declared = Cpu::operators();
    let mut faults = String::new();
    for isa in levels() {
        let backend = Cpu::new(isa, threads.threads());
        let report = suite::check_backend(&backend, &threads, &suite::rows(), &|_| true);
        println!("{isa:?}\n{report}");
        if report.failures().next().is_some() {
            faults.push_str(&format!("{isa:?}\n{}", report.describe_failures()));
        }
        for (op, dtype) in report.missing() {
            if declared.contains(&op) && dtype.is_float() {
                faults.push_str(&format!("{isa:?} declares {op} and has none for {dtype}\n"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

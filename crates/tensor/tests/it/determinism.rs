//! The same bits with 1, 2 and 4 threads, ten times each.

use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::suite;

use crate::support::pool;

#[test]
fn cpu() {
    let pools = [pool(1), pool(2), pool(4)];
    let mut levels = vec![Isa::Portable, Isa::detect()];
    levels.dedup();
    let mut faults = String::new();
    for isa in levels {
        let backends: Vec<Cpu> = pools
            .iter()
            .map(|pool| Cpu::new(isa, pool.threads()))
            .collect();
        let pairs: Vec<_> = backends
            .iter()
            .zip(&pools)
            .map(|(backend, pool)| (backend as &dyn cairn_tensor::Backend, pool))
            .collect();
        let report = suite::determinism(&pairs, 10, &suite::rows(), &|_| true);
        if report.failures().next().is_some() {
            faults.push_str(&format!("{isa:?}\n{}", report.describe_failures()));
        }
        let ran = report.cases.iter().filter(|case| case.passed()).count();
        println!("{isa:?}: {ran} of {} samples ran", report.cases.len());
        assert!(ran > 0);
    }
    assert!(faults.is_empty(), "{faults}");
}

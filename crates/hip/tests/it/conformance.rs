//! The suite that every backend passes, on the operators that kernels compute.

use cairn_tensor::suite;

use crate::support::{on_each, pool};

#[test]
fn every_kernel_passes_the_gates_of_the_operator_table() {
    on_each(
        "conformance::every_kernel_passes_the_gates_of_the_operator_table",
        |gpu| {
            let report = suite::check_backend(gpu, &pool(), &suite::rows(), &|_| true);
            println!("{report}");
            assert_eq!(report.describe_failures(), "");
            let ran = report.cases.iter().filter(|case| case.passed()).count();
            assert!(ran > 100, "{ran}");
        },
    );
}

//! Kernels for tests of several crates: built once in a crate's folder for tests, with the
//! compiler of the machine, whatever the user's environment says.

use std::path::Path;

use cairn_base::Progress;
use cairn_kernels::{Arch, KernelsError, Report, Request, Search};

/// Builds the kernels of gfx942 and gfx950 into `out`; `None` after a skip without a
/// compiler.
pub(crate) fn build(out: &Path) -> Option<Report> {
    let request = Request {
        sources: Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels"),
        out: out.to_path_buf(),
        archs: vec![Arch::Gfx942, Arch::Gfx950],
        jobs: 2,
        search: Search {
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            ..Search::default()
        },
    };
    match cairn_kernels::build(&request, &Progress::hidden()) {
        Ok(report) => Some(report),
        Err(errors) if matches!(errors[..], [KernelsError::NoCompiler { .. }]) => {
            cairn_base::skip("no compiler for gfx942 and gfx950");
            None
        }
        Err(errors) => panic!("{errors:?}"),
    }
}

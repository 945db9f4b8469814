//! `cargo xtask kernels check`.

use super::*;

pub(super) fn run(args: &CheckArgs, context: &Context) -> Result {
    let tree = tree(context)?;
    let mut findings = Vec::new();
    let mut checked = 0;
    for (arch, manifest) in manifests(args.arch.as_deref(), context)? {
        manifest
            .must_be_from(&tree, arch)
            .map_err(|error| failure(&error))?;
        checked += manifest.kernels.len();
        findings.extend(cairn_kernels::check::check(&manifest, &tree, arch));
    }
    if context.json() {
        context.print_json(&serde_json::json!({"checked": checked, "findings": findings}))?;
    } else {
        for finding in &findings {
            eprintln!("{} {}: {}", finding.arch, finding.kernel, finding.what);
        }
    }
    match findings.len() {
        0 if context.json() => Ok(()),
        0 => context.print(&format!(
            "check: {checked} kernels keep what their sources declare"
        )),
        count => {
            let message = format!(
                "{count} {} of {checked} kernels against what their sources declare",
                match count {
                    1 => "fault",
                    _ => "faults",
                }
            );
            let hint = "change the kernel, or what its header comment declares";
            Err(Failure::failed(
                Diagnostic::error("kernels::check", message).hint(hint),
            ))
        }
    }
}

//! Whether what was built keeps what its sources declare.

use cairn_codeobj::Arch;
use serde::Serialize;

use crate::Manifest;
use crate::declaration::Limit;
use crate::manifest::{Entry, Needs};
use crate::source::Tree;

/// A kernel that does not keep a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The architecture.
    pub arch: String,
    /// The kernel.
    pub kernel: String,
    /// What is wrong.
    pub what: String,
}

/// Every rule that a kernel of an architecture does not keep: no spills, no
/// scratch, no more registers or LDS than declared, and all declared.
#[must_use]
pub fn check(manifest: &Manifest, tree: &Tree, arch: Arch) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |kernel: &str, what: String| {
        findings.push(Finding {
            arch: arch.name().to_owned(),
            kernel: kernel.to_owned(),
            what,
        });
    };
    for (name, entry) in &manifest.kernels {
        for what in faults(entry) {
            add(name, what);
        }
    }
    for source in tree.for_arch(arch) {
        for name in source
            .declarations
            .iter()
            .flat_map(|declaration| &declaration.kernels)
        {
            if !manifest.kernels.contains_key(name) {
                add(
                    name,
                    format!("{} declares it and has no such entry point", source.file()),
                );
            }
        }
    }
    findings
}

fn faults(entry: &Entry) -> Vec<String> {
    let needs = &entry.needs;
    let mut faults = Vec::new();
    if needs.vgpr_spills + needs.sgpr_spills > 0 {
        faults.push(format!(
            "it spills {} vector and {} scalar registers",
            needs.vgpr_spills, needs.sgpr_spills
        ));
    }
    if needs.scratch_bytes > 0 {
        faults.push(format!(
            "it uses {} bytes of scratch a lane",
            needs.scratch_bytes
        ));
    }
    if needs.waves_per_simd == 0 {
        faults.push("no compute unit can hold a workgroup of it".to_owned());
    }
    match entry.limit {
        None => faults.push(format!(
            "the header comment of {} does not declare it",
            entry.source
        )),
        Some(limit) => faults.extend(over(needs, limit)),
    }
    faults
}

fn over(needs: &Needs, limit: Limit) -> Vec<String> {
    let mut faults = Vec::new();
    if needs.workgroup != limit.workgroup {
        faults.push(format!(
            "its workgroup has {} lanes, where its source declares {}",
            needs.workgroup, limit.workgroup
        ));
    }
    for (what, needed, declared) in [
        ("vector registers", needs.vgprs, limit.vgprs),
        ("scalar registers", needs.sgprs, limit.sgprs),
        ("bytes of LDS", needs.lds_bytes, limit.lds),
    ] {
        if needed > declared {
            faults.push(format!(
                "it needs {needed} {what}, where its source declares {declared}"
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_can_fail() {
        let limit = Limit {
            workgroup: 256,
            vgprs: 64,
            sgprs: 32,
            lds: 1024,
        };
        let needs = Needs {
            workgroup: 256,
            vgprs: 64,
            agprs: 0,
            sgprs: 32,
            lds_bytes: 1024,
            scratch_bytes: 0,
            vgpr_spills: 0,
            sgpr_spills: 0,
            waves_per_simd: 8,
        };
        let entry = |change: &dyn Fn(&mut Needs), limit: Option<Limit>| {
            let mut needs = needs;
            change(&mut needs);
            let entry = Entry {
                object: String::new(),
                source: "k.hip".to_owned(),
                computes: String::new(),
                args: Vec::new(),
                kernarg_bytes: 0,
                needs,
                limit,
            };
            faults(&entry).join("; ")
        };
        assert_eq!(entry(&|_| {}, Some(limit)), "");
        for (change, expected) in [
            (
                &(|needs: &mut Needs| needs.vgpr_spills = 1) as &dyn Fn(&mut Needs),
                "it spills 1 vector",
            ),
            (&|needs| needs.sgpr_spills = 2, "and 2 scalar"),
            (&|needs| needs.scratch_bytes = 16, "16 bytes of scratch"),
            (
                &|needs| needs.vgprs = 72,
                "it needs 72 vector registers, where its source declares 64",
            ),
            (&|needs| needs.sgprs = 33, "it needs 33 scalar registers"),
            (
                &|needs| needs.lds_bytes = 1028,
                "it needs 1028 bytes of LDS",
            ),
            (&|needs| needs.workgroup = 64, "its workgroup has 64 lanes"),
            (&|needs| needs.waves_per_simd = 0, "no compute unit"),
        ] {
            let told = entry(change, Some(limit));
            assert!(told.contains(expected), "{told}");
        }
        assert!(entry(&|_| {}, None).contains("k.hip does not declare it"));
    }
}

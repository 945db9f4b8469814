//! `cargo xtask kernels inspect`.

use cairn_kernels::listing::{self, Line};
use cairn_kernels::manifest::Entry;
use serde_json::{Value, json};

use super::*;

pub(super) fn run(args: &InspectArgs, context: &Context) -> Result {
    let mut answers: Vec<Value> = Vec::new();
    let mut text = String::new();
    for (arch, manifest) in manifests(args.arch.as_deref(), context)? {
        let object = manifest
            .object_of(&out(context), arch, &args.name)
            .map_err(|error| failure(&error))?;
        let Some((entry, kernel)) = manifest
            .kernels
            .get(&args.name)
            .zip(object.kernel(&args.name))
        else {
            continue;
        };
        let occupancy = arch.occupancy(
            entry.needs.vgprs,
            entry.needs.lds_bytes,
            entry.needs.workgroup,
        );
        let lines = listing::listing(&object, kernel);
        if context.json() {
            answers.push(
                json!({"arch": arch.name(), "kernel": args.name, "entry": entry,
                "occupancy": {"by_vgprs": occupancy.by_vgprs, "by_lds": occupancy.by_lds},
                "code_bytes": kernel.code_bytes, "instructions": lines, "target": object.target.to_string()}),
            );
            continue;
        }
        text.push_str(&format!(
            "{} for {} ({})\n",
            args.name, object.target, entry.source
        ));
        text.push_str(&needs(arch, entry, kernel.code_bytes));
        text.push_str(&instructions(&lines));
    }
    if context.json() {
        return context.print_json(&answers.into());
    }
    context.print(&text)
}

/// The instructions, each with its address and kind, and how many of each kind
/// there are.
fn instructions(lines: &[Line]) -> String {
    let counts = listing::counts(lines);
    let counts: Vec<_> = counts
        .iter()
        .map(|(class, count)| format!("{count} {class}"))
        .collect();
    let mut text = format!("  {:<12} {}\n", "instructions", counts.join(", "));
    for line in lines {
        if let Some(label) = line.label {
            text.push_str(&format!("  L{label}:\n"));
        }
        let to = line.to.map_or_else(String::new, |to| format!(" to L{to}"));
        text.push_str(&format!(
            "    {:6x}  {:<64} ; {}{to}\n",
            line.address, line.text, line.class
        ));
    }
    text
}

/// What a kernel computes, takes and needs, a line each.
fn needs(arch: Arch, entry: &Entry, code_bytes: u64) -> String {
    let needs = &entry.needs;
    let occupancy = arch.occupancy(needs.vgprs, needs.lds_bytes, needs.workgroup);
    let mut lines = vec![
        ("computes", entry.computes.clone()),
        ("workgroup", format!("{} lanes", needs.workgroup)),
        (
            "registers",
            format!(
                "{} vector ({} of them for accumulation), {} scalar",
                needs.vgprs, needs.agprs, needs.sgprs
            ),
        ),
        ("LDS", format!("{} bytes", needs.lds_bytes)),
        ("scratch", format!("{} bytes a lane", needs.scratch_bytes)),
        (
            "spills",
            format!("{} vector, {} scalar", needs.vgpr_spills, needs.sgpr_spills),
        ),
        (
            "occupancy",
            format!(
                "{} waves a SIMD unit (registers allow {}, LDS and workgroups {})",
                needs.waves_per_simd, occupancy.by_vgprs, occupancy.by_lds
            ),
        ),
        ("code", format!("{code_bytes} bytes")),
    ];
    for arg in &entry.args {
        let name = arg.name.as_deref().unwrap_or("argument");
        lines.push((
            name,
            format!("{} at {}, {} bytes", arg.kind, arg.offset, arg.size),
        ));
    }
    lines
        .iter()
        .map(|(name, value)| format!("  {name:<12} {value}\n"))
        .collect()
}

//! The instructions of a kernel as text, with what each one is.

use std::collections::BTreeMap;

use cairn_codeobj::isa::{self, Format, Inst};
use cairn_codeobj::{CodeObject, Kernel};
use serde::Serialize;

/// An instruction, or what stands in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Where it is, relative to the load address.
    pub address: u64,
    /// The number of the label before it, where a branch leads to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<usize>,
    /// The instruction as an assembler has it.
    pub text: String,
    /// What kind it is.
    pub class: &'static str,
    /// The label it may go to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<usize>,
}

/// The instructions of a kernel.
#[must_use]
pub fn listing(object: &CodeObject, kernel: &Kernel) -> Vec<Line> {
    let code = object.code(kernel);
    let mut found: Vec<(u64, Result<Inst, u32>)> = Vec::new();
    let mut at = 0;
    while let Some(rest) = code.get(at..).filter(|rest| rest.len() >= 4) {
        let address = kernel.entry + at as u64;
        match isa::decode(rest, object.target.arch) {
            Ok(inst) => {
                at += usize::from(inst.size).max(4);
                found.push((address, Ok(inst)));
            }
            Err(_) => {
                let word = rest
                    .iter()
                    .take(4)
                    .rev()
                    .fold(0u32, |word, byte| word << 8 | u32::from(*byte));
                at += 4;
                found.push((address, Err(word)));
            }
        }
    }
    let target =
        |address: u64, inst: &Result<Inst, u32>| inst.as_ref().ok()?.branch_target(address);
    let mut labels: BTreeMap<u64, usize> = found
        .iter()
        .filter_map(|(address, inst)| Some((target(*address, inst)?, 0)))
        .collect();
    for (number, label) in labels.values_mut().enumerate() {
        *label = number;
    }
    let line = |(address, inst): &(u64, Result<Inst, u32>)| Line {
        address: *address,
        label: labels.get(address).copied(),
        text: match inst {
            Ok(inst) => inst.to_string(),
            Err(word) => format!(".long {word:#010x}"),
        },
        class: inst.as_ref().map_or("unknown", class),
        to: target(*address, inst).and_then(|to| labels.get(&to).copied()),
    };
    found.iter().map(line).collect()
}

/// What kind an instruction is.
fn class(inst: &Inst) -> &'static str {
    match inst.format {
        Format::Sopp if inst.branch_target(0).is_some() => "branch",
        Format::Sopp => "control",
        Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => "scalar",
        Format::Smem => "scalar load",
        Format::Ds => "lds",
        Format::Flat | Format::Global | Format::Scratch | Format::Mubuf => "memory",
        Format::Mai => "matrix",
        _ => "vector",
    }
}

/// How many instructions there are of each kind.
#[must_use]
pub fn counts(lines: &[Line]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line.class).or_insert(0) += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiled_kernel_is_listed_to_its_end() {
        let bytes = include_bytes!("../../../tests/golden/codeobj/add.gfx942.hsaco");
        let object = CodeObject::parse(bytes).unwrap();
        let kernel = object.kernel("add").unwrap();
        let lines = listing(&object, kernel);
        assert_eq!(lines[0].address, kernel.entry);
        assert!(
            lines.iter().all(|line| line.class != "unknown"),
            "{lines:#?}"
        );
        assert!(lines.iter().any(|line| line.text.starts_with("s_barrier")));
        assert!(lines.iter().any(|line| line.text.starts_with("s_endpgm")));
        // A branch and where it leads belong together.
        let to = lines.iter().find_map(|line| line.to).unwrap();
        assert!(lines.iter().any(|line| line.label == Some(to)));
        let counts = counts(&lines);
        assert!(counts["lds"] >= 2 && counts["memory"] >= 3, "{counts:?}");
    }
}

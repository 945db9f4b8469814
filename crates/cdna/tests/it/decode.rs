//! The decoder against LLVM's disassembler: the same length and operands for
//! every instruction of what compilers make.

use std::path::Path;

use cairn_base::Exec;
use cairn_codeobj::Arch;
use cairn_codeobj::isa;

use crate::support::{compile, compile_test, has_compiler, root};

/// Instructions whose text differs from LLVM's, with both.
fn differences(object: &Path, arch: Arch) -> (usize, Vec<String>) {
    let output = Exec::new("llvm-objdump-22").arg("-d").arg(object).output().unwrap();
    let (mut count, mut wrong) = (0, Vec::new());
    for line in output.text().lines() {
        let Some((text, rest)) = line.split_once("//") else {
            continue;
        };
        let Some((_, words)) = rest.split_once(": ") else {
            continue;
        };
        let words = words.split('<').next().unwrap_or_default();
        let bytes: Vec<u8> = words
            .split_whitespace()
            .filter_map(|word| u32::from_str_radix(word, 16).ok())
            .flat_map(u32::to_le_bytes)
            .collect();
        let text = text.trim();
        if text.starts_with('.') || text.starts_with("s_code_end") {
            continue;
        }
        count += 1;
        match isa::decode(&bytes, arch) {
            Ok(inst) if inst.to_string() == text && usize::from(inst.size) == bytes.len() => {}
            Ok(inst) => wrong.push(format!("{text}\n  here: {inst} ({} of {} bytes)", inst.size, bytes.len())),
            Err(error) => wrong.push(format!("{text}\n  here: {error}")),
        }
    }
    (count, wrong)
}

fn agree(name: &str, bytes: &[u8], arch: &str) -> usize {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("decode-{name}.{arch}.hsaco"));
    std::fs::write(&path, bytes).unwrap();
    let (count, mut wrong) = differences(&path, Arch::from_name(arch).unwrap());
    wrong.sort();
    wrong.dedup_by_key(|text| text.split_whitespace().next().unwrap_or_default().to_owned());
    assert!(wrong.is_empty(), "{name} for {arch}: {} of {count}\n{}", wrong.len(), wrong.join("\n"));
    count
}

#[test]
fn kernels_of_the_library_read_as_llvm_reads_them() {
    if !has_compiler() {
        return;
    }
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("kernels")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|ext| ext != "hip") {
            continue;
        }
        for arch in ["gfx942", "gfx950"] {
            let other = if arch == "gfx942" { "_gfx950" } else { "_gfx942" };
            if !stem.ends_with(other) {
                count += agree(&stem, &compile(&path, arch, &stem), arch);
            }
        }
    }
    assert!(count > 1000);
}

#[test]
fn idioms_read_as_llvm_reads_them() {
    if has_compiler() {
        for arch in ["gfx942", "gfx950"] {
            agree("idioms", &compile_test("idioms", arch), arch);
        }
    }
}

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

/// Every operation with random operands; words after it that LLVM takes for
/// something else are told by the markers between.
fn random_words(arch: Arch, rounds: u64) -> Vec<Vec<u8>> {
    let stream = cairn_formats::Philox::new(42).stream(rounds, 0);
    let mut element = 0;
    let mut next = || {
        element += 1;
        stream.bits(element)
    };
    let mut list = Vec::new();
    for info in isa::OPERATIONS {
        for round in 0..rounds {
            let code = u32::from(info.code);
            let random = next();
            let (low, clear) = match info.family {
                isa::Family::Sop2 => (0b10 << 30 | code << 23, 0x007f_ffff),
                isa::Family::Sopk => (0b1011 << 28 | code << 23, 0x007f_ffff),
                isa::Family::Sop1 => (0b1_0111_1101 << 23 | code << 8, 0x007f_00ff),
                isa::Family::Sopc => (0b1_0111_1110 << 23 | code << 16, 0x0000_ffff),
                isa::Family::Sopp => (0b1_0111_1111 << 23 | code << 16, 0x0000_ffff),
                isa::Family::Smem => (0b11_0000 << 26 | code << 18, 0x0003_ffff),
                isa::Family::Vop2 if round % 2 == 0 => (code << 25, 0x01ff_ffff),
                isa::Family::Vop2 => (0b11_0100 << 26 | (code + 0x100) << 16, 0x0000_ffff),
                isa::Family::Vop1 if round % 2 == 0 => (0b11_1111 << 25 | code << 9, 0x01fe_01ff),
                isa::Family::Vop1 => (0b11_0100 << 26 | (code + 0x140) << 16, 0x0000_ffff),
                isa::Family::Vopc if round % 2 == 0 => (0b11_1110 << 25, 0x01ff_ffff),
                isa::Family::Vopc => (0b11_0100 << 26, 0x00ff_ffff),
                isa::Family::Vop3 => (0b11_0100 << 26 | code << 16, 0x0000_ffff),
                isa::Family::Vop3p => (0b1_1010_0111 << 23 | code << 16, 0x0000_ffff),
                isa::Family::Ds => (0b11_0110 << 26 | code << 17, 0x0200_ffff),
                isa::Family::Vmem | isa::Family::Global => {
                    (0b11_0111 << 26 | code << 18 | 2 << 14, 0x0203_1fff)
                }
                isa::Family::Mubuf => (0b11_1000 << 26 | code << 18, 0x0002_f000),
            };
            let first = low | random & clear;
            let words = [first, next(), next(), next()];
            let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
            if let Ok(inst) = isa::decode(&bytes, arch)
                && inst.op != isa::Op::S_NOP
            {
                list.push(bytes[..usize::from(inst.size)].to_vec());
            }
        }
    }
    list
}

#[test]
fn random_encodings_read_as_llvm_reads_them() {
    if !has_compiler() {
        return;
    }
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        let list = random_words(arch, 8);
        // Each instruction is followed by an s_nop with its number.
        let mut text = String::new();
        for (at, bytes) in list.iter().enumerate() {
            let [low, high] = (at as u16 + 100).to_le_bytes();
            let marker = [low, high, 0x80, 0xbf];
            let hex: Vec<_> = bytes.iter().chain(&marker).map(|byte| format!("{byte:#04x}")).collect();
            text.push_str(&hex[..bytes.len()].join(" "));
            text.push_str(&format!("\n{}\n", hex[bytes.len()..].join(" ")));
        }
        let (_, output) = Exec::new("llvm-mc-22")
            .args(["-triple=amdgcn", "--disassemble"])
            .arg(format!("-mcpu={}", arch.name()))
            .stdin(text)
            .capture()
            .unwrap();
        let text = output.text();
        let mut groups = vec![None; list.len()];
        let mut group: Vec<&str> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('.')) {
            let number = line.strip_prefix("s_nop 0x").and_then(|hex| usize::from_str_radix(hex, 16).ok());
            match number.and_then(|number| groups.get_mut(number.checked_sub(100)?)) {
                Some(place) => *place = Some(std::mem::take(&mut group)),
                None => group.push(line),
            }
        }
        let (mut compared, mut wrong) = (0, Vec::new());
        for (bytes, group) in list.iter().zip(&groups) {
            let inst = isa::decode(bytes, arch).unwrap();
            match group.as_deref() {
                // Encodings that LLVM refuses have operands no assembler writes.
                Some([]) => {}
                Some([line]) => {
                    compared += 1;
                    if inst.to_string() != *line {
                        wrong.push(format!("{line}\n  here: {inst}"));
                    }
                }
                Some(more) => wrong.push(format!("{more:?}\n  here: {inst}")),
                None => wrong.push(format!("longer\n  here: {inst} {bytes:02x?}")),
            }
        }
        wrong.sort();
        let first = |text: &String| text.split_whitespace().next().unwrap_or_default().to_owned();
        wrong.dedup_by_key(|text| first(text));
        assert!(compared > 3000, "{compared}");
        assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    }
}

//! The decoder against LLVM's disassembler: the same length and operands for
//! every instruction of what compilers make.

use std::path::Path;

use cairn_base::Exec;
use cairn_codeobj::Arch;
use cairn_codeobj::isa;

use crate::support::{compile, compile_test, has_compiler, root};

/// Instructions whose text differs from LLVM's, with both.
fn differences(object: &Path, arch: Arch) -> (usize, Vec<String>) {
    let output = Exec::new("llvm-objdump-22")
        .arg("-d")
        .arg(object)
        .output()
        .unwrap();
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
            Ok(inst) => wrong.push(format!(
                "{text}\n  here: {inst} ({} of {} bytes)",
                inst.size,
                bytes.len()
            )),
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
    wrong.dedup_by_key(|text| {
        text.split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned()
    });
    assert!(
        wrong.is_empty(),
        "{name} for {arch}: {} of {count}\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
            let other = if arch == "gfx942" {
                "_gfx950"
            } else {
                "_gfx942"
            };
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

/// Clears modifiers that an operation does not take.
fn plain(info: &isa::Info, mut bytes: Vec<u8>) -> Vec<u8> {
    let mut words =
        [0, 1].map(|at| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap()));
    let float = |kind| matches!(kind, Some(isa::Kind::F32 | isa::Kind::F64));
    let sources = info.sig.sources();
    let floats = (0..sources).all(|at| float(info.sig.source(at))) && float(info.sig.result(0));
    if words[0] >> 26 == 0b11_0100 && words[0] >> 23 & 7 != 7 {
        words[0] &= if floats && info.sig.result(1).is_none() {
            !0x7800
        } else {
            !0xff00
        };
        words[1] &= if floats { u32::MAX } else { 0x07ff_ffff };
        if info.sig.result(1).is_some() {
            // An even mask register.
            words[0] |= 0x1600;
            words[1] &= 0x07ff_ffff;
        }
        // Sources that are not there.
        words[1] &= if sources < 3 {
            !(0x1ff << 18)
        } else {
            u32::MAX
        };
        words[1] &= if sources < 2 { !(0x1ff << 9) } else { u32::MAX };
        words[0] &= if sources < 3 { !0x400 } else { u32::MAX };
        words[1] &= if sources < 3 { !(1 << 31) } else { u32::MAX };
        words[0] &= if sources < 2 { !0x200 } else { u32::MAX };
        words[1] &= if sources < 2 { !(1 << 30) } else { u32::MAX };
    }
    if info.upper.contains("MFMA") || info.upper.contains("SMFMAC") {
        words[0] &= !0x7f00;
        words[1] &= 0x1fff_ffff;
    } else if info.family == isa::Family::Vop3p {
        words[0] &= !0x8000;
    }
    for (at, word) in words.into_iter().enumerate() {
        bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// True when an assembler can write it: runs of registers begin at even ones.
fn is_assembled(inst: &isa::Inst) -> bool {
    let uses = inst.uses();
    let aligned = |(operand, count): &(isa::Operand, u8)| {
        let number = operand.0 % 256;
        let whole = number.is_multiple_of(if operand.is_vector() || *count < 4 {
            2
        } else {
            4
        });
        *count < 2 || whole && number + u16::from(*count) <= 256
    };
    let known = |operand: &isa::Operand| !matches!(operand.0, 125 | 239);
    // Messages of graphics pipelines have names of their own.
    let graphics = matches!(inst.op, isa::Op::S_SENDMSG | isa::Op::S_SENDMSGHALT);
    !graphics
        && uses.reads().iter().chain(uses.writes()).all(aligned)
        && inst.src.iter().chain([&inst.dst, &inst.sdst]).all(known)
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
            let bytes = plain(info, bytes);
            if let Ok(inst) = isa::decode(&bytes, arch)
                && inst.op != isa::Op::S_NOP
                && is_assembled(&inst)
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
            let hex: Vec<_> = bytes
                .iter()
                .chain(&marker)
                .map(|byte| format!("{byte:#04x}"))
                .collect();
            text.push_str(&hex[..bytes.len()].join(" "));
            text.push_str(&format!("\n{}\n", hex[bytes.len()..].join(" ")));
        }
        let (_, output) = Exec::new("llvm-mc-22")
            .args(["-triple=amdgcn", "--disassemble"])
            .arg(format!("-mcpu={}", arch.name()))
            .stdin(text)
            .capture()
            .unwrap();
        // What LLVM refuses has operands no assembler writes, and upsets what follows.
        let refused: std::collections::BTreeSet<usize> = String::from_utf8_lossy(&output.stderr)
            .lines()
            .filter_map(|line| {
                line.strip_prefix("<stdin>:")?
                    .split(':')
                    .next()?
                    .parse()
                    .ok()
            })
            .flat_map(|line: usize| [(line - 1) / 2, line.div_ceil(2)])
            .collect();
        let text = output.text();
        let mut groups = vec![None; list.len()];
        let mut group: Vec<&str> = Vec::new();
        for line in text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('.'))
        {
            let number = line
                .strip_prefix("s_nop 0x")
                .and_then(|hex| usize::from_str_radix(hex, 16).ok());
            match number.and_then(|number| groups.get_mut(number.checked_sub(100)?)) {
                Some(place) => *place = Some(std::mem::take(&mut group)),
                None => group.push(line),
            }
        }
        let (mut compared, mut wrong) = (0, Vec::new());
        for (at, (bytes, group)) in list.iter().zip(&groups).enumerate() {
            let inst = isa::decode(bytes, arch).unwrap();
            if refused.contains(&at) {
                continue;
            }
            match group.as_deref() {
                Some([line]) => {
                    compared += 1;
                    if inst.to_string() != *line && !line.contains("/*Invalid") {
                        wrong.push(format!("{line}\n  here: {inst}"));
                    }
                }
                Some(more) => wrong.push(format!("{more:?}\n  here: {inst}")),
                None => wrong.push(format!("longer\n  here: {inst} {bytes:02x?}")),
            }
        }
        wrong.sort();
        let first = |text: &String| {
            text.split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned()
        };
        wrong.dedup_by_key(|text| first(text));
        assert!(compared > 2000, "{compared}");
        assert!(
            wrong.is_empty(),
            "{} of {compared}\n{}",
            wrong.len(),
            wrong.join("\n")
        );
    }
}

//! Hand-written assembly, one class of instructions a file, against bits that a
//! Python script computed; see `tests/corpus/README.md`.

use std::path::{Path, PathBuf};

use cairn_cdna::{Checks, Launch, Loaded, Memory, Options, Program};

use crate::support::Args;

/// Bytes of the piece of memory that instructions may read and write.
const MEMORY: usize = 4096;

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn read(name: &str) -> Vec<u8> {
    let path = dir().join("data").join(name);
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run oracle/make.py", path.display()))
}

/// What each stored register is the result of, line number and instruction,
/// and whether it is a scalar, which every lane stores and one word tells.
fn slots(source: &str) -> Vec<(String, bool)> {
    let (mut list, mut last) = (Vec::new(), "");
    for (number, line) in source.lines().enumerate() {
        let line = line.trim();
        let stored = line
            .strip_prefix("outs ")
            .or_else(|| line.strip_prefix("out "));
        match stored {
            Some(registers) => {
                for register in registers.split(',') {
                    let register = register.trim();
                    let what = format!("line {}, {last} ({register})", number + 1);
                    list.push((what, line.starts_with("outs ")));
                }
            }
            None if line.is_empty() || line.starts_with("//") || line.starts_with("s_waitcnt") => {}
            None => last = line,
        }
    }
    list
}

/// Runs a class and gives what it stored and left in memory, or what was found.
fn run(name: &str, arch: &str, stored: usize, seed: u64) -> Result<(Vec<u8>, Vec<u8>), String> {
    let input = read(&format!("{name}.in"));
    let (registers, content) = input.split_at(input.len() - MEMORY);
    let mut memory = Memory::new(1 << 22, seed);
    let object = read(&format!("{name}.{arch}.hsaco"));
    let loaded = Loaded::new(&object, &mut memory).unwrap();
    let mut put = |bytes: &[u8], what: &str| {
        let address = memory.allocate(bytes.len() as u64, what).unwrap();
        memory.write(address, bytes).unwrap();
        address
    };
    let given = put(registers, "registers");
    let out = put(&vec![0; stored], "stored");
    let piece = put(content, "memory");
    let program = Program::new(&loaded.object, "corpus").unwrap();
    let arguments = Args::default().pointer(given).pointer(out).pointer(piece);
    let launch = Launch {
        loaded: &loaded,
        program: &program,
        grid: [1; 3],
        workgroup: [64, 1, 1],
        dynamic_lds: 0,
        arguments: arguments.packed(),
    };
    let options = Options {
        checks: Checks::ALL,
        seed,
        ..Options::default()
    };
    let report = launch.run(&mut memory, &options).unwrap();
    let found: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    if !found.is_empty() {
        return Err(format!("{name}.s on {arch}: {}", found.join("\n")));
    }
    Ok((
        memory.read(out, stored as u64).unwrap(),
        memory.read(piece, MEMORY as u64).unwrap(),
    ))
}

/// Every difference of a class, named by instruction and lane.
fn differences(name: &str, source: &str, arch: &str) -> Vec<String> {
    let own = format!("{name}.{arch}.out");
    let expected = if dir().join("data").join(&own).exists() {
        read(&own)
    } else {
        read(&format!("{name}.out"))
    };
    let (told, left) = expected.split_at(expected.len() - MEMORY);
    let (slots, mut stored, mut rest) = (slots(source), Vec::new(), told);
    for (_, scalar) in &slots {
        let (slot, after) = rest.split_at(if *scalar { 4 } else { 256 });
        stored.extend_from_slice(&slot.repeat(256 / slot.len()));
        rest = after;
    }
    assert!(rest.is_empty(), "{name}: run oracle/make.py");
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let mut wrong = Vec::new();
    for seed in [1, 2] {
        let (got, memory) = match run(name, arch, stored.len(), seed) {
            Ok(both) => both,
            Err(found) => {
                wrong.push(found);
                continue;
            }
        };
        for (at, (got, wanted)) in got.chunks(4).zip(stored.chunks(4)).enumerate() {
            if got != wanted {
                let (slot, lane) = (&slots[at / 64].0, at % 64);
                let (got, wanted) = (word(got), word(wanted));
                wrong.push(format!(
                    "{name}.s {slot}, lane {lane} on {arch}: {got:#010x}, not {wanted:#010x}"
                ));
            }
        }
        for (at, (got, wanted)) in memory.chunks(4).zip(left.chunks(4)).enumerate() {
            if got != wanted {
                let (got, wanted) = (word(got), word(wanted));
                wrong.push(format!(
                    "{name}.s on {arch}: memory at {:#x} holds {got:#010x}, not {wanted:#010x}",
                    4 * at
                ));
            }
        }
    }
    // One lane of each instruction is enough to read.
    wrong.dedup_by_key(|text| text.split(", lane").next().unwrap_or_default().to_owned());
    wrong
}

#[test]
fn instructions_give_the_bits_of_the_oracle() {
    let mut wrong = Vec::new();
    let mut classes = 0;
    for entry in std::fs::read_dir(dir()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.extension().is_none_or(|ext| ext != "s") || name == "frame" {
            continue;
        }
        classes += 1;
        let source = std::fs::read_to_string(&path).unwrap();
        for arch in ["gfx942", "gfx950"] {
            let only = source
                .lines()
                .find_map(|line| line.strip_prefix("// arch: "));
            if only.is_none_or(|only| only == arch) {
                wrong.extend(differences(&name, &source, arch));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(classes > 15, "only {classes} classes were found");
}

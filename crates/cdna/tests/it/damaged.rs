//! Damaged code objects, loaded and run: an error or a finding, never a panic,
//! a hang, or more memory than the device has.

use std::path::Path;

use cairn_cdna::{Checks, Launch, Loaded, Memory, Options, Program};

/// Damaged files a test makes, when `PROPTEST_CASES` does not say how many.
const FILES: u64 = 1500;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        self.0 >> 11 ^ self.0 >> 43
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Objects that assemblers, clang and Triton made.
fn sources() -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut list = Vec::new();
    for folder in [
        "tests/corpus/data",
        "../../tests/golden/triton",
        "../../tests/golden/codeobj",
    ] {
        let mut paths: Vec<_> = std::fs::read_dir(here.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "hsaco"))
            .collect();
        paths.sort();
        list.extend(paths.into_iter().map(|path| std::fs::read(path).unwrap()));
    }
    assert!(list.len() > 40, "{}", list.len());
    list
}

/// Loads a file and runs its kernels; how many of them ran.
fn run(bytes: &[u8], seed: u64) -> usize {
    let mut memory = Memory::new(1 << 22, seed);
    let Ok(loaded) = Loaded::new(bytes, &mut memory) else {
        return 0;
    };
    let Ok(data) = memory.allocate(1 << 16, "data") else {
        return 0;
    };
    let mut ran = 0;
    for kernel in loaded.object.kernels.iter().take(4) {
        let Ok(program) = Program::new(&loaded.object, &kernel.name) else {
            continue;
        };
        let explicit = kernel
            .metadata
            .args
            .iter()
            .filter(|arg| !arg.kind.is_hidden());
        let size = explicit
            .map(|arg| u64::from(arg.offset) + u64::from(arg.size))
            .max()
            .unwrap_or(0);
        let arguments = data.to_le_bytes().repeat(size.min(4096) as usize / 8 + 1);
        let launch = Launch {
            loaded: &loaded,
            program: &program,
            grid: [2, 1, 1],
            workgroup: [64, 1, 1],
            dynamic_lds: 0,
            arguments: &arguments[..size.min(4096) as usize],
        };
        let options = Options {
            checks: Checks::ALL,
            budget: 2000,
            seed,
            ..Options::default()
        };
        ran += usize::from(launch.run(&mut memory, &options).is_ok());
    }
    ran
}

#[test]
fn damaged_objects_load_and_run_without_harm() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("PROPTEST_RNG_SEED").unwrap_or(0);
    let (sources, mut ran) = (sources(), 0);
    for case in 0..number("PROPTEST_CASES").unwrap_or(FILES) {
        let mut random = Random(first << 32 | case);
        random.next();
        let mut file = sources[random.below(sources.len())].clone();
        for _ in 0..=random.below(6) {
            let at = random.below(file.len() - 8);
            match random.below(4) {
                0 => file[at] ^= 1 << random.below(8),
                1 => file[at] = random.next() as u8,
                // A field of its own at one of its ends.
                2 => file[at & !3..][..4].fill([0, 0xff][random.below(2)]),
                _ => {
                    let from = random.below(file.len() - 8);
                    let piece: [u8; 8] = file[from..from + 8].try_into().unwrap();
                    file[at..at + 8].copy_from_slice(&piece);
                }
            }
        }
        ran += run(&file, case);
    }
    assert!(ran > 100, "only {ran} of the damaged kernels ran at all");
}

/// The places that say how much memory and how many registers a kernel needs.
#[test]
fn extreme_descriptors_and_metadata_are_survived() {
    let mut harmless = 0;
    for source in sources().iter().step_by(24) {
        let object = cairn_codeobj::CodeObject::parse(source).unwrap();
        let notes = source
            .windows(16)
            .position(|run| run == b".kernarg_segment");
        let spots = notes.into_iter().flat_map(|at| (at..at + 400).step_by(7));
        let descriptor = object
            .sections
            .iter()
            .find(|section| section.name == ".rodata")
            .and_then(|section| object.section_bytes(&section.name))
            .and_then(|bytes| source.windows(bytes.len()).position(|run| run == bytes));
        let spots = spots.chain(descriptor.into_iter().flat_map(|at| at..at + 64));
        for at in spots.collect::<Vec<_>>() {
            for value in [0u8, 0x7f, 0xcf, 0xff] {
                let mut file = source.clone();
                let end = (at + 4).min(file.len());
                file[at..end].fill(value);
                harmless += run(&file, at as u64);
            }
        }
    }
    assert!(harmless > 0);
}

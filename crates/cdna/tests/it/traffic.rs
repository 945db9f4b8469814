//! Kernels that memory bounds: each moves hardly more bytes than its operands and
//! results have, nearly all of them 16 a lane and in whole lines.
//!
//! The least is every operand read once and every result written once, as
//! `cairn_graph::Cost` counts; what one kernel hands to the next is no part of it. What is
//! moved is what the simulator's lanes moved and what waves read through the scalar cache,
//! arguments of kernels included.

mod elements;
mod moves;
mod rows;
mod tables;

use std::collections::BTreeSet;

use cairn_cdna::{Counters, Launch, Loaded, Memory, Options, Program, counters};
use cairn_kernels::{Arch, Manifest};

use crate::accuracy::{Type, built, out, values};
use crate::support::assert_clean;

/// Most bytes moved, in the least that have to be.
const MOST: f64 = 1.1;
/// Least part of the bytes that is moved 16 a lane, lanes one behind the other.
const WIDE: f64 = 0.95;
/// Least part of the touched lines that is moved.
const LINES: f64 = 0.9;

/// Rows and columns as in training, where the constant parts of a launch do not show.
const ROWS: usize = 96;
const COLUMNS: usize = 4096;

/// Kernels that products bound.
const COMPUTE_BOUND: [&str; 2] = ["attention_", "gemm_"];

/// Why a kernel moves fewer bytes a lane on one side, still in whole lines: 16 bytes of the
/// wider array are fewer of the other, and only where bf16 meets f32 do lanes exchange.
fn narrow(name: &str) -> Option<&'static str> {
    let bytes = |name: &str| {
        elements::TYPES
            .iter()
            .find(|(ty, _)| *ty == name)
            .map(|ty| ty.1)
    };
    let mut parts = name.split('_');
    match parts.next()? {
        "fp8" if !name.starts_with("fp8_amax") => {
            Some("codes of a byte beside values of two or four")
        }
        "select" => {
            let (by, bits) = (bytes(parts.next()?)?, parts.next()?);
            let same = (8 * by).to_string() == bits;
            (!same).then_some("a condition of other bits than what is chosen")
        }
        "cast" => {
            let (from, to) = (parts.next()?, parts.next()?);
            let floats = [from, to].iter().all(|ty| ["bf16", "f32"].contains(ty));
            (!floats && bytes(from) != bytes(to))
                .then_some("indices, masks and f64: in no training step's middle")
        }
        _ => None,
    }
}

/// What a launch is given.
#[derive(Clone, Debug)]
enum Arg {
    Buffer(usize),
    /// An address that is null.
    Nothing,
    U32(u32),
    U64(u64),
    F32(f32),
    Bytes(Vec<u8>),
}

#[derive(Debug)]
enum Buffer {
    Operand(Vec<u8>),
    Result(usize),
    /// Updated in place.
    State(Vec<u8>),
    /// Of which only a part is touched, which is counted by hand.
    Table(Vec<u8>),
    /// Handed from one kernel to the next.
    Between(usize),
}

impl Buffer {
    /// Bytes that have to be moved.
    fn least(&self) -> usize {
        match self {
            Self::Operand(bytes) => bytes.len(),
            Self::Result(bytes) => *bytes,
            Self::State(bytes) => 2 * bytes.len(),
            Self::Table(_) | Self::Between(_) => 0,
        }
    }
}

/// The kernels of an operator one after the other.
#[derive(Debug)]
struct Case {
    name: String,
    buffers: Vec<Buffer>,
    launches: Vec<(String, usize, Vec<Arg>)>,
    /// Bytes that this algorithm has to move beside operands and results.
    more: usize,
}

impl Case {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            buffers: Vec::new(),
            launches: Vec::new(),
            more: 0,
        }
    }

    fn add(&mut self, buffer: Buffer) -> Arg {
        self.buffers.push(buffer);
        Arg::Buffer(self.buffers.len() - 1)
    }

    fn operand(&mut self, bytes: Vec<u8>) -> Arg {
        self.add(Buffer::Operand(bytes))
    }

    /// An operand of numbers that look random.
    fn random(&mut self, ty: Type, count: usize) -> Arg {
        let seed = self.buffers.len() as u64;
        self.operand(ty.pack(&values(count, seed, 2.0)).0)
    }

    fn result(&mut self, bytes: usize) -> Arg {
        self.add(Buffer::Result(bytes))
    }

    fn state(&mut self, bytes: Vec<u8>) -> Arg {
        self.add(Buffer::State(bytes))
    }

    fn between(&mut self, bytes: usize) -> Arg {
        self.add(Buffer::Between(bytes))
    }

    fn launch(&mut self, kernel: impl Into<String>, groups: usize, args: Vec<Arg>) {
        self.launches.push((kernel.into(), groups, args));
    }

    fn run(&self, arch: Arch, manifest: &Manifest) -> Measured {
        let mut memory = Memory::new(1 << 30, 3);
        let place = |buffer: &Buffer, memory: &mut Memory| {
            let (bytes, given) = match buffer {
                Buffer::Operand(bytes) | Buffer::State(bytes) | Buffer::Table(bytes) => {
                    (bytes.len(), Some(bytes))
                }
                Buffer::Result(bytes) | Buffer::Between(bytes) => (*bytes, None),
            };
            let address = memory.allocate(bytes as u64, "buffer").unwrap();
            if let Some(given) = given {
                memory.write(address, given).unwrap();
            }
            address
        };
        let places: Vec<u64> = self
            .buffers
            .iter()
            .map(|buffer| place(buffer, &mut memory))
            .collect();
        let mut measured = Measured {
            least: self.buffers.iter().map(Buffer::least).sum::<usize>() + self.more,
            ..Measured::default()
        };
        for (kernel, groups, args) in &self.launches {
            let object = manifest.object_of(&out(), arch, kernel).unwrap();
            let loaded = Loaded::new(object.bytes(), &mut memory).unwrap();
            let entry = &manifest.kernels[kernel];
            assert_eq!(entry.args.len(), args.len(), "{kernel}");
            let mut packed = Vec::new();
            for (given, wanted) in args.iter().zip(&entry.args) {
                let bytes = match given {
                    Arg::Buffer(index) => places[*index].to_le_bytes().to_vec(),
                    Arg::Nothing => vec![0; 8],
                    Arg::U32(value) => value.to_le_bytes().to_vec(),
                    Arg::U64(value) => value.to_le_bytes().to_vec(),
                    Arg::F32(value) => value.to_le_bytes().to_vec(),
                    Arg::Bytes(bytes) => bytes.clone(),
                };
                assert_eq!(wanted.size as usize, bytes.len(), "{kernel}: {wanted:?}");
                packed.resize(wanted.offset as usize, 0);
                packed.extend(bytes);
            }
            let launch = Launch {
                loaded: &loaded,
                program: &Program::new(&loaded.object, kernel).unwrap(),
                grid: [*groups as u32, 1, 1],
                workgroup: [entry.needs.workgroup, 1, 1],
                dynamic_lds: 0,
                arguments: &packed,
            };
            let report = launch.run(&mut memory, &Options::default()).unwrap();
            assert_clean(&report);
            measured.add(&report.counters);
        }
        for (buffer, address) in self.buffers.iter().zip(&places) {
            if let Buffer::Result(bytes) = buffer {
                let missing = memory.unwritten(*address, *bytes as u64).unwrap();
                assert_eq!(missing, 0, "{}: a result is not whole", self.name);
            }
        }
        measured
    }
}

/// Bytes.
#[derive(Default)]
struct Measured {
    least: usize,
    moved: u64,
    by_lanes: u64,
    wide: u64,
    lines: u64,
}

impl Measured {
    fn add(&mut self, counters: &Counters) {
        let by_lanes = counters.global_read + counters.global_written;
        self.moved += by_lanes + counters.scalar_read;
        self.by_lanes += by_lanes;
        self.wide += counters.global_wide;
        self.lines += counters.global_lines * counters::LINE;
    }

    fn ratio(&self) -> f64 {
        self.moved as f64 / self.least as f64
    }

    fn wide(&self) -> f64 {
        self.wide as f64 / self.by_lanes as f64
    }

    fn lines(&self) -> f64 {
        self.by_lanes as f64 / self.lines as f64
    }
}

/// Bytes of 32-bit words.
fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn cases() -> Vec<Case> {
    let mut all = elements::cases();
    all.extend(moves::cases());
    all.extend(rows::cases());
    all.extend(tables::cases());
    all
}

#[test]
fn kernels_that_memory_bounds_move_little_more_than_they_must() {
    let Some(built) = built() else {
        return;
    };
    let cases = cases();
    let mut missed = Vec::new();
    for (arch, manifest) in built {
        let bound = |name: &&String| !COMPUTE_BOUND.iter().any(|stem| name.starts_with(stem));
        let wanted: BTreeSet<&String> = manifest.kernels.keys().filter(bound).collect();
        let measured: BTreeSet<&String> = cases
            .iter()
            .flat_map(|case| case.launches.iter().map(|(kernel, ..)| kernel))
            .collect();
        assert_eq!(wanted, measured, "{arch}: kernels that no case measures");
        println!("{arch:?}: bytes in the least, part 16 a lane, part of touched lines");
        for case in &cases {
            let found = case.run(*arch, manifest);
            let name = &case.name;
            let (ratio, wide, lines) = (found.ratio(), found.wide(), found.lines());
            println!("{name:44} {ratio:8.3} {wide:6.3} {lines:6.3}");
            let narrow = narrow(name).is_some();
            // What is exempt has to need it.
            let wide_enough = (wide >= WIDE) != narrow;
            if ratio > MOST || !wide_enough || lines < LINES {
                missed.push(format!("{arch} {name}: {ratio:.3} {wide:.3} {lines:.3}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

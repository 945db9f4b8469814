//! Every kernel of the sources against f64, over awkward shapes, on both
//! architectures: close enough, without a finding, and with the same bits
//! whatever the schedule and the poison.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::OnceLock;

use cairn_cdna::{Launch, Loaded, Memory, Options, Program};
use cairn_formats::Philox;
use cairn_kernels::{Arch, Manifest};

use crate::support::{Args, assert_clean, snr};

#[path = "../../../../tests/support/kernels.rs"]
mod kernels;

mod attention;
mod fp8;
mod gemm;
mod rows;
mod vectors;

/// What is built for both architectures; `None` and a skip without a compiler.
pub(crate) fn built() -> Option<&'static BTreeMap<Arch, Manifest>> {
    static BUILT: OnceLock<Option<BTreeMap<Arch, Manifest>>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let built = kernels::build(&out())?.built.into_iter();
        Some(built.map(|built| (built.arch, built.manifest)).collect())
    });
    built.as_ref()
}

pub(crate) fn out() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("kernels")
}

/// An argument of a kernel. What is written is given back in order.
enum Arg<'a> {
    In(&'a [u8]),
    Out(usize),
    U32(u32),
    U64(u64),
    F32(f32),
}

/// What a check runs on, and in how many schedules with as many poisons.
#[derive(Clone, Copy)]
struct On {
    arch: Arch,
    times: u64,
}

thread_local! {
    /// The kernels that this test has run.
    static RAN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Runs a kernel in several schedules, with several poisons and numbers of
/// threads, which must all give the same bits and find nothing.
fn run(On { arch, times }: On, name: &str, workgroups: usize, args: &[Arg<'_>]) -> Vec<Vec<u8>> {
    RAN.with_borrow_mut(|ran| ran.insert(name.to_owned()));
    let manifest = &built().unwrap()[&arch];
    let object = manifest.object_of(&out(), arch, name).unwrap();
    let lanes = manifest.kernels[name].needs.workgroup;
    let once = |seed: u64| {
        let mut memory = Memory::new(1 << 30, seed);
        let loaded = Loaded::new(object.bytes(), &mut memory).unwrap();
        let mut packed = Args::default();
        let mut outputs = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            packed = match arg {
                Arg::In(bytes) => {
                    let address = memory
                        .allocate(bytes.len().max(1) as u64, &format!("in {index}"))
                        .unwrap();
                    memory.write(address, bytes).unwrap();
                    packed.pointer(address)
                }
                Arg::Out(bytes) => {
                    let address = memory
                        .allocate(*bytes as u64, &format!("out {index}"))
                        .unwrap();
                    outputs.push((address, *bytes as u64));
                    packed.pointer(address)
                }
                Arg::U32(value) => packed.u32(*value),
                Arg::U64(value) => packed.pointer(*value),
                Arg::F32(value) => packed.u32(value.to_bits()),
            };
        }
        let program = Program::new(&loaded.object, name).unwrap();
        let launch = Launch {
            loaded: &loaded,
            program: &program,
            grid: [workgroups as u32, 1, 1],
            workgroup: [lanes, 1, 1],
            dynamic_lds: 0,
            arguments: packed.packed(),
        };
        let mut options = Options {
            seed,
            threads: 1 + seed as usize % 3,
            ..Options::default()
        };
        options.checks.global_races = true;
        assert_clean(&launch.run(&mut memory, &options).unwrap());
        let read = |(address, bytes): &(u64, u64)| {
            assert_eq!(
                memory.unwritten(*address, *bytes).unwrap(),
                0,
                "{name} left bytes unwritten"
            );
            memory.read(*address, *bytes).unwrap()
        };
        outputs.iter().map(read).collect::<Vec<_>>()
    };
    let first = once(1);
    for seed in 2..=times {
        assert!(
            once(seed) == first,
            "{name}: another result with seed {seed}"
        );
    }
    first
}

/// The element types of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    F32,
    Bf16,
}

impl Type {
    pub(crate) const BOTH: [(Self, &'static str); 2] = [(Self::F32, "f32"), (Self::Bf16, "bf16")];

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::Bf16 => 2,
        }
    }

    /// The least SNR of a result.
    fn gate(self) -> f64 {
        match self {
            Self::F32 => 100.0,
            Self::Bf16 => 40.0,
        }
    }

    /// Values as they lie in memory, and what they are once rounded.
    pub(crate) fn pack(self, values: &[f32]) -> (Vec<u8>, Vec<f64>) {
        match self {
            Self::F32 => (
                values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect(),
                values.iter().map(|value| f64::from(*value)).collect(),
            ),
            Self::Bf16 => {
                let rounded: Vec<u16> = values.iter().map(|value| round_to_bf16(*value)).collect();
                (
                    rounded.iter().flat_map(|bits| bits.to_le_bytes()).collect(),
                    rounded
                        .iter()
                        .map(|bits| f64::from(f32::from_bits(u32::from(*bits) << 16)))
                        .collect(),
                )
            }
        }
    }

    fn unpack(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F32 => bytes
                .chunks(4)
                .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
                .collect(),
            Self::Bf16 => bytes
                .chunks(2)
                .map(|half| {
                    f32::from_bits(u32::from(u16::from_le_bytes(half.try_into().unwrap())) << 16)
                })
                .collect(),
        }
    }

    #[track_caller]
    fn check(self, bytes: &[u8], wanted: &[f64], what: &str) {
        let ratio = snr(&self.unpack(bytes), wanted);
        assert!(ratio >= self.gate(), "{what}: {ratio:.1} dB");
    }
}

/// Round to nearest even; no NaN here.
fn round_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Values between -1 and 1, or wider, the same in every run.
pub(crate) fn values(count: usize, seed: u64, scale: f32) -> Vec<f32> {
    let mut out = vec![0.0; count];
    Philox::new(seed)
        .stream(0, 0)
        .fill_uniform(0, &mut out, -scale, scale);
    out
}

/// Both architectures, with two schedules each.
const TWICE: [On; 2] = [
    On {
        arch: Arch::Gfx942,
        times: 2,
    },
    On {
        arch: Arch::Gfx950,
        times: 2,
    },
];

#[test]
fn every_kernel_is_accurate_and_gives_the_same_bits_ten_times() {
    let Some(built) = built() else {
        return;
    };
    for (arch, manifest) in built {
        RAN.take();
        let on = On {
            arch: *arch,
            times: 10,
        };
        for (ty, suffix) in Type::BOTH {
            vectors::binary(on, ty, suffix, 1031);
            vectors::gradients(on, ty, suffix, 1031);
            rows::rmsnorm(on, ty, suffix, (35, 131));
            rows::softmax(on, ty, suffix, (5, 131));
            fp8::scales(on, ty, suffix, 4099);
            for format in fp8::formats(*arch) {
                fp8::conversions(on, &format, ty, suffix);
            }
            let shape = if ty == Type::F32 {
                (67, 71, 37, 1)
            } else {
                (127, 131, 136, 0)
            };
            for form in ["nn", "nt", "tn"] {
                gemm::product(on, ty, suffix, form, shape);
            }
        }
        vectors::casts(on, 1031);
        for case in &attention::CASES[..attention::HEADS] {
            attention::attention(on, case);
        }
        // All others are launched by an operator: cairn-hip's conformance suite, which
        // checks them, lists those that are not.
        let ran = RAN.take();
        assert!(ran.len() >= 38, "{arch}: {ran:?}");
        let unknown: Vec<_> = ran
            .iter()
            .filter(|name| !manifest.kernels.contains_key(*name))
            .collect();
        assert!(unknown.is_empty(), "{arch}: {unknown:?}");
        let fp8 = manifest
            .kernels
            .keys()
            .filter(|name| name.starts_with("fp8_"));
        let left_out: Vec<_> = fp8.filter(|name| !ran.contains(*name)).collect();
        assert!(left_out.is_empty(), "{arch}: {left_out:?}");
    }
}

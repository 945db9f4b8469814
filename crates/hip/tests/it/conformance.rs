//! The suite that every backend passes, on the operators that kernels compute.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex};

use cairn_graph::Op;
use cairn_hip::{Gpu, Tiles};
use cairn_kernels::Manifest;
use cairn_tensor::suite::{self, Row};
use cairn_tensor::{Address, Backend, DeviceMemory, Kernel, Signature, TensorError};

use crate::support::{ARCHS, INSIDE, again, built, has_kernels, on_each, pool};

#[test]
fn every_kernel_passes_the_gates_of_the_operator_table() {
    let test = "conformance::every_kernel_passes_the_gates_of_the_operator_table";
    on_each(test, |gpu| {
        let report = suite::check_backend(gpu, &pool(), &suite::rows(), &|_| true);
        println!("{report}");
        assert_eq!(report.describe_failures(), "");
        let ran = report.cases.iter().filter(|case| case.passed()).count();
        assert!(ran > 1000, "{ran}");
        for tables in TABLES {
            let report =
                suite::check_backend(&tiled(gpu, tables), &pool(), &suite::rows(), &is_product);
            assert_eq!(report.describe_failures(), "", "{tables:?}");
        }
        let memory = gpu.kernels().device().memory_stats();
        assert_eq!(memory.used, 0, "what was taken was given back: {memory:?}");
        assert!(memory.reuses > memory.device_allocs, "{memory:?}");
        assert_all_launched(gpu);
    });
}

/// Tables of tiles that make the small products of the suite take every kernel: an entry for
/// f32 and one for bf16.
const TABLES: [[&str; 2]; 4] = [
    ["tile = \"64x64\"", "tile = \"256x256\""],
    [
        "tile = \"64x64\"\ngroups = 2",
        "tile = \"256x256\"\nparts = 2",
    ],
    [
        "tile = \"128x128\"\nparts = 3",
        "tile = \"128x128\"\nparts = 4\ngroups = 3",
    ],
    [
        "tile = \"64x64\"\nparts = 2",
        "tile = \"64x64\"\nparts = 2\ngroups = 5",
    ],
];

/// The same GPU with this table.
fn tiled(gpu: &Gpu, [f32, bf16]: [&str; 2]) -> Gpu {
    let text = format!(
        "origin = \"a test\"\n[[gemm]]\ndtype = \"f32\"\n{f32}\n[[gemm]]\ndtype = \"bf16\"\n{bf16}\n"
    );
    let tiles = Tiles::parse(gpu.kernels().device().arch(), &text).unwrap();
    gpu.clone().with_tiles(tiles)
}

fn is_product(op: &str) -> bool {
    op.ends_with("matmul")
}

/// What no operator launches yet is checked kernel by kernel in cairn-cdna.
fn assert_all_launched(gpu: &Gpu) {
    let arch = gpu.kernels().device().arch();
    let manifest = Manifest::load(&built(), arch).unwrap();
    let wanted = manifest
        .kernels
        .keys()
        .filter(|name| !name.starts_with("fp8_"));
    let launched: BTreeSet<String> = gpu.kernels().launches().into_keys().collect();
    let missing: Vec<_> = wanted.filter(|name| !launched.contains(*name)).collect();
    assert!(missing.is_empty(), "no operator launches {missing:?}");
}

/// A few samples of every row.
fn few() -> Vec<Row> {
    let shorten = |row: Row| {
        let samples = row.samples;
        Row {
            samples: Box::new(move |dtype| samples(dtype).into_iter().take(4).collect()),
            ..row
        }
    };
    suite::rows().into_iter().map(shorten).collect()
}

/// The order of workgroups and waves, and what registers and memory hold at first, decide
/// no bit; nothing is found, races between workgroups included.
#[test]
fn ten_schedules_and_poisons_give_the_same_bits() {
    let test = "conformance::ten_schedules_and_poisons_give_the_same_bits";
    if !has_kernels() {
        return;
    }
    if std::env::var_os(INSIDE).is_some() {
        return on_each(test, |gpu| {
            let recording = Recording {
                memory: Arc::new(Recorded {
                    inner: gpu.memory().unwrap(),
                    read: Mutex::default(),
                }),
                gpu: gpu.clone(),
            };
            let report = suite::check_backend(&recording, &pool(), &few(), &|_| true);
            assert_eq!(report.describe_failures(), "");
            let in_parts = Recording {
                gpu: tiled(gpu, TABLES[3]),
                memory: recording.memory.clone(),
            };
            let report = suite::check_backend(&in_parts, &pool(), &few(), &is_product);
            assert_eq!(report.describe_failures(), "");
            println!(
                "digest {:x}",
                recording.memory.read.lock().unwrap().finish()
            );
        });
    }
    for arch in ARCHS {
        let simulated = format!("{}:1", arch.name());
        let digest = |seed: u32| {
            let said = again(
                test,
                &simulated,
                &[
                    ("CAIRN_SIM_SEED", &seed.to_string()),
                    ("CAIRN_SIM_CHECKS", "all"),
                ],
            );
            let line = said.lines().find(|line| line.starts_with("digest "));
            line.expect("a digest").to_owned()
        };
        let first = digest(0);
        for seed in 1..10 {
            assert_eq!(digest(seed), first, "{arch}, seed {seed}");
        }
    }
}

/// A GPU whose memory remembers all that the host read.
#[derive(Debug)]
struct Recording {
    gpu: Gpu,
    memory: Arc<Recorded>,
}

#[derive(Debug)]
struct Recorded {
    inner: Arc<dyn DeviceMemory>,
    read: Mutex<DefaultHasher>,
}

impl Backend for Recording {
    fn name(&self) -> &str {
        self.gpu.name()
    }

    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        Some(self.memory.clone())
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        self.gpu.kernel(op, signature)
    }
}

impl DeviceMemory for Recorded {
    fn alloc(&self, bytes: usize) -> Result<Address, TensorError> {
        self.inner.alloc(bytes)
    }

    fn free(&self, address: Address, bytes: usize) {
        self.inner.free(address, bytes);
    }

    fn copy_in(&self, to: Address, from: &[u8]) -> Result<(), TensorError> {
        self.inner.copy_in(to, from)
    }

    fn copy_out(&self, from: Address, to: &mut [u8]) -> Result<(), TensorError> {
        self.inner.copy_out(from, to)?;
        self.read.lock().unwrap().write(to);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), TensorError> {
        self.inner.synchronize()
    }
}

/// What is wrong with a device is told before anything runs.
#[test]
fn a_device_that_is_not_there_is_told() {
    let test = "conformance::a_device_that_is_not_there_is_told";
    if std::env::var_os(INSIDE).is_none() {
        again(test, "gfx942:1", &[]);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    crate::support::place_library(folder.path());
    let folders = [folder.path().to_path_buf()];
    let said = |ordinal| {
        let opened = cairn_hip::Device::open(&folders, ordinal);
        opened.unwrap_err().to_string()
    };
    assert_eq!(said(1), "HIP has no device 1: it has 1, numbered from 0");
    assert!(said(-1).contains("no device -1"));
    let device = cairn_hip::Device::open(&folders, 0).unwrap();
    assert!(device.is_simulated());
    let nothing = cairn_hip::Kernels::open(Arc::new(device), Path::new("/nowhere"));
    assert!(nothing.unwrap_err().to_string().contains("gfx942"));
}

//! What tests share: compiled kernels and a device to run them on.

use std::path::{Path, PathBuf};

use cairn_base::Exec;
use cairn_cdna::{Launch, Loaded, Memory, Options, Program, Report};

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// True when there is a compiler for these processors; a skip if not.
pub(crate) fn has_compiler() -> bool {
    let found = Exec::new("clang++-22").arg("--version").output().is_ok();
    if !found {
        cairn_base::skip("needs clang++-22");
    }
    found
}

/// Compiles a HIP source.
pub(crate) fn compile(source: &Path, arch: &str, name: &str) -> Vec<u8> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{arch}.hsaco"));
    Exec::new("clang++-22")
        .args([
            "-x",
            "hip",
            "-nogpuinc",
            "-nogpulib",
            "-fdeclspec",
            "-O3",
            "-std=c++17",
            "-g",
        ])
        .args(["--offload-device-only", "--no-gpu-bundle-output"])
        .arg(format!("--offload-arch={arch}"))
        .arg("-I")
        .arg(root().join("kernels/include"))
        .arg("-o")
        .arg(&out)
        .arg(source)
        .output()
        .unwrap();
    std::fs::read(out).unwrap()
}

/// Compiles a source of this folder's `sources`.
pub(crate) fn compile_test(name: &str, arch: &str) -> Vec<u8> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sources");
    compile(&dir.join(format!("{name}.hip")), arch, name)
}

/// A device with one code object.
pub(crate) struct Device {
    pub(crate) memory: Memory,
    pub(crate) loaded: Loaded,
    pub(crate) dynamic_lds: u32,
}

/// Arguments of a kernel, laid out one after the other.
#[derive(Default)]
pub(crate) struct Args(Vec<u8>);

impl Args {
    pub(crate) fn put(mut self, bytes: &[u8]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn pointer(self, address: u64) -> Self {
        self.put(&address.to_le_bytes())
    }

    pub(crate) fn packed(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        self.put(&value.to_le_bytes())
    }
}

impl Device {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut memory = Memory::new(1 << 30, 7);
        let loaded = Loaded::new(bytes, &mut memory).unwrap();
        Self {
            memory,
            loaded,
            dynamic_lds: 0,
        }
    }

    pub(crate) fn floats(&mut self, values: &[f32], name: &str) -> u64 {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.bytes(&bytes, name)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8], name: &str) -> u64 {
        let address = self.memory.allocate(bytes.len() as u64, name).unwrap();
        self.memory.write(address, bytes).unwrap();
        address
    }

    pub(crate) fn blank(&mut self, bytes: u64, name: &str) -> u64 {
        self.memory.allocate(bytes, name).unwrap()
    }

    pub(crate) fn read_floats(&self, address: u64, count: usize) -> Vec<f32> {
        let bytes = self.memory.read(address, 4 * count as u64).unwrap();
        bytes
            .chunks(4)
            .map(|word| f32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn run(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        workgroup: [u32; 3],
        args: Args,
        options: &Options,
    ) -> Report {
        let program = Program::new(&self.loaded.object, kernel).unwrap();
        let launch = Launch {
            loaded: &self.loaded,
            program: &program,
            grid,
            workgroup,
            dynamic_lds: self.dynamic_lds,
            arguments: &args.0,
        };
        launch.run(&mut self.memory, options).unwrap()
    }
}

/// No finding, or all of them in the message.
pub(crate) fn assert_clean(report: &Report) {
    let text: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert!(text.is_empty(), "{}", text.join("\n"));
}

/// Numbers that look random.
pub(crate) fn random_floats(count: usize, seed: u64) -> Vec<f32> {
    let stream = cairn_formats::Philox::new(seed).stream(0, 0);
    let mut out = vec![0.0; count];
    stream.fill_uniform(0, &mut out, -1.0, 1.0);
    out
}

/// The ratio of signal to noise in dB.
pub(crate) fn snr(got: &[f32], wanted: &[f64]) -> f64 {
    let signal: f64 = wanted.iter().map(|x| x * x).sum();
    let noise: f64 = got
        .iter()
        .zip(wanted)
        .map(|(x, y)| (f64::from(*x) - y).powi(2))
        .sum();
    if noise == 0.0 {
        f64::INFINITY
    } else {
        10.0 * (signal / noise).log10()
    }
}

//! Where the steps run: the CPU or an AMD GPU.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_base::Diagnostic;
use cairn_hip::{Device, Gpu, GpuError, Kernels};
use cairn_launch::request;
use cairn_tensor::cpu::Cpu;
use cairn_tensor::cpu::isa::Isa;
use cairn_tensor::{Backend, Dispatcher};

use super::Engine;
use crate::error::TrainError;

/// An opened device.
#[derive(Debug)]
pub struct Place {
    /// Its backends, the wanted one first.
    pub dispatcher: Dispatcher,
    /// What results depend on: the CPU's instruction set, or the GPU's architecture.
    pub name: String,
}

impl Place {
    /// Opens it.
    ///
    /// # Errors
    /// When there is no such device, or no kernels were built for it.
    pub fn open(device: &request::Device, isa: Isa, threads: usize) -> Result<Self, TrainError> {
        let cpu: Arc<dyn Backend> = Arc::new(Cpu::new(isa, threads));
        let hip = match device {
            request::Device::Cpu => {
                return Ok(Self {
                    dispatcher: Dispatcher::new(vec![cpu]),
                    name: isa.name().to_owned(),
                });
            }
            request::Device::Hip(hip) => hip,
        };
        let (gpu, name) = open(hip).map_err(|error| diagnostic(&error))?;
        let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(gpu)];
        if hip.cpu_fallback {
            backends.push(cpu);
        }
        Ok(Self {
            dispatcher: Dispatcher::new(backends),
            name,
        })
    }

    /// What a trace's times are, where they are not measured.
    #[must_use]
    pub fn modelled_times(&self) -> Option<Diagnostic> {
        self.name.ends_with("simulated").then(|| {
            let message = "the times of kernels in this trace are not measured: they are those of the simulator's cycle model";
            Diagnostic::warning("train::simulated", message).hint(
                "the model is a bound from below: it knows no latencies, and its L2 cache keeps all it has seen",
            )
        })
    }

    /// What runs on another backend than the wanted one, if anything does.
    #[must_use]
    pub fn fallbacks(&self, engine: &Engine) -> Option<Diagnostic> {
        let mut operators: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = 0;
        for kernel in engine.kernels() {
            all += 1;
            if kernel.fallback {
                *operators.entry(kernel.op).or_default() += 1;
            }
        }
        let fallen: usize = operators.values().sum();
        let list: Vec<String> = operators
            .iter()
            .map(|(op, count)| format!("{op} ({count})"))
            .collect();
        (fallen > 0).then(|| {
            let message = format!(
                "{fallen} of {all} operators have no kernel on {} and run on the CPU, on copies: {}",
                self.name,
                list.join(", ")
            );
            Diagnostic::warning("train::fallback", message)
                .hint("without `--cpu-fallback` the first of them is an error")
        })
    }
}

fn open(hip: &request::Hip) -> Result<(Gpu, String), GpuError> {
    let device = Device::open(&hip.libraries, hip.ordinal)?;
    let simulated = if device.is_simulated() {
        ", simulated"
    } else {
        ""
    };
    let name = format!("hip {}{simulated}", device.arch());
    Ok((
        Gpu::new(Kernels::open(Arc::new(device), &hip.kernels)?),
        name,
    ))
}

fn diagnostic(error: &GpuError) -> TrainError {
    let told = Diagnostic::error("train::device", error.to_string());
    let told = match error {
        GpuError::Library(_) | GpuError::NoDevice { .. } => told
            .hint("`cargo xtask doctor` shows what HIP finds here, and `--device hip:N` takes one of it")
            .hint("`CAIRN_SIM=gfx942:1` simulates one MI300X, `CAIRN_SIM=gfx950:1` one MI355X"),
        GpuError::Kernels(_) => told.hint("`cargo xtask kernels build` builds what is missing"),
        GpuError::Tiles(_) => {
            told.hint("`kernels/tiles` has the tables; build again after a change")
        }
        GpuError::UnknownArch { .. } => told.hint("`--device cpu` trains on the CPU"),
    };
    TrainError::Diagnostic(Box::new(told))
}

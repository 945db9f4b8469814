//! Runs one kernel on the operands of a sample, outside any program.

use std::sync::Arc;

use cairn_graph::{AliasKind, TensorType};

use super::sample::{Operand, Sample, fill};
use crate::backend::{self, Args, Backend, Kernel, Signature, View, ViewMut};
use crate::device::{DeviceArgs, DeviceBuffer, DeviceMemory, DeviceView};
use crate::error::{KernelError, TensorError};
use crate::host::HostTensor;
use crate::threads::Pool;

/// A sample with its operands filled and its outputs known.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) sample: &'a Sample,
    pub(super) operands: Vec<Operand>,
    pub(super) outputs: Vec<TensorType>,
    /// (output, input) pairs that always share storage.
    must: Vec<(usize, usize)>,
}

/// Why a sample could not be run.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    #[error("the operator refuses the sample: {0}")]
    Sample(#[from] cairn_graph::OpError),
    #[error(transparent)]
    Tensor(#[from] TensorError),
    #[error(transparent)]
    Kernel(#[from] KernelError),
    #[error("panicked: {0}")]
    Panic(String),
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

impl<'a> Prepared<'a> {
    pub(super) fn new(sample: &'a Sample) -> Result<Self, RunError> {
        let types: Vec<&TensorType> = sample.inputs.iter().map(|input| &input.ty).collect();
        let outputs = sample.op.infer(&types)?;
        let aliases = sample.op.aliases().into_iter();
        let must = aliases
            .filter(|alias| alias.kind == AliasKind::Must && alias.input < types.len())
            .map(|alias| (alias.output, alias.input))
            .collect();
        let operands = sample.inputs.iter().enumerate();
        let operands = operands.map(|(index, input)| fill(input, index as u64 + 1));
        Ok(Self {
            sample,
            operands: operands.collect::<Result<_, _>>()?,
            outputs,
            must,
        })
    }

    /// The backend's kernel, and whether it reads the operands as they lie
    /// (otherwise an executor makes them contiguous first).
    pub(super) fn kernel(&self, backend: &dyn Backend) -> Option<(Box<dyn Kernel>, bool)> {
        let find = |strided: bool| {
            let input = |operand: &Operand| backend::Operand {
                ty: operand.seen.ty().clone(),
                strides: operand.strides.clone().filter(|_| strided),
            };
            let mut inputs: Vec<_> = self.operands.iter().map(input).collect();
            for (_, input) in &self.must {
                inputs[*input].strides = None;
            }
            let outputs = self.outputs.clone();
            backend.kernel(self.sample.op.as_ref(), &Signature { inputs, outputs })
        };
        match find(true) {
            Some(kernel) => Some((kernel, true)),
            None => Some((find(false)?, false)),
        }
    }

    /// Row-major operands, as the operator sees them.
    pub(super) fn seen(&self) -> Vec<HostTensor> {
        self.operands
            .iter()
            .map(|operand| operand.seen.clone())
            .collect()
    }

    /// Runs `kernel` with the pairs in `in_place` sharing storage, in the host's
    /// memory or in that of its backend. Outputs and working space begin as all
    /// ones, which are NaN in every float dtype.
    pub(super) fn run(
        &self,
        kernel: &dyn Kernel,
        memory: Option<&Arc<dyn DeviceMemory>>,
        strided: bool,
        in_place: &[(usize, usize)],
        pool: &Pool,
    ) -> Result<Vec<HostTensor>, RunError> {
        let pairs: Vec<(usize, usize)> = self.must.iter().chain(in_place).copied().collect();
        let mut results = Vec::new();
        for (index, ty) in self.outputs.iter().enumerate() {
            results.push(match pairs.iter().find(|(output, _)| *output == index) {
                Some((_, input)) => self.operands[*input].seen.clone(),
                None => {
                    let mut poison = HostTensor::zeros(ty.clone())?;
                    poison.bytes_mut().fill(0xff);
                    poison
                }
            });
        }
        let scratch_bytes = kernel.scratch_bytes();
        let scratch_type = TensorType::new(cairn_formats::DType::U8, [scratch_bytes]);
        let mut scratch = HostTensor::zeros(scratch_type)?;
        scratch.bytes_mut().fill(0xff);
        let inputs = self.operands.iter().enumerate().map(|(index, operand)| {
            if pairs.iter().any(|(_, input)| *input == index) {
                return None;
            }
            let ty = operand.seen.ty();
            let data = match (&operand.strides, strided) {
                (Some(_), true) => operand
                    .storage
                    .bytes()
                    .get(ty.dtype.bytes(operand.offset)..),
                _ => Some(operand.seen.bytes()),
            };
            Some(View {
                dtype: ty.dtype,
                shape: &ty.shape,
                strides: operand.strides.as_deref().filter(|_| strided),
                data: data.unwrap_or_default(),
            })
        });
        let outputs = results
            .iter_mut()
            .zip(&self.outputs)
            .map(|(result, ty)| ViewMut {
                dtype: ty.dtype,
                shape: &ty.shape,
                data: result.bytes_mut(),
            });
        let mut args = Args {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            scratch: scratch.bytes_mut(),
            pool,
        };
        // A kernel that panics fails its sample, not the whole walk.
        let run = std::panic::AssertUnwindSafe(|| match memory {
            None => kernel.run(&mut args).map_err(RunError::from),
            Some(memory) => launch(kernel, memory, &mut args),
        });
        match std::panic::catch_unwind(run) {
            Ok(result) => result?,
            Err(panic) => return Err(RunError::Panic(message_of(panic.as_ref()))),
        }
        drop(args);
        Ok(results)
    }
}

/// Runs a kernel on copies of its operands in a device's memory.
fn launch(
    kernel: &dyn Kernel,
    memory: &Arc<dyn DeviceMemory>,
    args: &mut Args<'_>,
) -> Result<(), RunError> {
    let copy = |bytes: &[u8]| -> Result<DeviceBuffer, TensorError> {
        let buffer = DeviceBuffer::new(memory, bytes.len())?;
        buffer.copy_in(0, bytes)?;
        Ok(buffer)
    };
    let copy_of = |view: &Option<View<'_>>| view.map(|view| copy(view.data)).transpose();
    let read: Vec<_> = args.inputs.iter().map(copy_of).collect::<Result<_, _>>()?;
    let outputs = args.outputs.iter();
    let written: Vec<_> = outputs
        .map(|view| copy(view.data))
        .collect::<Result<_, _>>()?;
    let scratch = copy(args.scratch)?;
    let inputs = args.inputs.iter().zip(&read).map(|(view, buffer)| {
        let (view, buffer) = view.as_ref().zip(buffer.as_ref())?;
        Some(DeviceView {
            dtype: view.dtype,
            shape: view.shape,
            strides: view.strides,
            address: buffer.address(),
        })
    });
    let outputs = args.outputs.iter().zip(&written);
    kernel.launch(&DeviceArgs {
        inputs: inputs.collect(),
        outputs: outputs
            .map(|(view, buffer)| DeviceView {
                dtype: view.dtype,
                shape: view.shape,
                strides: None,
                address: buffer.address(),
            })
            .collect(),
        scratch: scratch.address(),
    })?;
    for (view, buffer) in args.outputs.iter_mut().zip(&written) {
        buffer.copy_out(0, view.data)?;
    }
    Ok(())
}

//! What a backend is: one look-up from an operator and its operands to a
//! kernel, and kernels that take typed views.

use std::fmt::Debug;
use std::sync::Arc;

use cairn_formats::DType;
use cairn_graph::{Op, Shape, TensorType};

use crate::device::{DeviceArgs, DeviceMemory};
use crate::element::Element;
use crate::error::KernelError;
use crate::threads::Pool;

/// Type and memory order of one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Element type and shape.
    pub ty: TensorType,
    /// Strides in elements when the operand is not contiguous; a stride of 0 repeats.
    pub strides: Option<Vec<usize>>,
}

impl Operand {
    /// A contiguous operand.
    #[must_use]
    pub fn contiguous(ty: TensorType) -> Self {
        Self { ty, strides: None }
    }
}

/// Operands of one node: what a kernel is chosen by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Inputs, possibly strided.
    pub inputs: Vec<Operand>,
    /// Outputs, always contiguous.
    pub outputs: Vec<TensorType>,
}

impl Signature {
    /// Whether every input is contiguous.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.inputs.iter().all(|input| input.strides.is_none())
    }

    /// The same operands, all contiguous.
    #[must_use]
    pub fn contiguous(&self) -> Self {
        let inputs = self.inputs.iter();
        Self {
            inputs: inputs
                .map(|input| Operand::contiguous(input.ty.clone()))
                .collect(),
            outputs: self.outputs.clone(),
        }
    }

    /// The types in one line.
    #[must_use]
    pub fn describe(&self) -> String {
        let inputs: Vec<_> = self
            .inputs
            .iter()
            .map(|input| {
                format!(
                    "{}{}",
                    input.ty,
                    if input.strides.is_some() {
                        " strided"
                    } else {
                        ""
                    }
                )
            })
            .collect();
        let outputs: Vec<_> = self.outputs.iter().map(ToString::to_string).collect();
        format!("{} -> {}", inputs.join(", "), outputs.join(", "))
    }
}

/// An input of a running kernel.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Element type.
    pub dtype: DType,
    /// Dims.
    pub shape: &'a Shape,
    /// Strides in elements; `None` when contiguous.
    pub strides: Option<&'a [usize]>,
    /// From the first element on.
    pub data: &'a [u8],
}

impl<'a> View<'a> {
    /// The elements of a contiguous view; for a strided one, all storage from
    /// its first element on.
    ///
    /// # Errors
    /// When `T` is not the element type.
    pub fn slice<T: Element>(&self) -> Result<&'a [T], KernelError> {
        if self.dtype != T::DTYPE {
            return Err(KernelError(format!(
                "expected {} elements, got {}",
                T::DTYPE,
                self.dtype
            )));
        }
        Ok(bytemuck::cast_slice(self.data))
    }
}

/// An output of a running kernel: contiguous.
#[derive(Debug)]
pub struct ViewMut<'a> {
    /// Element type.
    pub dtype: DType,
    /// Dims.
    pub shape: &'a Shape,
    /// The elements.
    pub data: &'a mut [u8],
}

impl ViewMut<'_> {
    /// The elements.
    ///
    /// # Errors
    /// When `T` is not the element type.
    pub fn slice<T: Element>(&mut self) -> Result<&mut [T], KernelError> {
        if self.dtype != T::DTYPE {
            return Err(KernelError(format!(
                "expected {} elements, got {}",
                T::DTYPE,
                self.dtype
            )));
        }
        Ok(bytemuck::cast_slice_mut(self.data))
    }
}

/// What a kernel runs on.
#[derive(Debug)]
pub struct Args<'a> {
    /// One per input; `None` where the input's storage is an output's: the
    /// kernel then finds the input's elements in that output and overwrites them.
    pub inputs: Vec<Option<View<'a>>>,
    /// One per output.
    pub outputs: Vec<ViewMut<'a>>,
    /// Working space, as long as the kernel asked for.
    pub scratch: &'a mut [u8],
    /// Threads.
    pub pool: &'a Pool,
}

impl<'a> Args<'a> {
    /// An input that is never in place.
    ///
    /// # Errors
    /// When it is: a fault of the executor.
    pub fn input(&self, index: usize) -> Result<View<'a>, KernelError> {
        let view = self.inputs.get(index).copied().flatten();
        view.ok_or_else(|| KernelError(format!("input {index} is missing or in place")))
    }
}

/// Code for one operator on one signature.
pub trait Kernel: Send + Sync + Debug {
    /// Shown in reports, profiles and errors: `matmul.amx`.
    fn name(&self) -> &str;

    /// Working space in bytes.
    fn scratch_bytes(&self) -> usize {
        0
    }

    /// (output, input) pairs, out of those the operator allows, that it can
    /// compute in place. Updates of states (must-aliases) always are.
    fn in_place(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// On input values it cannot take, such as an index out of range; always for a
    /// kernel that only a device runs.
    fn run(&self, _: &mut Args<'_>) -> Result<(), KernelError> {
        Err(KernelError("does not run in the host's memory".to_owned()))
    }

    /// Starts to compute the outputs in the memory of its backend's device.
    ///
    /// # Errors
    /// When it cannot be launched; always for a kernel that no device runs.
    fn launch(&self, _: &DeviceArgs<'_>) -> Result<(), KernelError> {
        Err(KernelError("does not run in a device's memory".to_owned()))
    }
}

/// A place where operators run. Object-safe and not generic over elements.
pub trait Backend: Send + Sync + Debug {
    /// Shown in reports and errors: `cpu`.
    fn name(&self) -> &str;

    /// The memory that its kernels work in; `None` for the host's.
    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        None
    }

    /// Code for this operator on these operands, or `None`.
    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>>;

    /// Whether graphs for it are better with products fused with what follows them: its
    /// kernels do that before they store.
    fn fuses_products(&self) -> bool {
        false
    }
}

/// Backends in the order in which they are asked.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    backends: Vec<Arc<dyn Backend>>,
}

/// A kernel and where it came from.
#[derive(Debug)]
pub struct Dispatched {
    /// The kernel.
    pub kernel: Box<dyn Kernel>,
    /// Name of its backend.
    pub backend: String,
    /// It is not the first backend's: a visible fallback.
    pub fallback: bool,
    /// It works in the host's memory.
    pub on_host: bool,
}

impl Dispatcher {
    /// The first backend is the wanted one; any others are fallbacks, reported
    /// by [`crate::Program::kernels`]. With one backend a missing kernel is an error.
    #[must_use]
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends }
    }

    /// The first backend's kernel for this operator.
    #[must_use]
    pub fn find(&self, op: &dyn Op, signature: &Signature) -> Option<Dispatched> {
        self.backends
            .iter()
            .enumerate()
            .find_map(|(index, backend)| {
                let kernel = backend.kernel(op, signature)?;
                Some(Dispatched {
                    kernel,
                    backend: backend.name().to_owned(),
                    fallback: index > 0,
                    on_host: backend.memory().is_none(),
                })
            })
    }

    /// The memory of the first backend, where values live; `None` for the host's.
    #[must_use]
    pub fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        self.backends.first()?.memory()
    }

    /// Whether graphs are to go through [`cairn_graph::passes::fuse_products()`].
    #[must_use]
    pub fn fuses_products(&self) -> bool {
        self.backends
            .first()
            .is_some_and(|backend| backend.fuses_products())
    }

    /// Names of the backends, in order.
    #[must_use]
    pub fn names(&self) -> String {
        self.backends
            .iter()
            .map(|backend| backend.name())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

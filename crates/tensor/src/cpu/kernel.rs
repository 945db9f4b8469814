//! A kernel made of a name, what the executor asks for, and a closure.

use std::fmt;

use crate::backend::{Args, Kernel};
use crate::error::KernelError;

type Run = dyn Fn(&mut Args<'_>) -> Result<(), KernelError> + Send + Sync;

/// A kernel under construction, and the kernel itself.
pub(super) struct CpuKernel {
    name: String,
    scratch_bytes: usize,
    in_place: Vec<(usize, usize)>,
    run: Box<Run>,
}

impl CpuKernel {
    pub(super) fn new(
        name: String,
        run: impl Fn(&mut Args<'_>) -> Result<(), KernelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            scratch_bytes: 0,
            in_place: Vec::new(),
            run: Box::new(run),
        }
    }

    pub(super) fn scratch_bytes(mut self, bytes: usize) -> Self {
        self.scratch_bytes = bytes;
        self
    }

    /// (output, input) pairs that share storage without harm.
    pub(super) fn in_place(mut self, pairs: Vec<(usize, usize)>) -> Self {
        self.in_place = pairs;
        self
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the constructors in the table return an option"
    )]
    pub(super) fn build(self) -> Option<Box<dyn Kernel>> {
        Some(Box::new(self))
    }
}

impl fmt::Debug for CpuKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CpuKernel")
            .field("name", &self.name)
            .field("scratch_bytes", &self.scratch_bytes)
            .field("in_place", &self.in_place)
            .finish_non_exhaustive()
    }
}

impl Kernel for CpuKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn scratch_bytes(&self) -> usize {
        self.scratch_bytes
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.in_place.clone()
    }

    fn run(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        (self.run)(args)
    }
}

//! The backend: from an operator to launches.

use std::fmt;
use std::sync::Arc;

use cairn_graph::Op;
use cairn_tensor::{Backend, DeviceArgs, DeviceMemory, Kernel, KernelError, Signature};

use crate::module::Kernels;
use crate::ops;
use crate::tiles::Tiles;

/// The operators that the kernels of one device compute.
#[derive(Clone, Debug)]
pub struct Gpu {
    kernels: Arc<Kernels>,
    memory: Arc<dyn DeviceMemory>,
    tiles: Arc<Tiles>,
}

impl Gpu {
    /// A backend of these kernels.
    #[must_use]
    pub fn new(kernels: Kernels) -> Self {
        Self {
            memory: kernels.device().clone(),
            tiles: Arc::new(kernels.tiles().clone()),
            kernels: Arc::new(kernels),
        }
    }

    /// The same, with other tiles for products that are operators of their own.
    #[must_use]
    pub fn with_tiles(self, tiles: Tiles) -> Self {
        Self {
            tiles: Arc::new(tiles),
            ..self
        }
    }

    /// Its kernels.
    #[must_use]
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }
}

impl Backend for Gpu {
    fn name(&self) -> &str {
        "hip"
    }

    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        Some(self.memory.clone())
    }

    fn fuses_products(&self) -> bool {
        true
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let plan = ops::find(op, signature, &self.tiles)?;
        let known = |kernel: &String| self.kernels.entry(kernel).is_some();
        plan.kernels.iter().all(known).then(|| {
            let kernel: Box<dyn Kernel> = Box::new(Planned {
                name: plan.kernels.join("+"),
                kernels: self.kernels.clone(),
                plan,
            });
            kernel
        })
    }
}

/// What computes an operator on one signature.
pub(crate) struct Plan {
    /// The kernels it launches.
    pub(crate) kernels: Vec<String>,
    /// Working space in bytes.
    pub(crate) scratch_bytes: usize,
    /// (output, input) pairs that may share storage.
    pub(crate) in_place: Vec<(usize, usize)>,
    /// Launches them.
    pub(crate) launch: Launch,
}

/// Launches kernels on the operands of a node.
pub(crate) type Launch =
    Box<dyn Fn(&Kernels, &DeviceArgs<'_>) -> Result<(), KernelError> + Send + Sync>;

impl Plan {
    /// One or more kernels without working space, none of them in place.
    pub(crate) fn new(
        kernels: impl IntoIterator<Item = String>,
        launch: impl Fn(&Kernels, &DeviceArgs<'_>) -> Result<(), KernelError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            kernels: kernels.into_iter().collect(),
            scratch_bytes: 0,
            in_place: Vec::new(),
            launch: Box::new(launch),
        }
    }

    /// The same with working space.
    pub(crate) fn scratch(mut self, bytes: usize) -> Self {
        self.scratch_bytes = bytes;
        self
    }

    /// The same where these outputs may take the place of these inputs.
    pub(crate) fn in_place(mut self, pairs: &[(usize, usize)]) -> Self {
        self.in_place = pairs.to_vec();
        self
    }
}

/// A plan as a kernel.
struct Planned {
    name: String,
    kernels: Arc<Kernels>,
    plan: Plan,
}

impl fmt::Debug for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Kernel for Planned {
    fn name(&self) -> &str {
        &self.name
    }

    fn scratch_bytes(&self) -> usize {
        self.plan.scratch_bytes
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.plan.in_place.clone()
    }

    fn launch(&self, args: &DeviceArgs<'_>) -> Result<(), KernelError> {
        (self.plan.launch)(&self.kernels, args)
    }
}

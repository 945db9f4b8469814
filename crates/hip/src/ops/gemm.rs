//! One product of two matrices on kernels: which of them, in how many parts, and with which
//! arguments.

use cairn_formats::DType;
use cairn_tensor::{Address, KernelError};

use super::size;
use crate::args::Arg;
use crate::module::Kernels;
use crate::tiles::{Choice, Layout, Product, Tiles};

/// Parts of `k` are multiples of this: the deepest stage of a kernel.
const STAGE: usize = 64;
/// Elements that a lane of the second step handles, and lanes of its workgroups.
const FINISHED: (usize, usize) = (8, 256);
/// The second step.
const FINISH: &str = "gemm_finish";

/// What is done to a sum before it is stored; kernels number them so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    None = 0,
    Relu = 1,
    Silu = 2,
    Gelu = 3,
}

/// Operands and results of a product, by address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffers {
    pub(super) a: Address,
    pub(super) b: Address,
    /// A row that is added to all rows.
    pub(super) bias: Option<Address>,
    /// A matrix that is added, after the activation.
    pub(super) added: Option<Address>,
    pub(super) c: Address,
    /// As many bytes as [`Work::scratch_bytes`].
    pub(super) scratch: Address,
}

/// A product of two matrices without gaps: `c = activation(op(a) op(b) + bias) + added`.
#[derive(Clone, Debug)]
pub(super) struct Work {
    product: Product,
    sizes: [u32; 6],
    activation: Activation,
    /// There is a bias, or a matrix is added.
    more: bool,
    wide: bool,
    side: usize,
    /// Of `k` that a part has, and how many parts there are.
    depth: usize,
    parts: usize,
    groups: usize,
}

impl Work {
    /// The product, `None` where no kernel takes it.
    pub(super) fn new(
        product: Product,
        out_dtype: DType,
        activation: Activation,
        more: bool,
        choice: Choice,
    ) -> Option<Self> {
        let wide = match (product.dtype, out_dtype) {
            (DType::F32 | DType::BF16, DType::F32) => true,
            (DType::BF16, DType::BF16) => false,
            _ => return None,
        };
        let Product {
            layout, m, n, k, ..
        } = product;
        let lda = if matches!(layout, Layout::Nn | Layout::Nt) {
            k
        } else {
            m
        };
        let ldb = if matches!(layout, Layout::Nn | Layout::Tn) {
            n
        } else {
            k
        };
        let mut sizes = [0; 6];
        for (slot, value) in sizes.iter_mut().zip([m, n, k, lda, ldb, n]) {
            *slot = size(value)?;
        }
        let depth = match choice.parts {
            1 => k.max(1),
            parts => k.max(1).div_ceil(parts).next_multiple_of(STAGE),
        };
        let parts = k.div_ceil(depth).max(1);
        let units = m.div_ceil(choice.side) * n.div_ceil(choice.side) * parts;
        size(units)?;
        Some(Self {
            product,
            sizes,
            activation,
            more,
            wide,
            side: choice.side,
            depth,
            parts,
            groups: choice.groups.unwrap_or(units).min(units),
        })
    }

    /// The kernels that it launches.
    pub(super) fn kernels(&self) -> Vec<String> {
        let mut names = vec![self.kernel()];
        if self.parts > 1 {
            names.push(FINISH.to_owned());
        }
        names
    }

    /// Bytes that the sums of parts need.
    pub(super) fn scratch_bytes(&self) -> usize {
        match self.parts {
            1 => 0,
            parts => parts * self.product.m * self.product.n * 4,
        }
    }

    fn units(&self) -> usize {
        let [rows, columns] = [self.product.m, self.product.n].map(|size| size.div_ceil(self.side));
        rows * columns * self.parts
    }

    /// Whether the entry point that takes nothing but operands and sizes does it.
    fn is_plain(&self) -> bool {
        let f32 = self.product.dtype == DType::F32;
        self.side == if f32 { 64 } else { 256 }
            && self.wide == f32
            && self.activation == Activation::None
            && !self.more
            && self.groups == self.units()
            && self.parts == 1
    }

    fn kernel(&self) -> String {
        let dtype = if self.product.dtype == DType::F32 {
            "f32"
        } else {
            "bf16"
        };
        let letters = self.product.layout.letters();
        match self.is_plain() {
            true => format!("gemm_{dtype}_{letters}"),
            false => format!("gemm_{dtype}_{0}x{0}_{letters}", self.side),
        }
    }

    /// Starts it.
    pub(super) fn launch(&self, kernels: &Kernels, at: &Buffers) -> Result<(), KernelError> {
        let (name, groups) = (self.kernel(), self.groups as u64);
        let optional = |address: Option<Address>| Arg::Buffer(address.unwrap_or(Address(0)));
        let mut args = vec![Arg::Buffer(at.a), Arg::Buffer(at.b)];
        if self.is_plain() {
            args.push(Arg::Buffer(at.c));
            args.extend(self.sizes.map(Arg::U32));
            return kernels.launch(&name, groups, &args);
        }
        let end = [optional(at.bias), optional(at.added)];
        let mode = u32::from(self.wide) + 2 * self.activation as u32;
        let whole = self.parts == 1;
        args.extend(if whole {
            end.clone()
        } else {
            [optional(None), optional(None)]
        });
        args.push(Arg::Buffer(if whole { at.c } else { at.scratch }));
        args.extend(self.sizes.map(Arg::U32));
        args.extend([self.depth, self.groups].map(|size| Arg::U32(size as u32)));
        args.push(Arg::U32(if whole { mode } else { 1 }));
        kernels.launch(&name, groups, &args)?;
        if whole {
            return Ok(());
        }
        let [m, n, _, _, _, ldc] = self.sizes;
        let mut args = vec![Arg::Buffer(at.scratch)];
        args.extend(end);
        args.push(Arg::Buffer(at.c));
        args.extend([self.parts as u32, m, n, ldc, mode].map(Arg::U32));
        let lanes = self.product.m * self.product.n.div_ceil(FINISHED.0);
        kernels.launch(FINISH, lanes.div_ceil(FINISHED.1) as u64, &args)
    }
}

/// A product without working space, of which the kernels are chosen where it is launched:
/// what operators that are made of several products use.
#[derive(Clone, Debug)]
pub(super) struct Gemm {
    product: Product,
    out_dtype: DType,
    added: bool,
}

impl Gemm {
    /// `c [m, n] = op(a) op(b) (+ c0)`, `None` where no kernel takes it.
    pub(super) fn new(
        (from, to): (DType, DType),
        layout: Layout,
        [m, n, k]: [usize; 3],
        added: bool,
    ) -> Option<Self> {
        let product = Product {
            dtype: from,
            layout,
            m,
            n,
            k,
        };
        let gemm = Self {
            product,
            out_dtype: to,
            added,
        };
        gemm.work(Choice {
            side: 64,
            parts: 1,
            groups: None,
        })
        .map(|_| gemm)
    }

    fn work(&self, choice: Choice) -> Option<Work> {
        Work::new(
            self.product,
            self.out_dtype,
            Activation::None,
            self.added,
            choice,
        )
    }

    /// One of the kernels that it may launch.
    pub(super) fn kernel(&self) -> String {
        let letters = self.product.layout.letters();
        match self.product.dtype {
            DType::F32 => format!("gemm_f32_64x64_{letters}"),
            _ => format!("gemm_bf16_64x64_{letters}"),
        }
    }

    /// Starts it.
    pub(super) fn launch(
        &self,
        kernels: &Kernels,
        a: Address,
        b: Address,
        added: Option<Address>,
        c: Address,
    ) -> Result<(), KernelError> {
        let choice = Choice {
            parts: 1,
            ..kernels.tiles().choose(&self.product)
        };
        let work = self
            .work(choice)
            .ok_or_else(|| KernelError(format!("{:?} is too large for a launch", self.product)))?;
        let (bias, scratch) = (None, Address(0));
        work.launch(
            kernels,
            &Buffers {
                a,
                b,
                bias,
                added,
                c,
                scratch,
            },
        )
    }
}

/// The work of a product by the table of the device.
pub(super) fn planned(
    tiles: &Tiles,
    product: Product,
    out_dtype: DType,
    activation: Activation,
    more: bool,
) -> Option<Work> {
    Work::new(product, out_dtype, activation, more, tiles.choose(&product))
}

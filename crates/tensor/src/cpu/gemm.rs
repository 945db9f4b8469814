//! Matrix products on the CPU: `C = A B`, `C += A B`, plus a bias row.
//!
//! A [`Gemm`] describes the product, a [`GemmPlan`] fixes how it is computed on one
//! instruction set, and [`GemmPlan::run`] computes it. The parts:
//!
//! - `drive`: packing, blocking and the loop over tiles, the same for every kernel;
//! - `pack`, `pack_avx512`: the operands in the order the kernels read them;
//! - `tile`: what a kernel is, and the portable one; `avx2`, `avx512` and `amx` the others;
//! - `store`: from the accumulators of a tile to `C`.
//!
//! Each element of `C` is the sum of its products in the order of `k`, in blocks fixed
//! by the plan, whichever thread computes it: the bits do not depend on the number of
//! threads. They do depend on the instruction set.
//!
//! Accumulators are f32 (f64 for f64 operands). Operands in bf16 are multiplied exactly
//! where the processor has bf16 dot products, and otherwise widened to f32, as f16
//! operands always are.

#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocking;
mod drive;
mod pack;
#[cfg(target_arch = "x86_64")]
mod pack_avx512;
mod plan;
mod store;
#[cfg(test)]
mod tests;
mod tile;

use cairn_formats::DType;
use thiserror::Error;

pub use plan::{GemmArgs, GemmPlan, OperandB};

/// A matrix product, or a batch of products of one shape.
///
/// `A` is `[m, k]` (stored `[k, m]` with `trans_a`), `B` is `[k, n]` (stored `[n, k]`
/// with `trans_b`), `C` is `[m, n]`; all row-major with the given leading dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gemm {
    /// Rows of `C`.
    pub m: usize,
    /// Columns of `C`.
    pub n: usize,
    /// Terms of each sum.
    pub k: usize,
    /// `A` is stored `[k, m]`.
    pub trans_a: bool,
    /// `B` is stored `[n, k]`.
    pub trans_b: bool,
    /// Elements from one stored row of `A` to the next.
    pub lda: usize,
    /// Elements from one stored row of `B` to the next.
    pub ldb: usize,
    /// Elements from one row of `C` to the next.
    pub ldc: usize,
    /// Number of products.
    pub batch: usize,
    /// Elements from one `A` to the next; zero shares it.
    pub stride_a: usize,
    /// Elements from one `B` to the next; zero shares it.
    pub stride_b: usize,
    /// Elements from one `C` to the next.
    pub stride_c: usize,
    /// Element type of `A` and `B`: f32, bf16, f16 or f64.
    pub in_dtype: DType,
    /// Element type of `C`: f32, bf16 or f16; f64 exactly when `in_dtype` is f64.
    pub out_dtype: DType,
    /// Add to `C` instead of replacing it. The sum starts from the old element.
    pub accumulate: bool,
    /// Add a row of `n` accumulator-typed values (f32, or f64 for f64) to each row of `C`.
    pub bias: bool,
}

impl Gemm {
    /// One product of contiguous matrices, neither transposed.
    pub const fn new(m: usize, n: usize, k: usize, in_dtype: DType, out_dtype: DType) -> Self {
        Self {
            m,
            n,
            k,
            trans_a: false,
            trans_b: false,
            lda: k,
            ldb: n,
            ldc: n,
            batch: 1,
            stride_a: 0,
            stride_b: 0,
            stride_c: 0,
            in_dtype,
            out_dtype,
            accumulate: false,
            bias: false,
        }
    }

    /// `x[m, k]` times the transpose of `w[n, k]`, contiguous: a linear layer.
    pub const fn nt(m: usize, n: usize, k: usize, in_dtype: DType, out_dtype: DType) -> Self {
        Self {
            trans_b: true,
            ldb: k,
            ..Self::new(m, n, k, in_dtype, out_dtype)
        }
    }

    /// The transpose of `a[k, m]` times `b[k, n]`, contiguous: the gradient of a weight.
    pub const fn tn(m: usize, n: usize, k: usize, in_dtype: DType, out_dtype: DType) -> Self {
        Self {
            trans_a: true,
            lda: m,
            ..Self::new(m, n, k, in_dtype, out_dtype)
        }
    }

    /// The same product, `batch` times over contiguous stacks of matrices.
    #[must_use]
    pub const fn batched(self, batch: usize) -> Self {
        Self {
            batch,
            stride_a: self.m * self.k,
            stride_b: self.k * self.n,
            stride_c: self.m * self.n,
            ..self
        }
    }

    /// The same product, added to `C`.
    #[must_use]
    pub const fn accumulate(self) -> Self {
        Self {
            accumulate: true,
            ..self
        }
    }

    /// The same product with a bias row.
    #[must_use]
    pub const fn with_bias(self) -> Self {
        Self { bias: true, ..self }
    }

    /// Multiplications and additions of all products.
    pub const fn flops(&self) -> u64 {
        (2 * self.m as u64)
            .saturating_mul(self.n as u64)
            .saturating_mul(self.k as u64)
            .saturating_mul(self.batch as u64)
    }
}

/// Why a product cannot be planned or run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GemmError {
    /// No kernel takes these element types.
    #[error("no matrix product from {in_dtype} to {out_dtype}")]
    DTypes {
        /// Type of the operands.
        in_dtype: DType,
        /// Type of the result.
        out_dtype: DType,
    },
    /// A leading dimension is shorter than a row.
    #[error("rows of `{operand}` have {columns} elements but are {stride} apart")]
    LeadingDimension {
        /// `a`, `b` or `c`.
        operand: &'static str,
        /// Elements in a stored row.
        columns: usize,
        /// The leading dimension.
        stride: usize,
    },
    /// Two results of a batch would share elements.
    #[error("results of {m} rows of {n}, rows {ldc} apart, overlap when {stride_c} elements apart")]
    Overlap {
        /// Rows of a result.
        m: usize,
        /// Columns of a result.
        n: usize,
        /// Elements from one row to the next.
        ldc: usize,
        /// Elements from one result to the next.
        stride_c: usize,
    },
    /// The sizes exceed the address space.
    #[error("a product of {m}x{n}x{k}, {batch} times, does not fit in memory")]
    TooLarge {
        /// Rows of the result.
        m: usize,
        /// Columns of the result.
        n: usize,
        /// Terms of a sum.
        k: usize,
        /// Number of products.
        batch: usize,
    },
    /// A buffer is shorter than the product needs.
    #[error("`{operand}` has {got} bytes where {need} are needed")]
    Length {
        /// `a`, `b`, `packed b`, `c`, `bias` or `scratch`.
        operand: &'static str,
        /// Bytes given.
        got: usize,
        /// Bytes needed.
        need: usize,
    },
    /// A buffer does not start at a multiple of its element size.
    #[error("`{operand}` is not aligned to its {dtype} elements")]
    Alignment {
        /// `a`, `b`, `c` or `bias`.
        operand: &'static str,
        /// Type of the elements.
        dtype: DType,
    },
    /// A bias is given to a product without one, or missing from one with it.
    #[error("the plan has a bias: {planned}; one was given: {given}")]
    Bias {
        /// Whether the plan has a bias.
        planned: bool,
        /// Whether the call has one.
        given: bool,
    },
    /// The plan was made for fewer threads than the pool has.
    #[error("planned for {planned} threads, run with {got}")]
    Threads {
        /// Threads the scratch memory was planned for.
        planned: usize,
        /// Threads of the pool.
        got: usize,
    },
}

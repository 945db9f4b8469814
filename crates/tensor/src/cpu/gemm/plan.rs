//! A plan: the kernel, the blocks and the memory of one product.

#![expect(unsafe_code, reason = "entry of the SIMD kernels")]

use bytemuck::{Pod, try_cast_slice};
use cairn_formats::DType;
use half::{bf16, f16};

use super::blocking::Blocking;
use super::drive::{self, Line, Product};
use super::pack::Source;
use super::tile::{Portable, Tile};
use super::{Gemm, GemmError};
use crate::cpu::isa::Isa;
use crate::threads::Pool;

/// The kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernel {
    PortableF64,
    PortableF32,
    #[cfg(target_arch = "x86_64")]
    Avx2F32,
    #[cfg(target_arch = "x86_64")]
    Avx512F32,
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16,
    #[cfg(target_arch = "x86_64")]
    AmxBf16,
}

/// Calls a generic function with the kernel and the element type of a plan.
macro_rules! with_kernel {
    ($kernel:expr, $dtype:expr, $call:ident ( $($arg:expr),* )) => {
        match $kernel {
            Kernel::PortableF64 => $call::<Portable<f64>, f64>($($arg),*),
            Kernel::PortableF32 => with_source!($dtype, $call, Portable<f32>, ($($arg),*)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2F32 => with_source!($dtype, $call, super::avx2::Avx2F32, ($($arg),*)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512F32 => with_source!($dtype, $call, super::avx512::Avx512F32, ($($arg),*)),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512Bf16 => $call::<super::avx512::Avx512Bf16, bf16>($($arg),*),
            #[cfg(target_arch = "x86_64")]
            Kernel::AmxBf16 => $call::<super::amx::AmxBf16, bf16>($($arg),*),
        }
    };
}

/// The operand types the f32 kernels take.
macro_rules! with_source {
    ($dtype:expr, $call:ident, $tile:ty, ($($arg:expr),*)) => {
        match $dtype {
            DType::BF16 => $call::<$tile, bf16>($($arg),*),
            DType::F16 => $call::<$tile, f16>($($arg),*),
            _ => $call::<$tile, f32>($($arg),*),
        }
    };
}

/// Bytes of `C` from which on it is treated as outside the second-level cache.
const FAR_BYTES: usize = 1 << 20;

/// The right operand of a product.
#[derive(Debug, Clone, Copy)]
pub enum OperandB<'a> {
    /// The matrix as the [`Gemm`] describes it.
    Plain(&'a [u8]),
    /// What [`GemmPlan::pack_b`] made of it, for a plan with the same `n`, `k`, batch
    /// stride of `B`, types and instruction set.
    Packed(&'a [u8]),
}

/// The memory of one call. Element order is that of the machine; each buffer starts at a
/// multiple of its element size, scratch anywhere (a multiple of 64 is fastest).
#[derive(Debug)]
pub struct GemmArgs<'a> {
    /// `A`.
    pub a: &'a [u8],
    /// `B`.
    pub b: OperandB<'a>,
    /// `C`.
    pub c: &'a mut [u8],
    /// The bias row, when the plan has one: `n` values of f32 (f64 for f64 products).
    pub bias: Option<&'a [u8]>,
    /// At least [`GemmPlan::scratch_bytes`] bytes; contents do not matter.
    pub scratch: &'a mut [u8],
}

/// How one product is computed on one instruction set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GemmPlan {
    gemm: Gemm,
    kernel: Kernel,
    blocking: Blocking,
    threads: usize,
    /// Elements each buffer must have.
    need: Need,
    packed_b_bytes: usize,
    worker_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Need {
    a: usize,
    b: usize,
    c: usize,
}

impl GemmPlan {
    /// Plans `gemm` on `isa`, with scratch memory for up to `threads` threads.
    ///
    /// # Errors
    /// [`GemmError::DTypes`], [`GemmError::LeadingDimension`], [`GemmError::Overlap`] or
    /// [`GemmError::TooLarge`] when the description makes no sense.
    pub fn new(gemm: &Gemm, isa: Isa, threads: usize) -> Result<Self, GemmError> {
        let kernel = choose(gemm, isa)?;
        let need = check(gemm)?;
        let (blocking, packed_b_bytes, worker_bytes) =
            with_kernel!(kernel, gemm.in_dtype, sizes(gemm));
        Ok(Self {
            gemm: *gemm,
            kernel,
            blocking,
            threads: threads.max(1),
            need,
            packed_b_bytes,
            worker_bytes,
        })
    }

    /// The product planned.
    pub fn gemm(&self) -> &Gemm {
        &self.gemm
    }

    /// The kernel, such as `amx_bf16`.
    pub fn kernel_name(&self) -> &'static str {
        with_kernel!(self.kernel, self.gemm.in_dtype, name())
    }

    /// Bytes of `B` packed ahead by [`GemmPlan::pack_b`].
    pub fn packed_b_bytes(&self) -> usize {
        self.packed_b_bytes
    }

    /// Bytes of scratch memory of a call with `B` as it is stored.
    pub fn scratch_bytes(&self) -> usize {
        self.scratch_bytes_packed() + self.packed_b_bytes.next_multiple_of(64)
    }

    /// Bytes of scratch memory of a call with `B` packed ahead.
    pub fn scratch_bytes_packed(&self) -> usize {
        self.worker_bytes * self.threads + 64
    }

    /// Packs `B` (each of the batch), to be used by any number of products.
    ///
    /// # Errors
    /// [`GemmError::Length`] or [`GemmError::Alignment`] when a buffer does not fit.
    pub fn pack_b(&self, b: &[u8], packed: &mut [u8], pool: &Pool) -> Result<(), GemmError> {
        with_kernel!(
            self.kernel,
            self.gemm.in_dtype,
            pack_b(self, b, packed, pool)
        )
    }

    /// Computes the product.
    ///
    /// # Errors
    /// [`GemmError::Length`], [`GemmError::Alignment`], [`GemmError::Bias`] or
    /// [`GemmError::Threads`] when an argument does not fit the plan; `C` is untouched.
    pub fn run(&self, args: GemmArgs<'_>, pool: &Pool) -> Result<(), GemmError> {
        with_kernel!(self.kernel, self.gemm.in_dtype, run(self, args, pool))
    }
}

fn choose(gemm: &Gemm, isa: Isa) -> Result<Kernel, GemmError> {
    let refused = GemmError::DTypes {
        in_dtype: gemm.in_dtype,
        out_dtype: gemm.out_dtype,
    };
    match (gemm.in_dtype, gemm.out_dtype) {
        (DType::F64, DType::F64) => return Ok(Kernel::PortableF64),
        (DType::F32 | DType::BF16 | DType::F16, DType::F32 | DType::BF16 | DType::F16) => {}
        _ => return Err(refused),
    }
    // A level the processor lacks must never be reached, whatever the caller says.
    let isa = isa.min(Isa::detect());
    #[cfg(target_arch = "x86_64")]
    {
        Ok(match isa {
            Isa::Amx if gemm.in_dtype == DType::BF16 => Kernel::AmxBf16,
            Isa::Avx512Bf16 if gemm.in_dtype == DType::BF16 => Kernel::Avx512Bf16,
            Isa::Amx | Isa::Avx512Bf16 | Isa::Avx512 => Kernel::Avx512F32,
            Isa::Avx2 => Kernel::Avx2F32,
            Isa::Portable => Kernel::PortableF32,
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = isa;
        Ok(Kernel::PortableF32)
    }
}

/// Checks the description and counts the elements of each buffer.
fn check(gemm: &Gemm) -> Result<Need, GemmError> {
    let &Gemm { m, n, k, batch, .. } = gemm;
    let too_large = || GemmError::TooLarge { m, n, k, batch };
    let (a_rows, a_cols) = if gemm.trans_a { (k, m) } else { (m, k) };
    let (b_rows, b_cols) = if gemm.trans_b { (n, k) } else { (k, n) };
    let need = |operand, rows: usize, columns: usize, stride: usize, batch_stride: usize| {
        if stride < columns {
            return Err(GemmError::LeadingDimension {
                operand,
                columns,
                stride,
            });
        }
        if rows == 0 || columns == 0 || batch == 0 {
            return Ok(0);
        }
        (batch - 1)
            .checked_mul(batch_stride)
            .and_then(|x| x.checked_add((rows - 1).checked_mul(stride)?))
            .and_then(|x| x.checked_add(columns))
            // Packing rounds each side up to 32; stay far from the end of the address space.
            .filter(|&x| x < isize::MAX as usize / 8192)
            .ok_or_else(too_large)
    };
    let need = Need {
        a: need("a", a_rows, a_cols, gemm.lda, gemm.stride_a)?,
        b: need("b", b_rows, b_cols, gemm.ldb, gemm.stride_b)?,
        c: need("c", m, n, gemm.ldc, gemm.stride_c)?,
    };
    m.checked_mul(n)
        .and_then(|x| x.checked_mul(k))
        .and_then(|x| x.checked_mul(batch))
        .filter(|&x| x < usize::MAX / 4)
        .ok_or_else(too_large)?;
    let one_after_another = gemm.stride_c >= m.saturating_sub(1) * gemm.ldc + n;
    let side_by_side =
        gemm.stride_c >= n && gemm.ldc >= batch.saturating_sub(1) * gemm.stride_c + n;
    if batch > 1 && m > 0 && n > 0 && !one_after_another && !side_by_side {
        return Err(GemmError::Overlap {
            m,
            n,
            ldc: gemm.ldc,
            stride_c: gemm.stride_c,
        });
    }
    Ok(need)
}

#[expect(
    clippy::extra_unused_type_parameters,
    reason = "called through the same table as the functions that read operands"
)]
fn name<T: Tile, S>() -> &'static str {
    T::NAME
}

/// The blocks, the bytes of the packed `B` and the bytes of one thread's scratch memory.
fn sizes<T: Tile, S: Source<T::Packed>>(gemm: &Gemm) -> (Blocking, usize, usize) {
    let in_place = T::IN_PLACE && S::SAME && !gemm.trans_a && gemm.k.is_multiple_of(T::KU);
    let blocking = Blocking::new::<T>(gemm, in_place);
    let copies = if gemm.stride_b == 0 {
        gemm.batch.min(1)
    } else {
        gemm.batch
    };
    (
        blocking,
        copies * blocking.packed_b() * size_of::<T::Packed>(),
        drive::worker_lines::<T>(&blocking) * size_of::<Line>(),
    )
}

/// The first `need` elements of a buffer.
fn typed<'a, T: Pod>(
    operand: &'static str,
    bytes: &'a [u8],
    need: usize,
    dtype: DType,
) -> Result<&'a [T], GemmError> {
    if need == 0 {
        return Ok(&[]);
    }
    let need_bytes = need * size_of::<T>();
    let part = bytes.get(..need_bytes).ok_or(GemmError::Length {
        operand,
        got: bytes.len(),
        need: need_bytes,
    })?;
    try_cast_slice(part).map_err(|_| GemmError::Alignment { operand, dtype })
}

fn pack_b<T, S>(plan: &GemmPlan, b: &[u8], packed: &mut [u8], pool: &Pool) -> Result<(), GemmError>
where
    T: Tile<Packed: Pod>,
    S: Source<T::Packed> + Pod,
{
    let b = typed::<S>("b", b, plan.need.b, plan.gemm.in_dtype)?;
    let got = packed.len();
    let packed = packed
        .get_mut(..plan.packed_b_bytes)
        .ok_or(GemmError::Length {
            operand: "packed b",
            got,
            need: plan.packed_b_bytes,
        })?;
    if packed.is_empty() {
        return Ok(());
    }
    let packed = bytemuck::try_cast_slice_mut(packed).map_err(|_| GemmError::Alignment {
        operand: "packed b",
        dtype: plan.gemm.in_dtype,
    })?;
    // SAFETY: `choose` took the kernel from what the processor has, and `b` holds the
    // elements counted by `check`.
    unsafe { drive::pack_b::<T, S>(&plan.gemm, &plan.blocking, b, packed, pool) };
    Ok(())
}

fn run<T, S>(plan: &GemmPlan, args: GemmArgs<'_>, pool: &Pool) -> Result<(), GemmError>
where
    T: Tile<Packed: Pod, Acc: Pod>,
    S: Source<T::Packed> + Pod,
{
    let gemm = &plan.gemm;
    let a = typed::<S>("a", args.a, plan.need.a, gemm.in_dtype)?;
    let bias = bias::<T>(plan, args.bias)?;
    let c = c_bytes(plan, args.c)?;
    if pool.threads() > plan.threads {
        return Err(GemmError::Threads {
            planned: plan.threads,
            got: pool.threads(),
        });
    }
    let b = match args.b {
        OperandB::Plain(b) => Ok(typed::<S>("b", b, plan.need.b, gemm.in_dtype)?),
        OperandB::Packed(packed) => {
            let elements = plan.packed_b_bytes / size_of::<T::Packed>();
            let packed = typed::<T::Packed>("packed b", packed, elements, gemm.in_dtype)?;
            Err(packed)
        }
    };
    let need = match b {
        Ok(_) => plan.scratch_bytes(),
        Err(_) => plan.scratch_bytes_packed(),
    };
    if args.scratch.len() < need {
        return Err(GemmError::Length {
            operand: "scratch",
            got: args.scratch.len(),
            need,
        });
    }
    if plan.need.c == 0 {
        return Ok(());
    }
    let (_, lines, _) = bytemuck::pod_align_to_mut::<u8, Line>(args.scratch);
    let b_lines = if b.is_ok() {
        plan.packed_b_bytes.div_ceil(size_of::<Line>())
    } else {
        0
    };
    let (b_lines, worker_lines) = lines.split_at_mut(b_lines);
    let packed_b = match b {
        Ok(b) => {
            let packed: &mut [T::Packed] = bytemuck::cast_slice_mut(b_lines);
            let packed = &mut packed[..plan.packed_b_bytes / size_of::<T::Packed>()];
            // SAFETY: `choose` took the kernel from what the processor has, and `b` holds
            // the elements counted by `check`.
            unsafe { drive::pack_b::<T, S>(gemm, &plan.blocking, b, packed, pool) };
            &*packed
        }
        Err(packed) => packed,
    };
    let product = Product::<T, S> {
        gemm,
        blocking: &plan.blocking,
        a,
        packed_b,
        bias,
        far: c.len() > FAR_BYTES,
        c: c.as_mut_ptr(),
        scratch: worker_lines.as_mut_ptr(),
    };
    // SAFETY: `choose` took the kernel from what the processor has; `c` holds the
    // elements counted by `check`, and `worker_lines` what each of the threads needs.
    unsafe {
        product.run(pool);
    }
    Ok(())
}

fn bias<'a, T: Tile<Acc: Pod>>(
    plan: &GemmPlan,
    bias: Option<&'a [u8]>,
) -> Result<Option<&'a [T::Acc]>, GemmError> {
    if plan.gemm.bias != bias.is_some() {
        return Err(GemmError::Bias {
            planned: plan.gemm.bias,
            given: bias.is_some(),
        });
    }
    let dtype = match size_of::<T::Acc>() {
        8 => DType::F64,
        _ => DType::F32,
    };
    bias.map(|bias| typed("bias", bias, plan.gemm.n, dtype))
        .transpose()
}

fn c_bytes<'a>(plan: &GemmPlan, c: &'a mut [u8]) -> Result<&'a mut [u8], GemmError> {
    let dtype = plan.gemm.out_dtype;
    let (got, need) = (c.len(), dtype.bytes(plan.need.c));
    let c = c.get_mut(..need).ok_or(GemmError::Length {
        operand: "c",
        got,
        need,
    })?;
    if need > 0 && !c.as_ptr().addr().is_multiple_of(dtype.bytes(1)) {
        return Err(GemmError::Alignment {
            operand: "c",
            dtype,
        });
    }
    Ok(c)
}

//! Cross entropy fused with the output projection: the logits of one chunk of tokens
//! exist at a time, and become their own gradient.

use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad};
use cairn_graph::{DType, Op};

use super::Target;
use super::cast;
use super::gemm::{Gemm, GemmArgs, GemmPlan, OperandB};
use super::kernel::CpuKernel;
use super::lanes;
use super::num::{Acc, Num, with_float};
use super::parts::Parts;
use super::scratch;
use super::simd::{Level, simd};
use super::softmax::rows_per_chunk;
use crate::backend::{Args, Kernel, Signature};
use crate::element::Element;
use crate::error::KernelError;
use crate::threads::Pool;

/// Where the results go among the outputs.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Index of `loss_sum`; `count` follows.
    loss: Option<usize>,
    /// Index of `dh`; `dw` follows.
    grad: Option<usize>,
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let config = op.as_any().downcast_ref::<CrossEntropy>()?.config;
    let form = Form {
        loss: Some(0),
        grad: None,
    };
    build_form(op.name(), config, form, signature, target)
}

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let config = op.as_any().downcast_ref::<CrossEntropyGrad>()?.config;
    let form = Form {
        loss: None,
        grad: Some(0),
    };
    build_form(op.name(), config, form, signature, target)
}

pub(super) fn build_with_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let config = op.as_any().downcast_ref::<CrossEntropyWithGrad>()?.config;
    let form = Form {
        loss: Some(0),
        grad: Some(2),
    };
    build_form(op.name(), config, form, signature, target)
}

/// The products of a chunk of some number of tokens.
#[derive(Debug)]
struct Products {
    logits: GemmPlan,
    /// `dh = dlogits w`.
    dh: GemmPlan,
    /// `dw = dlogits^T h` and `dw += dlogits^T h`.
    dw: [GemmPlan; 2],
}

impl Products {
    fn new(tokens: usize, v: usize, d: usize, dtype: DType, target: Target) -> Option<Self> {
        let wide = if dtype == DType::F64 {
            dtype
        } else {
            DType::F32
        };
        let plan = |gemm: Gemm| GemmPlan::new(&gemm, target.isa, target.threads).ok();
        let dw = Gemm::tn(v, d, tokens, dtype, wide);
        Some(Self {
            logits: plan(Gemm::nt(tokens, v, d, dtype, wide))?,
            dh: plan(Gemm::new(tokens, d, v, dtype, dtype))?,
            dw: [plan(dw)?, plan(dw.accumulate())?],
        })
    }

    fn scratch_bytes(&self, grad: bool) -> usize {
        let grads = [&self.dh, &self.dw[0], &self.dw[1]];
        let grads = grads.iter().map(|plan| plan.scratch_bytes()).max();
        let logits = self.logits.scratch_bytes();
        if grad {
            logits.max(grads.unwrap_or(0))
        } else {
            logits
        }
    }
}

/// One operator on one signature.
#[derive(Debug)]
struct Plan {
    level: Level,
    config: CrossEntropyConfig,
    form: Form,
    tokens: usize,
    chunk: usize,
    v: usize,
    d: usize,
    weight_dtype: DType,
    /// For whole chunks and for the last one.
    whole: Products,
    last: Products,
}

fn build_form(
    name: &str,
    config: CrossEntropyConfig,
    form: Form,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    if !signature.is_contiguous() {
        return None;
    }
    let (h, w) = (&signature.inputs[0].ty, &signature.inputs[1].ty);
    let (tokens, d, v) = (h.shape.rows(), h.shape.last(), w.shape[0]);
    let chunk = config.chunk_tokens().min(tokens.max(1));
    let last = match tokens % chunk {
        0 => chunk,
        rest => rest,
    };
    let weight_dtype = form
        .grad
        .map_or(h.dtype, |grad| signature.outputs[grad + 1].dtype);
    let plan = Plan {
        level: target.level(),
        config,
        form,
        tokens,
        chunk,
        v,
        d,
        weight_dtype,
        whole: Products::new(chunk, v, d, h.dtype, target)?,
        last: Products::new(last, v, d, h.dtype, target)?,
    };
    let name = format!("{name}.{}", plan.whole.logits.kernel_name());
    with_float!(h.dtype, T => {
        let bytes = plan.scratch_bytes::<T>();
        CpuKernel::new(name, move |args| plan.run::<T>(args)).scratch_bytes(bytes).build()
    })
}

/// The working space of a call.
struct Space<'a, T: Num> {
    logits: &'a mut [T::Acc],
    /// Empty where logits have the storage type: they are overwritten.
    dlogits: &'a mut [T],
    losses: &'a mut [f64],
    /// Empty where sums of `dw` have its type: they are made in the output.
    dw: &'a mut [T::Acc],
    gemm: &'a mut [u8],
}

impl Plan {
    /// Elements of the parts of the working space, as in [`Space`].
    fn sizes<T: Num>(&self) -> [usize; 4] {
        let grad = self.form.grad.is_some();
        let wide = <T::Acc as Element>::DTYPE;
        let logits = self.chunk * self.v;
        let dlogits = if grad && T::DTYPE != wide { logits } else { 0 };
        let dw = if grad && self.weight_dtype != wide {
            self.v * self.d
        } else {
            0
        };
        [logits, dlogits, self.chunk, dw]
    }

    fn scratch_bytes<T: Num>(&self) -> usize {
        let [logits, dlogits, losses, dw] = self.sizes::<T>();
        let grad = self.form.grad.is_some();
        scratch::bytes::<T::Acc>(logits)
            + scratch::bytes::<T>(dlogits)
            + scratch::bytes::<f64>(losses)
            + scratch::bytes::<T::Acc>(dw)
            + self
                .whole
                .scratch_bytes(grad)
                .max(self.last.scratch_bytes(grad))
    }

    fn run<T: Num>(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        let [logits, dlogits, losses, dw] = self.sizes::<T>();
        let mut rest = std::mem::take(&mut args.scratch);
        let mut space = Space::<T> {
            logits: scratch::take(&mut rest, logits),
            dlogits: scratch::take(&mut rest, dlogits),
            losses: scratch::take(&mut rest, losses),
            dw: scratch::take(&mut rest, dw),
            gemm: rest,
        };
        let targets = args.input(2)?.slice::<i32>()?;
        let outside = |target: &i32| usize::try_from(*target).is_ok_and(|t| t >= self.v);
        if let Some(position) = targets.iter().position(outside) {
            return Err(KernelError(format!(
                "target {} at position {position} is outside a vocabulary of {}",
                targets[position], self.v
            )));
        }
        let mut loss = 0.0;
        for start in (0..self.tokens).step_by(self.chunk) {
            loss += self.chunk::<T>(start, targets, args, &mut space)?;
        }
        if let Some(index) = self.form.loss {
            let count = targets.iter().filter(|target| **target >= 0).count();
            for (index, value) in [(index, loss), (index + 1, count as f64)] {
                args.outputs[index].slice::<T::Acc>()?[0] = T::Acc::constant(value);
            }
        }
        if let Some(index) = self.form.grad {
            let out = &mut *args.outputs[index + 1].data;
            if self.tokens == 0 {
                out.fill(0);
            } else if !space.dw.is_empty() {
                let dtype = self.weight_dtype;
                if !cast::round_to(self.level, dtype, space.dw, out, args.pool) {
                    return Err(KernelError(format!("no gradient of {dtype}")));
                }
            }
        }
        Ok(())
    }

    /// One chunk of tokens: its part of the loss, its gradients.
    fn chunk<T: Num>(
        &self,
        start: usize,
        targets: &[i32],
        args: &mut Args<'_>,
        space: &mut Space<'_, T>,
    ) -> Result<f64, KernelError> {
        let tokens = self.chunk.min(self.tokens - start);
        let products = if tokens == self.chunk {
            &self.whole
        } else {
            &self.last
        };
        let (h, w, pool) = (args.input(0)?.data, args.input(1)?.data, args.pool);
        let row = T::DTYPE.bytes(self.d);
        let h = &h[start * row..(start + tokens) * row];
        let logits = &mut space.logits[..tokens * self.v];
        let call = (h, w, bytemuck::cast_slice_mut(logits));
        product(&products.logits, call, space.gemm, pool)?;
        let dloss = match self.form.grad {
            Some(_) => Some(
                args.input(3)?
                    .slice::<T::Acc>()?
                    .first()
                    .copied()
                    .unwrap_or_default(),
            ),
            None => None,
        };
        let losses = &mut space.losses[..tokens];
        let targets = &targets[start..start + tokens];
        self.rows::<T>(targets, dloss, logits, &mut *space.dlogits, losses, pool);
        if let Some(index) = self.form.grad {
            let dlogits: &[u8] = if space.dlogits.is_empty() {
                bytemuck::cast_slice(logits)
            } else {
                bytemuck::cast_slice(&space.dlogits[..tokens * self.v])
            };
            let [dh, dw] = &mut args.outputs[index..index + 2] else {
                return Err(KernelError("needs two gradients".to_owned()));
            };
            let dh = &mut dh.data[start * row..(start + tokens) * row];
            product(&products.dh, (dlogits, w, dh), space.gemm, pool)?;
            let dw: &mut [u8] = if space.dw.is_empty() {
                &mut *dw.data
            } else {
                bytemuck::cast_slice_mut(space.dw)
            };
            let plan = &products.dw[usize::from(start > 0)];
            product(plan, (dlogits, h, dw), space.gemm, pool)?;
        }
        Ok(losses.iter().sum())
    }

    /// Turns logits into losses and, with `dloss`, into their gradients.
    fn rows<T: Num>(
        &self,
        targets: &[i32],
        dloss: Option<T::Acc>,
        logits: &mut [T::Acc],
        dlogits: &mut [T],
        losses: &mut [f64],
        pool: &Pool,
    ) {
        let v = self.v;
        if v == 0 {
            losses.fill(0.0);
            return;
        }
        let rows = rows_per_chunk(v);
        let separate = !dlogits.is_empty();
        let dlogits = Parts::new(dlogits);
        pool.chunks_mut2(
            (logits, rows * v),
            (losses, rows),
            |chunk, logits, losses| {
                let first = chunk * rows;
                let part = first * v..first * v + if separate { logits.len() } else { 0 };
                // SAFETY: chunks are disjoint, and `dlogits` is as long as the logits.
                #[expect(unsafe_code, reason = "a third operand in step with the others")]
                let dlogits = unsafe { dlogits.get(if separate { part } else { 0..0 }) };
                let z_loss = self.config.z_loss;
                for (i, (logits, loss)) in logits.chunks_exact_mut(v).zip(losses).enumerate() {
                    let target = targets[first + i];
                    *loss = loss_and_grad(self.level, z_loss, target, dloss, logits);
                    if separate && dloss.is_some() {
                        round(self.level, logits, &mut dlogits[i * v..(i + 1) * v]);
                    }
                }
            },
        );
    }
}

fn product(
    plan: &GemmPlan,
    (a, b, c): (&[u8], &[u8], &mut [u8]),
    scratch: &mut [u8],
    pool: &Pool,
) -> Result<(), KernelError> {
    let b = OperandB::Plain(b);
    plan.run(
        GemmArgs {
            a,
            b,
            c,
            bias: None,
            scratch,
        },
        pool,
    )
    .map_err(|error| KernelError(error.to_string()))
}

simd! {
    /// The loss of one token; the logits become their gradient when `dloss` is given.
    fn loss_and_grad [A: Acc] (
        z_loss: f64,
        target: i32,
        dloss: Option<A>,
        logits: &mut [A],
    ) -> f64 {
        let Ok(target) = usize::try_from(target) else {
            logits.fill(A::ZERO);
            return 0.0;
        };
        let max = lanes::max(logits, |x| x);
        let own = logits[target];
        let sum = match dloss {
            None => lanes::sum(logits, |x: A| (x - max).exp()),
            Some(_) => lanes::map_sum(logits, |x| (x - max).exp()),
        };
        let lse = max.wide() + sum.wide().ln();
        if let Some(dloss) = dloss {
            let factor = dloss * A::constant((1.0 + 2.0 * z_loss * lse) / sum.wide());
            for x in logits.iter_mut() {
                *x = *x * factor;
            }
            logits[target] = logits[target] - dloss;
        }
        lse - own.wide() + z_loss * lse * lse
    }
}

simd! {
    fn round [T: Num] (from: &[T::Acc], to: &mut [T]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = T::down(*from);
        }
    }
}

//! Attention in blocks of queries and keys, forward and backward.
//!
//! The products of two blocks go through [`super::gemm`] on one thread; heads are
//! divided among the threads. A block pair that the causal mask hides is skipped.

mod backward;
mod decode;
mod forward;
mod tiles;

use cairn_graph::ops::attention::{AttentionSizes, attention_sizes};
use cairn_graph::ops::{Attention, AttentionGrad};
use cairn_graph::{Op, TensorType};

use super::Target;
use super::kernel::CpuKernel;
use super::num::with_float;
use crate::backend::{Args, Kernel, Signature};
use crate::error::KernelError;
use crate::threads::Pool;

/// Queries, and keys, of one block.
const BLOCK: usize = 128;

/// Up to this many queries a sequence, keys are read once and not packed.
const FEW_QUERIES: usize = 4;

/// What both directions know.
#[derive(Clone, Copy, Debug)]
struct Problem {
    sizes: AttentionSizes,
    scale: f64,
    causal: bool,
}

impl Problem {
    /// Keys that query `i` sees are `0..visible(start, i)`.
    fn visible(&self, start: i64, query: usize) -> usize {
        if !self.causal {
            return self.sizes.sk;
        }
        let end = start.saturating_add(query as i64).saturating_add(1);
        usize::try_from(end.max(0)).map_or(self.sizes.sk, |end| end.min(self.sizes.sk))
    }

    /// The `start` of a call: given, or such that the last query sees every key.
    fn start(&self, args: &Args<'_>, input: usize) -> Result<i64, KernelError> {
        match args.inputs.get(input) {
            Some(_) => Ok(args
                .input(input)?
                .slice::<i32>()?
                .first()
                .map_or(0, |start| i64::from(*start))),
            None => Ok(self.sizes.sk as i64 - self.sizes.sq as i64),
        }
    }
}

fn sizes(signature: &Signature) -> Option<AttentionSizes> {
    let ty = |index: usize| -> &TensorType { &signature.inputs[index].ty };
    attention_sizes(ty(0), ty(1), ty(2)).ok()
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<Attention>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let problem = Problem {
        sizes: sizes(signature)?,
        scale: op.scale,
        causal: op.causal,
    };
    let level = target.level();
    if problem.sizes.sq <= FEW_QUERIES {
        return with_float!(signature.inputs[0].ty.dtype, T => {
            let bytes = decode::scratch_bytes::<T>(&problem, target.threads);
            CpuKernel::new(format!("attention.decode.{}", level.name()), move |args| {
                decode::run::<T>(level, &problem, args)
            })
            .scratch_bytes(bytes)
            .build()
        });
    }
    let serial = Pool::new(1).ok()?;
    with_float!(signature.inputs[0].ty.dtype, T => {
        let plan = forward::Plan::new::<T>(problem, target)?;
        let bytes = plan.scratch_bytes::<T>();
        CpuKernel::new(format!("attention.{}", plan.kernel_name()), move |args| {
            plan.run::<T>(&serial, args)
        })
        .scratch_bytes(bytes)
        .build()
    })
}

pub(super) fn build_grad(
    op: &dyn Op,
    signature: &Signature,
    target: Target,
) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<AttentionGrad>()?;
    if !signature.is_contiguous() {
        return None;
    }
    let problem = Problem {
        sizes: sizes(signature)?,
        scale: op.scale,
        causal: op.causal,
    };
    let serial = Pool::new(1).ok()?;
    with_float!(signature.inputs[0].ty.dtype, T => {
        let plan = backward::Plan::new::<T>(problem, target)?;
        let bytes = plan.scratch_bytes::<T>();
        CpuKernel::new(format!("attention_grad.{}", plan.kernel_name()), move |args| {
            plan.run::<T>(&serial, args)
        })
        .scratch_bytes(bytes)
        .build()
    })
}

//! AdamW in one pass over parameter, gradient, moments and compute copy.

use cairn_graph::Op;
use cairn_graph::ops::AdamW;

use super::Target;
use super::block::{Io, Wide, with_wide};
use super::elementwise::CHUNK;
use super::gather::BLOCK;
use super::kernel::CpuKernel;
use super::num::Acc;
use super::parts::Parts;
use super::simd::{Level, simd};
use crate::backend::{Args, Kernel, Signature};
use crate::error::KernelError;

/// What one step needs besides the tensors.
#[derive(Clone, Copy, Debug)]
struct Step<A> {
    beta1: A,
    beta2: A,
    /// `1 - beta`, rounded from the exact difference.
    rest1: A,
    rest2: A,
    eps: A,
    weight_decay: A,
    learning_rate: A,
    bias1: A,
    bias2: A,
    scale: A,
}

pub(super) fn build(op: &dyn Op, signature: &Signature, target: Target) -> Option<Box<dyn Kernel>> {
    let op = op.as_any().downcast_ref::<AdamW>()?.clone();
    if !signature.is_contiguous() {
        return None;
    }
    let level = target.level();
    let (param, grad) = (signature.inputs[0].ty.dtype, signature.inputs[1].ty.dtype);
    let copy = op.copy.then(|| signature.inputs[7].ty.dtype);
    let name = format!("adamw.{}", level.name());
    with_wide!(param, A => {
        let states = A::io(param)?;
        let grad = A::io(grad)?;
        let copy = match copy {
            Some(dtype) => Some(A::io(dtype)?),
            None => None,
        };
        let io = Ios { states, grad, copy };
        CpuKernel::new(name, move |args| run::<A>(level, &op, io, args)).build()
    })
}

/// How the tensors are stored.
#[derive(Clone, Copy, Debug)]
struct Ios<A> {
    states: Io<A>,
    grad: Io<A>,
    copy: Option<Io<A>>,
}

fn run<A: Wide>(
    level: Level,
    op: &AdamW,
    io: Ios<A>,
    args: &mut Args<'_>,
) -> Result<(), KernelError> {
    let scalar = |index: usize, at: usize| -> Result<A, KernelError> {
        let value = args.input(index)?.slice::<A>()?.get(at).copied();
        value.ok_or_else(|| KernelError(format!("input {index} is too short")))
    };
    if scalar(6, 0)? == A::ZERO {
        return Ok(());
    }
    let step = Step {
        beta1: A::constant(op.beta1),
        beta2: A::constant(op.beta2),
        rest1: A::constant(1.0 - op.beta1),
        rest2: A::constant(1.0 - op.beta2),
        eps: A::constant(op.eps),
        weight_decay: A::constant(op.weight_decay),
        learning_rate: scalar(4, 0)?,
        bias1: scalar(4, 1)?,
        bias2: scalar(4, 2)?,
        scale: scalar(5, 0)?,
    };
    let grad = args.input(1)?.data;
    let pool = args.pool;
    let (states, copy) = args.outputs.split_at_mut(3);
    let [param, m, v] = states else {
        return Err(KernelError("needs three outputs".to_owned()));
    };
    let copy = Parts::new(match copy.first_mut() {
        Some(copy) => &mut *copy.data,
        None => &mut [],
    });
    let bytes = CHUNK * io.states.size;
    let states = (
        (&mut *param.data, bytes),
        (&mut *m.data, bytes),
        (&mut *v.data, bytes),
    );
    pool.chunks_mut3(states.0, states.1, states.2, |chunk, param, m, v| {
        let size = io.copy.map_or(0, |copy| copy.size);
        let (start, len) = (chunk * CHUNK, param.len() / io.states.size);
        // SAFETY: chunks are disjoint; without a copy the range is empty.
        #[expect(unsafe_code, reason = "a fourth output in step with the others")]
        let copy = unsafe { copy.get(start * size..(start + len) * size) };
        update_chunk(level, step, io, (grad, start), [param, m, v], copy);
    });
    Ok(())
}

/// Updates one chunk; gradients are those from an index on.
fn update_chunk<A: Wide>(
    level: Level,
    step: Step<A>,
    io: Ios<A>,
    (grad, start): (&[u8], usize),
    [param, m, v]: [&mut [u8]; 3],
    copy: &mut [u8],
) {
    let mut buffers = [[A::ZERO; BLOCK]; 4];
    let [block_g, block_p, block_m, block_v] = &mut buffers;
    let bytes = BLOCK * io.states.size;
    let blocks = param
        .chunks_mut(bytes)
        .zip(m.chunks_mut(bytes).zip(v.chunks_mut(bytes)));
    for (index, (param, (m, v))) in blocks.enumerate() {
        let len = param.len() / io.states.size;
        let grad = io
            .grad
            .read(level, grad, start + index * BLOCK, &mut block_g[..len]);
        io.states.update(level, param, block_p, |param| {
            io.states.update(level, m, block_m, |m| {
                io.states.update(level, v, block_v, |v| {
                    update(level, step, grad, param, m, v);
                });
            });
            if let Some(io) = io.copy {
                let first = index * BLOCK * io.size;
                io.write(level, param, &mut copy[first..first + len * io.size]);
            }
        });
    }
}

simd! {
    fn update [A: Acc] (step: Step<A>, grad: &[A], param: &mut [A], m: &mut [A], v: &mut [A]) {
        let states = param.iter_mut().zip(m.iter_mut().zip(v.iter_mut()));
        for ((param, (m, v)), grad) in states.zip(grad) {
            let g = *grad * step.scale;
            *m = step.beta1 * *m + step.rest1 * g;
            *v = step.beta2 * *v + step.rest2 * (g * g);
            let root = (*v / step.bias2).sqrt() + step.eps;
            let change = *m / step.bias1 / root + step.weight_decay * *param;
            *param = *param - step.learning_rate * change;
        }
    }
}

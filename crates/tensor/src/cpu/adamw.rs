//! AdamW in one pass over parameter, gradient, moments and compute copy.

use cairn_graph::Op;
use cairn_graph::ops::AdamW;

use super::Target;
use super::elementwise::CHUNK;
use super::kernel::CpuKernel;
use super::num::{Acc, Num, with_float};
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
    with_float!(param, P => with_float!(grad, G => match copy {
        // Without a copy its type does not matter.
        None => CpuKernel::new(name, move |args| run::<P, G, P>(level, &op, args)).build(),
        Some(dtype) => with_float!(dtype, C => {
            CpuKernel::new(name, move |args| run::<P, G, C>(level, &op, args)).build()
        }),
    }))
}

fn run<P: Num, G: Num, C: Num>(
    level: Level,
    op: &AdamW,
    args: &mut Args<'_>,
) -> Result<(), KernelError> {
    let scalar = |index: usize, at: usize| -> Result<P::Acc, KernelError> {
        let values = args.input(index)?.slice::<P::Acc>()?;
        let value = values.get(at).copied();
        value.ok_or_else(|| KernelError(format!("input {index} is too short")))
    };
    if scalar(6, 0)? == P::Acc::ZERO {
        return Ok(());
    }
    let constant = P::Acc::constant;
    let step = Step {
        beta1: constant(op.beta1),
        beta2: constant(op.beta2),
        rest1: constant(1.0 - op.beta1),
        rest2: constant(1.0 - op.beta2),
        eps: constant(op.eps),
        weight_decay: constant(op.weight_decay),
        learning_rate: scalar(4, 0)?,
        bias1: scalar(4, 1)?,
        bias2: scalar(4, 2)?,
        scale: scalar(5, 0)?,
    };
    let grad = args.input(1)?.slice::<G>()?;
    let pool = args.pool;
    let (states, copy) = args.outputs.split_at_mut(3);
    let [param, m, v] = states else {
        return Err(KernelError("needs three outputs".to_owned()));
    };
    let (param, m, v) = (param.slice::<P>()?, m.slice::<P>()?, v.slice::<P>()?);
    let copy = match copy.first_mut() {
        Some(copy) => copy.slice::<C>()?,
        None => &mut [],
    };
    let copies = copy.len();
    let copy = Parts::new(copy);
    pool.chunks_mut3(
        (param, CHUNK),
        (m, CHUNK),
        (v, CHUNK),
        |chunk, param, m, v| {
            let part = chunk * CHUNK..chunk * CHUNK + param.len();
            update(level, step, &grad[part.clone()], param, m, v);
            if copies > 0 {
                // SAFETY: chunks are disjoint, and the copy is as long as the parameter.
                #[expect(unsafe_code, reason = "a fourth output in step with the others")]
                let copy = unsafe { copy.get(part) };
                round(level, param, copy);
            }
        },
    );
    Ok(())
}

simd! {
    fn update [P: Num, G: Num] (
        step: Step<P::Acc>,
        grad: &[G],
        param: &mut [P],
        m: &mut [P],
        v: &mut [P],
    ) {
        let states = param.iter_mut().zip(m.iter_mut().zip(v.iter_mut()));
        for ((param, (m, v)), grad) in states.zip(grad) {
            let g = P::Acc::constant(grad.up().wide()) * step.scale;
            let new_m = step.beta1 * m.up() + step.rest1 * g;
            let new_v = step.beta2 * v.up() + step.rest2 * (g * g);
            *m = P::down(new_m);
            *v = P::down(new_v);
            let root = (new_v / step.bias2).sqrt() + step.eps;
            let p = param.up();
            let change = new_m / step.bias1 / root + step.weight_decay * p;
            *param = P::down(p - step.learning_rate * change);
        }
    }
}

simd! {
    /// The compute copy, while the parameters are in the cache.
    fn round [P: Num, C: Num] (param: &[P], copy: &mut [C]) {
        for (copy, param) in copy.iter_mut().zip(param) {
            *copy = C::down(C::Acc::constant(param.up().wide()));
        }
    }
}

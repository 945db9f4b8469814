//! The backend: one kernel for one operator.

use cairn_formats::{bf16, f16};
use cairn_graph::Op;
use cairn_tensor::{Args, Backend, DType, Element, Kernel, KernelError, Signature};

use crate::Softplus;

/// Elements a thread takes at a time. The result does not depend on it.
const CHUNK: usize = 4096;

/// Knows [`Softplus`] on contiguous operands, in place or not, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra;

impl Backend for Extra {
    fn name(&self) -> &'static str {
        "extra"
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let beta = op.as_any().downcast_ref::<Softplus>()?.beta;
        if !signature.is_contiguous() {
            // The executor then makes the operands contiguous and asks again.
            return None;
        }
        let run = match signature.outputs.first()?.dtype {
            DType::F64 => run::<f64>,
            DType::F32 => run::<f32>,
            DType::F16 => run::<f16>,
            DType::BF16 => run::<bf16>,
            _ => return None,
        };
        Some(Box::new(SoftplusKernel { beta, run }))
    }
}

#[derive(Debug)]
struct SoftplusKernel {
    beta: f64,
    run: fn(f64, &mut Args<'_>) -> Result<(), KernelError>,
}

impl Kernel for SoftplusKernel {
    fn name(&self) -> &str {
        "softplus.extra"
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        vec![(0, 0)]
    }

    fn run(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        (self.run)(self.beta, args)
    }
}

fn run<T: Element>(beta: f64, args: &mut Args<'_>) -> Result<(), KernelError> {
    // No input: it lies in the output and is overwritten.
    let input = args.inputs.first().copied().flatten();
    let input = input.map(|view| view.slice::<T>()).transpose()?;
    let Some(output) = args.outputs.first_mut() else {
        return Err(KernelError("there is no output".to_owned()));
    };
    args.pool
        .chunks_mut(output.slice::<T>()?, CHUNK, |chunk, output| {
            let input = input.and_then(|input| input.get(chunk * CHUNK..));
            match input {
                Some(input) => {
                    for (y, x) in output.iter_mut().zip(input) {
                        *y = T::rounded(softplus(beta, x.to_f64()));
                    }
                }
                None => {
                    for y in output {
                        *y = T::rounded(softplus(beta, y.to_f64()));
                    }
                }
            }
        });
    Ok(())
}

/// In the form that does not overflow: `max(z, 0) + ln(1 + e^-|z|)`.
fn softplus(beta: f64, x: f64) -> f64 {
    let z = beta * x;
    (z.max(0.0) + (-z.abs()).exp().ln_1p()) / beta
}

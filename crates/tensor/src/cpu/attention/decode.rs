//! Few queries against many keys, as in generation: every key and value is read once
//! and nothing is packed.

use super::super::lanes;
use super::super::num::{Acc, Num};
use super::super::parts::Parts;
use super::super::scratch;
use super::super::simd::{Level, simd};
use super::Problem;
use crate::backend::Args;
use crate::error::KernelError;

fn thread_bytes<T: Num>(problem: &Problem) -> usize {
    scratch::bytes::<T::Acc>(problem.sizes.sk) + scratch::bytes::<T::Acc>(problem.sizes.dv)
}

pub(super) fn scratch_bytes<T: Num>(problem: &Problem, threads: usize) -> usize {
    thread_bytes::<T>(problem) * threads
}

pub(super) fn run<T: Num>(
    level: Level,
    problem: &Problem,
    args: &mut Args<'_>,
) -> Result<(), KernelError> {
    let s = problem.sizes;
    let start = problem.start(args, 3)?;
    let q = args.input(0)?.slice::<T>()?;
    let (k, v) = (args.input(1)?.slice::<T>()?, args.input(2)?.slice::<T>()?);
    let pool = args.pool;
    let size = thread_bytes::<T>(problem);
    let spaces = Parts::new(&mut *args.scratch);
    if spaces.len() < size * pool.threads() {
        return Err(KernelError("planned for fewer threads".to_owned()));
    }
    let [out, lse] = &mut args.outputs[..] else {
        return Err(KernelError("needs two outputs".to_owned()));
    };
    let (out, lse) = (
        Parts::new(out.slice::<T>()?),
        Parts::new(lse.slice::<T::Acc>()?),
    );
    pool.run_with_worker(s.b * s.hq * s.sq, |worker, item| {
        let (query, head) = (item % s.sq, item / s.sq % s.hq);
        let batch = item / s.sq / s.hq;
        let token = (batch * s.sq + query) * s.hq + head;
        let row = (batch * s.hq + head) * s.sq + query;
        // SAFETY: an item has its own row of each output, and no two items of one worker
        // run at the same time.
        #[expect(unsafe_code, reason = "strided rows and the working space of a thread")]
        let (mut space, out, lse) = unsafe {
            (
                spaces.get(worker * size..(worker + 1) * size),
                out.get(token * s.dv..(token + 1) * s.dv),
                lse.get(row..row + 1),
            )
        };
        let seen = problem.visible(start, query);
        let scores = &mut scratch::take::<T::Acc>(&mut space, s.sk)[..seen];
        let sums = scratch::take::<T::Acc>(&mut space, s.dv);
        let first = batch * s.sk * s.hk + head / (s.hq / s.hk);
        let operands = Rows {
            q: &q[token * s.d..(token + 1) * s.d],
            k: k.get(first * s.d..).unwrap_or_default(),
            v: v.get(first * s.dv..).unwrap_or_default(),
            stride: s.hk,
        };
        lse[0] = attend(level, problem.scale, operands, scores, sums, out);
    });
    Ok(())
}

/// One query and the keys and values it may see.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    q: &'a [T],
    k: &'a [T],
    v: &'a [T],
    /// Heads between one key and the next.
    stride: usize,
}

simd! {
    /// Gives the logarithm of the sum of exponentials.
    fn attend [T: Num] (
        scale: f64,
        rows: Rows<'_, T>,
        scores: &mut [T::Acc],
        sums: &mut [T::Acc],
        out: &mut [T],
    ) -> T::Acc {
        let (d, dv) = (rows.q.len(), out.len());
        let scale = T::Acc::constant(scale);
        for (j, score) in scores.iter_mut().enumerate() {
            let k = &rows.k[j * rows.stride * d..][..d];
            *score = lanes::sum_pairs(rows.q, k, |q: T, k: T| q.up() * k.up()) * scale;
        }
        let max = lanes::max(scores, |x| x);
        let sum = lanes::map_sum(scores, |x| (x - max).exp());
        sums.fill(T::Acc::ZERO);
        for (j, p) in scores.iter().enumerate() {
            // Probabilities enter the second product in the storage type.
            let p = T::down(*p).up();
            for (sum, v) in sums.iter_mut().zip(&rows.v[j * rows.stride * dv..][..dv]) {
                *sum += p * v.up();
            }
        }
        let factor = if scores.is_empty() { T::Acc::ZERO } else { T::Acc::ONE / sum };
        for (out, o) in out.iter_mut().zip(sums) {
            *out = T::down(*o * factor);
        }
        max + sum.ln()
    }
}

//! Backward: for each block of queries, its probabilities against every key block are
//! computed again, transposed, so that a row of a tile belongs to a key and lanes to
//! queries. Gradients of keys and values are summed over heads of a group and query
//! blocks in order.

use std::sync::Mutex;

use super::super::Target;
use super::super::gemm::Gemm;
use super::super::lanes;
use super::super::num::{Acc, Num};
use super::super::parts::Parts;
use super::super::scratch;
use super::super::simd::{Level, simd};
use super::Problem;
use super::tiles::{Blocks, Plans, pack, product};
use crate::backend::Args;
use crate::element::Element;
use crate::error::KernelError;
use crate::threads::Pool;

/// Backward attention on one signature.
#[derive(Debug)]
pub(super) struct Plan {
    problem: Problem,
    level: Level,
    threads: usize,
    queries: Blocks,
    keys: Blocks,
    /// `s^T = k q^T`, the right side packed per query block.
    scores: Plans,
    /// `dp^T = v dout^T`.
    slopes: Plans,
    /// `dv += p^T dout`.
    dv: Plans,
    /// `dk += ds^T q`.
    dk: Plans,
    /// `dq += ds k`, the right side packed per key block.
    dq: Plans,
}

/// The working space of a thread.
struct Space<'a, T: Num> {
    packed_k: &'a mut [u8],
    packed_q: [&'a mut [u8]; 2],
    packed_dout: [&'a mut [u8]; 2],
    s: &'a mut [T::Acc],
    dp: &'a mut [T::Acc],
    p: &'a mut [T],
    ds: &'a mut [T],
    lse: &'a mut [T::Acc],
    delta: &'a mut [T::Acc],
    dq: &'a mut [T::Acc],
    dk: &'a mut [T::Acc],
    dv: &'a mut [T::Acc],
    gemm: &'a mut [u8],
}

/// The inputs of a call.
#[derive(Clone, Copy)]
struct Inputs<'a, T: Num> {
    q: &'a [T],
    k: &'a [T],
    v: &'a [T],
    out: &'a [T],
    lse: &'a [T::Acc],
    dout: &'a [T],
    start: i64,
}

/// A block of queries of one head.
#[derive(Clone, Copy)]
struct QueryBlock {
    batch: usize,
    head: usize,
    first: usize,
    len: usize,
}

impl Plan {
    pub(super) fn new<T: Num>(problem: Problem, target: Target) -> Option<Self> {
        let s = problem.sizes;
        let (queries, keys) = (Blocks::new(s.sq), Blocks::new(s.sk));
        let (dtype, wide) = (T::DTYPE, <T::Acc as Element>::DTYPE);
        let width = queries.size();
        let across = |d: usize| {
            // A tile [keys, queries] of two strided operands.
            move |q: usize, k: usize| {
                let mut gemm = Gemm::nt(k, q, d, dtype, wide);
                (gemm.lda, gemm.ldb, gemm.ldc) = (s.hk * d, s.hq * d, width);
                gemm
            }
        };
        let along = |d: usize| {
            // Sums over queries of a tile and a strided operand.
            move |q: usize, k: usize| {
                let mut gemm = Gemm::new(k, d, q, dtype, wide).accumulate();
                (gemm.lda, gemm.ldb) = (width, s.hq * d);
                gemm
            }
        };
        let to_queries = |q: usize, k: usize| {
            let mut gemm = Gemm::tn(q, s.d, k, dtype, wide).accumulate();
            (gemm.lda, gemm.ldb) = (width, s.hk * s.d);
            gemm
        };
        Some(Self {
            problem,
            level: target.level(),
            threads: target.threads,
            queries,
            keys,
            scores: Plans::new(queries, keys, target.isa, across(s.d))?,
            slopes: Plans::new(queries, keys, target.isa, across(s.dv))?,
            dv: Plans::new(queries, keys, target.isa, along(s.dv))?,
            dk: Plans::new(queries, keys, target.isa, along(s.d))?,
            dq: Plans::new(queries, keys, target.isa, to_queries)?,
        })
    }

    pub(super) fn kernel_name(&self) -> &'static str {
        self.scores.get(0, 0).kernel_name()
    }

    fn gemm_bytes(&self) -> usize {
        let plans = [&self.scores, &self.slopes, &self.dv, &self.dk, &self.dq];
        plans
            .iter()
            .map(|plans| plans.scratch_bytes())
            .max()
            .unwrap_or(0)
    }

    fn thread_bytes<T: Num>(&self) -> usize {
        let s = self.problem.sizes;
        let (bq, bk) = (self.queries.size(), self.keys.size());
        self.keys.count() * self.dq.packed_bytes()
            + self.scores.packed_bytes()
            + self.dk.packed_bytes()
            + self.slopes.packed_bytes()
            + self.dv.packed_bytes()
            + 2 * scratch::bytes::<T::Acc>(bk * bq)
            + 2 * scratch::bytes::<T>(bk * bq)
            + 2 * scratch::bytes::<T::Acc>(bq)
            + scratch::bytes::<T::Acc>(bq * s.d)
            + scratch::bytes::<T::Acc>(s.sk * s.d)
            + scratch::bytes::<T::Acc>(s.sk * s.dv)
            + self.gemm_bytes()
    }

    pub(super) fn scratch_bytes<T: Num>(&self) -> usize {
        self.thread_bytes::<T>() * self.threads
    }

    fn space<'a, T: Num>(&self, mut bytes: &'a mut [u8]) -> Space<'a, T> {
        let s = self.problem.sizes;
        let (bq, bk) = (self.queries.size(), self.keys.size());
        let rest = &mut bytes;
        Space {
            packed_k: scratch::take(rest, self.keys.count() * self.dq.packed_bytes()),
            packed_q: [
                scratch::take(rest, self.scores.packed_bytes()),
                scratch::take(rest, self.dk.packed_bytes()),
            ],
            packed_dout: [
                scratch::take(rest, self.slopes.packed_bytes()),
                scratch::take(rest, self.dv.packed_bytes()),
            ],
            s: scratch::take(rest, bk * bq),
            dp: scratch::take(rest, bk * bq),
            p: scratch::take(rest, bk * bq),
            ds: scratch::take(rest, bk * bq),
            lse: scratch::take(rest, bq),
            delta: scratch::take(rest, bq),
            dq: scratch::take(rest, bq * s.d),
            dk: scratch::take(rest, s.sk * s.d),
            dv: scratch::take(rest, s.sk * s.dv),
            gemm: bytes,
        }
    }

    pub(super) fn run<T: Num>(
        &self,
        serial: &Pool,
        args: &mut Args<'_>,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let inputs = Inputs::<T> {
            q: args.input(0)?.slice()?,
            k: args.input(1)?.slice()?,
            v: args.input(2)?.slice()?,
            out: args.input(3)?.slice()?,
            lse: args.input(4)?.slice()?,
            dout: args.input(5)?.slice()?,
            start: self.problem.start(args, 6)?,
        };
        let pool = args.pool;
        if pool.threads() > self.threads {
            return Err(KernelError("planned for fewer threads".to_owned()));
        }
        let size = self.thread_bytes::<T>();
        let spaces = Parts::new(&mut *args.scratch);
        let [dq, dk, dv] = &mut args.outputs[..] else {
            return Err(KernelError("needs three outputs".to_owned()));
        };
        let dq = Parts::new(dq.slice::<T>()?);
        let (dk, dv) = (Parts::new(dk.slice::<T>()?), Parts::new(dv.slice::<T>()?));
        let failed = Mutex::new(None);
        pool.run_with_worker(s.b * s.hk, |worker, item| {
            let (batch, group) = (item / s.hk, item % s.hk);
            // SAFETY: no two items of one worker run at the same time.
            #[expect(unsafe_code, reason = "working space of a thread")]
            let bytes = unsafe { spaces.get(worker * size..(worker + 1) * size) };
            let mut space = self.space::<T>(bytes);
            let result = self.item(batch, group, inputs, &mut space, &dq, serial);
            if let (Err(error), Ok(mut failed)) = (result, failed.lock()) {
                failed.get_or_insert(error);
            }
            for (sums, width, to) in [(&*space.dk, s.d, &dk), (&*space.dv, s.dv, &dv)] {
                for token in 0..s.sk {
                    let start = ((batch * s.sk + token) * s.hk + group) * width;
                    // SAFETY: each key head belongs to one item.
                    #[expect(unsafe_code, reason = "strided rows of the outputs")]
                    let to = unsafe { to.get(start..start + width) };
                    round(self.level, &sums[token * width..(token + 1) * width], to);
                }
            }
        });
        match failed.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// All query heads that read one key head.
    fn item<T: Num>(
        &self,
        batch: usize,
        group: usize,
        inputs: Inputs<'_, T>,
        space: &mut Space<'_, T>,
        dq: &Parts<'_, T>,
        serial: &Pool,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        space.dk.fill(T::Acc::ZERO);
        space.dv.fill(T::Acc::ZERO);
        let size = self.dq.packed_bytes();
        for block in 0..self.keys.count() {
            let (first, len) = self.keys.at(block);
            let k = &inputs.k[((batch * s.sk + first) * s.hk + group) * s.d..];
            let packed = &mut space.packed_k[block * size..(block + 1) * size];
            let plan = self.dq.get(0, self.keys.tail(len));
            pack(plan, bytemuck::cast_slice(k), packed, serial)?;
        }
        let heads = s.hq / s.hk;
        for head in group * heads..(group + 1) * heads {
            for block in 0..self.queries.count() {
                let (first, len) = self.queries.at(block);
                let at = QueryBlock {
                    batch,
                    head,
                    first,
                    len,
                };
                self.query_block(at, group, inputs, space, serial)?;
                for i in 0..len {
                    let start = ((batch * s.sq + first + i) * s.hq + head) * s.d;
                    // SAFETY: each query of each head belongs to one item.
                    #[expect(unsafe_code, reason = "strided rows of the output")]
                    let to = unsafe { dq.get(start..start + s.d) };
                    round(self.level, &space.dq[i * s.d..(i + 1) * s.d], to);
                }
            }
        }
        Ok(())
    }

    /// One block of queries against all keys it sees.
    fn query_block<T: Num>(
        &self,
        at: QueryBlock,
        group: usize,
        inputs: Inputs<'_, T>,
        space: &mut Space<'_, T>,
        serial: &Pool,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let token = at.batch * s.sq + at.first;
        let q = &inputs.q[(token * s.hq + at.head) * s.d..];
        let dout = &inputs.dout[(token * s.hq + at.head) * s.dv..];
        let out = &inputs.out[(token * s.hq + at.head) * s.dv..];
        space.dq.fill(T::Acc::ZERO);
        let row = (at.batch * s.hq + at.head) * s.sq + at.first;
        space.lse[..at.len].copy_from_slice(&inputs.lse[row..row + at.len]);
        for (i, delta) in space.delta[..at.len].iter_mut().enumerate() {
            let part = i * s.hq * s.dv..i * s.hq * s.dv + s.dv;
            *delta = dot(self.level, &dout[part.clone()], &out[part]);
        }
        let tail = self.queries.tail(at.len);
        let (q, dout) = (bytemuck::cast_slice(q), bytemuck::cast_slice(dout));
        pack(self.scores.get(tail, 0), q, space.packed_q[0], serial)?;
        pack(self.dk.get(tail, 0), q, space.packed_q[1], serial)?;
        pack(self.slopes.get(tail, 0), dout, space.packed_dout[0], serial)?;
        pack(self.dv.get(tail, 0), dout, space.packed_dout[1], serial)?;
        let seen = self.problem.visible(inputs.start, at.first + at.len - 1);
        for block in 0..self.keys.count() {
            if self.keys.at(block).0 >= seen {
                break;
            }
            self.tile(at, group, block, inputs, space, serial)?;
        }
        Ok(())
    }

    /// One block of queries against one block of keys.
    fn tile<T: Num>(
        &self,
        at: QueryBlock,
        group: usize,
        block: usize,
        inputs: Inputs<'_, T>,
        space: &mut Space<'_, T>,
        serial: &Pool,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let (key, keys) = self.keys.at(block);
        let (tail_q, tail_k) = (self.queries.tail(at.len), self.keys.tail(keys));
        let head = (at.batch * s.sk + key) * s.hk + group;
        let k = bytemuck::cast_slice(&inputs.k[head * s.d..]);
        let v = bytemuck::cast_slice(&inputs.v[head * s.dv..]);
        let width = self.queries.size();
        let scores = bytemuck::cast_slice_mut(&mut *space.s);
        let call = (k, &*space.packed_q[0], scores);
        product(self.scores.get(tail_q, tail_k), call, space.gemm, serial)?;
        let slopes = bytemuck::cast_slice_mut(&mut *space.dp);
        let call = (v, &*space.packed_dout[0], slopes);
        product(self.slopes.get(tail_q, tail_k), call, space.gemm, serial)?;
        for j in 0..keys {
            // The first query of the block that sees this key.
            let from = if self.problem.causal {
                let from = (key + j) as i64 - inputs.start - at.first as i64;
                usize::try_from(from.max(0)).map_or(at.len, |from| from.min(at.len))
            } else {
                0
            };
            let row = j * width..j * width + at.len;
            let tile = Row {
                s: &space.s[row.clone()],
                dp: &space.dp[row.clone()],
                lse: &space.lse[..at.len],
                delta: &space.delta[..at.len],
                from,
            };
            let (p, ds) = (&mut space.p[row.clone()], &mut space.ds[row]);
            slopes_of_row(self.level, self.problem.scale, tile, p, ds);
        }
        let p = bytemuck::cast_slice(&*space.p);
        let ds = bytemuck::cast_slice(&*space.ds);
        let sums = bytemuck::cast_slice_mut(&mut space.dv[key * s.dv..(key + keys) * s.dv]);
        let call = (p, &*space.packed_dout[1], sums);
        product(self.dv.get(tail_q, tail_k), call, space.gemm, serial)?;
        let sums = bytemuck::cast_slice_mut(&mut space.dk[key * s.d..(key + keys) * s.d]);
        let call = (ds, &*space.packed_q[1], sums);
        product(self.dk.get(tail_q, tail_k), call, space.gemm, serial)?;
        let size = self.dq.packed_bytes();
        let packed = &space.packed_k[block * size..(block + 1) * size];
        let sums = bytemuck::cast_slice_mut(&mut space.dq[..at.len * s.d]);
        product(
            self.dq.get(tail_q, tail_k),
            (ds, packed, sums),
            space.gemm,
            serial,
        )
    }
}

/// A key's row of a tile; lanes are queries.
#[derive(Clone, Copy)]
struct Row<'a, A> {
    s: &'a [A],
    dp: &'a [A],
    lse: &'a [A],
    delta: &'a [A],
    /// Queries before this one do not see the key.
    from: usize,
}

simd! {
    /// `p = e^(scale s - lse)` and `ds = scale p (dp - delta)`.
    fn slopes_of_row [T: Num] (scale: f64, row: Row<'_, T::Acc>, p: &mut [T], ds: &mut [T]) {
        let Row { s, dp, lse, delta, from } = row;
        let scale = T::Acc::constant(scale);
        let zero = T::down(T::Acc::ZERO);
        p[..from].fill(zero);
        ds[..from].fill(zero);
        let results = p[from..].iter_mut().zip(&mut ds[from..]);
        let scores = s[from..].iter().zip(&dp[from..]);
        let queries = lse[from..].iter().zip(&delta[from..]);
        for (((p, ds), (s, dp)), (lse, delta)) in results.zip(scores).zip(queries) {
            let x = (*s * scale - *lse).exp();
            *p = T::down(x);
            *ds = T::down(x * (*dp - *delta) * scale);
        }
    }
}

simd! {
    fn dot [T: Num] (a: &[T], b: &[T]) -> T::Acc {
        lanes::sum_pairs(a, b, |a: T, b: T| a.up() * b.up())
    }
}

simd! {
    fn round [T: Num] (from: &[T::Acc], to: &mut [T]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = T::down(*from);
        }
    }
}

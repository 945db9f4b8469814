//! Forward: for each block of queries, key blocks in order with a running maximum and
//! sum of each row (Milakov and Gimelshein, 2018).

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

/// Fewest pieces of work to cut a problem into.
const ITEMS: usize = 16;

/// Forward attention on one signature.
#[derive(Debug)]
pub(super) struct Plan {
    problem: Problem,
    level: Level,
    threads: usize,
    queries: Blocks,
    keys: Blocks,
    /// Pieces that the query blocks of a head are cut into.
    splits: usize,
    /// `s = q k^T`.
    scores: Plans,
    /// `o += p v`.
    values: Plans,
}

/// The working space of a thread.
struct Space<'a, T: Num> {
    packed_k: &'a mut [u8],
    packed_v: &'a mut [u8],
    s: &'a mut [T::Acc],
    p: &'a mut [T],
    o: &'a mut [T::Acc],
    max: &'a mut [T::Acc],
    sum: &'a mut [T::Acc],
    gemm: &'a mut [u8],
}

impl Plan {
    pub(super) fn new<T: Num>(problem: Problem, target: Target) -> Option<Self> {
        let s = problem.sizes;
        let (queries, keys) = (Blocks::new(s.sq), Blocks::new(s.sk));
        let (dtype, wide) = (T::DTYPE, <T::Acc as Element>::DTYPE);
        let scores = |m: usize, n: usize| {
            let mut gemm = Gemm::nt(m, n, s.d, dtype, wide);
            (gemm.lda, gemm.ldb, gemm.ldc) = (s.hq * s.d, s.hk * s.d, keys.size());
            gemm
        };
        let values = |m: usize, k: usize| {
            let mut gemm = Gemm::new(m, s.dv, k, dtype, wide).accumulate();
            (gemm.lda, gemm.ldb) = (keys.size(), s.hk * s.dv);
            gemm
        };
        let heads = (s.b * s.hq).max(1);
        Some(Self {
            problem,
            level: target.level(),
            threads: target.threads,
            queries,
            keys,
            splits: ITEMS.div_ceil(heads).min(queries.count().max(1)),
            scores: Plans::new(queries, keys, target.isa, scores)?,
            values: Plans::new(queries, keys, target.isa, values)?,
        })
    }

    pub(super) fn kernel_name(&self) -> &'static str {
        self.scores.get(0, 0).kernel_name()
    }

    fn gemm_bytes(&self) -> usize {
        self.scores.scratch_bytes().max(self.values.scratch_bytes())
    }

    fn thread_bytes<T: Num>(&self) -> usize {
        let (bq, bk, dv) = (self.queries.size(), self.keys.size(), self.problem.sizes.dv);
        self.keys.count() * (self.scores.packed_bytes() + self.values.packed_bytes())
            + scratch::bytes::<T::Acc>(bq * bk)
            + scratch::bytes::<T>(bq * bk)
            + scratch::bytes::<T::Acc>(bq * dv)
            + 2 * scratch::bytes::<T::Acc>(bq)
            + self.gemm_bytes()
    }

    pub(super) fn scratch_bytes<T: Num>(&self) -> usize {
        self.thread_bytes::<T>() * self.threads
    }

    fn space<'a, T: Num>(&self, mut bytes: &'a mut [u8]) -> Space<'a, T> {
        let (bq, bk, dv) = (self.queries.size(), self.keys.size(), self.problem.sizes.dv);
        let rest = &mut bytes;
        Space {
            packed_k: scratch::take(rest, self.keys.count() * self.scores.packed_bytes()),
            packed_v: scratch::take(rest, self.keys.count() * self.values.packed_bytes()),
            s: scratch::take(rest, bq * bk),
            p: scratch::take(rest, bq * bk),
            o: scratch::take(rest, bq * dv),
            max: scratch::take(rest, bq),
            sum: scratch::take(rest, bq),
            gemm: bytes,
        }
    }

    pub(super) fn run<T: Num>(
        &self,
        serial: &Pool,
        args: &mut Args<'_>,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let start = self.problem.start(args, 3)?;
        let inputs = [
            args.input(0)?.data,
            args.input(1)?.data,
            args.input(2)?.data,
        ];
        let pool = args.pool;
        if pool.threads() > self.threads {
            return Err(KernelError("planned for fewer threads".to_owned()));
        }
        let size = self.thread_bytes::<T>();
        let spaces = Parts::new(&mut *args.scratch);
        let [out, lse] = &mut args.outputs[..] else {
            return Err(KernelError("needs two outputs".to_owned()));
        };
        let (out, lse) = (
            Parts::new(out.slice::<T>()?),
            Parts::new(lse.slice::<T::Acc>()?),
        );
        let failed = Mutex::new(None);
        pool.run_with_worker(s.b * s.hq * self.splits, |worker, item| {
            let (split, head) = (item % self.splits, item / self.splits);
            // SAFETY: no two items of one worker run at the same time.
            #[expect(unsafe_code, reason = "working space of a thread")]
            let bytes = unsafe { spaces.get(worker * size..(worker + 1) * size) };
            let mut space = self.space::<T>(bytes);
            let at = Item {
                batch: head / s.hq,
                head: head % s.hq,
                split,
                start,
            };
            let result = self.item(&at, inputs, &mut space, (&out, &lse), serial);
            if let (Err(error), Ok(mut failed)) = (result, failed.lock()) {
                failed.get_or_insert(error);
            }
        });
        match failed.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Some query blocks of one head.
    fn item<T: Num>(
        &self,
        at: &Item,
        [q, k, v]: [&[u8]; 3],
        space: &mut Space<'_, T>,
        (out, lse): (&Parts<'_, T>, &Parts<'_, T::Acc>),
        serial: &Pool,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let blocks = self.queries.count();
        let own = at.split * blocks / self.splits..(at.split + 1) * blocks / self.splits;
        let Some(last) = own.clone().last() else {
            return Ok(());
        };
        let (first, len) = self.queries.at(last);
        let seen = self.problem.visible(at.start, first + len - 1);
        let group = at.head / (s.hq / s.hk);
        let (size_k, size_v) = (self.scores.packed_bytes(), self.values.packed_bytes());
        for block in 0..self.keys.count() {
            let (first, len) = self.keys.at(block);
            if first >= seen {
                break;
            }
            let token = at.batch * s.sk + first;
            let k = &k[T::DTYPE.bytes((token * s.hk + group) * s.d)..];
            let v = &v[T::DTYPE.bytes((token * s.hk + group) * s.dv)..];
            let tail = self.keys.tail(len);
            let packed = &mut space.packed_k[block * size_k..(block + 1) * size_k];
            pack(self.scores.get(0, tail), k, packed, serial)?;
            let packed = &mut space.packed_v[block * size_v..(block + 1) * size_v];
            pack(self.values.get(0, tail), v, packed, serial)?;
        }
        for block in own {
            let (first, len) = self.queries.at(block);
            self.queries_of(at, (first, len), q, space, serial)?;
            for i in 0..len {
                let token = at.batch * s.sq + first + i;
                let start = (token * s.hq + at.head) * s.dv;
                let row = (at.batch * s.hq + at.head) * s.sq + first + i;
                // SAFETY: each query of each head belongs to one item.
                #[expect(unsafe_code, reason = "strided rows of the outputs")]
                let (out, lse) = unsafe { (out.get(start..start + s.dv), lse.get(row..row + 1)) };
                let (max, sum) = (space.max[i], space.sum[i]);
                lse[0] = max + sum.ln();
                write_row(self.level, &space.o[i * s.dv..(i + 1) * s.dv], sum, out);
            }
        }
        Ok(())
    }

    /// One block of queries against all keys it sees.
    fn queries_of<T: Num>(
        &self,
        at: &Item,
        (first, len): (usize, usize),
        q: &[u8],
        space: &mut Space<'_, T>,
        serial: &Pool,
    ) -> Result<(), KernelError> {
        let s = self.problem.sizes;
        let q = &q[T::DTYPE.bytes(((at.batch * s.sq + first) * s.hq + at.head) * s.d)..];
        space.max[..len].fill(T::Acc::NEG_INFINITY);
        space.sum[..len].fill(T::Acc::ZERO);
        space.o[..len * s.dv].fill(T::Acc::ZERO);
        let seen = self.problem.visible(at.start, first + len - 1);
        let (size_k, size_v) = (self.scores.packed_bytes(), self.values.packed_bytes());
        for block in 0..self.keys.count() {
            let (key, keys) = self.keys.at(block);
            if key >= seen {
                break;
            }
            let plan = (self.queries.tail(len), self.keys.tail(keys));
            let packed = &space.packed_k[block * size_k..(block + 1) * size_k];
            let scores = bytemuck::cast_slice_mut(&mut *space.s);
            product(
                self.scores.get(plan.0, plan.1),
                (q, packed, scores),
                space.gemm,
                serial,
            )?;
            let visible = |i: usize| {
                let seen = self.problem.visible(at.start, first + i);
                seen.saturating_sub(key).min(keys)
            };
            let width = self.keys.size();
            for i in 0..len {
                let row = i * width..i * width + keys;
                let part = (&mut space.s[row.clone()], &mut space.p[row]);
                let state = (&mut space.max[i], &mut space.sum[i]);
                let o = &mut space.o[i * s.dv..(i + 1) * s.dv];
                softmax_row(self.level, self.problem.scale, visible(i), part, state, o);
            }
            let packed = &space.packed_v[block * size_v..(block + 1) * size_v];
            let p = bytemuck::cast_slice(&*space.p);
            let o = bytemuck::cast_slice_mut(&mut *space.o);
            product(
                self.values.get(plan.0, plan.1),
                (p, packed, o),
                space.gemm,
                serial,
            )?;
        }
        Ok(())
    }
}

/// A piece of work.
struct Item {
    batch: usize,
    head: usize,
    split: usize,
    start: i64,
}

simd! {
    /// Probabilities of one row of a block against the running maximum, of which the
    /// first `visible` keys count; sums so far are scaled to the new larger.
    fn softmax_row [T: Num] (
        scale: f64,
        visible: usize,
        part: (&mut [T::Acc], &mut [T]),
        state: (&mut T::Acc, &mut T::Acc),
        o: &mut [T::Acc],
    ) {
        let ((s, p), (max, sum)) = (part, state);
        let scale = T::Acc::constant(scale);
        let (seen, hidden) = p.split_at_mut(visible);
        hidden.fill(T::down(T::Acc::ZERO));
        if visible == 0 {
            return;
        }
        let s = &mut s[..visible];
        let own = lanes::max(s, |x: T::Acc| x * scale);
        let new = max.larger(own);
        let added = lanes::map_sum(s, |x| (x * scale - new).exp());
        for (p, x) in seen.iter_mut().zip(s) {
            *p = T::down(*x);
        }
        if new == *max {
            *sum += added;
            return;
        }
        let factor = (*max - new).exp();
        *max = new;
        *sum = *sum * factor + added;
        for o in o {
            *o = *o * factor;
        }
    }
}

simd! {
    /// A finished row: divided by its sum, zero where no key was seen.
    fn write_row [T: Num] (o: &[T::Acc], sum: T::Acc, out: &mut [T]) {
        let factor = if sum == T::Acc::ZERO { sum } else { T::Acc::ONE / sum };
        for (out, o) in out.iter_mut().zip(o) {
            *out = T::down(*o * factor);
        }
    }
}

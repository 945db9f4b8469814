//! Reading an operand in the order of the output's elements: contiguous, broadcast or
//! strided, with as few and as long runs as its strides allow.

use super::num::Num;
use crate::backend::Operand;

/// Most dims that are left after merging; operands with more have no kernel here.
const MAX_DIMS: usize = 8;

/// Elements that are brought into a block on the stack at a time.
pub(super) const BLOCK: usize = 1024;

/// Merged dims of an operand, stretched to the shape of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gather {
    /// Sizes and strides in elements, outermost first.
    dims: [(usize, usize); MAX_DIMS],
    len: usize,
}

impl Gather {
    /// Elements one after the other, any number of them.
    pub(super) const CONTIGUOUS: Self = Self {
        dims: [(1, 1); MAX_DIMS],
        len: 1,
    };

    /// Dims of `shape` with these strides.
    pub(super) fn new(shape: &[usize], strides: &[usize]) -> Option<Self> {
        let mut gather = Self {
            dims: [(1, 1); MAX_DIMS],
            len: 0,
        };
        for (&size, &stride) in shape.iter().zip(strides) {
            if size == 1 {
                continue;
            }
            if let Some(last) = gather.len.checked_sub(1).map(|last| &mut gather.dims[last])
                && last.1 == stride * size
            {
                *last = (last.0 * size, stride);
                continue;
            }
            if gather.len == MAX_DIMS {
                return None;
            }
            gather.dims[gather.len] = (size, stride);
            gather.len += 1;
        }
        gather.len = gather.len.max(1);
        Some(gather)
    }

    /// An operand of an operator whose output has shape `out`, by NumPy's broadcasting.
    pub(super) fn broadcast(operand: &Operand, out: &[usize]) -> Option<Self> {
        let shape = &operand.ty.shape;
        let own = operand.strides.clone().unwrap_or_else(|| shape.strides());
        let added = out.len().checked_sub(shape.ndim())?;
        let mut strides = vec![0; out.len()];
        for dim in 0..shape.ndim() {
            if shape[dim] == out[dim + added] {
                strides[dim + added] = own[dim];
            }
        }
        Self::new(out, &strides)
    }

    /// Whether element `i` of the output is element `i` of the operand.
    pub(super) fn is_contiguous(&self) -> bool {
        self.len == 1 && self.dims[0].1 == 1
    }

    /// For operands whose two innermost dims are a transposed matrix: rows, columns (of
    /// the output) and the elements from one column to the next.
    pub(super) fn transposed(&self) -> Option<(usize, usize, usize)> {
        let (rows, row_stride) = self.dims[self.len.checked_sub(2)?];
        let (columns, stride) = self.dims[self.len - 1];
        // Bands of rows must not reach from one matrix into the next.
        (row_stride == 1 && stride > 1 && (self.len == 2 || rows.is_multiple_of(32)))
            .then_some((rows, columns, stride))
    }

    /// Storage index of element `start` of the output.
    pub(super) fn start_of(&self, start: usize) -> usize {
        let mut first = 0;
        self.runs(start, 1, |_, at, _, _| first = at);
        first
    }

    /// Calls `run(done, at, stride, len)` for each stretch of evenly spaced elements of
    /// `start .. start + count`: `len` elements from storage index `at` on, `done`
    /// elements after the first.
    #[inline(always)]
    pub(super) fn runs(
        &self,
        start: usize,
        count: usize,
        mut run: impl FnMut(usize, usize, usize, usize),
    ) {
        if count == 0 {
            // Nothing to visit, and a dim of size 0 has no position to start from.
            return;
        }
        let last = self.len - 1;
        let (inner, stride) = self.dims[last];
        if last == 0 {
            run(0, start * stride, stride, count);
            return;
        }
        let mut index = [0; MAX_DIMS];
        let mut rest = start / inner;
        let mut column = start % inner;
        let mut base = 0;
        for dim in (0..last).rev() {
            let (size, stride) = self.dims[dim];
            index[dim] = rest % size;
            base += index[dim] * stride;
            rest /= size;
        }
        let mut done = 0;
        while done < count {
            let len = (inner - column).min(count - done);
            run(done, base + column * stride, stride, len);
            done += len;
            column = 0;
            for dim in (0..last).rev() {
                let (size, stride) = self.dims[dim];
                index[dim] += 1;
                base += stride;
                if index[dim] < size {
                    break;
                }
                base -= size * stride;
                index[dim] = 0;
            }
        }
    }

    /// Elements `start ..` of the output's order, widened.
    #[inline(always)]
    pub(super) fn load<T: Num>(&self, from: &[T], start: usize, to: &mut [T::Acc]) {
        self.runs(start, to.len(), |done, at, stride, len| {
            let to = &mut to[done..done + len];
            match stride {
                0 => to.fill(from[at].up()),
                1 => {
                    for (to, from) in to.iter_mut().zip(&from[at..at + len]) {
                        *to = from.up();
                    }
                }
                _ => {
                    for (to, from) in to.iter_mut().zip(from[at..].iter().step_by(stride)) {
                        *to = from.up();
                    }
                }
            }
        });
    }

    /// Elements `start ..` of the output's order, as they are.
    #[inline(always)]
    pub(super) fn copy<T: Copy>(&self, from: &[T], start: usize, to: &mut [T]) {
        self.runs(start, to.len(), |done, at, stride, len| {
            let to = &mut to[done..done + len];
            match stride {
                0 => to.fill(from[at]),
                1 => to.copy_from_slice(&from[at..at + len]),
                _ => {
                    for (to, from) in to.iter_mut().zip(from[at..].iter().step_by(stride)) {
                        *to = *from;
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dims_merge_where_strides_allow() {
        let gather = Gather::new(&[2, 3, 4], &[12, 4, 1]).unwrap();
        assert!(gather.is_contiguous());
        let row = Gather::new(&[2, 3, 4], &[0, 0, 1]).unwrap();
        assert_eq!((row.len, row.dims[0], row.dims[1]), (2, (6, 0), (4, 1)));
        let scalar = Gather::new(&[2, 3, 4], &[0, 0, 0]).unwrap();
        assert_eq!((scalar.len, scalar.dims[0]), (1, (24, 0)));
        assert!(Gather::new(&[], &[]).unwrap().is_contiguous());
    }

    #[test]
    fn every_order_reads_what_indexing_reads() {
        let data: Vec<f32> = (0..4000).map(|i| i as f32).collect();
        let cases: [(&[usize], &[usize]); 6] = [
            (&[5, 6, 7], &[42, 7, 1]),
            (&[5, 6, 7], &[1, 5, 30]),
            (&[5, 6, 7], &[0, 1, 0]),
            (&[3, 4, 5, 6], &[1, 300, 3, 15]),
            (&[4, 1, 9], &[9, 77, 1]),
            (&[7], &[13]),
        ];
        for (shape, strides) in cases {
            let gather = Gather::new(shape, strides).unwrap();
            let total: usize = shape.iter().product();
            let want: Vec<f32> = (0..total)
                .map(|mut i| {
                    let mut at = 0;
                    for dim in (0..shape.len()).rev() {
                        at += i % shape[dim] * strides[dim];
                        i /= shape[dim];
                    }
                    at as f32
                })
                .collect();
            for start in 0..total {
                for len in [1, 2, 5, total - start] {
                    let len = len.min(total - start);
                    let mut got = vec![-1.0; len];
                    gather.load(&data, start, &mut got);
                    assert_eq!(got, want[start..start + len], "{shape:?} {strides:?}");
                    gather.copy(&data, start, &mut got);
                    assert_eq!(got, want[start..start + len], "{shape:?} {strides:?}");
                }
            }
        }
    }
}

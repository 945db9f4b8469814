//! Where elements lie, as `kernels/include/geometry.h` wants to be told.

use cairn_graph::Shape;

use crate::args::Arg;

/// Most dims a kernel takes.
const DIMS: usize = 6;

/// Dims and strides in elements of arrays with the same dims, in few dims.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Geometry {
    count: u32,
    dims: Vec<usize>,
    /// Of each array.
    strides: Vec<Vec<usize>>,
}

impl Geometry {
    /// `None` where it has more dims or elements than a kernel takes.
    pub(super) fn new(dims: &[usize], strides: &[Vec<usize>]) -> Option<Self> {
        let count = u32::try_from(dims.iter().product::<usize>()).ok()?;
        let mut merged = Self {
            count,
            dims: Vec::new(),
            strides: vec![Vec::new(); strides.len()],
        };
        for (dim, size) in dims.iter().enumerate() {
            if *size == 1 {
                continue;
            }
            let own = || strides.iter().map(|strides| strides[dim]);
            // Neighbours in every array are one dim.
            let joins = merged.dims.last().is_some()
                && merged
                    .strides
                    .iter()
                    .zip(own())
                    .all(|(outer, inner)| outer.last() == Some(&(inner * size)));
            if joins {
                let last = merged.dims.len() - 1;
                merged.dims[last] *= size;
                for (strides, inner) in merged.strides.iter_mut().zip(own()) {
                    strides[last] = inner;
                }
            } else {
                merged.dims.push(*size);
                for (strides, inner) in merged.strides.iter_mut().zip(own()) {
                    strides.push(inner);
                }
            }
        }
        (merged.dims.len() <= DIMS).then_some(merged)
    }

    /// Number of elements.
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// The stride of the innermost dim of the first array.
    pub(super) fn inner_stride(&self) -> Option<usize> {
        self.strides.first()?.last().copied()
    }

    /// How many elements of so many bytes a kernel may move at once, from a multiple of 16
    /// bytes on: 16 bytes of them, or one.
    pub(super) fn at_once(&self, bytes: usize) -> usize {
        let run = 16 / bytes;
        let inner = self.dims.last().copied().unwrap_or(1);
        let rows = self.dims.len() <= 1 || inner.is_multiple_of(run);
        let array = |strides: &Vec<usize>| match strides.split_last() {
            Some((inner, outer)) => {
                *inner == 0 || *inner == 1 && outer.iter().all(|outer| outer.is_multiple_of(run))
            }
            None => true,
        };
        if rows && self.strides.iter().all(array) {
            run
        } else {
            1
        }
    }

    /// Rows and columns, where the elements are such and one array has one row for all, which
    /// a kernel may move by runs of `run` elements.
    pub(super) fn one_row(&self, run: usize) -> Option<(usize, usize)> {
        let [rows, columns] = *self.dims.as_slice() else {
            return None;
        };
        let one = self.strides.iter().any(|strides| **strides == [0, 1]);
        let whole = self.strides.iter().all(|strides| strides[1] == 1);
        let fits = columns.is_multiple_of(run) && self.steps_by_rows(run);
        (one && whole && fits).then_some((rows, columns))
    }

    /// Whether every row begins at a multiple of `run` elements.
    fn steps_by_rows(&self, run: usize) -> bool {
        self.strides
            .iter()
            .all(|strides| strides[0].is_multiple_of(run))
    }

    /// Whether every step from an element to another is a multiple of `run` elements.
    pub(super) fn steps_by(&self, run: usize) -> bool {
        let steps = self.strides.iter().flatten();
        steps.into_iter().all(|stride| stride.is_multiple_of(run))
    }

    /// The same elements as matrices whose rows are the second array's and whose columns are
    /// the first's, where they are such.
    pub(super) fn transposed(&self) -> Option<Transposed> {
        let [from, to] = self.strides.as_slice() else {
            return None;
        };
        let inner = self.dims.len().checked_sub(1)?;
        let row = from[..inner].iter().position(|stride| *stride == 1)?;
        if to[inner] != 1 || from[inner] <= 1 {
            return None;
        }
        let others = |values: &[usize]| -> Vec<usize> {
            let dims = values.iter().enumerate();
            let others = dims.filter(|(dim, _)| ![row, inner].contains(dim));
            others.map(|(_, value)| *value).collect()
        };
        Some(Transposed {
            batch: Self::new(&others(&self.dims), &[others(from), others(to)])?,
            rows: self.dims[row],
            columns: self.dims[inner],
            in_column: from[inner],
            out_row: to[row],
        })
    }

    /// As the argument of a kernel that may move so many elements at once.
    pub(super) fn arg(&self, at_once: usize) -> Arg {
        let front = DIMS - self.dims.len();
        let ones = std::iter::repeat_n(1_u32, front);
        let dims = ones.chain(self.dims.iter().map(|dim| *dim as u32));
        let mut bytes = self.count.to_le_bytes().to_vec();
        bytes.extend(dims.flat_map(u32::to_le_bytes));
        bytes.extend((at_once as u32).to_le_bytes());
        for strides in &self.strides {
            let zeros = std::iter::repeat_n(0_u64, front);
            let strides = zeros.chain(strides.iter().map(|stride| *stride as u64));
            bytes.extend(strides.flat_map(u64::to_le_bytes));
        }
        Arg::Bytes(bytes)
    }
}

/// Matrices as `kernels/transpose.hip` wants to be told; strides in elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Transposed {
    batch: Geometry,
    rows: usize,
    columns: usize,
    /// From one column to the next in the input.
    in_column: usize,
    /// From one row to the next in the output.
    out_row: usize,
}

impl Transposed {
    /// Workgroups, for elements of so many bytes.
    pub(super) fn groups(&self, bytes: usize) -> usize {
        let side = if bytes < 4 { 64 } else { 32 };
        let tiles = self.rows.div_ceil(side) * self.columns.div_ceil(side);
        self.batch.count() * tiles
    }

    /// As the kernel's arguments, for elements of so many bytes.
    pub(super) fn args(&self, bytes: usize) -> [Arg; 2] {
        let run = 16 / bytes;
        let steps = [self.in_column, self.out_row];
        let aligned =
            steps.iter().all(|stride| stride.is_multiple_of(run)) && self.batch.steps_by(run);
        let sizes = [self.rows as u32, self.columns as u32];
        let mut matrix: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        matrix.extend(
            steps
                .iter()
                .flat_map(|stride| (*stride as u64).to_le_bytes()),
        );
        matrix.extend(u64::from(aligned).to_le_bytes());
        [self.batch.arg(1), Arg::Bytes(matrix)]
    }
}

/// Strides of an operand that is stretched to `out` by NumPy's rule.
pub(super) fn stretched(shape: &Shape, strides: Option<&[usize]>, out: &Shape) -> Vec<usize> {
    let own = strides.map_or_else(|| shape.strides().to_vec(), <[usize]>::to_vec);
    let added = out.ndim() - shape.ndim();
    let dim = |dim: usize| match dim.checked_sub(added) {
        Some(inner) if shape[inner] == out[dim] => own[inner],
        _ => 0,
    };
    (0..out.ndim()).map(dim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_one_dim() {
        let contiguous = Geometry::new(&[2, 3, 4], &[vec![12, 4, 1]]).unwrap();
        assert_eq!((contiguous.count, &contiguous.dims[..]), (24, &[24][..]));
        let swapped = Geometry::new(&[3, 1, 2, 4], &[vec![4, 9, 12, 1], vec![8, 8, 4, 1]]).unwrap();
        assert_eq!(swapped.dims, [3, 2, 4]);
        assert_eq!(swapped.strides, [[4, 12, 1], [8, 4, 1]]);
        let Arg::Bytes(bytes) = swapped.arg(4) else {
            panic!("a structure");
        };
        assert_eq!(bytes.len(), 32 + 2 * 48);
        assert_eq!(bytes[..8], [24, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(bytes[28..32], [4, 0, 0, 0]);
        assert_eq!(
            Geometry::new(&[2; 7], &[vec![1, 9, 90, 7, 70, 5, 50]]),
            None
        );
        assert_eq!(Geometry::new(&[0, 4], &[vec![4, 1]]).unwrap().count(), 0);
        assert_eq!(Geometry::new(&[], &[vec![]]).unwrap().count(), 1);
    }

    #[test]
    fn runs_are_moved_at_once_where_they_lie_behind_each_other() {
        let at_once = |dims: &[usize], strides: &[Vec<usize>]| {
            Geometry::new(dims, strides).unwrap().at_once(4)
        };
        // One dim may end with a part of a run; rows may not.
        assert_eq!(at_once(&[7], &[vec![1], vec![1]]), 4);
        assert_eq!(at_once(&[3, 8], &[vec![12, 1], vec![8, 1]]), 4);
        assert_eq!(at_once(&[3, 6], &[vec![12, 1], vec![8, 1]]), 1);
        assert_eq!(at_once(&[3, 8], &[vec![9, 1], vec![8, 1]]), 1);
        // An element that is stretched may be anywhere.
        assert_eq!(at_once(&[3, 8], &[vec![1, 0], vec![8, 1]]), 4);
        assert_eq!(at_once(&[8, 3], &[vec![1, 8], vec![3, 1]]), 1);
        assert_eq!(at_once(&[8], &[vec![2], vec![1]]), 1);
    }

    #[test]
    fn a_row_for_all_rows_is_found() {
        let one_row = |strides: [[usize; 2]; 2]| {
            Geometry::new(&[6, 8], &strides.map(Vec::from))
                .unwrap()
                .one_row(4)
        };
        assert_eq!(one_row([[8, 1], [0, 1]]), Some((6, 8)));
        assert_eq!(one_row([[0, 1], [12, 1]]), Some((6, 8)));
        assert_eq!(one_row([[0, 1], [9, 1]]), None);
        assert_eq!(one_row([[8, 1], [1, 0]]), None);
        assert_eq!(one_row([[8, 1], [16, 1]]), None);
    }

    #[test]
    fn columns_that_become_rows_are_matrices() {
        // [5, 3, 4] -> [5, 4, 3], and the same within wider rows.
        let swapped = Geometry::new(&[5, 4, 3], &[vec![12, 1, 4], vec![12, 3, 1]]).unwrap();
        let found = swapped.transposed().unwrap();
        assert_eq!((found.rows, found.columns), (4, 3));
        assert_eq!((found.in_column, found.out_row), (4, 3));
        assert_eq!((found.batch.count(), found.groups(4)), (5, 5));
        let contiguous = Geometry::new(&[5, 4], &[vec![4, 1], vec![8, 1]]).unwrap();
        assert_eq!(contiguous.transposed(), None);
        let stretched = Geometry::new(&[5, 4], &[vec![1, 0], vec![4, 1]]).unwrap();
        assert_eq!(stretched.transposed(), None);
    }

    #[test]
    fn stretched_dims_do_not_advance() {
        let out = Shape::from([4, 2, 3]);
        assert_eq!(stretched(&Shape::from([2, 1]), None, &out), [0, 1, 0]);
        assert_eq!(stretched(&Shape::from([4, 2, 3]), None, &out), [6, 3, 1]);
        assert_eq!(stretched(&Shape::from([3]), Some(&[5]), &out), [0, 0, 5]);
    }
}

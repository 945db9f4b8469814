//! Shapes and tensor types.

use std::fmt;
use std::ops::Deref;

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

/// Sizes of the dims of a tensor, outermost first. A scalar has none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Vec<usize>);

impl Shape {
    /// The shape of a scalar.
    #[must_use]
    pub fn scalar() -> Self {
        Self(Vec::new())
    }

    /// The dims.
    #[must_use]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// Number of dims.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.0.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn num_elements(&self) -> usize {
        self.0.iter().product()
    }

    /// The innermost dim; 1 for a scalar.
    #[must_use]
    pub fn last(&self) -> usize {
        self.0.last().copied().unwrap_or(1)
    }

    /// Product of all dims but the innermost: the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.0
            .split_last()
            .map_or(1, |(_, outer)| outer.iter().product())
    }

    /// Row-major strides in elements.
    #[must_use]
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.0.len()];
        for dim in (1..self.0.len()).rev() {
            strides[dim - 1] = strides[dim] * self.0[dim];
        }
        strides
    }

    /// The shape both broadcast to by NumPy's rule (aligned at the innermost
    /// dim, size 1 stretches), or `None`.
    #[must_use]
    pub fn broadcast(&self, other: &Self) -> Option<Self> {
        let ndim = self.ndim().max(other.ndim());
        let at = |shape: &Self, dim: usize| {
            (dim + shape.ndim())
                .checked_sub(ndim)
                .map_or(1, |own| shape.0[own])
        };
        (0..ndim)
            .map(|dim| match (at(self, dim), at(other, dim)) {
                (a, b) if a == b => Some(a),
                (1, b) => Some(b),
                (a, 1) => Some(a),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()
            .map(Self)
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Self {
        Self(dims)
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Self(dims.to_vec())
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Self(dims.to_vec())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[")?;
        for (index, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if index == 0 { "" } else { "," })?;
        }
        write!(f, "]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is known of a tensor before it exists: element type and shape.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TensorType {
    /// Element type in storage.
    pub dtype: DType,
    /// Sizes of the dims.
    pub shape: Shape,
}

impl TensorType {
    /// A type.
    #[must_use]
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Self {
        Self {
            dtype,
            shape: shape.into(),
        }
    }

    /// Bytes of contiguous storage.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.dtype.bytes(self.shape.num_elements())
    }

    /// The same shape with another element type.
    #[must_use]
    pub fn with_dtype(&self, dtype: DType) -> Self {
        Self {
            dtype,
            shape: self.shape.clone(),
        }
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}

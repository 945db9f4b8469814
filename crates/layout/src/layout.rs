//! How one tensor lies on a mesh, and how its gradient does.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::local_box::{LocalBox, chunk_interval};
use crate::mesh::{Axis, Mesh, MeshError};
use crate::placement::{Placement, ReduceOp};

/// Why a layout cannot be built, or does not fit a mesh or a shape.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The dim to shard does not exist.
    #[error("dim {dim} is out of range for a tensor of {ndim} dims")]
    DimOutOfRange {
        /// The dim as given; negative ones count from the end.
        dim: isize,
        /// The number of dims.
        ndim: usize,
    },
    /// An axis was given two placements.
    #[error("mesh axis `{axis}` is already {placement}")]
    AxisTaken {
        /// The axis.
        axis: Axis,
        /// What it does already.
        placement: Placement,
    },
    /// The layout and the shape differ in the number of dims.
    #[error("a layout of {layout_ndim} dims does not fit shape {shape:?}")]
    NdimMismatch {
        /// The number of dims of the layout.
        layout_ndim: usize,
        /// The shape.
        shape: Vec<usize>,
    },
    /// An even split was required and the dim does not divide.
    #[error("dim {dim} of size {size} does not split evenly into {n_chunks} chunks")]
    Uneven {
        /// The dim.
        dim: usize,
        /// Its size.
        size: usize,
        /// The product of the sizes of the axes that split it.
        n_chunks: usize,
    },
    /// A pending maximum or minimum has no linear transpose, so no gradient layout.
    #[error("partial({op}) on mesh axis `{axis}` has no dual")]
    NoDual {
        /// The axis.
        axis: Axis,
        /// The pending reduction.
        op: ReduceOp,
    },
    /// The mesh lacks an axis or a rank.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// How one tensor lies on a mesh.
///
/// The normal form lists, per tensor dim, the axes that split it, outermost first, and,
/// per axis, a pending reduction. An axis in neither place replicates. A list per dim is
/// kept, and not only a [`Placement`] per axis, because two axes may split one dim and
/// their nesting order decides which rank holds what.
///
/// A dim split by axes of sizes `n1, n2, ..` is cut into `n1 * n2 * ..` chunks of
/// `ceil(size / chunks)` indices, the last ones shorter or empty; a rank holds the chunk
/// whose number is its coordinates on those axes in mixed radix, outermost most significant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawLayout")]
pub struct Layout {
    dims: Vec<Vec<Axis>>,
    partial: BTreeMap<Axis, ReduceOp>,
}

/// What a serialised layout says before it is checked.
#[derive(Deserialize)]
struct RawLayout {
    dims: Vec<Vec<Axis>>,
    partial: BTreeMap<Axis, ReduceOp>,
}

impl TryFrom<RawLayout> for Layout {
    type Error = LayoutError;

    fn try_from(raw: RawLayout) -> Result<Self, LayoutError> {
        let mut layout = Self::replicated(raw.dims.len());
        for (dim, axes) in raw.dims.into_iter().enumerate() {
            for axis in axes {
                layout = layout.place(axis, Placement::Shard(dim))?;
            }
        }
        for (axis, op) in raw.partial {
            layout = layout.place(axis, Placement::Partial(op))?;
        }
        Ok(layout)
    }
}

impl Layout {
    /// The layout of a tensor of `ndim` dims of which every rank holds a full copy.
    pub fn replicated(ndim: usize) -> Self {
        Self {
            dims: vec![Vec::new(); ndim],
            partial: BTreeMap::new(),
        }
    }

    /// The layout in which each listed axis has its placement and every other replicates.
    /// Of two axes that shard one dim, the one listed first is the outer one.
    ///
    /// # Errors
    /// As [`Layout::place`].
    pub fn from_placements(
        ndim: usize,
        placements: impl IntoIterator<Item = (Axis, Placement)>,
    ) -> Result<Self, LayoutError> {
        placements
            .into_iter()
            .try_fold(Self::replicated(ndim), |layout, (axis, placement)| {
                layout.place(axis, placement)
            })
    }

    /// Gives a replicating axis a placement; a sharding axis becomes the innermost of its dim.
    ///
    /// # Errors
    /// [`LayoutError::DimOutOfRange`], and [`LayoutError::AxisTaken`] if the axis already
    /// shards or is partial.
    pub fn place(mut self, axis: Axis, placement: Placement) -> Result<Self, LayoutError> {
        let current = self.placement(&axis);
        if current != Placement::Replicate {
            return Err(LayoutError::AxisTaken {
                axis,
                placement: current,
            });
        }
        let ndim = self.ndim();
        match placement {
            Placement::Replicate => {}
            Placement::Partial(op) => {
                self.partial.insert(axis, op);
            }
            Placement::Shard(dim) => self
                .dims
                .get_mut(dim)
                .ok_or(LayoutError::DimOutOfRange {
                    dim: isize::try_from(dim).unwrap_or(isize::MAX),
                    ndim,
                })?
                .push(axis),
        }
        Ok(self)
    }

    /// Shards a dim, negative ones counted from the end, over an axis that replicates so far.
    ///
    /// # Errors
    /// As [`Layout::place`].
    pub fn shard(self, axis: Axis, dim: isize) -> Result<Self, LayoutError> {
        let ndim = self.ndim();
        let resolved = if dim < 0 {
            ndim.checked_sub(dim.unsigned_abs())
        } else {
            Some(dim.unsigned_abs())
        };
        let dim = resolved.ok_or(LayoutError::DimOutOfRange { dim, ndim })?;
        self.place(axis, Placement::Shard(dim))
    }

    /// The number of dims of the tensor.
    pub fn ndim(&self) -> usize {
        self.dims.len()
    }

    /// What an axis does; an axis that is not mentioned replicates.
    pub fn placement(&self, axis: &Axis) -> Placement {
        if let Some(op) = self.partial.get(axis) {
            return Placement::Partial(*op);
        }
        self.dims
            .iter()
            .position(|axes| axes.contains(axis))
            .map_or(Placement::Replicate, Placement::Shard)
    }

    /// The axes that split a dim, outermost first; none for a dim that does not exist.
    pub fn shard_axes(&self, dim: usize) -> &[Axis] {
        self.dims.get(dim).map_or(&[], Vec::as_slice)
    }

    /// The axes with a pending reduction, in order of their names.
    pub fn partial_axes(&self) -> &BTreeMap<Axis, ReduceOp> {
        &self.partial
    }

    /// Whether every rank holds a full copy.
    pub fn is_replicated(&self) -> bool {
        self.partial.is_empty() && self.dims.iter().all(Vec::is_empty)
    }

    /// The layout of the gradient of a value with this layout: on every axis of the mesh,
    /// `Replicate` becomes `Partial(sum)`, `Partial(sum)` becomes `Replicate`, and `Shard`
    /// stays. The convention is that the objective is the sum of the scalars of all ranks;
    /// the transpose of a redistribution `a -> b` is then `dual(b) -> dual(a)`.
    ///
    /// # Errors
    /// [`LayoutError::NoDual`] for a pending maximum or minimum, and an unknown axis.
    pub fn dual(&self, mesh: &Mesh) -> Result<Self, LayoutError> {
        self.check_axes(mesh)?;
        let mut partial = BTreeMap::new();
        for (axis, _) in mesh.axes() {
            match self.placement(axis) {
                Placement::Replicate => {
                    partial.insert(axis.clone(), ReduceOp::Sum);
                }
                Placement::Partial(ReduceOp::Sum) | Placement::Shard(_) => {}
                Placement::Partial(op) => {
                    return Err(LayoutError::NoDual {
                        axis: axis.clone(),
                        op,
                    });
                }
            }
        }
        Ok(Self {
            dims: self.dims.clone(),
            partial,
        })
    }

    /// Checks that the mesh has every axis used and that the shape has as many dims.
    /// Uneven splits pass.
    ///
    /// # Errors
    /// [`MeshError::UnknownAxis`] and [`LayoutError::NdimMismatch`].
    pub fn check(&self, mesh: &Mesh, shape: &[usize]) -> Result<(), LayoutError> {
        self.check_axes(mesh)?;
        if shape.len() == self.ndim() {
            Ok(())
        } else {
            Err(LayoutError::NdimMismatch {
                layout_ndim: self.ndim(),
                shape: shape.to_vec(),
            })
        }
    }

    /// As [`Layout::check`], and that every dim splits into chunks of one size.
    ///
    /// # Errors
    /// As [`Layout::check`], and [`LayoutError::Uneven`].
    pub fn check_even(&self, mesh: &Mesh, shape: &[usize]) -> Result<(), LayoutError> {
        self.check(mesh, shape)?;
        for (dim, &size) in shape.iter().enumerate() {
            let n_chunks = self.n_chunks(mesh, dim)?;
            if size % n_chunks != 0 {
                return Err(LayoutError::Uneven {
                    dim,
                    size,
                    n_chunks,
                });
            }
        }
        Ok(())
    }

    /// The number of chunks a dim is cut into: the product of the sizes of its axes.
    ///
    /// # Errors
    /// [`MeshError::UnknownAxis`].
    pub fn n_chunks(&self, mesh: &Mesh, dim: usize) -> Result<usize, LayoutError> {
        self.shard_axes(dim)
            .iter()
            .try_fold(1, |n, axis| Ok(n * mesh.axis_size(axis)?))
    }

    /// The part of a tensor of this global shape that a rank holds. A partial value counts
    /// as held: the rank has an operand of the reduction for every element of the box.
    ///
    /// # Errors
    /// As [`Layout::check`], and [`MeshError::UnknownRank`].
    pub fn local_box(
        &self,
        mesh: &Mesh,
        shape: &[usize],
        rank: usize,
    ) -> Result<LocalBox, LayoutError> {
        self.check(mesh, shape)?;
        mesh.coords(rank)?;
        let mut local = LocalBox {
            offset: Vec::with_capacity(shape.len()),
            len: Vec::with_capacity(shape.len()),
        };
        for (dim, &size) in shape.iter().enumerate() {
            let (mut n_chunks, mut chunk) = (1, 0);
            for axis in self.shard_axes(dim) {
                let axis_size = mesh.axis_size(axis)?;
                n_chunks *= axis_size;
                chunk = chunk * axis_size + mesh.coord(rank, axis)?;
            }
            let (offset, len) = chunk_interval(size, n_chunks, chunk);
            local.offset.push(offset);
            local.len.push(len);
        }
        Ok(local)
    }

    fn check_axes(&self, mesh: &Mesh) -> Result<(), MeshError> {
        let known: BTreeSet<_> = mesh.axes().iter().map(|(axis, _)| axis).collect();
        match self
            .dims
            .iter()
            .flatten()
            .chain(self.partial.keys())
            .find(|axis| !known.contains(axis))
        {
            Some(axis) => Err(MeshError::UnknownAxis { axis: axis.clone() }),
            None => Ok(()),
        }
    }
}

/// `replicate`, or the placements that are not: `shard(0: cp tp) partial(dp: sum)`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (dim, axes) in self.dims.iter().enumerate() {
            if !axes.is_empty() {
                let axes: Vec<_> = axes.iter().map(Axis::name).collect();
                parts.push(format!("shard({dim}: {})", axes.join(" ")));
            }
        }
        for (axis, op) in &self.partial {
            parts.push(format!("partial({axis}: {op})"));
        }
        if parts.is_empty() {
            parts.push("replicate".to_owned());
        }
        f.pad(&parts.join(" "))
    }
}

#[cfg(test)]
mod tests;

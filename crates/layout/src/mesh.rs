//! Named axes and the ranks arranged along them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The name of a mesh axis, such as `tp`: a lower-case letter, then lower-case letters,
/// digits and underscores.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Axis(Cow<'static, str>);

impl Axis {
    /// Data parallelism.
    pub const DP: Self = Self(Cow::Borrowed("dp"));
    /// Tensor parallelism.
    pub const TP: Self = Self(Cow::Borrowed("tp"));
    /// Context parallelism.
    pub const CP: Self = Self(Cow::Borrowed("cp"));
    /// Expert parallelism.
    pub const EP: Self = Self(Cow::Borrowed("ep"));
    /// Pipeline parallelism.
    pub const PP: Self = Self(Cow::Borrowed("pp"));

    /// The axis of this name.
    ///
    /// # Errors
    /// [`MeshError::AxisName`] when the name breaks the rule above.
    pub fn new(name: impl Into<String>) -> Result<Self, MeshError> {
        let name = name.into();
        let mut chars = name.chars();
        let starts = chars.next().is_some_and(|c| c.is_ascii_lowercase());
        if starts && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
            Ok(Self(Cow::Owned(name)))
        } else {
            Err(MeshError::AxisName { name })
        }
    }

    /// The name as text.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Axis {
    type Error = MeshError;

    fn try_from(name: String) -> Result<Self, MeshError> {
        Self::new(name)
    }
}

impl From<Axis> for String {
    fn from(axis: Axis) -> Self {
        axis.0.into_owned()
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why a mesh cannot be built, or cannot answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MeshError {
    /// An axis name breaks the naming rule.
    #[error("invalid mesh axis name `{name}`")]
    AxisName {
        /// The name as given.
        name: String,
    },
    /// Two axes have one name.
    #[error("mesh axis `{axis}` is listed twice")]
    DuplicateAxis {
        /// The repeated axis.
        axis: Axis,
    },
    /// An axis has no ranks.
    #[error("mesh axis `{axis}` has size 0")]
    EmptyAxis {
        /// The axis of size zero.
        axis: Axis,
    },
    /// The product of the axis sizes exceeds [`Mesh::MAX_RANKS`].
    #[error("the mesh has more than {} ranks", Mesh::MAX_RANKS)]
    TooLarge,
    /// The rank list is shorter or longer than the product of the axis sizes.
    #[error("the mesh has {expected} places but {found} ranks are given")]
    RankCount {
        /// The product of the axis sizes.
        expected: usize,
        /// The length of the rank list.
        found: usize,
    },
    /// A rank is listed twice.
    #[error("rank {rank} is listed twice in the mesh")]
    DuplicateRank {
        /// The repeated rank.
        rank: usize,
    },
    /// The mesh does not contain the rank.
    #[error("rank {rank} is not part of the mesh")]
    UnknownRank {
        /// The rank asked for.
        rank: usize,
    },
    /// The mesh does not have the axis.
    #[error("the mesh has no axis `{axis}`")]
    UnknownAxis {
        /// The axis asked for.
        axis: Axis,
    },
    /// Coordinates have the wrong number of entries or leave the mesh.
    #[error("coordinates {coords:?} lie outside the mesh of sizes {sizes:?}")]
    Coords {
        /// The coordinates as given.
        coords: Vec<usize>,
        /// The axis sizes.
        sizes: Vec<usize>,
    },
}

/// Ranks arranged along named axes, row-major: the last axis varies fastest.
///
/// Two meshes are equal only if axes, sizes and the order of the ranks agree.
/// A mesh without axes holds one rank.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawMesh")]
pub struct Mesh {
    axes: Vec<(Axis, usize)>,
    ranks: Vec<usize>,
}

/// What a serialised mesh says before it is checked.
#[derive(Deserialize)]
struct RawMesh {
    axes: Vec<(Axis, usize)>,
    ranks: Vec<usize>,
}

impl TryFrom<RawMesh> for Mesh {
    type Error = MeshError;

    fn try_from(raw: RawMesh) -> Result<Self, MeshError> {
        Self::with_ranks(raw.axes, raw.ranks)
    }
}

impl Mesh {
    /// The most ranks a mesh may have. Far above any machine; a mistyped size is refused
    /// instead of filling the memory with a rank list.
    pub const MAX_RANKS: usize = 1 << 24;

    /// The mesh of these axes, outermost first, over ranks `0..product`.
    ///
    /// # Errors
    /// A repeated axis, a size of zero, or more than [`Mesh::MAX_RANKS`] ranks.
    pub fn new(axes: impl IntoIterator<Item = (Axis, usize)>) -> Result<Self, MeshError> {
        let axes: Vec<_> = axes.into_iter().collect();
        let n_ranks = check_axes(&axes)?;
        Ok(Self {
            axes,
            ranks: (0..n_ranks).collect(),
        })
    }

    /// The mesh of these axes over the given ranks in row-major order of coordinates.
    ///
    /// # Errors
    /// As [`Mesh::new`], and a rank list of the wrong length or with a repeated rank.
    pub fn with_ranks(
        axes: impl IntoIterator<Item = (Axis, usize)>,
        ranks: Vec<usize>,
    ) -> Result<Self, MeshError> {
        let axes: Vec<_> = axes.into_iter().collect();
        let expected = check_axes(&axes)?;
        if ranks.len() != expected {
            return Err(MeshError::RankCount {
                expected,
                found: ranks.len(),
            });
        }
        let mut seen = BTreeSet::new();
        if let Some(&rank) = ranks.iter().find(|rank| !seen.insert(**rank)) {
            return Err(MeshError::DuplicateRank { rank });
        }
        Ok(Self { axes, ranks })
    }

    /// The mesh of one rank, number 0, without axes.
    pub fn single() -> Self {
        Self {
            axes: Vec::new(),
            ranks: vec![0],
        }
    }

    /// The axes with their sizes, outermost first.
    pub fn axes(&self) -> &[(Axis, usize)] {
        &self.axes
    }

    /// The ranks in row-major order of their coordinates.
    pub fn ranks(&self) -> &[usize] {
        &self.ranks
    }

    /// The number of ranks: the product of the axis sizes.
    pub fn n_ranks(&self) -> usize {
        self.ranks.len()
    }

    /// The number of ranks along an axis.
    ///
    /// # Errors
    /// [`MeshError::UnknownAxis`].
    pub fn axis_size(&self, axis: &Axis) -> Result<usize, MeshError> {
        Ok(self.axes[self.position(axis)?].1)
    }

    /// The coordinates of a rank, one per axis in the order of [`Mesh::axes`].
    ///
    /// # Errors
    /// [`MeshError::UnknownRank`].
    pub fn coords(&self, rank: usize) -> Result<Vec<usize>, MeshError> {
        let mut place = self
            .ranks
            .iter()
            .position(|&r| r == rank)
            .ok_or(MeshError::UnknownRank { rank })?;
        let mut coords = vec![0; self.axes.len()];
        for (coord, (_, size)) in coords.iter_mut().zip(&self.axes).rev() {
            *coord = place % size;
            place /= size;
        }
        Ok(coords)
    }

    /// The rank at these coordinates.
    ///
    /// # Errors
    /// [`MeshError::Coords`] for a wrong number of coordinates or one beyond its axis.
    pub fn rank(&self, coords: &[usize]) -> Result<usize, MeshError> {
        let inside = coords.len() == self.axes.len()
            && coords.iter().zip(&self.axes).all(|(c, (_, size))| c < size);
        if !inside {
            return Err(MeshError::Coords {
                coords: coords.to_vec(),
                sizes: self.axes.iter().map(|(_, size)| *size).collect(),
            });
        }
        let place = coords
            .iter()
            .zip(&self.axes)
            .fold(0, |place, (c, (_, size))| place * size + c);
        Ok(self.ranks[place])
    }

    /// The coordinate of a rank along one axis.
    ///
    /// # Errors
    /// [`MeshError::UnknownAxis`] and [`MeshError::UnknownRank`].
    pub fn coord(&self, rank: usize, axis: &Axis) -> Result<usize, MeshError> {
        let position = self.position(axis)?;
        Ok(self.coords(rank)?[position])
    }

    /// The ranks that differ from `rank` along `axis` only, itself included, in order of
    /// that coordinate: the members of its collectives over the axis.
    ///
    /// # Errors
    /// [`MeshError::UnknownAxis`] and [`MeshError::UnknownRank`].
    pub fn group(&self, rank: usize, axis: &Axis) -> Result<Vec<usize>, MeshError> {
        let position = self.position(axis)?;
        let mut coords = self.coords(rank)?;
        (0..self.axes[position].1)
            .map(|coord| {
                coords[position] = coord;
                self.rank(&coords)
            })
            .collect()
    }

    fn position(&self, axis: &Axis) -> Result<usize, MeshError> {
        self.axes
            .iter()
            .position(|(a, _)| a == axis)
            .ok_or_else(|| MeshError::UnknownAxis { axis: axis.clone() })
    }
}

/// Checks names and sizes and returns the product of the sizes.
fn check_axes(axes: &[(Axis, usize)]) -> Result<usize, MeshError> {
    let mut seen = BTreeSet::new();
    let mut product = 1_usize;
    for (axis, size) in axes {
        if !seen.insert(axis) {
            return Err(MeshError::DuplicateAxis { axis: axis.clone() });
        }
        if *size == 0 {
            return Err(MeshError::EmptyAxis { axis: axis.clone() });
        }
        product = product
            .checked_mul(*size)
            .filter(|n| *n <= Mesh::MAX_RANKS)
            .ok_or(MeshError::TooLarge)?;
    }
    Ok(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_major_and_groups_follow_the_axis() {
        let mesh = Mesh::new([(Axis::DP, 2), (Axis::CP, 3), (Axis::TP, 2)]).unwrap();
        assert_eq!(mesh.n_ranks(), 12);
        assert_eq!(mesh.coords(7), Ok(vec![1, 0, 1]));
        assert_eq!(mesh.rank(&[1, 2, 0]), Ok(10));
        assert_eq!(mesh.group(7, &Axis::DP), Ok(vec![1, 7]));
        assert_eq!(mesh.group(7, &Axis::CP), Ok(vec![7, 9, 11]));
        assert_eq!(mesh.group(7, &Axis::TP), Ok(vec![6, 7]));
    }

    #[test]
    fn rank_and_coords_are_inverse_and_groups_partition() {
        for sizes in [[1, 1, 1], [2, 1, 3], [3, 2, 2], [1, 4, 1]] {
            let axes = [Axis::DP, Axis::CP, Axis::TP].into_iter().zip(sizes);
            let n: usize = sizes.iter().product();
            // Ranks that neither start at zero nor ascend.
            let ranks = (0..n).map(|i| 100 + (n - i) * 3).collect();
            let mesh = Mesh::with_ranks(axes, ranks).unwrap();
            for &rank in mesh.ranks() {
                assert_eq!(mesh.rank(&mesh.coords(rank).unwrap()), Ok(rank));
                for (axis, size) in mesh.axes() {
                    let group = mesh.group(rank, axis).unwrap();
                    assert_eq!(group.len(), *size);
                    assert_eq!(group[mesh.coord(rank, axis).unwrap()], rank);
                    for &peer in &group {
                        assert_eq!(mesh.group(peer, axis).unwrap(), group);
                    }
                }
            }
        }
    }

    #[test]
    fn order_of_ranks_is_part_of_identity() {
        let axes = [(Axis::TP, 2)];
        assert_ne!(
            Mesh::with_ranks(axes.clone(), vec![0, 1]),
            Mesh::with_ranks(axes.clone(), vec![1, 0])
        );
        assert_eq!(Mesh::new(axes.clone()), Mesh::with_ranks(axes, vec![0, 1]));
        assert_eq!(Mesh::new([]), Ok(Mesh::single()));
    }

    #[test]
    fn errors_name_the_fault() {
        let axis = Axis::TP;
        let mesh = Mesh::new([(Axis::TP, 2)]).unwrap();
        let table = [
            (
                Mesh::new([(Axis::TP, 2), (Axis::TP, 2)]).unwrap_err(),
                MeshError::DuplicateAxis { axis: axis.clone() },
            ),
            (
                Mesh::new([(Axis::TP, 0)]).unwrap_err(),
                MeshError::EmptyAxis { axis },
            ),
            (
                Mesh::new([(Axis::TP, usize::MAX), (Axis::DP, 2)]).unwrap_err(),
                MeshError::TooLarge,
            ),
            (
                Mesh::new([(Axis::TP, Mesh::MAX_RANKS + 1)]).unwrap_err(),
                MeshError::TooLarge,
            ),
            (
                Mesh::with_ranks([(Axis::TP, 2)], vec![0]).unwrap_err(),
                MeshError::RankCount {
                    expected: 2,
                    found: 1,
                },
            ),
            (
                Mesh::with_ranks([(Axis::TP, 2)], vec![5, 5]).unwrap_err(),
                MeshError::DuplicateRank { rank: 5 },
            ),
            (
                mesh.coords(2).unwrap_err(),
                MeshError::UnknownRank { rank: 2 },
            ),
            (
                mesh.axis_size(&Axis::EP).unwrap_err(),
                MeshError::UnknownAxis { axis: Axis::EP },
            ),
            (
                mesh.rank(&[2]).unwrap_err(),
                MeshError::Coords {
                    coords: vec![2],
                    sizes: vec![2],
                },
            ),
            (
                mesh.rank(&[]).unwrap_err(),
                MeshError::Coords {
                    coords: vec![],
                    sizes: vec![2],
                },
            ),
        ];
        for (found, expected) in table {
            assert_eq!(found, expected);
        }
        for name in ["", "Tp", "2d", "_tp", "dp-cp", "dp cp", "é"] {
            assert_eq!(
                Axis::new(name),
                Err(MeshError::AxisName {
                    name: name.to_owned()
                })
            );
        }
        assert_eq!(Axis::new("dp_shard").unwrap().name(), "dp_shard");
        assert_eq!(Axis::new("tp"), Ok(Axis::TP));
    }

    #[test]
    fn serialised_meshes_are_checked_when_read() {
        let mesh = Mesh::with_ranks([(Axis::DP, 2), (Axis::TP, 1)], vec![4, 3]).unwrap();
        let text = serde_json::to_string(&mesh).unwrap();
        assert_eq!(text, r#"{"axes":[["dp",2],["tp",1]],"ranks":[4,3]}"#);
        assert_eq!(serde_json::from_str::<Mesh>(&text).unwrap(), mesh);
        let bad = r#"{"axes":[["dp",2]],"ranks":[4,4]}"#;
        let error = serde_json::from_str::<Mesh>(bad).unwrap_err().to_string();
        assert!(error.contains("rank 4 is listed twice"), "{error}");
    }
}

//! Parameters: how they are named, initialised and brought into a graph.

use std::collections::BTreeMap;

use cairn_graph::{DType, Graph, GraphError, Shape, TensorType, ValueId};
use serde::{Deserialize, Serialize};

use crate::precision::Precision;

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    /// All ones.
    Ones,
    /// All zeros.
    Zeros,
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
}

/// One row of a model's parameter table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterSpec {
    /// Scope path and role: `layers.3.self_attn.q_proj.weight`.
    pub name: String,
    /// Shape; matrices are `[out, in]`.
    pub shape: Shape,
    /// How it starts.
    pub init: Init,
}

impl ParameterSpec {
    /// A row.
    #[must_use]
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>, init: Init) -> Self {
        Self {
            name: name.into(),
            shape: shape.into(),
            init,
        }
    }

    /// Matrices take part in products in the compute dtype and decay; vectors
    /// (norm weights, biases) stay in the master dtype and do not.
    #[must_use]
    pub fn is_matrix(&self) -> bool {
        self.shape.ndim() >= 2
    }

    /// Type of the master weights.
    #[must_use]
    pub fn master_type(&self, precision: Precision) -> TensorType {
        TensorType::new(precision.master(), self.shape.clone())
    }

    /// Name of the leaf that the forward reads: the master weights, or their
    /// copy in the compute dtype.
    #[must_use]
    pub fn leaf_name(&self, precision: Precision) -> String {
        if self.has_copy(precision) {
            copy_name(&self.name)
        } else {
            self.name.clone()
        }
    }

    /// Whether there is a copy in the compute dtype.
    #[must_use]
    pub fn has_copy(&self, precision: Precision) -> bool {
        self.is_matrix() && precision.has_copies()
    }
}

/// Name of the compute copy of a parameter.
#[must_use]
pub fn copy_name(name: &str) -> String {
    format!("{name}@copy")
}

/// Name of the gradient of a parameter.
#[must_use]
pub fn gradient_name(name: &str) -> String {
    format!("{name}@grad")
}

/// Names of the moments of a parameter.
#[must_use]
pub fn moment_names(name: &str) -> [String; 2] {
    [format!("{name}@exp_avg"), format!("{name}@exp_avg_sq")]
}

/// The parameters of a model as leaves of a graph.
#[derive(Clone, Debug)]
pub struct Weights {
    leaves: BTreeMap<String, ValueId>,
    order: Vec<(String, ValueId)>,
    compute: DType,
}

impl Weights {
    /// Adds a leaf for each row.
    ///
    /// # Errors
    /// When two rows share a name.
    pub fn declare(
        graph: &mut Graph,
        specs: &[ParameterSpec],
        precision: Precision,
    ) -> Result<Self, GraphError> {
        let mut leaves = BTreeMap::new();
        let mut order = Vec::new();
        for spec in specs {
            let dtype = if spec.is_matrix() {
                precision.compute()
            } else {
                precision.master()
            };
            let scope = spec.name.rsplit_once('.').map_or("", |(scope, _)| scope);
            let value = graph.scoped(scope, |graph| {
                graph.add_parameter(
                    &spec.leaf_name(precision),
                    TensorType::new(dtype, spec.shape.clone()),
                )
            })?;
            leaves.insert(spec.name.clone(), value);
            order.push((spec.name.clone(), value));
        }
        Ok(Self {
            leaves,
            order,
            compute: precision.compute(),
        })
    }

    /// The leaf of a row.
    ///
    /// # Errors
    /// When the table has no such row: a fault of the model's file.
    pub fn get(&self, name: &str) -> Result<ValueId, GraphError> {
        let missing = || GraphError::Read(format!("the parameter table has no `{name}`"));
        self.leaves.get(name).copied().ok_or_else(missing)
    }

    /// Whether the table has this row.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.leaves.contains_key(name)
    }

    /// Names and leaves in the order of the table.
    #[must_use]
    pub fn all(&self) -> &[(String, ValueId)] {
        &self.order
    }

    /// dtype of matrices and activations.
    #[must_use]
    pub fn compute(&self) -> DType {
        self.compute
    }
}

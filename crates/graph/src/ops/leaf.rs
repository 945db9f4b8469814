//! Where values come from: inputs, parameters, states and constants.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::error::OpError;
use crate::op::GradCx;
use crate::op::{Cost, InputGrads, Op};
use crate::ops::arity;
use crate::types::TensorType;

macro_rules! leaf {
    ($(#[$doc:meta])* $ty:ident, $name:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $ty {
            /// Unique name among leaves of this kind.
            pub name: String,
            /// Type of the storage.
            #[serde(flatten)]
            pub ty: TensorType,
        }

        impl Op for $ty {
            fn name(&self) -> &'static str {
                $name
            }

            fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
                arity(inputs, 0)?;
                Ok(vec![self.ty.clone()])
            }

            fn grad(&self, _: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
                Ok(Vec::new())
            }

            fn cost(&self, _: &[&TensorType], _: &[&TensorType]) -> Cost {
                Cost::default()
            }
        }
    };
}

leaf! {
    /// Given by the caller at each run: tokens, a learning rate.
    Input, "input"
}
leaf! {
    /// Learned: gradients are taken with respect to it.
    Parameter, "parameter"
}
leaf! {
    /// Kept between runs but not learned: moments, caches, gradient sums.
    State, "state"
}

/// A tensor with one value everywhere.
///
/// Integer dtypes take the value rounded towards zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fill {
    /// The value.
    #[serde(with = "any_float")]
    pub value: f64,
    /// Type of the result.
    #[serde(flatten)]
    pub ty: TensorType,
}

/// JSON has no NaN and no infinity: they are written by name, so that two
/// different values never look alike.
mod any_float {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Name(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        let written = match value.is_finite() {
            true => Written::Number(*value),
            false => Written::Name(value.to_string()),
        };
        written.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        match Written::deserialize(from)? {
            Written::Number(value) => Ok(value),
            Written::Name(name) => name.parse().map_err(D::Error::custom),
        }
    }
}

impl Op for Fill {
    fn name(&self) -> &'static str {
        "fill"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 0)?;
        Ok(vec![self.ty.clone()])
    }

    fn grad(&self, _: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        Ok(Vec::new())
    }
}

/// `0, 1, .. len-1` as i32 `[len]`: positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iota {
    /// Number of elements.
    pub len: usize,
}

impl Op for Iota {
    fn name(&self) -> &'static str {
        "iota"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 0)?;
        Ok(vec![TensorType::new(DType::I32, [self.len])])
    }

    fn grad(&self, _: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        Ok(Vec::new())
    }
}

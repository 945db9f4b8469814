//! The native experiment: the typed form of `framework: native` that the
//! trainer consumes, and the strict check that makes it from merged
//! parameters.

mod aliases;
mod check;
mod entries;
pub mod experiment;
mod layers;
mod parameters;
mod relations;
mod schema;
mod support;
pub mod table;
#[cfg(test)]
mod tests;
mod values;

pub use check::check;
pub use experiment::{
    Activation, Architecture, DataParams, DataSource, ExperimentMeta, LrDecayStyle, ModelParams,
    NativeExperiment, Normalization, OptimizerKind, Precision, Recompute, RopeScaling,
    RopeScalingType, RouterScore, SampleParams, SoftmaxType, Tokenizer, TrainingParams,
    WsdDecayStyle,
};
pub use parameters::{LayerCount, ParameterCount, parameters};
pub use schema::schema;
pub use support::trainable;

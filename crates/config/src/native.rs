//! The native experiment: the typed form of `framework: native` that the
//! trainer consumes, and what turns checked parameters into it.

pub mod experiment;

pub use experiment::{
    Activation, Architecture, DataParams, DataSource, ExperimentMeta, LrDecayStyle, ModelParams,
    NativeExperiment, Normalization, OptimizerKind, Precision, Recompute, RopeScaling,
    RopeScalingType, RouterScore, SampleParams, SoftmaxType, Tokenizer, TrainingParams,
    WsdDecayStyle,
};

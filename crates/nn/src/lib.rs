//! Layers, losses, optimizers and models as graph builders.
//!
//! A model is a description ([`ModelConfig`]), a table of parameters
//! ([`models::parameters`]) and a function from tokens to hidden states
//! ([`models::forward`]). [`training`] builds the programs of a training step
//! from it: loss and gradients of one micro batch, the update, evaluation;
//! [`decode`] builds generation with a key-value cache.

pub mod config;
pub mod decode;
pub mod layers;
pub mod models;
pub mod precision;
pub mod training;
pub mod weights;

pub use config::{Family, ModelConfig};
pub use precision::Precision;
pub use weights::{Init, ParameterSpec, Weights};

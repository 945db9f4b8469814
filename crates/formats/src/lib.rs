//! Number formats, exact conversions and counter-based random numbers.

mod dtype;

pub use dtype::{DType, UnknownDType};

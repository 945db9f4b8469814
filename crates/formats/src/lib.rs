//! Number formats, exact conversions and counter-based random numbers.

mod dtype;
mod float_format;
mod half_float;
mod nearest;
mod packed;
mod philox;

pub use dtype::{DType, UnknownDType};
pub use float_format::{FloatFormat, Overflow, Rounding, Specials};
pub use half::{bf16, f16};
pub use half_float::{
    bf16_from_f32, bf16_from_f32_stochastic, bf16_slice_from_f32, bf16_slice_to_f32, bf16_to_f32,
    f16_from_f32, f16_slice_from_f32, f16_slice_to_f32, f16_to_f32,
};
pub use packed::{PackError, pack_from_f32, pack_from_f32_stochastic, unpack_to_f32};
pub use philox::{Philox, Stream, scope_hash};

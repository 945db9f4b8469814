//! Rust types that are tensor elements.

use cairn_formats::{DType, bf16, f16};

/// A type whose values are the elements of a tensor of one dtype.
pub trait Element: bytemuck::Pod + Send + Sync + PartialEq + std::fmt::Debug {
    /// The dtype.
    const DTYPE: DType;

    /// Exact for floats; integers beyond 2^53 round.
    fn to_f64(self) -> f64;

    /// Rounded to nearest even; integers truncate and saturate.
    fn from_f64(value: f64) -> Self;
}

macro_rules! element {
    ($($ty:ty => $dtype:ident, $to:expr, $from:expr;)+) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_f64(self) -> f64 {
                let to: fn($ty) -> f64 = $to;
                to(self)
            }
            fn from_f64(value: f64) -> Self {
                let from: fn(f64) -> $ty = $from;
                from(value)
            }
        })+
    };
}

element! {
    f64 => F64, |x| x, |x| x;
    f32 => F32, |x| f64::from(x), |x| x as f32;
    f16 => F16, f64::from, f16::from_f64;
    bf16 => BF16, f64::from, bf16::from_f64;
    i64 => I64, |x| x as f64, |x| x as i64;
    i32 => I32, |x| f64::from(x), |x| x as i32;
    u32 => U32, |x| f64::from(x), |x| x as u32;
    u8 => U8, |x| f64::from(x), |x| x as u8;
}

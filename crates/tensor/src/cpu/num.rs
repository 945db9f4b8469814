//! Elements and what they are computed in: f32, or f64 for f64 and integers.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use cairn_formats::{bf16, f16};
use cairn_formats::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};

use super::block::Wide;
use super::math;
use crate::element::Element;

/// A type arithmetic is done in.
pub(super) trait Acc:
    Num<Acc = Self>
    + PartialOrd
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    const ZERO: Self;
    const ONE: Self;
    const NEG_INFINITY: Self;
    /// A constant, rounded.
    fn constant(x: f64) -> Self;
    fn wide(self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;
    fn sigmoid(self) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;

    /// The larger; NaN when either is.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
    fn larger(self, other: Self) -> Self {
        if other > self || other != other {
            other
        } else {
            self
        }
    }

    /// The smaller; NaN when either is.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
    fn smaller(self, other: Self) -> Self {
        if other < self || other != other {
            other
        } else {
            self
        }
    }
}

/// An element of a tensor.
pub(super) trait Num: Element {
    type Acc: Wide;
    /// Exact, but for integers beyond 2^53.
    fn up(self) -> Self::Acc;
    /// Rounded to nearest even; integers truncate and saturate.
    fn down(x: Self::Acc) -> Self;
}

macro_rules! num {
    ($($ty:ty, $acc:ty, $up:expr, $down:expr;)+) => {
        $(impl Num for $ty {
            type Acc = $acc;
            #[inline(always)]
            fn up(self) -> $acc {
                $up(self)
            }
            #[inline(always)]
            fn down(x: $acc) -> Self {
                $down(x)
            }
        })+
    };
}

num! {
    f32, f32, std::convert::identity, std::convert::identity;
    bf16, f32, bf16_to_f32, bf16_from_f32;
    f16, f32, f16_to_f32, f16_from_f32;
    f64, f64, std::convert::identity, std::convert::identity;
    i64, f64, Element::to_f64, Element::rounded;
    i32, f64, Element::to_f64, Element::rounded;
    u32, f64, Element::to_f64, Element::rounded;
    u8, f64, Element::to_f64, Element::rounded;
}

macro_rules! acc {
    ($ty:ident, $exp:path, $ln:path, $tanh:path, $sigmoid:path) => {
        impl Acc for $ty {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NEG_INFINITY: Self = $ty::NEG_INFINITY;
            #[inline(always)]
            fn constant(x: f64) -> Self {
                x as $ty
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn tanh(self) -> Self {
                $tanh(self)
            }
            #[inline(always)]
            fn sigmoid(self) -> Self {
                $sigmoid(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $ty::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $ty::abs(self)
            }
            #[inline(always)]
            fn sin(self) -> Self {
                (self as f64).sin() as $ty
            }
            #[inline(always)]
            fn cos(self) -> Self {
                (self as f64).cos() as $ty
            }
        }
    };
}

acc!(f32, math::exp, math::ln, math::tanh, math::sigmoid);
acc!(f64, f64::exp, f64::ln, f64::tanh, math::sigmoid_f64);

/// Runs `$body` with `$T` bound to the float element type of `$dtype`; `None` for others.
macro_rules! with_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            cairn_formats::DType::F64 => {
                type $T = f64;
                $body
            }
            cairn_formats::DType::F32 => {
                type $T = f32;
                $body
            }
            cairn_formats::DType::F16 => {
                type $T = cairn_formats::f16;
                $body
            }
            cairn_formats::DType::BF16 => {
                type $T = cairn_formats::bf16;
                $body
            }
            _ => None,
        }
    };
}

pub(super) use with_float;

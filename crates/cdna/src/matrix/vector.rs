//! Lanes that are computed side by side: one interface, and the same results, for AVX-512,
//! AVX2 and any processor.
//!
//! The compiler turns loops over arrays into vector code only now and then in the middle
//! of longer computations, so the two instruction sets that matter are spelled out.

#![expect(unsafe_code, reason = "instructions beyond the target's own")]

/// Lanes of 32 bits, and what the sums of matrix instructions need of them.
///
/// A value of a type with this trait is the evidence that its instructions may be used.
/// Slices have at least [`Vector::LANES`] elements.
pub(super) trait Vector: Copy {
    /// How many.
    const LANES: usize;
    /// i32 lanes.
    type Int: Copy;
    /// f32 lanes.
    type Float: Copy;
    /// As many f64 lanes.
    type Double: Copy;

    fn ints(self, from: &[i32]) -> Self::Int;
    fn store_ints(self, x: Self::Int, to: &mut [i32]);
    fn int(self, x: i32) -> Self::Int;
    fn add(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn sub(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn mul(self, a: Self::Int, b: Self::Int) -> Self::Int;
    fn max(self, a: Self::Int, b: Self::Int) -> Self::Int;
    /// x / 2^by rounded toward zero; 0 where by is 32 and more.
    fn cut(self, x: Self::Int, by: Self::Int) -> Self::Int;
    /// The largest lane.
    fn largest(self, x: Self::Int) -> i32;

    fn floats(self, from: &[f32]) -> Self::Float;
    fn store_floats(self, x: Self::Float, to: &mut [f32]);
    fn float(self, x: f32) -> Self::Float;
    /// a * b + c, rounded once.
    fn fma(self, a: Self::Float, b: Self::Float, c: Self::Float) -> Self::Float;
    /// x, or `nan` where it is a NaN.
    fn plain(self, x: Self::Float, nan: Self::Float) -> Self::Float;
    /// The exponents of numbers; the least one for zeros and subnormals.
    fn exponent(self, x: Self::Float) -> Self::Int;

    fn double_of_int(self, x: Self::Int) -> Self::Double;
    fn double_of_float(self, x: Self::Float) -> Self::Double;
    /// The nearest f32, ties to even.
    fn nearest(self, x: Self::Double) -> Self::Float;
    fn add_double(self, a: Self::Double, b: Self::Double) -> Self::Double;
    fn floor(self, x: Self::Double) -> Self::Double;
    /// x * 2^by, for results within the range of normal numbers.
    fn scale(self, x: Self::Double, by: Self::Int) -> Self::Double;
    /// x, or zero where a is less than b.
    fn unless_less(self, a: Self::Int, b: Self::Int, x: Self::Double) -> Self::Double;
}

/// Lanes on any processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Any<const N: usize>;

/// The array of `f` of each lane number.
#[inline(always)]
fn each<T: Copy + Default, const N: usize>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = f(lane);
    }
    out
}

impl<const N: usize> Vector for Any<N> {
    const LANES: usize = N;
    type Int = [i32; N];
    type Float = [f32; N];
    type Double = [f64; N];

    #[inline(always)]
    fn ints(self, from: &[i32]) -> [i32; N] {
        let from = &from[..N];
        each(|j| from[j])
    }

    #[inline(always)]
    fn store_ints(self, x: [i32; N], to: &mut [i32]) {
        to[..N].copy_from_slice(&x);
    }

    #[inline(always)]
    fn int(self, x: i32) -> [i32; N] {
        [x; N]
    }

    #[inline(always)]
    fn add(self, a: [i32; N], b: [i32; N]) -> [i32; N] {
        each(|j| a[j].wrapping_add(b[j]))
    }

    #[inline(always)]
    fn sub(self, a: [i32; N], b: [i32; N]) -> [i32; N] {
        each(|j| a[j].wrapping_sub(b[j]))
    }

    #[inline(always)]
    fn mul(self, a: [i32; N], b: [i32; N]) -> [i32; N] {
        each(|j| a[j].wrapping_mul(b[j]))
    }

    #[inline(always)]
    fn max(self, a: [i32; N], b: [i32; N]) -> [i32; N] {
        each(|j| a[j].max(b[j]))
    }

    #[inline(always)]
    fn cut(self, x: [i32; N], by: [i32; N]) -> [i32; N] {
        each(|j| {
            let magnitude = x[j].unsigned_abs().checked_shr(by[j] as u32).unwrap_or(0) as i32;
            if x[j] < 0 { -magnitude } else { magnitude }
        })
    }

    #[inline(always)]
    fn largest(self, x: [i32; N]) -> i32 {
        x.iter().fold(i32::MIN, |most, x| most.max(*x))
    }

    #[inline(always)]
    fn floats(self, from: &[f32]) -> [f32; N] {
        let from = &from[..N];
        each(|j| from[j])
    }

    #[inline(always)]
    fn store_floats(self, x: [f32; N], to: &mut [f32]) {
        to[..N].copy_from_slice(&x);
    }

    #[inline(always)]
    fn float(self, x: f32) -> [f32; N] {
        [x; N]
    }

    #[inline(always)]
    fn fma(self, a: [f32; N], b: [f32; N], c: [f32; N]) -> [f32; N] {
        each(|j| a[j].mul_add(b[j], c[j]))
    }

    #[inline(always)]
    fn plain(self, x: [f32; N], nan: [f32; N]) -> [f32; N] {
        each(|j| if x[j].is_nan() { nan[j] } else { x[j] })
    }

    #[inline(always)]
    fn exponent(self, x: [f32; N]) -> [i32; N] {
        each(|j| (x[j].to_bits() >> 23 & 0xff).max(1) as i32 - 127)
    }

    #[inline(always)]
    fn double_of_int(self, x: [i32; N]) -> [f64; N] {
        each(|j| f64::from(x[j]))
    }

    #[inline(always)]
    fn double_of_float(self, x: [f32; N]) -> [f64; N] {
        each(|j| f64::from(x[j]))
    }

    #[inline(always)]
    fn nearest(self, x: [f64; N]) -> [f32; N] {
        each(|j| x[j] as f32)
    }

    #[inline(always)]
    fn add_double(self, a: [f64; N], b: [f64; N]) -> [f64; N] {
        each(|j| a[j] + b[j])
    }

    #[inline(always)]
    fn floor(self, x: [f64; N]) -> [f64; N] {
        each(|j| x[j].floor())
    }

    #[inline(always)]
    fn scale(self, x: [f64; N], by: [i32; N]) -> [f64; N] {
        each(|j| x[j] * f64::from_bits((i64::from(by[j].wrapping_add(1023)) << 52) as u64))
    }

    #[inline(always)]
    fn unless_less(self, a: [i32; N], b: [i32; N], x: [f64; N]) -> [f64; N] {
        each(|j| if a[j] < b[j] { 0.0 } else { x[j] })
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    /// Sixteen lanes of AVX-512.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx512(());

    impl Avx512 {
        /// # Safety
        /// The processor has AVX-512 F, BW, DQ and VL.
        pub(in super::super) unsafe fn new() -> Self {
            Self(())
        }
    }

    /// Sixteen lanes of AVX2 and FMA, in two registers.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Avx2(());

    impl Avx2 {
        /// # Safety
        /// The processor has AVX2 and FMA.
        pub(in super::super) unsafe fn new() -> Self {
            Self(())
        }
    }

    /// Methods whose bodies need an instruction set that the type is the evidence of.
    macro_rules! methods {
        ($(fn $name:ident($me:ident $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)? $body:block)*) => {$(
            #[inline(always)]
            fn $name($me, $($arg: $ty),*) $(-> $ret)? {
                // SAFETY: whoever made this value answered for the instruction set; slices
                // were cut to sixteen elements.
                #[allow(unused_unsafe, reason = "some bodies read no memory")]
                unsafe { $body }
            }
        )*};
    }

    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

    impl Vector for Avx512 {
        const LANES: usize = 16;
        type Int = __m512i;
        type Float = __m512;
        type Double = [__m512d; 2];

        methods! {
            fn ints(self, from: &[i32]) -> __m512i {
                _mm512_loadu_si512(from[..16].as_ptr().cast())
            }
            fn store_ints(self, x: __m512i, to: &mut [i32]) {
                _mm512_storeu_si512(to[..16].as_mut_ptr().cast(), x);
            }
            fn int(self, x: i32) -> __m512i {
                _mm512_set1_epi32(x)
            }
            fn add(self, a: __m512i, b: __m512i) -> __m512i {
                _mm512_add_epi32(a, b)
            }
            fn sub(self, a: __m512i, b: __m512i) -> __m512i {
                _mm512_sub_epi32(a, b)
            }
            fn mul(self, a: __m512i, b: __m512i) -> __m512i {
                _mm512_mullo_epi32(a, b)
            }
            fn max(self, a: __m512i, b: __m512i) -> __m512i {
                _mm512_max_epi32(a, b)
            }
            fn cut(self, x: __m512i, by: __m512i) -> __m512i {
                let magnitude = _mm512_srlv_epi32(_mm512_abs_epi32(x), by);
                let negative = _mm512_movepi32_mask(x);
                _mm512_mask_sub_epi32(magnitude, negative, _mm512_setzero_si512(), magnitude)
            }
            fn largest(self, x: __m512i) -> i32 {
                _mm512_reduce_max_epi32(x)
            }
            fn floats(self, from: &[f32]) -> __m512 {
                _mm512_loadu_ps(from[..16].as_ptr())
            }
            fn store_floats(self, x: __m512, to: &mut [f32]) {
                _mm512_storeu_ps(to[..16].as_mut_ptr(), x);
            }
            fn float(self, x: f32) -> __m512 {
                _mm512_set1_ps(x)
            }
            fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
                _mm512_fmadd_ps(a, b, c)
            }
            fn plain(self, x: __m512, nan: __m512) -> __m512 {
                _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x), nan)
            }
            fn exponent(self, x: __m512) -> __m512i {
                let bits = _mm512_srli_epi32::<23>(_mm512_castps_si512(x));
                let field = _mm512_and_si512(bits, _mm512_set1_epi32(0xff));
                let field = _mm512_max_epi32(field, _mm512_set1_epi32(1));
                _mm512_sub_epi32(field, _mm512_set1_epi32(127))
            }
            fn double_of_int(self, x: __m512i) -> [__m512d; 2] {
                [
                    _mm512_cvtepi32_pd(_mm512_castsi512_si256(x)),
                    _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64::<1>(x)),
                ]
            }
            fn double_of_float(self, x: __m512) -> [__m512d; 2] {
                [
                    _mm512_cvtps_pd(_mm512_castps512_ps256(x)),
                    _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(x)),
                ]
            }
            fn nearest(self, x: [__m512d; 2]) -> __m512 {
                let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(x[0]));
                _mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(x[1]))
            }
            fn add_double(self, a: [__m512d; 2], b: [__m512d; 2]) -> [__m512d; 2] {
                [_mm512_add_pd(a[0], b[0]), _mm512_add_pd(a[1], b[1])]
            }
            fn floor(self, x: [__m512d; 2]) -> [__m512d; 2] {
                [_mm512_roundscale_pd::<DOWN>(x[0]), _mm512_roundscale_pd::<DOWN>(x[1])]
            }
            fn scale(self, x: [__m512d; 2], by: __m512i) -> [__m512d; 2] {
                let by = self.double_of_int(by);
                [_mm512_scalef_pd(x[0], by[0]), _mm512_scalef_pd(x[1], by[1])]
            }
            fn unless_less(self, a: __m512i, b: __m512i, x: [__m512d; 2]) -> [__m512d; 2] {
                let keep = _mm512_cmpge_epi32_mask(a, b);
                [
                    _mm512_maskz_mov_pd(keep as u8, x[0]),
                    _mm512_maskz_mov_pd((keep >> 8) as u8, x[1]),
                ]
            }
        }
    }

    impl Vector for Avx2 {
        const LANES: usize = 16;
        type Int = [__m256i; 2];
        type Float = [__m256; 2];
        type Double = [__m256d; 4];

        methods! {
            fn ints(self, from: &[i32]) -> [__m256i; 2] {
                let at = from[..16].as_ptr();
                [_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(8).cast())]
            }
            fn store_ints(self, x: [__m256i; 2], to: &mut [i32]) {
                let at = to[..16].as_mut_ptr();
                _mm256_storeu_si256(at.cast(), x[0]);
                _mm256_storeu_si256(at.add(8).cast(), x[1]);
            }
            fn int(self, x: i32) -> [__m256i; 2] {
                [_mm256_set1_epi32(x); 2]
            }
            fn add(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
                [_mm256_add_epi32(a[0], b[0]), _mm256_add_epi32(a[1], b[1])]
            }
            fn sub(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
                [_mm256_sub_epi32(a[0], b[0]), _mm256_sub_epi32(a[1], b[1])]
            }
            fn mul(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
                [_mm256_mullo_epi32(a[0], b[0]), _mm256_mullo_epi32(a[1], b[1])]
            }
            fn max(self, a: [__m256i; 2], b: [__m256i; 2]) -> [__m256i; 2] {
                [_mm256_max_epi32(a[0], b[0]), _mm256_max_epi32(a[1], b[1])]
            }
            fn cut(self, x: [__m256i; 2], by: [__m256i; 2]) -> [__m256i; 2] {
                [
                    _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(x[0]), by[0]), x[0]),
                    _mm256_sign_epi32(_mm256_srlv_epi32(_mm256_abs_epi32(x[1]), by[1]), x[1]),
                ]
            }
            fn largest(self, x: [__m256i; 2]) -> i32 {
                let mut lanes = [0; 8];
                _mm256_storeu_si256(lanes.as_mut_ptr().cast(), _mm256_max_epi32(x[0], x[1]));
                lanes.iter().fold(i32::MIN, |most, x| most.max(*x))
            }
            fn floats(self, from: &[f32]) -> [__m256; 2] {
                let at = from[..16].as_ptr();
                [_mm256_loadu_ps(at), _mm256_loadu_ps(at.add(8))]
            }
            fn store_floats(self, x: [__m256; 2], to: &mut [f32]) {
                let at = to[..16].as_mut_ptr();
                _mm256_storeu_ps(at, x[0]);
                _mm256_storeu_ps(at.add(8), x[1]);
            }
            fn float(self, x: f32) -> [__m256; 2] {
                [_mm256_set1_ps(x); 2]
            }
            fn fma(self, a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
                [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])]
            }
            fn plain(self, x: [__m256; 2], nan: [__m256; 2]) -> [__m256; 2] {
                let unordered = [
                    _mm256_cmp_ps::<_CMP_UNORD_Q>(x[0], x[0]),
                    _mm256_cmp_ps::<_CMP_UNORD_Q>(x[1], x[1]),
                ];
                [
                    _mm256_blendv_ps(x[0], nan[0], unordered[0]),
                    _mm256_blendv_ps(x[1], nan[1], unordered[1]),
                ]
            }
            fn exponent(self, x: [__m256; 2]) -> [__m256i; 2] {
                let mut out = [_mm256_setzero_si256(); 2];
                for half in 0..2 {
                    let bits = _mm256_srli_epi32::<23>(_mm256_castps_si256(x[half]));
                    let field = _mm256_and_si256(bits, _mm256_set1_epi32(0xff));
                    let field = _mm256_max_epi32(field, _mm256_set1_epi32(1));
                    out[half] = _mm256_sub_epi32(field, _mm256_set1_epi32(127));
                }
                out
            }
            fn double_of_int(self, x: [__m256i; 2]) -> [__m256d; 4] {
                [
                    _mm256_cvtepi32_pd(_mm256_castsi256_si128(x[0])),
                    _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(x[0])),
                    _mm256_cvtepi32_pd(_mm256_castsi256_si128(x[1])),
                    _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(x[1])),
                ]
            }
            fn double_of_float(self, x: [__m256; 2]) -> [__m256d; 4] {
                [
                    _mm256_cvtps_pd(_mm256_castps256_ps128(x[0])),
                    _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x[0])),
                    _mm256_cvtps_pd(_mm256_castps256_ps128(x[1])),
                    _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x[1])),
                ]
            }
            fn nearest(self, x: [__m256d; 4]) -> [__m256; 2] {
                [
                    _mm256_set_m128(_mm256_cvtpd_ps(x[1]), _mm256_cvtpd_ps(x[0])),
                    _mm256_set_m128(_mm256_cvtpd_ps(x[3]), _mm256_cvtpd_ps(x[2])),
                ]
            }
            fn add_double(self, a: [__m256d; 4], b: [__m256d; 4]) -> [__m256d; 4] {
                let mut out = a;
                for part in 0..4 {
                    out[part] = _mm256_add_pd(a[part], b[part]);
                }
                out
            }
            fn floor(self, x: [__m256d; 4]) -> [__m256d; 4] {
                let mut out = x;
                for part in 0..4 {
                    out[part] = _mm256_floor_pd(x[part]);
                }
                out
            }
            fn scale(self, x: [__m256d; 4], by: [__m256i; 2]) -> [__m256d; 4] {
                let quarters = [
                    _mm256_castsi256_si128(by[0]),
                    _mm256_extracti128_si256::<1>(by[0]),
                    _mm256_castsi256_si128(by[1]),
                    _mm256_extracti128_si256::<1>(by[1]),
                ];
                let mut out = x;
                for part in 0..4 {
                    let field = _mm_add_epi32(quarters[part], _mm_set1_epi32(1023));
                    let power = _mm256_slli_epi64::<52>(_mm256_cvtepi32_epi64(field));
                    out[part] = _mm256_mul_pd(x[part], _mm256_castsi256_pd(power));
                }
                out
            }
            fn unless_less(self, a: [__m256i; 2], b: [__m256i; 2], x: [__m256d; 4]) -> [__m256d; 4] {
                let less = [_mm256_cmpgt_epi32(b[0], a[0]), _mm256_cmpgt_epi32(b[1], a[1])];
                let quarters = [
                    _mm256_castsi256_si128(less[0]),
                    _mm256_extracti128_si256::<1>(less[0]),
                    _mm256_castsi256_si128(less[1]),
                    _mm256_extracti128_si256::<1>(less[1]),
                ];
                let mut out = x;
                for part in 0..4 {
                    let mask = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(quarters[part]));
                    out[part] = _mm256_andnot_pd(mask, x[part]);
                }
                out
            }
        }
    }
}

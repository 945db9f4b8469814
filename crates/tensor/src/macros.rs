//! Choosing a Rust type by a run-time dtype.

/// Runs `$body` with `$T` bound to the element type of `$dtype`, or `$other`
/// for a dtype that has none.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr, $other:expr) => {
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
            cairn_formats::DType::I64 => {
                type $T = i64;
                $body
            }
            cairn_formats::DType::I32 => {
                type $T = i32;
                $body
            }
            cairn_formats::DType::U32 => {
                type $T = u32;
                $body
            }
            cairn_formats::DType::U8 => {
                type $T = u8;
                $body
            }
            _ => $other,
        }
    };
}

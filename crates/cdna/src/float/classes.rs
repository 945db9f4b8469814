//! Classes of floats.

use super::*;

/// Classes of floats: signalling and quiet NaN, negative infinity, normal,
/// denormal and zero, then the positive ones upwards.
pub(crate) fn class32(x: u32) -> u32 {
    class(
        is_nan32(x),
        x & QUIET32 != 0,
        x >> 31 != 0,
        x & 0x7fff_ffff == 0x7f80_0000,
        x & 0x7f80_0000 == 0,
        x & 0x7fff_ffff == 0,
    )
}

pub(crate) fn class64(x: u64) -> u32 {
    class(
        is_nan64(x),
        x & QUIET64 != 0,
        x >> 63 != 0,
        x << 1 == 0xffe0_0000_0000_0000,
        x & 0x7ff0_0000_0000_0000 == 0,
        x << 1 == 0,
    )
}

pub(crate) fn class16(x: u32) -> u32 {
    class(
        x & 0x7fff > 0x7c00,
        x & 0x200 != 0,
        x & 0x8000 != 0,
        x & 0x7fff == 0x7c00,
        x & 0x7c00 == 0,
        x & 0x7fff == 0,
    )
}

/// The bit of `v_cmp_class`.
const fn class(
    nan: bool,
    quiet: bool,
    negative: bool,
    infinite: bool,
    small: bool,
    zero: bool,
) -> u32 {
    if nan {
        return if quiet { 2 } else { 1 };
    }
    let size = if infinite {
        0
    } else if zero {
        3
    } else if small {
        2
    } else {
        1
    };
    if negative { 4 << size } else { 0x200 >> size }
}

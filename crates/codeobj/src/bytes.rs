//! Little-endian fields of a byte slice, each with a check that it is there.

use std::ops::Range;

/// The bytes at `offset`, or `None` when they are not all there.
pub(crate) fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    bytes.get(range(offset, length)?)
}

/// `offset..offset + length` as an index; `None` when it does not fit.
pub(crate) fn range(offset: u64, length: u64) -> Option<Range<usize>> {
    let end = usize::try_from(offset.checked_add(length)?).ok()?;
    Some(usize::try_from(offset).ok()?..end)
}

fn array<const N: usize>(bytes: &[u8], offset: u64) -> Option<[u8; N]> {
    slice(bytes, offset, N as u64)?.try_into().ok()
}

pub(crate) fn u8_at(bytes: &[u8], offset: u64) -> Option<u8> {
    array::<1>(bytes, offset).map(|[byte]| byte)
}

pub(crate) fn u16_at(bytes: &[u8], offset: u64) -> Option<u16> {
    array(bytes, offset).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], offset: u64) -> Option<u32> {
    array(bytes, offset).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(bytes: &[u8], offset: u64) -> Option<u64> {
    array(bytes, offset).map(u64::from_le_bytes)
}

pub(crate) fn i64_at(bytes: &[u8], offset: u64) -> Option<i64> {
    array(bytes, offset).map(i64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_at_and_beyond_the_end() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(u8_at(&bytes, 8), Some(9));
        assert_eq!(u8_at(&bytes, 9), None);
        assert_eq!(u16_at(&bytes, 1), Some(0x0302));
        assert_eq!(u32_at(&bytes, 5), Some(0x0908_0706));
        assert_eq!(u32_at(&bytes, 6), None);
        assert_eq!(u64_at(&bytes, 1), Some(0x0908_0706_0504_0302));
        assert_eq!(i64_at(&[0xff; 8], 0), Some(-1));
        assert_eq!(u64_at(&bytes, u64::MAX), None);
        assert_eq!(slice(&bytes, u64::MAX, 2), None);
        assert_eq!(slice(&bytes, 9, 0), Some(&[][..]));
    }
}

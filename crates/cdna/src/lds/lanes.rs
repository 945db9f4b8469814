//! Accesses of all 64 lanes at once, at places that are words inside of the
//! LDS. These are compiled for the vector instructions of the host.

use super::marks::Now;
use crate::wave::Lanes;

/// Adds an offset to the addresses. True when every lane then has `bytes` at a
/// multiple of four inside of `size`.
#[inline(always)]
pub(crate) fn places(address: &Lanes, offset: u32, bytes: u32, size: u32, out: &mut Lanes) -> bool {
    let (mut most, mut bits) = (0, 0);
    for lane in 0..64 {
        let at = address[lane].wrapping_add(offset);
        out[lane] = at;
        most = most.max(at);
        bits |= at;
    }
    bits & 3 == 0 && size.checked_sub(bytes).is_some_and(|last| most <= last)
}

/// The words at a place.
#[inline(always)]
fn at<const W: usize>(words: &[u32], address: u32) -> [u32; W] {
    let first = address as usize / 4;
    let run = words.get(first..first + W);
    run.and_then(|run| run.try_into().ok()).unwrap_or([0; W])
}

#[inline(always)]
fn put<const W: usize>(words: &mut [u32], address: u32, values: [u32; W]) {
    let first = address as usize / 4;
    if let Some(run) = words.get_mut(first..first + W) {
        run.copy_from_slice(&values);
    }
}

/// Calls a function for the number of words that an access of a lane has: that
/// of registers.
macro_rules! by_words {
    ($registers:expr, $function:ident($($arg:expr),*)) => {
        match $registers {
            1 => $function::<1>($($arg),*),
            2 => $function::<2>($($arg),*),
            3 => $function::<3>($($arg),*),
            _ => $function::<4>($($arg),*),
        }
    };
}

/// Loads the words at each lane's place.
#[inline(always)]
pub(crate) fn load(words: &[u32], address: &Lanes, out: &mut [Lanes]) {
    by_words!(out.len(), load_words(words, address, out));
}

#[inline(always)]
fn load_words<const W: usize>(words: &[u32], address: &Lanes, out: &mut [Lanes]) {
    let Ok(out): Result<&mut [Lanes; W], _> = out.try_into() else {
        return;
    };
    // Four lanes at a time are turned into four neighbours of each register.
    for first in (0..64).step_by(4) {
        let mut rows = [[0; W]; 4];
        for (lane, row) in rows.iter_mut().enumerate() {
            *row = at(words, address[first + lane]);
        }
        for (word, out) in out.iter_mut().enumerate() {
            let column = [rows[0][word], rows[1][word], rows[2][word], rows[3][word]];
            out[first..first + 4].copy_from_slice(&column);
        }
    }
}

/// Stores words of each lane; of lanes with the same place the last one's stay.
#[inline(always)]
pub(crate) fn store(words: &mut [u32], address: &Lanes, from: &[Lanes]) {
    by_words!(from.len(), store_words(words, address, from));
}

#[inline(always)]
fn store_words<const W: usize>(words: &mut [u32], address: &Lanes, from: &[Lanes]) {
    let Ok(from): Result<&[Lanes; W], _> = from.try_into() else {
        return;
    };
    for first in (0..64).step_by(4) {
        let mut rows = [[0; W]; 4];
        for (word, from) in from.iter().enumerate() {
            for (lane, row) in rows.iter_mut().enumerate() {
                row[word] = from[first + lane];
            }
        }
        for (lane, row) in rows.into_iter().enumerate() {
            put(words, address[first + lane], row);
        }
    }
}

/// Marks the words of all lanes as read. False when a word might not be plainly
/// all right: what is wrong has then to be found out.
#[inline(always)]
pub(crate) fn mark_read(
    writer: &[u32],
    readers: &mut [u32],
    address: &Lanes,
    count: usize,
    now: Now,
) -> bool {
    by_words!(count, mark_read_words(writer, readers, address, now))
}

#[inline(always)]
fn mark_read_words<const W: usize>(
    writer: &[u32],
    readers: &mut [u32],
    address: &Lanes,
    now: Now,
) -> bool {
    let mut doubt = [0; W];
    for address in address {
        let (written, mut read) = (at::<W>(writer, *address), at::<W>(readers, *address));
        for word in 0..W {
            // Written in an earlier interval, or by this wave.
            let past = written[word].wrapping_sub(1) < now.first - 1;
            doubt[word] |= u32::from(!past & (written[word] != now.mine));
            let known = if read[word] >> 16 == now.interval {
                read[word]
            } else {
                0
            };
            read[word] = known | now.own;
        }
        put(readers, *address, read);
    }
    doubt == [0; W]
}

/// True when no other wave touched the words of any lane in this interval.
#[inline(always)]
pub(crate) fn may_write(
    writer: &[u32],
    readers: &[u32],
    address: &Lanes,
    count: usize,
    now: Now,
) -> bool {
    by_words!(count, may_write_words(writer, readers, address, now))
}

#[inline(always)]
fn may_write_words<const W: usize>(
    writer: &[u32],
    readers: &[u32],
    address: &Lanes,
    now: Now,
) -> bool {
    let mut doubt = [0; W];
    for address in address {
        let (written, read) = (at::<W>(writer, *address), at::<W>(readers, *address));
        for word in 0..W {
            let other = (written[word] >= now.first) & (written[word] != now.mine);
            let read_too = (read[word] >> 16 == now.interval) & (read[word] | now.own != now.own);
            doubt[word] |= u32::from(other | read_too);
        }
    }
    doubt == [0; W]
}

/// Marks the words of all lanes as written.
#[inline(always)]
pub(crate) fn mark_written(writer: &mut [u32], address: &Lanes, count: usize, mine: u32) {
    by_words!(count, mark_written_words(writer, address, mine));
}

#[inline(always)]
fn mark_written_words<const W: usize>(writer: &mut [u32], address: &Lanes, mine: u32) {
    for address in address {
        put(writer, *address, [mine; W]);
    }
}

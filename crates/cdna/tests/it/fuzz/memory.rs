//! Loads, stores and atomics of global memory and LDS, 4 KiB of each.

use super::{Random, State};

/// Bytes of each kind of memory.
pub(super) const BYTES: usize = 4096;

/// The register that holds addresses.
const ADDRESS: u32 = 17;

#[derive(Clone, Copy)]
enum What {
    /// Bytes, and whether their sign goes on.
    Load(usize, bool),
    /// The upper half of the register; the lower one stays.
    LoadHigh,
    Store(usize),
    /// The old value is given back.
    Add,
    /// Words at two offsets.
    Pair,
    /// LDS only: from another lane.
    Permute,
}

const GLOBAL: [(u32, What); 11] = [
    (16, What::Load(1, false)),
    (17, What::Load(1, true)),
    (18, What::Load(2, false)),
    (19, What::Load(2, true)),
    (20, What::Load(4, false)),
    (21, What::Load(8, false)),
    (37, What::LoadHigh),
    (24, What::Store(1)),
    (26, What::Store(2)),
    (28, What::Store(4)),
    (66, What::Add),
];

const LDS: [(u32, What); 13] = [
    (58, What::Load(1, false)),
    (57, What::Load(1, true)),
    (60, What::Load(2, false)),
    (59, What::Load(2, true)),
    (54, What::Load(4, false)),
    (118, What::Load(8, false)),
    (91, What::LoadHigh),
    (30, What::Store(1)),
    (31, What::Store(2)),
    (13, What::Store(4)),
    (32, What::Add),
    (55, What::Pair),
    (63, What::Permute),
];

fn read(bytes: &[u8], at: usize, count: usize) -> u64 {
    let mut word = [0; 8];
    word[..count].copy_from_slice(&bytes[at..at + count]);
    u64::from_le_bytes(word)
}

pub(super) fn instruction(random: &mut Random, state: &mut State) -> Vec<u32> {
    let lds = random.below(2) == 0;
    let (code, what) = if lds {
        LDS[random.below(13) as usize]
    } else {
        GLOBAL[random.below(11) as usize]
    };
    let wide = matches!(what, What::Load(8, _) | What::Pair);
    let from = 1 + random.below(16) as usize;
    let data = 1 + random.below(16) as usize;
    let to = if wide {
        2 + 2 * random.below(7) as usize
    } else {
        1 + random.below(16) as usize
    };
    let offsets = [random.below(256) as u32, random.below(256) as u32];
    let before = state.clone();
    // Lanes read where they like, and write to words of their own.
    let own = matches!(what, What::Store(_) | What::Add);
    let mask: u32 = match what {
        What::Load(count, _) => 4096 - count as u32,
        What::LoadHigh => 4094,
        What::Pair => 0xbfc & 0x9fc,
        What::Permute => u32::MAX,
        What::Store(_) | What::Add => 0xf00,
    };
    for lane in (0..64).filter(|lane| before.exec >> lane & 1 == 1) {
        let address =
            (before.v[from][lane] & mask | if own { 4 * lane as u32 } else { 0 }) as usize;
        let old = if lds { &before.lds } else { &before.memory };
        let old_register = before.v[to][lane];
        let (value, high) = match what {
            What::Load(count, signed) => {
                let value = read(old, address, count);
                let shift = 64 - 8 * count;
                let extended = if signed {
                    ((value << shift) as i64 >> shift) as u64
                } else {
                    value
                };
                (extended as u32, (value >> 32) as u32)
            }
            What::LoadHigh => {
                let value = read(old, address, 2) as u32;
                (value << 16 | old_register & 0xffff, 0)
            }
            What::Pair => {
                let word = |at: usize| read(old, address + 4 * offsets[at] as usize, 4) as u32;
                (word(0), word(1))
            }
            What::Permute => {
                let source = address / 4 % 64;
                let runs = before.exec >> source & 1 == 1;
                (if runs { before.v[data][source] } else { 0 }, 0)
            }
            What::Store(_) | What::Add => {
                let count = if let What::Store(count) = what {
                    count
                } else {
                    4
                };
                let was = read(old, address, 4) as u32;
                let given = before.v[data][lane];
                let new = if matches!(what, What::Add) {
                    was.wrapping_add(given)
                } else {
                    given
                };
                let place = if lds {
                    &mut state.lds
                } else {
                    &mut state.memory
                };
                place[address..address + count].copy_from_slice(&new.to_le_bytes()[..count]);
                (was, 0)
            }
        };
        if !matches!(what, What::Store(_)) {
            state.v[to][lane] = value;
            if wide {
                state.v[to + 1][lane] = high;
            }
        }
    }
    let (from, data) = (from as u32, data as u32);
    let to = if matches!(what, What::Store(_)) {
        0
    } else {
        to as u32
    };
    // v_and_b32 v17, mask, vN; v_or_b32 v17, v17, v0.
    let mut words = vec![19 << 25 | ADDRESS << 17 | from << 9 | 255, mask];
    if own {
        words.push(20 << 25 | ADDRESS << 17 | (256 + ADDRESS));
    }
    if lds {
        let pair = matches!(what, What::Pair);
        let offset = if pair {
            offsets[0] | offsets[1] << 8
        } else {
            0
        };
        let loads = matches!(what, What::Load(..) | What::LoadHigh | What::Pair);
        let data = if loads { 0 } else { data };
        words.push(0b11_0110 << 26 | code << 17 | offset);
        words.push(ADDRESS | data << 8 | to << 24);
    } else {
        let returns = u32::from(matches!(what, What::Add)) << 16;
        let loads = matches!(what, What::Load(..) | What::LoadHigh);
        let data = if loads { 0 } else { data };
        words.push(0b11_0111 << 26 | code << 18 | returns | 2 << 14);
        words.push(ADDRESS | data << 8 | 8 << 16 | to << 24);
    }
    words.push(0xbf8c_0000);
    words
}

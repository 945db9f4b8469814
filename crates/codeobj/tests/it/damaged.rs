//! Damaged code objects: never a panic, a hang or more memory than the file
//! accounts for, and never something else than what was read.

use cairn_codeobj::{CodeObject, CodeObjectError};

use crate::{GFX90A, GFX942, GFX950};

/// Everything a caller may ask of what was read.
fn walk(object: &CodeObject) {
    let mut bytes = 0;
    for segment in &object.segments {
        bytes += object.segment_bytes(segment).len();
        assert!(object.segment_bytes(segment).len() as u64 <= segment.memory_bytes);
    }
    for section in &object.sections {
        assert!(object.section_bytes(&section.name).is_some());
    }
    for kernel in &object.kernels {
        assert!(object.kernel(&kernel.name).is_some());
        bytes += object.code(kernel).len();
        assert!(kernel.arch_vgprs() > 0);
    }
    assert!(bytes <= 64 * object.bytes().len());
    let names: usize = object.symbols.iter().map(|symbol| symbol.name.len()).sum();
    assert!(names <= object.bytes().len());
    let span = object.memory_span();
    assert!(span.start <= span.end);
}

/// Numbers that differ, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // A step of SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

#[test]
fn every_truncation_is_an_error_or_whole() {
    for file in [GFX90A, GFX942, GFX950] {
        let whole = CodeObject::parse(file).unwrap();
        for length in 0..file.len() {
            if let Ok(object) = CodeObject::parse(&file[..length]) {
                // Only what lies behind everything that is read may be missing.
                assert_eq!(object.kernels, whole.kernels, "{length}");
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_survived() {
    let mut refused = 0;
    let mut file = GFX942.to_vec();
    for at in 0..file.len() {
        for bit in 0..8 {
            file[at] ^= 1 << bit;
            match CodeObject::parse(&file) {
                Ok(object) => walk(&object),
                Err(_) => refused += 1,
            }
            file[at] ^= 1 << bit;
        }
    }
    assert!(refused > 1000, "{refused}");
}

#[test]
fn extreme_fields_are_survived() {
    let mut file = GFX950.to_vec();
    for at in (0..file.len() - 8).step_by(3) {
        let kept: [u8; 8] = file[at..at + 8].try_into().unwrap();
        for value in [
            0u64,
            1,
            0xff,
            0xffff,
            0xffff_ffff,
            u64::MAX,
            1 << 63,
            file.len() as u64,
            1 << 40,
        ] {
            for length in [2, 4, 8] {
                file[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
                if let Ok(object) = CodeObject::parse(&file) {
                    walk(&object);
                }
                file[at..at + 8].copy_from_slice(&kept);
            }
        }
    }
}

#[test]
fn random_damage_and_random_bytes_are_survived() {
    let mut numbers = Numbers(1);
    let mut read = 0;
    for _ in 0..20_000 {
        let source = [GFX90A, GFX942, GFX950][numbers.below(3)];
        let mut file = source.to_vec();
        for _ in 0..=numbers.below(8) {
            let at = numbers.below(file.len());
            file[at] = numbers.next() as u8;
        }
        let from = numbers.below(file.len());
        let to = numbers.below(file.len());
        if numbers.below(4) == 0 {
            let piece: Vec<u8> = file[from..(from + 32).min(file.len())].to_vec();
            let length = piece.len().min(file.len() - to);
            file[to..to + length].copy_from_slice(&piece[..length]);
        }
        if let Ok(object) = CodeObject::parse(&file) {
            walk(&object);
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
    for length in 0..2000 {
        let bytes: Vec<u8> = (0..length).map(|_| numbers.next() as u8).collect();
        assert_eq!(CodeObject::parse(&bytes), Err(CodeObjectError::NotElf));
    }
}

/// A file may claim that many sections share the same bytes, so that reading
/// each would take the square of its size.
#[test]
fn shared_bytes_do_not_multiply() {
    let mut file = GFX942.to_vec();
    let count = 60_000u64;
    let table = file.len() as u64;
    for _ in 0..count {
        let mut header = [0u8; 64];
        // Allocated relocations over the whole file.
        header[4..8].copy_from_slice(&4u32.to_le_bytes());
        header[8..16].copy_from_slice(&2u64.to_le_bytes());
        header[32..40].copy_from_slice(&(table + count * 64).to_le_bytes());
        file.extend(header);
    }
    file[40..48].copy_from_slice(&table.to_le_bytes());
    file[60..62].copy_from_slice(&(count as u16).to_le_bytes());
    file[62..64].copy_from_slice(&0u16.to_le_bytes());
    assert!(CodeObject::parse(&file).is_err());
}

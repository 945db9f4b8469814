//! From bytes to an instruction.

use std::sync::OnceLock;

use super::operand::{Kind, Operand};
use super::table::{Family, Info, OPERATIONS, Only, Op};
use super::{Dpp, Format, Inst, MatrixMods, MemoryMods, Sdwa, VectorMods};
use crate::Arch;

/// Why bytes are no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The instruction goes on after the last byte.
    #[error("the code ends inside an instruction")]
    Truncated,
    /// No operation of this architecture has this encoding.
    #[error("{word:#010x} encodes no instruction of {}", arch.name())]
    Unknown {
        /// The first word.
        word: u32,
        /// The architecture.
        arch: Arch,
    },
}

/// The row of an operation.
#[must_use]
pub fn info_of(op: Op) -> &'static Info {
    &OPERATIONS[op as usize]
}

/// Row numbers by family and opcode; `u16::MAX` where there is none.
struct Index([Vec<u16>; 15]);

impl Index {
    fn get() -> &'static Self {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            let mut index = Self(Default::default());
            for (row, info) in OPERATIONS.iter().enumerate() {
                let codes = &mut index.0[info.family as usize];
                let code = usize::from(info.code);
                if codes.len() <= code {
                    codes.resize(code + 1, u16::MAX);
                }
                codes[code] = row as u16;
            }
            index
        })
    }

    fn find(&self, family: Family, code: u32, arch: Arch) -> Option<&'static Info> {
        let row = *self.0[family as usize].get(code as usize)?;
        let info = OPERATIONS.get(usize::from(row))?;
        let has = match info.only {
            Only::Any => true,
            Only::Gfx942 => arch != Arch::Gfx950,
            Only::Gfx950 => arch == Arch::Gfx950,
        };
        has.then_some(info)
    }
}

struct Decoder<'a> {
    bytes: &'a [u8],
    word: u32,
    arch: Arch,
    index: &'static Index,
}

/// Bits `from..from + count` of a word.
const fn bits(word: u32, from: u32, count: u32) -> u32 {
    (word >> from) & ((1 << count) - 1)
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 != 0
}

fn sign_extend(value: u32, count: u32) -> i32 {
    ((value << (32 - count)) as i32) >> (32 - count)
}

/// Decodes the instruction at the beginning of `bytes`.
///
/// # Errors
/// When it is cut off, or is none that `arch` has.
pub fn decode(bytes: &[u8], arch: Arch) -> Result<Inst, DecodeError> {
    let decoder = Decoder {
        bytes,
        word: word_at(bytes, 0).ok_or(DecodeError::Truncated)?,
        arch,
        index: Index::get(),
    };
    decoder.decode()
}

fn word_at(bytes: &[u8], index: usize) -> Option<u32> {
    let word = bytes.get(index * 4..index * 4 + 4)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

impl Decoder<'_> {
    fn decode(&self) -> Result<Inst, DecodeError> {
        let word = self.word;
        if !bit(word, 31) {
            return match bits(word, 25, 6) {
                0b11_1111 => self.vop1(),
                0b11_1110 => self.vopc(),
                _ => self.vop2(),
            };
        }
        if bits(word, 30, 2) == 0b10 {
            return match bits(word, 23, 7) {
                0b111_1101 => self.sop1(),
                0b111_1110 => self.sopc(),
                0b111_1111 => self.sopp(),
                code if code >= 0b110_0000 => self.sopk(),
                _ => self.sop2(),
            };
        }
        match bits(word, 26, 6) {
            0b11_0000 => self.smem(),
            0b11_0100 if bits(word, 23, 3) == 0b111 => self.vop3p(),
            0b11_0100 => self.vop3(),
            0b11_0110 => self.ds(),
            0b11_0111 => self.flat(),
            0b11_1000 => self.mubuf(),
            _ => Err(self.unknown()),
        }
    }

    fn unknown(&self) -> DecodeError {
        DecodeError::Unknown {
            word: self.word,
            arch: self.arch,
        }
    }

    fn find(&self, family: Family, code: u32) -> Result<&'static Info, DecodeError> {
        self.index
            .find(family, code, self.arch)
            .ok_or_else(|| self.unknown())
    }

    fn next(&self, index: usize) -> Result<u32, DecodeError> {
        word_at(self.bytes, index).ok_or(DecodeError::Truncated)
    }

    fn blank(info: &Info, format: Format, size: u8) -> Inst {
        Inst {
            op: info.op,
            format,
            size,
            compare: 0,
            dst: Operand::NONE,
            sdst: Operand::NONE,
            src: [Operand::NONE; 4],
            literal: 0,
            imm: 0,
            mods: VectorMods::default(),
            dpp: None,
            sdwa: None,
            matrix: MatrixMods::default(),
            memory: MemoryMods::default(),
        }
    }

    /// Reads the literal after an instruction of one word, if an operand asks for it.
    fn with_literal(&self, mut inst: Inst) -> Result<Inst, DecodeError> {
        if inst.src.contains(&Operand::LITERAL) {
            inst.literal = self.next(usize::from(inst.size) / 4)?;
            inst.size += 4;
        }
        for operand in inst.src {
            self.check(operand)?;
        }
        Ok(inst)
    }

    /// Refuses numbers that name no operand.
    fn check(&self, operand: Operand) -> Result<(), DecodeError> {
        match operand.0 {
            209..=234 | 249 | 250 | 254 => Err(self.unknown()),
            _ => Ok(()),
        }
    }

    fn sop2(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Sop2, bits(self.word, 23, 7))?;
        let mut inst = Self::blank(info, Format::Sop2, 4);
        if info.sig.result(0).is_some() {
            inst.dst = Operand(bits(self.word, 16, 7) as u16);
        }
        inst.src[0] = Operand(bits(self.word, 0, 8) as u16);
        inst.src[1] = Operand(bits(self.word, 8, 8) as u16);
        self.with_literal(inst)
    }

    fn sop1(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Sop1, bits(self.word, 8, 8))?;
        let mut inst = Self::blank(info, Format::Sop1, 4);
        if info.sig.result(0).is_some() {
            inst.dst = Operand(bits(self.word, 16, 7) as u16);
        }
        if info.sig.sources() > 0 {
            inst.src[0] = Operand(bits(self.word, 0, 8) as u16);
        }
        self.with_literal(inst)
    }

    fn sopc(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Sopc, bits(self.word, 16, 7))?;
        let mut inst = Self::blank(info, Format::Sopc, 4);
        inst.src[0] = Operand(bits(self.word, 0, 8) as u16);
        inst.src[1] = Operand(bits(self.word, 8, 8) as u16);
        self.with_literal(inst)
    }

    fn sopk(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Sopk, bits(self.word, 23, 5))?;
        let mut inst = Self::blank(info, Format::Sopk, 4);
        let register = Operand(bits(self.word, 16, 7) as u16);
        if info.sig.result(0).is_some() {
            inst.dst = register;
        }
        inst.imm = self.word as u16;
        match info.sig.source(0) {
            Some(Kind::Literal) => {
                inst.literal = self.next(1)?;
                inst.size = 8;
                inst.src[0] = Operand::LITERAL;
            }
            Some(_) => inst.src[0] = register,
            None => {}
        }
        Ok(inst)
    }

    fn sopp(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Sopp, bits(self.word, 16, 7))?;
        let mut inst = Self::blank(info, Format::Sopp, 4);
        inst.imm = self.word as u16;
        Ok(inst)
    }

    fn smem(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Smem, bits(self.word, 18, 8))?;
        let mut inst = Self::blank(info, Format::Smem, 8);
        let high = self.next(1)?;
        let data = Operand(bits(self.word, 6, 7) as u16);
        let stores = info.sig.source(0).is_some();
        if info.sig.result(0).is_some() {
            inst.dst = data;
        }
        let addressed = stores
            || info.sig.result(0).is_some()
            || matches!(info.op, Op::S_DCACHE_DISCARD | Op::S_DCACHE_DISCARD_X2);
        if !addressed || matches!(info.op, Op::S_MEMTIME | Op::S_MEMREALTIME) {
            return Ok(inst);
        }
        if stores {
            inst.src[2] = data;
        }
        inst.src[0] = Operand(bits(self.word, 0, 6) as u16 * 2);
        inst.memory.cache = u8::from(bit(self.word, 16));
        let (imm, soffset) = (bit(self.word, 17), bit(self.word, 14));
        if imm {
            inst.memory.offset = sign_extend(bits(high, 0, 21), 21);
            if soffset {
                inst.src[1] = Operand(bits(high, 25, 7) as u16);
            }
        } else if soffset {
            inst.src[1] = Operand(bits(high, 25, 7) as u16);
        } else {
            inst.src[1] = Operand(bits(high, 0, 7) as u16);
        }
        Ok(inst)
    }

    /// The word after a VOP1, VOP2 or VOPC that names other lanes or parts of
    /// registers; true if there is one.
    fn sub_encoding(&self, inst: &mut Inst) -> Result<bool, DecodeError> {
        match inst.src[0].0 {
            249 => self.sdwa(inst)?,
            250 => self.dpp(inst)?,
            _ => return Ok(false),
        }
        inst.size = 8;
        Ok(true)
    }

    fn sdwa(&self, inst: &mut Inst) -> Result<(), DecodeError> {
        let word = self.next(1)?;
        let scalar = |at: u32, number: u16| if bit(word, at) { number } else { 256 + number };
        inst.src[0] = Operand(scalar(23, bits(word, 0, 8) as u16));
        if inst.src[1].is_some() {
            let number = inst.src[1].0 - 256;
            inst.src[1] = Operand(scalar(31, number));
        }
        inst.mods.neg = (bits(word, 20, 1) | bits(word, 28, 1) << 1) as u8;
        inst.mods.abs = (bits(word, 21, 1) | bits(word, 29, 1) << 1) as u8;
        let mut sdwa = Sdwa {
            dst_sel: 6,
            dst_unused: 0,
            src_sel: [bits(word, 16, 3) as u8, bits(word, 24, 3) as u8],
            sext: [bit(word, 19), bit(word, 27)],
        };
        if sdwa.src_sel.contains(&7) {
            return Err(self.unknown());
        }
        if inst.format == Format::Vopc {
            if bit(word, 15) {
                inst.dst = Operand(bits(word, 8, 7) as u16);
            }
        } else {
            sdwa.dst_sel = bits(word, 8, 3) as u8;
            sdwa.dst_unused = bits(word, 11, 2) as u8;
            inst.mods.clamp = bit(word, 13);
            inst.mods.omod = bits(word, 14, 2) as u8;
            if sdwa.dst_sel == 7 || sdwa.dst_unused == 3 {
                return Err(self.unknown());
            }
        }
        for operand in [inst.src[0], inst.src[1]] {
            if operand.is_some() {
                self.check(operand)?;
                if operand.is_literal() {
                    return Err(self.unknown());
                }
            }
        }
        inst.sdwa = Some(sdwa);
        Ok(())
    }

    fn dpp(&self, inst: &mut Inst) -> Result<(), DecodeError> {
        let word = self.next(1)?;
        inst.src[0] = Operand::vgpr(bits(word, 0, 8) as u16);
        inst.mods.neg = (bits(word, 20, 1) | bits(word, 22, 1) << 1) as u8;
        inst.mods.abs = (bits(word, 21, 1) | bits(word, 23, 1) << 1) as u8;
        let ctrl = bits(word, 8, 9) as u16;
        let known = matches!(ctrl,
            0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138
            | 0x13c | 0x140..=0x143 | 0x150..=0x15f);
        if !known {
            return Err(self.unknown());
        }
        inst.dpp = Some(Dpp {
            ctrl,
            row_mask: bits(word, 28, 4) as u8,
            bank_mask: bits(word, 24, 4) as u8,
            bound_ctrl: bit(word, 19),
        });
        Ok(())
    }

    fn vop1(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Vop1, bits(self.word, 9, 8))?;
        let mut inst = Self::blank(info, Format::Vop1, 4);
        self.vop1_operands(&mut inst, bits(self.word, 17, 8), bits(self.word, 0, 9));
        if self.sub_encoding(&mut inst)? {
            return Ok(inst);
        }
        self.with_literal(inst)
    }

    fn vop1_operands(&self, inst: &mut Inst, dst: u32, src: u32) {
        let sig = inst.info().sig;
        if sig.result(0).is_some() {
            inst.dst = match inst.op {
                Op::V_READFIRSTLANE_B32 => Operand(dst as u16),
                Op::V_ACCVGPR_MOV_B32 => Operand::agpr(dst as u16),
                _ => Operand::vgpr(dst as u16),
            };
        }
        if sig.sources() > 0 {
            inst.src[0] = Operand(src as u16);
            if inst.op == Op::V_ACCVGPR_MOV_B32 && src >= 256 {
                inst.src[0] = Operand::agpr(src as u16 - 256);
            }
        }
    }

    fn vop2(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Vop2, bits(self.word, 25, 6))?;
        let mut inst = Self::blank(info, Format::Vop2, 4);
        inst.dst = Operand::vgpr(bits(self.word, 17, 8) as u16);
        inst.src[0] = Operand(bits(self.word, 0, 9) as u16);
        let second = Operand::vgpr(bits(self.word, 9, 8) as u16);
        inst.src[1] = second;
        if info.sig.result(1).is_some() {
            inst.sdst = Operand::VCC;
        }
        if info.sig.source(2) == Some(Kind::Mask) {
            inst.src[2] = Operand::VCC;
        }
        if info.sig.source(1) == Some(Kind::Literal) {
            inst.src[1] = Operand::LITERAL;
            inst.src[2] = second;
        } else if info.sig.source(2) == Some(Kind::Literal) {
            inst.src[2] = Operand::LITERAL;
        } else if self.sub_encoding(&mut inst)? {
            return Ok(inst);
        }
        self.with_literal(inst)
    }

    fn vopc(&self) -> Result<Inst, DecodeError> {
        let code = bits(self.word, 17, 8);
        let info = self.compare(code)?;
        let mut inst = Self::blank(info, Format::Vopc, 4);
        inst.compare = code as u8;
        inst.dst = Operand::VCC;
        inst.src[0] = Operand(bits(self.word, 0, 9) as u16);
        inst.src[1] = Operand::vgpr(bits(self.word, 9, 8) as u16);
        if self.sub_encoding(&mut inst)? {
            return Ok(inst);
        }
        self.with_literal(inst)
    }

    /// Comparisons: four rows stand for all types and relations.
    fn compare(&self, code: u32) -> Result<&'static Info, DecodeError> {
        let row = match code {
            0x10..=0x15 => 2 + (code & 1),
            0x20..=0x7f | 0xa0..=0xff => code >> 4 & 1,
            _ => return Err(self.unknown()),
        };
        self.find(Family::Vopc, row)
    }

    fn vop3(&self) -> Result<Inst, DecodeError> {
        let code = bits(self.word, 16, 10);
        let high = self.next(1)?;
        let info = match code {
            0..0x100 => self.compare(code)?,
            0x100..0x140 => self.find(Family::Vop2, code - 0x100)?,
            0x140..0x1c0 => self.find(Family::Vop1, code - 0x140)?,
            _ => self.find(Family::Vop3, code)?,
        };
        let mut inst = Self::blank(info, Format::Vop3, 8);
        inst.compare = if code < 0x100 { code as u8 } else { 0 };
        if (0..3).any(|at| info.sig.source(at) == Some(Kind::Literal)) {
            return Err(self.unknown());
        }
        let number = bits(self.word, 0, 8);
        inst.mods = VectorMods {
            abs: bits(self.word, 8, 3) as u8,
            neg: bits(high, 29, 3) as u8,
            op_sel: bits(self.word, 11, 4) as u8,
            omod: bits(high, 27, 2) as u8,
            clamp: bit(self.word, 15),
            ..VectorMods::default()
        };
        if info.family == Family::Vopc || info.op == Op::V_READLANE_B32 {
            inst.dst = Operand(number as u16);
        } else if info.family == Family::Vop1 {
            self.vop1_operands(&mut inst, number, 0);
        } else {
            inst.dst = Operand::vgpr(number as u16);
        }
        if info.sig.result(1).is_some() {
            inst.sdst = Operand(bits(self.word, 8, 7) as u16);
            inst.mods.abs = 0;
            inst.mods.op_sel = 0;
        }
        for at in 0..info.sig.sources() {
            let operand = Operand(bits(high, 9 * at as u32, 9) as u16);
            inst.src[at] = operand;
            self.check(operand)?;
            if operand.is_literal() {
                return Err(self.unknown());
            }
        }
        Ok(inst)
    }

    fn vop3p(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Vop3p, bits(self.word, 16, 7))?;
        let high = self.next(1)?;
        if info.op == Op::V_MFMA_LD_SCALE_B32 {
            return self.scaled(high);
        }
        let is_matrix = info.upper.starts_with("V_MFMA") || info.upper.starts_with("V_SMFMAC");
        let moves = matches!(info.op, Op::V_ACCVGPR_READ_B32 | Op::V_ACCVGPR_WRITE_B32);
        let mut inst = Self::blank(info, Format::Vop3p, 8);
        let number = bits(self.word, 0, 8) as u16;
        for at in 0..info.sig.sources() {
            let operand = Operand(bits(high, 9 * at as u32, 9) as u16);
            self.check(operand)?;
            if operand.is_literal() {
                return Err(self.unknown());
            }
            inst.src[at] = operand;
        }
        inst.dst = Operand::vgpr(number);
        if is_matrix || moves {
            inst.format = Format::Mai;
            self.matrix_operands(&mut inst, high, moves);
        } else {
            inst.mods = VectorMods {
                neg: bits(high, 29, 3) as u8,
                neg_hi: bits(self.word, 8, 3) as u8,
                op_sel: bits(self.word, 11, 3) as u8,
                op_sel_hi: (bits(high, 27, 2) | bits(self.word, 14, 1) << 2) as u8,
                clamp: bit(self.word, 15),
                ..VectorMods::default()
            };
        }
        Ok(inst)
    }

    fn matrix_operands(&self, inst: &mut Inst, high: u32, moves: bool) {
        let acc = |operand: Operand| match operand.0 {
            256..=511 => Operand(operand.0 + 256),
            _ => operand,
        };
        if moves {
            if inst.op == Op::V_ACCVGPR_READ_B32 {
                inst.src[0] = acc(inst.src[0]);
            } else {
                inst.dst = acc(inst.dst);
            }
            return;
        }
        for at in 0..2 {
            if bit(high, 27 + at as u32) {
                inst.src[at] = acc(inst.src[at]);
            }
        }
        if bit(self.word, 15) {
            inst.dst = acc(inst.dst);
            if !inst.info().upper.starts_with("V_SMFMAC") {
                inst.src[2] = acc(inst.src[2]);
            }
        }
        inst.matrix.cbsz = bits(self.word, 8, 3) as u8;
        inst.matrix.abid = bits(self.word, 11, 4) as u8;
        inst.matrix.blgp = bits(high, 29, 3) as u8;
    }

    /// Two instructions in one: block scales, and the matrix operation that uses them.
    fn scaled(&self, high: u32) -> Result<Inst, DecodeError> {
        let rest = Decoder {
            bytes: self.bytes.get(8..).ok_or(DecodeError::Truncated)?,
            word: self.next(2)?,
            arch: self.arch,
            index: self.index,
        };
        let follows =
            bits(rest.word, 23, 9) == 0b1_1010_0111 && matches!(bits(rest.word, 16, 7), 45 | 46);
        if !follows {
            return Err(self.unknown());
        }
        let mut inst = rest.vop3p()?;
        inst.size = 16;
        inst.matrix.scaled = true;
        for at in 0..2 {
            let operand = Operand(bits(high, 9 * at as u32, 9) as u16);
            self.check(operand)?;
            inst.matrix.scale[at] = operand;
            let low = bits(self.word, 11 + at as u32, 1);
            inst.matrix.scale_sel[at] = (low | bits(high, 27 + at as u32, 1) << 1) as u8;
        }
        Ok(inst)
    }

    fn ds(&self) -> Result<Inst, DecodeError> {
        let info = self.find(Family::Ds, bits(self.word, 17, 8))?;
        let high = self.next(1)?;
        let mut inst = Self::blank(info, Format::Ds, 8);
        let acc = bit(self.word, 25);
        let data = |number: u32| {
            if acc {
                Operand::agpr(number as u16)
            } else {
                Operand::vgpr(number as u16)
            }
        };
        inst.memory.gds = bit(self.word, 16);
        if info.upper.contains("2_") || info.upper.contains("2ST64") {
            inst.memory.offset = bits(self.word, 0, 8) as i32;
            inst.memory.offset1 = bits(self.word, 8, 8) as u8;
        } else {
            inst.memory.offset = bits(self.word, 0, 16) as i32;
        }
        if info.sig.result(0).is_some() {
            inst.dst = data(bits(high, 24, 8));
        }
        let fields = [bits(high, 0, 8), bits(high, 8, 8), bits(high, 16, 8)];
        for (at, field) in fields.into_iter().enumerate() {
            match info.sig.source(at) {
                Some(Kind::B32) => inst.src[at] = Operand::vgpr(field as u16),
                Some(_) => inst.src[at] = data(field),
                None => {}
            }
        }
        if info.op == Op::DS_WRITE_ADDTID_B32 {
            inst.src = [Operand::NONE; 4];
            inst.src[1] = data(fields[1]);
        }
        Ok(inst)
    }

    fn flat(&self) -> Result<Inst, DecodeError> {
        let code = bits(self.word, 18, 7);
        let (format, family) = match bits(self.word, 14, 2) {
            0 => (Format::Flat, Family::Vmem),
            1 => (Format::Scratch, Family::Vmem),
            2 if matches!(code, 38..=42 | 125 | 126) => (Format::Global, Family::Global),
            2 => (Format::Global, Family::Vmem),
            _ => return Err(self.unknown()),
        };
        let info = self.find(family, code)?;
        if format == Format::Scratch && code >= 64 {
            return Err(self.unknown());
        }
        let high = self.next(1)?;
        let mut inst = Self::blank(info, format, 8);
        let offset = bits(self.word, 0, 13);
        inst.memory.offset = if format == Format::Flat {
            bits(offset, 0, 12) as i32
        } else {
            sign_extend(offset, 13)
        };
        inst.memory.cache = self.cache(16, 17, 25);
        inst.memory.lds = family == Family::Global;
        let acc = bit(high, 23);
        let data = |number: u32| {
            if acc {
                Operand::agpr(number as u16)
            } else {
                Operand::vgpr(number as u16)
            }
        };
        let address = Operand::vgpr(bits(high, 0, 8) as u16);
        let base = bits(high, 16, 7);
        if format != Format::Flat && base != 0x7f {
            inst.src[2] = Operand(base as u16);
        }
        let in_vector = match format {
            // Scratch takes its address from a register when bit 13 says so.
            Format::Scratch => bit(self.word, 13),
            _ => true,
        };
        if in_vector {
            inst.src[0] = address;
        }
        self.vmem_data(&mut inst, data(bits(high, 8, 8)), data(bits(high, 24, 8)));
        Ok(inst)
    }

    fn cache(&self, sc0: u32, nt: u32, sc1: u32) -> u8 {
        (bits(self.word, sc0, 1) | bits(self.word, nt, 1) << 1 | bits(self.word, sc1, 1) << 2) as u8
    }

    /// Data and result: an atomic returns only with `sc0`.
    fn vmem_data(&self, inst: &mut Inst, data: Operand, result: Operand) {
        let sig = inst.info().sig;
        let atomic = inst.info().upper.starts_with("ATOMIC");
        if sig.source(0).is_some() {
            inst.src[1] = data;
        }
        if sig.result(0).is_some() && (!atomic || inst.memory.cache & 1 != 0) {
            inst.dst = result;
        }
    }

    fn mubuf(&self) -> Result<Inst, DecodeError> {
        let code = bits(self.word, 18, 7);
        let info = match self.find(Family::Mubuf, code) {
            Ok(info) => info,
            Err(_) => self.find(Family::Vmem, code)?,
        };
        let high = self.next(1)?;
        let mut inst = Self::blank(info, Format::Mubuf, 8);
        inst.memory = MemoryMods {
            offset: bits(self.word, 0, 12) as i32,
            cache: self.cache(14, 17, 15),
            offen: bit(self.word, 12),
            idxen: bit(self.word, 13),
            lds: bit(self.word, 16),
            ..MemoryMods::default()
        };
        if matches!(info.op, Op::WBL2 | Op::INV) {
            return Ok(inst);
        }
        if inst.memory.offen || inst.memory.idxen {
            inst.src[0] = Operand::vgpr(bits(high, 0, 8) as u16);
        }
        inst.src[2] = Operand(bits(high, 16, 5) as u16 * 4);
        inst.src[3] = Operand(bits(high, 24, 8) as u16);
        self.check(inst.src[3])?;
        let number = bits(high, 8, 8) as u16;
        let data = if bit(high, 23) {
            Operand::agpr(number)
        } else {
            Operand::vgpr(number)
        };
        self.vmem_data(&mut inst, data, data);
        if inst.memory.lds {
            inst.dst = Operand::NONE;
        }
        Ok(inst)
    }
}

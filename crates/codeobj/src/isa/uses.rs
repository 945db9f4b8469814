//! Which registers an instruction reads and writes.

use super::operand::{Kind, Operand};
use super::table::{Family, Op};
use super::{Format, Inst};

/// Runs of registers: the first and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    reads: [(Operand, u8); 6],
    writes: [(Operand, u8); 3],
    n_reads: u8,
    n_writes: u8,
}

impl Uses {
    fn new() -> Self {
        Self {
            reads: [(Operand::NONE, 0); 6],
            writes: [(Operand::NONE, 0); 3],
            n_reads: 0,
            n_writes: 0,
        }
    }

    /// Runs that are read.
    #[must_use]
    pub fn reads(&self) -> &[(Operand, u8)] {
        &self.reads[..usize::from(self.n_reads)]
    }

    /// Runs that are written.
    #[must_use]
    pub fn writes(&self) -> &[(Operand, u8)] {
        &self.writes[..usize::from(self.n_writes)]
    }

    fn read(&mut self, operand: Operand, count: u8) {
        if count > 0 && (operand.is_vector() || operand.scalar_index().is_some()) {
            self.reads[usize::from(self.n_reads)] = (operand, count);
            self.n_reads += 1;
        }
    }

    fn write(&mut self, operand: Operand, count: u8) {
        if count > 0 && (operand.is_vector() || operand.scalar_index().is_some()) {
            self.writes[usize::from(self.n_writes)] = (operand, count);
            self.n_writes += 1;
        }
    }
}

/// What the sources of a comparison are, by its opcode.
const fn compare_kind(code: u8) -> Kind {
    match code {
        0x14 | 0x15 | 0x20..=0x3f => Kind::F16,
        0x10 | 0x11 | 0x40..=0x5f => Kind::F32,
        0x12 | 0x13 | 0x60..=0x7f => Kind::F64,
        0xa0..=0xbf => Kind::I16,
        0xe0..=0xff => Kind::B64,
        _ => Kind::B32,
    }
}

impl Inst {
    /// What source `index` is taken for.
    #[must_use]
    pub fn source_kind(&self, index: usize) -> Option<Kind> {
        if self.info().family == Family::Vopc {
            let class = matches!(self.op, Op::V_CMP_CLASS | Op::V_CMPX_CLASS);
            return match index {
                0 => Some(compare_kind(self.compare)),
                1 if class => Some(Kind::B32),
                1 => Some(compare_kind(self.compare)),
                _ => None,
            };
        }
        let narrow = matches!(
            self.op,
            Op::V_MFMA_F32_16X16X128_F8F6F4 | Op::V_MFMA_F32_32X32X64_F8F6F4
        );
        match (narrow, index) {
            (true, 0) => Some(Kind::Wide(format_registers(self.matrix.cbsz))),
            (true, 1) => Some(Kind::Wide(format_registers(self.matrix.blgp))),
            _ => self.info().sig.source(index),
        }
    }

    /// How many registers the data of a memory operation takes: stored, and loaded.
    #[must_use]
    pub fn data_dwords(&self) -> (u8, u8) {
        let sig = self.info().sig;
        let width = |kind: Option<Kind>| kind.map_or(0, Kind::dwords);
        match self.format {
            Format::Ds => (width(sig.source(1)), width(sig.result(0))),
            _ => (width(sig.source(0)), width(sig.result(0))),
        }
    }

    /// How many registers the vector address of a memory operation takes.
    #[must_use]
    pub fn address_dwords(&self) -> u8 {
        match self.format {
            Format::Flat => 2,
            Format::Global => 1 + u8::from(!self.src[2].is_some()),
            Format::Mubuf => u8::from(self.memory.idxen) + u8::from(self.memory.offen),
            _ => 1,
        }
    }

    /// The registers it reads and writes.
    #[must_use]
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::new();
        match self.format {
            Format::Smem => self.smem_uses(&mut uses),
            Format::Ds => self.ds_uses(&mut uses),
            Format::Flat | Format::Global | Format::Scratch | Format::Mubuf => {
                self.vmem_uses(&mut uses);
            }
            _ => self.alu_uses(&mut uses),
        }
        uses
    }

    fn alu_uses(&self, uses: &mut Uses) {
        let sig = self.info().sig;
        for at in 0..3 {
            // The second field tells operands, not a register.
            if self.op == Op::S_SET_GPR_IDX_ON && at == 1 {
                continue;
            }
            if let Some(kind) = self.source_kind(at) {
                uses.read(self.src[at], kind.dwords());
            }
        }
        let result = sig.result(0).map_or(0, Kind::dwords);
        if self.info().reads_result && self.dst.is_some() {
            uses.read(self.dst, result);
        }
        uses.write(self.dst, result);
        uses.write(self.sdst, 2);
        if self.matrix.scaled {
            for scale in self.matrix.scale {
                uses.read(scale, 1);
            }
        }
        match self.op {
            Op::V_DIV_FMAS_F32 | Op::V_DIV_FMAS_F64 => uses.read(Operand::VCC, 2),
            Op::S_CBRANCH_VCCZ | Op::S_CBRANCH_VCCNZ => uses.read(Operand::VCC, 2),
            Op::V_CMPX | Op::V_CMPX_CLASS => uses.write(Operand::EXEC, 2),
            Op::V_SWAP_B32 | Op::V_PERMLANE16_SWAP_B32 | Op::V_PERMLANE32_SWAP_B32 => {
                uses.write(self.src[0], 1);
            }
            _ => {}
        }
    }

    fn smem_uses(&self, uses: &mut Uses) {
        let buffer = self.info().upper.contains("BUFFER");
        uses.read(self.src[0], if buffer { 4 } else { 2 });
        uses.read(self.src[1], 1);
        let (stored, loaded) = self.data_dwords();
        uses.read(self.src[2], stored);
        uses.write(self.dst, loaded);
    }

    fn ds_uses(&self, uses: &mut Uses) {
        let (stored, loaded) = self.data_dwords();
        uses.read(self.src[0], 1);
        uses.read(self.src[1], stored.max(1));
        uses.read(self.src[2], stored.max(1));
        if self.info().reads_result {
            uses.read(self.dst, loaded);
        }
        uses.write(self.dst, loaded);
        if self.info().upper.contains("ADDTID") {
            uses.read(Operand::M0, 1);
        }
    }

    fn vmem_uses(&self, uses: &mut Uses) {
        let (stored, loaded) = self.data_dwords();
        uses.read(self.src[0], self.address_dwords());
        uses.read(self.src[1], stored);
        uses.read(self.src[2], self.base_dwords());
        uses.read(self.src[3], 1);
        if self.info().reads_result {
            uses.read(self.dst, loaded);
        }
        uses.write(self.dst, loaded);
        if self.memory.lds {
            uses.read(Operand::M0, 1);
        }
    }

    /// How many registers the scalar base of a memory operation takes.
    #[must_use]
    pub fn base_dwords(&self) -> u8 {
        match self.format {
            Format::Mubuf => 4,
            Format::Scratch => 1,
            _ => 2,
        }
    }
}

/// Registers of 128 elements of a format over 64 lanes and a row of 16, as
/// `cbsz` and `blgp` name formats: fp8, bf8, fp6, bf6, fp4.
const fn format_registers(format: u8) -> u8 {
    match format {
        0 | 1 => 8,
        2 | 3 => 6,
        _ => 4,
    }
}

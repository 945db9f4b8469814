//! Operations that move values between lanes or between vector and scalar
//! registers, and those that make a second result.

use cairn_codeobj::isa::{Inst, Kind, Op};

use super::{Machine, Scratch};
use crate::float::{div_fmas32, div_fmas64, div_scale32, div_scale64, fma32, fma64};
use crate::program::Step;
use crate::wave::{Lanes, Wave};

/// Which lane each lane reads.
#[derive(Debug)]
pub(crate) struct DppPlan {
    source: [u8; 64],
    /// Lanes that have a source.
    valid: u64,
    /// Lanes of the rows and banks that take part.
    pub(crate) enabled: u64,
    /// Lanes without a source read zero instead of keeping their result.
    pub(crate) zeroes: bool,
}

impl DppPlan {
    pub(crate) fn of(inst: &Inst) -> Option<Box<Self>> {
        let dpp = inst.dpp?;
        let mut plan = Self {
            source: [0; 64],
            valid: 0,
            enabled: 0,
            zeroes: dpp.bound_ctrl,
        };
        for lane in 0..64u32 {
            if let Some(source) = source_lane(dpp.ctrl, lane) {
                plan.source[lane as usize] = source as u8;
                plan.valid |= 1 << lane;
            }
            let (row, bank) = (lane / 16, lane % 16 / 4);
            if dpp.row_mask >> row & 1 != 0 && dpp.bank_mask >> bank & 1 != 0 {
                plan.enabled |= 1 << lane;
            }
        }
        Some(Box::new(plan))
    }

    /// Moves the lanes of an operand; gives the lanes that have no source.
    /// `others` are the lanes in which the other operands hold something.
    pub(super) fn permute(
        &self,
        operand: &mut [Lanes; 2],
        kind: Kind,
        exec: u64,
        defined: &mut u64,
        others: u64,
    ) -> u64 {
        let mut invalid = !self.valid;
        let known = *defined;
        let mut moved = u64::MAX;
        for lane in 0..64 {
            let source = self.source[lane];
            if exec >> source & 1 == 0 {
                invalid |= 1 << lane;
            }
            if invalid >> lane & 1 == 0 && known >> source & 1 == 0 && others >> source & 1 != 0 {
                moved &= !(1 << lane);
            }
        }
        for lanes in &mut operand[..usize::from(kind.dwords().min(2))] {
            let old = *lanes;
            for lane in 0..64 {
                let value = old[usize::from(self.source[lane])];
                lanes[lane] = if invalid >> lane & 1 == 0 { value } else { 0 };
            }
        }
        *defined = moved & others;
        invalid
    }
}

/// The lane that `lane` reads under a DPP pattern.
fn source_lane(ctrl: u16, lane: u32) -> Option<u32> {
    let (row, at) = (lane & !15, lane & 15);
    let count = u32::from(ctrl & 15);
    match ctrl {
        0..=0xff => Some(lane & !3 | u32::from(ctrl) >> (2 * (lane & 3)) & 3),
        0x101..=0x10f => (at + count < 16).then(|| lane + count),
        0x111..=0x11f => (at >= count).then(|| lane - count),
        0x121..=0x12f => Some(row | (at + 16 - count) & 15),
        0x130 => (lane < 63).then(|| lane + 1),
        0x134 => Some((lane + 1) & 63),
        0x138 => (lane > 0).then(|| lane - 1),
        0x13c => Some((lane + 63) & 63),
        0x140 => Some(row | (15 - at)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 => (lane >= 16).then(|| row - 1),
        0x143 => (lane >= 32).then_some(31),
        0x150..=0x15f => Some(row | count),
        _ => None,
    }
}

pub(super) fn is_supported(inst: &Inst) -> bool {
    if inst.dpp.is_some() || inst.sdwa.is_some() {
        return false;
    }
    matches!(
        inst.op,
        Op::V_NOP
            | Op::V_READFIRSTLANE_B32
            | Op::V_READLANE_B32
            | Op::V_WRITELANE_B32
            | Op::V_SWAP_B32
            | Op::V_PERMLANE16_SWAP_B32
            | Op::V_PERMLANE32_SWAP_B32
            | Op::V_DIV_SCALE_F32
            | Op::V_DIV_SCALE_F64
            | Op::V_DIV_FMAS_F32
            | Op::V_DIV_FMAS_F64
            | Op::V_MAD_U64_U32
            | Op::V_MAD_I64_I32
            | Op::V_PK_MOV_B32
    )
}

impl Machine<'_> {
    pub(super) fn cross(&mut self, wave: &mut Wave, step: &Step) {
        let inst = &step.inst;
        match inst.op {
            Op::V_NOP => {}
            Op::V_READFIRSTLANE_B32 => {
                let exec = wave.exec();
                let lane = if exec == 0 { 0 } else { exec.trailing_zeros() };
                read_lane(wave, inst, lane);
            }
            Op::V_READLANE_B32 => {
                let lane = wave.scalar(inst, inst.src[1], Kind::B32) as u32 & 63;
                let undefined = wave.scalar_undefined(inst.src[1], Kind::B32);
                self.need_defined(wave, 1, u64::from(undefined == 0), "the number of a lane");
                read_lane(wave, inst, lane);
            }
            Op::V_WRITELANE_B32 => write_lane(wave, inst),
            Op::V_SWAP_B32 => swap(wave, inst, |_| None),
            Op::V_PERMLANE16_SWAP_B32 => swap_rows(wave, inst, 16),
            Op::V_PERMLANE32_SWAP_B32 => swap_rows(wave, inst, 32),
            Op::V_PK_MOV_B32 => self.pk_mov(wave, inst),
            _ => self.second_result(wave, inst),
        }
    }

    fn pk_mov(&mut self, wave: &mut Wave, inst: &Inst) {
        let mask = wave.exec();
        let Some(to) = inst.dst.vector_index() else {
            return;
        };
        let mut known = [u64::MAX; 2];
        for at in 0..2 {
            let half = usize::from(inst.mods.op_sel >> at & 1);
            wave.fetch(
                inst,
                inst.src[at],
                Kind::B64,
                half,
                &mut self.scratch.out[at],
            );
            if let Some(index) = inst.src[at].vector_index() {
                known[at] = wave.shadow.defined[index + half];
            }
        }
        for at in 0..2 {
            self.level
                .merge(&self.scratch.out[at], mask, &mut wave.v[to + at]);
            wave.define(to + at, mask, known[at]);
        }
    }

    /// `v_div_scale`, `v_div_fmas` and `v_mad_u64_u32`.
    fn second_result(&mut self, wave: &mut Wave, inst: &Inst) {
        let mask = wave.exec();
        let sig = inst.info().sig;
        let kinds = [0, 1, 2].map(|at| sig.source(at).unwrap_or(Kind::B32));
        let (mut defined, mut low_defined) = (u64::MAX, u64::MAX);
        for at in 0..3 {
            for dword in 0..usize::from(kinds[at].dwords()) {
                wave.fetch(
                    inst,
                    inst.src[at],
                    kinds[at],
                    dword,
                    &mut self.scratch.src[at][dword],
                );
            }
            defined &= wave.defined(inst.src[at], kinds[at].dwords());
            low_defined &= wave.defined(inst.src[at], 1);
            self.apply_signs(inst, at, kinds[at]);
        }
        let fmas = matches!(inst.op, Op::V_DIV_FMAS_F32 | Op::V_DIV_FMAS_F64);
        let vcc = wave.vcc();
        if fmas {
            defined &= !wave.scalar_undefined(cairn_codeobj::isa::Operand::VCC, Kind::Mask);
        }
        let Scratch { src, out, .. } = &mut *self.scratch;
        let wide = |at: usize, lane: usize| {
            u64::from(src[at][0][lane]) | u64::from(src[at][1][lane]) << 32
        };
        let mut made = 0u64;
        for lane in 0..64 {
            let (a, b, c) = (src[0][0][lane], src[1][0][lane], src[2][0][lane]);
            let back = vcc >> lane & 1 != 0;
            let (value, flag) = match inst.op {
                Op::V_DIV_SCALE_F32 => {
                    let (value, flag) = div_scale32(a, b, c);
                    (u64::from(value), flag)
                }
                Op::V_DIV_SCALE_F64 => div_scale64(wide(0, lane), wide(1, lane), wide(2, lane)),
                Op::V_DIV_FMAS_F32 if back => (u64::from(div_fmas32(a, b, c)), false),
                Op::V_DIV_FMAS_F32 => (u64::from(fma32(a, b, c)), false),
                Op::V_DIV_FMAS_F64 => {
                    let [x, y, z] = [0, 1, 2].map(|at| wide(at, lane));
                    let function = if back { div_fmas64 } else { fma64 };
                    (function(x, y, z), false)
                }
                Op::V_MAD_U64_U32 => (u64::from(a) * u64::from(b)).overflowing_add(wide(2, lane)),
                _ => {
                    let product = i64::from(a as i32) * i64::from(b as i32);
                    let (sum, overflow) = product.overflowing_add(wide(2, lane) as i64);
                    (sum as u64, overflow)
                }
            };
            out[0][lane] = value as u32;
            out[1][lane] = (value >> 32) as u32;
            made |= u64::from(flag) << lane;
        }
        // Nothing of the high half of a sum comes into its low half, and
        // compilers leave it undefined where they want the low half only.
        let sum = matches!(inst.op, Op::V_MAD_U64_U32 | Op::V_MAD_I64_I32);
        let count = sig.result(0).map_or(1, Kind::dwords);
        if let Some(index) = inst.dst.vector_index() {
            for dword in 0..usize::from(count) {
                self.level
                    .merge(&out[dword], mask, &mut wave.v[index + dword]);
                wave.define(
                    index + dword,
                    mask,
                    if sum && dword == 0 {
                        low_defined
                    } else {
                        defined
                    },
                );
            }
        }
        if inst.sdst.is_some() {
            self.write_mask(wave, inst.sdst, made, mask, defined);
        }
    }

    fn apply_signs(&mut self, inst: &Inst, at: usize, kind: Kind) {
        let (abs, neg) = (inst.mods.abs >> at & 1 != 0, inst.mods.neg >> at & 1 != 0);
        let dword = match kind {
            Kind::F32 => 0,
            Kind::F64 => 1,
            _ => return,
        };
        for lane in &mut self.scratch.src[at][dword] {
            let x = if abs { *lane & 0x7fff_ffff } else { *lane };
            *lane = if neg { x ^ 0x8000_0000 } else { x };
        }
    }
}

fn read_lane(wave: &mut Wave, inst: &Inst, lane: u32) {
    let (value, undefined) = match inst.src[0].vector_index() {
        Some(index) => {
            let known = wave.shadow.defined[index] >> lane & 1 != 0;
            let undefined = if known { 0 } else { 0xffff_ffff };
            (u64::from(wave.v[index][lane as usize]), undefined)
        }
        None => (
            wave.scalar(inst, inst.src[0], Kind::B32),
            wave.scalar_undefined(inst.src[0], Kind::B32),
        ),
    };
    wave.write_scalar(inst.dst, 1, value, undefined);
}

fn write_lane(wave: &mut Wave, inst: &Inst) {
    let value = wave.scalar(inst, inst.src[0], Kind::B32) as u32;
    let lane = wave.scalar(inst, inst.src[1], Kind::B32) as usize & 63;
    let known = wave.scalar_undefined(inst.src[0], Kind::B32) == 0;
    if let Some(index) = inst.dst.vector_index() {
        wave.v[index][lane] = value;
        wave.define(index, 1 << lane, if known { u64::MAX } else { 0 });
    }
}

/// Exchanges the lanes of two registers; `partner` names the lane of the
/// second register that a lane of the first one changes with.
fn swap(wave: &mut Wave, inst: &Inst, partner: impl Fn(usize) -> Option<usize>) {
    let (Some(a), Some(b)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
        return;
    };
    let exec = wave.exec();
    let known = [wave.shadow.defined[a], wave.shadow.defined[b]];
    let (mut x, mut y) = (wave.v[a], wave.v[b]);
    for lane in (0..64).filter(|lane| exec >> lane & 1 != 0) {
        let other = partner(lane).unwrap_or(lane);
        std::mem::swap(&mut x[lane], &mut y[other]);
        wave.define(
            a,
            1 << lane,
            if known[1] >> other & 1 != 0 {
                u64::MAX
            } else {
                0
            },
        );
        wave.define(
            b,
            1 << other,
            if known[0] >> lane & 1 != 0 {
                u64::MAX
            } else {
                0
            },
        );
    }
    wave.v[a] = x;
    wave.v[b] = y;
}

/// Exchanges the odd rows of the first register with the even rows of the second.
fn swap_rows(wave: &mut Wave, inst: &Inst, row: usize) {
    let (Some(a), Some(b)) = (inst.dst.vector_index(), inst.src[0].vector_index()) else {
        return;
    };
    let exec = wave.exec();
    let known = [wave.shadow.defined[a], wave.shadow.defined[b]];
    let (mut x, mut y) = (wave.v[a], wave.v[b]);
    for lane in (0..64).filter(|lane| lane / row % 2 == 1) {
        let other = lane - row;
        if exec >> lane & 1 == 0 || exec >> other & 1 == 0 {
            continue;
        }
        std::mem::swap(&mut x[lane], &mut y[other]);
        wave.define(
            a,
            1 << lane,
            if known[1] >> other & 1 != 0 {
                u64::MAX
            } else {
                0
            },
        );
        wave.define(
            b,
            1 << other,
            if known[0] >> lane & 1 != 0 {
                u64::MAX
            } else {
                0
            },
        );
    }
    wave.v[a] = x;
    wave.v[b] = y;
}

#[cfg(test)]
mod tests {
    use super::source_lane;

    #[test]
    fn patterns_read_the_lanes_of_the_documents() {
        assert_eq!(
            source_lane(0b00_01_10_11, 4),
            Some(7),
            "quad_perm:[3,2,1,0]"
        );
        assert_eq!(source_lane(0x101, 14), Some(15), "row_shl:1");
        assert_eq!(source_lane(0x101, 15), None);
        assert_eq!(source_lane(0x111, 16), None, "row_shr:1");
        assert_eq!(source_lane(0x111, 17), Some(16));
        assert_eq!(source_lane(0x121, 16), Some(31), "row_ror:1");
        assert_eq!(source_lane(0x138, 0), None, "wave_shr:1");
        assert_eq!(source_lane(0x140, 17), Some(30), "row_mirror");
        assert_eq!(source_lane(0x141, 17), Some(22), "row_half_mirror");
        assert_eq!(source_lane(0x142, 40), Some(31), "row_bcast:15");
        assert_eq!(source_lane(0x142, 15), None);
        assert_eq!(source_lane(0x143, 40), Some(31), "row_bcast:31");
        assert_eq!(source_lane(0x153, 40), Some(35), "row_newbcast:3");
    }
}

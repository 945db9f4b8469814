//! Instructions as text, in the syntax of LLVM's assembler.

use std::fmt;

use super::operand::{INLINE_FLOATS, Kind, Operand};
use super::table::{Family, Op};
use super::{Dpp, Format, Inst, Sdwa, info_of};

/// A run of registers, or a constant.
pub(super) struct Span(pub(super) Operand, pub(super) u8);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(operand, count) = *self;
        let number = operand.0;
        let mut run = |letter: &str, first: u16| {
            if count == 1 {
                write!(f, "{letter}{first}")
            } else {
                write!(f, "{letter}[{first}:{}]", first + u16::from(count) - 1)
            }
        };
        match number {
            0..=101 => run("s", number),
            108..=123 => run("ttmp", number - 108),
            256..=511 => run("v", number - 256),
            512..=767 => run("a", number - 512),
            _ => f.write_str(&special(operand, count)),
        }
    }
}

fn special(operand: Operand, count: u8) -> String {
    let pair = |name: &str| match (count, operand.0 % 2) {
        (1, 0) => format!("{name}_lo"),
        (1, _) => format!("{name}_hi"),
        _ => name.to_owned(),
    };
    if let Some(value) = operand.inline_int() {
        return value.to_string();
    }
    if let Some(at) = operand.inline_float() {
        return INLINE_FLOATS[at].3.to_owned();
    }
    match operand.0 {
        102 | 103 => pair("flat_scratch"),
        104 | 105 => pair("xnack_mask"),
        106 | 107 => pair("vcc"),
        124 => "m0".to_owned(),
        126 | 127 => pair("exec"),
        235 => "src_shared_base".to_owned(),
        236 => "src_shared_limit".to_owned(),
        237 => "src_private_base".to_owned(),
        238 => "src_private_limit".to_owned(),
        239 => "src_pops_exiting_wave_id".to_owned(),
        251 => "src_vccz".to_owned(),
        252 => "src_execz".to_owned(),
        253 => "src_scc".to_owned(),
        other => format!("operand_{other}"),
    }
}

pub(super) fn base_name(inst: &Inst) -> String {
    let info = inst.info();
    let lower = info.upper.to_ascii_lowercase();
    let prefix = match inst.format {
        Format::Flat => "flat_",
        Format::Global => "global_",
        Format::Scratch => "scratch_",
        Format::Mubuf => "buffer_",
        _ => "",
    };
    if info.family == Family::Vopc {
        return compare_name(inst);
    }
    if inst.matrix.scaled {
        return lower.replace("v_mfma_", "v_mfma_scale_");
    }
    format!("{prefix}{lower}")
}

const FLOAT_RELATIONS: [&str; 16] = [
    "f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt",
    "tru",
];
const INT_RELATIONS: [&str; 8] = ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"];

fn compare_name(inst: &Inst) -> String {
    let code = usize::from(inst.compare);
    let exec = matches!(inst.op, Op::V_CMPX | Op::V_CMPX_CLASS);
    let head = if exec { "v_cmpx" } else { "v_cmp" };
    if code < 0x20 {
        let kind = ["f32", "f64", "f16"][(code - 0x10) / 2 % 3];
        return format!("{head}_class_{kind}");
    }
    if code < 0x80 {
        let kind = ["f16", "f32", "f64"][(code - 0x20) / 32];
        return format!("{head}_{}_{kind}", FLOAT_RELATIONS[code % 16]);
    }
    let kind = match (code >> 5, code & 8) {
        (5, 0) => "i16",
        (5, _) => "u16",
        (6, 0) => "i32",
        (6, _) => "u32",
        (_, 0) => "i64",
        _ => "u64",
    };
    format!("{head}_{}_{kind}", INT_RELATIONS[code % 8])
}

/// Operations of VOP1 and VOP2 that are written without a suffix.
fn has_no_suffix(op: Op) -> bool {
    matches!(
        op,
        Op::V_NOP
            | Op::V_READFIRSTLANE_B32
            | Op::V_SWAP_B32
            | Op::V_ACCVGPR_MOV_B32
            | Op::V_CLREXCP
            | Op::V_FMAMK_F32
            | Op::V_FMAAK_F32
            | Op::V_MADMK_F16
            | Op::V_MADAK_F16
            | Op::V_PERMLANE16_SWAP_B32
            | Op::V_PERMLANE32_SWAP_B32
    )
}

pub(super) fn mnemonic(inst: &Inst) -> String {
    let mut name = base_name(inst);
    let family = inst.info().family;
    if !matches!(family, Family::Vop1 | Family::Vop2 | Family::Vopc) {
        return name;
    }
    let suffix = match inst.format {
        _ if inst.dpp.is_some() => "_dpp",
        _ if inst.sdwa.is_some() => "_sdwa",
        Format::Vop3 if has_no_suffix(inst.op) && inst.op != Op::V_PERMLANE16_SWAP_B32 => "_e64",
        Format::Vop3 => "_e64",
        _ if has_no_suffix(inst.op) && !name.contains("permlane") => "",
        _ => "_e32",
    };
    if inst.op == Op::V_READFIRSTLANE_B32 || inst.op == Op::V_CLREXCP && suffix == "_e32" {
        return name;
    }
    name.push_str(suffix);
    name
}

/// Writes operands with commas between.
struct List<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    first: bool,
}

impl List<'_, '_> {
    fn push(&mut self, item: impl fmt::Display) -> fmt::Result {
        let separator = if self.first { " " } else { ", " };
        self.first = false;
        write!(self.f, "{separator}{item}")
    }
}

pub(super) fn write(f: &mut fmt::Formatter<'_>, inst: &Inst) -> fmt::Result {
    f.write_str(&mnemonic(inst))?;
    let mut list = List { f, first: true };
    match inst.format {
        Format::Sopp => sopp(&mut list, inst),
        Format::Sopk => sopk(&mut list, inst),
        Format::Sop1 | Format::Sop2 | Format::Sopc => scalar(&mut list, inst),
        Format::Smem => smem(&mut list, inst),
        Format::Ds => ds(&mut list, inst),
        Format::Flat | Format::Global | Format::Scratch => flat(&mut list, inst),
        Format::Mubuf => mubuf(&mut list, inst),
        Format::Mai => matrix(&mut list, inst),
        _ => vector(&mut list, inst),
    }
}

fn literal_or(inst: &Inst, operand: Operand, count: u8) -> String {
    if operand.is_literal() {
        format!("{:#x}", inst.literal)
    } else {
        Span(operand, count).to_string()
    }
}

fn sopp(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let imm = inst.imm;
    match inst.op {
        Op::S_WAITCNT => {
            let (vm, exp, lgkm) = wait_counts(imm);
            let mut parts = Vec::new();
            if vm != 63 {
                parts.push(format!("vmcnt({vm})"));
            }
            if exp != 7 {
                parts.push(format!("expcnt({exp})"));
            }
            if lgkm != 15 {
                parts.push(format!("lgkmcnt({lgkm})"));
            }
            if parts.is_empty() {
                parts = vec![
                    format!("vmcnt({vm})"),
                    format!("expcnt({exp})"),
                    format!("lgkmcnt({lgkm})"),
                ];
            }
            list.push(parts.join(" "))
        }
        Op::S_ENDPGM if imm == 0 => Ok(()),
        Op::S_BARRIER
        | Op::S_WAKEUP
        | Op::S_ICACHE_INV
        | Op::S_TTRACEDATA
        | Op::S_ENDPGM_SAVED
        | Op::S_SET_GPR_IDX_OFF => Ok(()),
        Op::S_SENDMSG | Op::S_SENDMSGHALT => {
            let name = ["", "MSG_INTERRUPT", "MSG_GS", "MSG_GS_DONE", "MSG_SAVEWAVE"];
            match name.get(usize::from(imm)) {
                Some(name) if imm == 1 || imm == 4 => list.push(format!("sendmsg({name})")),
                _ if imm & !0x37f == 0 => list.push(format!(
                    "sendmsg({}, {}, {})",
                    imm & 15,
                    imm >> 4 & 7,
                    imm >> 8 & 3
                )),
                _ => list.push(imm),
            }
        }
        op if imm > 64 && op != Op::S_ENDPGM && !info_of(op).upper.contains("BRANCH") => {
            list.push(format!("{imm:#x}"))
        }
        _ => list.push(imm),
    }
}

/// The three counts of `s_waitcnt`: vector memory, exports, and the rest.
#[must_use]
pub fn wait_counts(imm: u16) -> (u16, u16, u16) {
    (imm & 15 | imm >> 10 & 0x30, imm >> 4 & 7, imm >> 8 & 15)
}

const HARDWARE_REGISTERS: [&str; 21] = [
    "",
    "HW_REG_MODE",
    "HW_REG_STATUS",
    "HW_REG_TRAPSTS",
    "HW_REG_HW_ID",
    "HW_REG_GPR_ALLOC",
    "HW_REG_LDS_ALLOC",
    "HW_REG_IB_STS",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "HW_REG_SH_MEM_BASES",
    "HW_REG_TBA_LO",
    "HW_REG_TBA_HI",
    "HW_REG_TMA_LO",
    "HW_REG_TMA_HI",
    "HW_REG_XCC_ID",
];

fn hardware_register(imm: u16) -> String {
    let (id, offset, width) = (imm & 63, imm >> 6 & 31, (imm >> 11) + 1);
    let name = HARDWARE_REGISTERS
        .get(usize::from(id))
        .filter(|name| !name.is_empty());
    let name = name.map_or_else(|| id.to_string(), |name| (*name).to_owned());
    if (offset, width) == (0, 32) {
        format!("hwreg({name})")
    } else {
        format!("hwreg({name}, {offset}, {width})")
    }
}

fn sopk(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    match inst.op {
        Op::S_SETREG_B32 => {
            list.push(hardware_register(inst.imm))?;
            list.push(Span(inst.src[0], 1))
        }
        Op::S_SETREG_IMM32_B32 => {
            list.push(hardware_register(inst.imm))?;
            list.push(format!("{:#x}", inst.literal))
        }
        Op::S_GETREG_B32 => {
            list.push(Span(inst.dst, 1))?;
            list.push(hardware_register(inst.imm))
        }
        Op::S_CALL_B64 => {
            list.push(Span(inst.dst, 2))?;
            list.push(inst.imm)
        }
        Op::S_CBRANCH_I_FORK => {
            list.push(Span(inst.src[0], 2))?;
            list.push(inst.imm)
        }
        _ => {
            let register = if inst.dst.is_some() {
                inst.dst
            } else {
                inst.src[0]
            };
            list.push(Span(register, 1))?;
            list.push(format!("{:#x}", inst.imm))
        }
    }
}

fn scalar(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let sig = inst.info().sig;
    if let Some(kind) = sig.result(0) {
        list.push(Span(inst.dst, kind.dwords()))?;
    }
    for at in 0..sig.sources() {
        let count = sig.source(at).map_or(1, Kind::dwords);
        if inst.op == Op::S_SET_GPR_IDX_ON && at == 1 {
            list.push(format!("{:#x}", inst.src[1].0))?;
        } else {
            list.push(literal_or(inst, inst.src[at], count))?;
        }
    }
    Ok(())
}

fn smem(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let (stored, loaded) = inst.data_dwords();
    if inst.dst.is_some() {
        list.push(Span(inst.dst, loaded))?;
    } else if inst.src[2].is_some() {
        list.push(Span(inst.src[2], stored))?;
    }
    if !inst.src[0].is_some() {
        return Ok(());
    }
    let buffer = inst.info().upper.contains("BUFFER");
    list.push(Span(inst.src[0], if buffer { 4 } else { 2 }))?;
    let offset = inst.memory.offset;
    if inst.src[1].is_some() {
        list.push(Span(inst.src[1], 1))?;
        if offset != 0 {
            write!(list.f, " offset:{}", hex(offset))?;
        }
    } else {
        list.push(hex(offset))?;
    }
    if inst.memory.cache & 1 != 0 && !inst.info().upper.contains("DCACHE") {
        list.f.write_str(" glc")?;
    }
    Ok(())
}

fn hex(value: i32) -> String {
    if value < 0 {
        format!("-{:#x}", value.unsigned_abs())
    } else {
        format!("{value:#x}")
    }
}

fn ds(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let (stored, loaded) = inst.data_dwords();
    if inst.dst.is_some() {
        list.push(Span(inst.dst, loaded))?;
    }
    for (at, count) in [1, stored.max(1), stored.max(1)].into_iter().enumerate() {
        if inst.src[at].is_some() {
            list.push(Span(inst.src[at], count))?;
        }
    }
    let two = inst.info().upper.contains("2_") || inst.info().upper.contains("2ST64");
    if two {
        if inst.memory.offset != 0 {
            write!(list.f, " offset0:{}", inst.memory.offset)?;
        }
        if inst.memory.offset1 != 0 {
            write!(list.f, " offset1:{}", inst.memory.offset1)?;
        }
    } else if inst.op == Op::DS_SWIZZLE_B32 {
        write!(list.f, " offset:{}", swizzle(inst.memory.offset as u32))?;
    } else if inst.memory.offset != 0 {
        write!(list.f, " offset:{}", inst.memory.offset)?;
    }
    if inst.memory.gds {
        list.f.write_str(" gds")?;
    }
    Ok(())
}

fn swizzle(offset: u32) -> String {
    if offset & 0x8000 != 0 {
        if offset & 0x7f00 != 0 {
            return offset.to_string();
        }
        let lane = |at: u32| offset >> (2 * at) & 3;
        return format!(
            "swizzle(QUAD_PERM,{},{},{},{})",
            lane(0),
            lane(1),
            lane(2),
            lane(3)
        );
    }
    let (and, or, xor) = (offset & 31, offset >> 5 & 31, offset >> 10 & 31);
    if and == 31 && or == 0 && xor.is_power_of_two() {
        return format!("swizzle(SWAP,{xor})");
    }
    if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        return format!("swizzle(REVERSE,{})", xor + 1);
    }
    let group = 32 - and;
    if group.is_power_of_two() && group > 1 && or < group && xor == 0 {
        return format!("swizzle(BROADCAST,{group},{or})");
    }
    let mut pattern = String::new();
    for at in (0..5).rev() {
        let bit = 1 << at;
        let with = |lane: u32| ((lane & and | or) ^ xor) & bit;
        pattern.push(match (with(0) != 0, with(31) != 0) {
            (false, false) => '0',
            (true, true) => '1',
            (false, true) => 'p',
            (true, false) => 'i',
        });
    }
    format!("swizzle(BITMASK_PERM,\"{pattern}\")")
}

fn flat(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let (stored, loaded) = inst.data_dwords();
    if inst.dst.is_some() {
        list.push(Span(inst.dst, loaded))?;
    }
    if inst.src[0].is_some() {
        list.push(Span(inst.src[0], inst.address_dwords()))?;
    } else {
        list.push("off")?;
    }
    if inst.src[1].is_some() {
        list.push(Span(inst.src[1], stored))?;
    }
    if inst.format != Format::Flat {
        if inst.src[2].is_some() {
            list.push(Span(inst.src[2], inst.base_dwords()))?;
        } else {
            list.push("off")?;
        }
    }
    if inst.memory.offset != 0 {
        write!(list.f, " offset:{}", inst.memory.offset)?;
    }
    cache(list, inst)
}

fn cache(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    for (bit, name) in [(1, " sc0"), (2, " nt"), (4, " sc1")] {
        if inst.memory.cache & bit != 0 {
            list.f.write_str(name)?;
        }
    }
    Ok(())
}

fn mubuf(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    if !inst.src[2].is_some() {
        return cache(list, inst);
    }
    let (stored, loaded) = inst.data_dwords();
    let memory = &inst.memory;
    if inst.dst.is_some() && stored == 0 {
        list.push(Span(inst.dst, loaded))?;
    } else if inst.src[1].is_some() {
        list.push(Span(inst.src[1], stored))?;
    }
    if inst.src[0].is_some() {
        list.push(Span(inst.src[0], inst.address_dwords()))?;
    } else {
        list.push("off")?;
    }
    list.push(Span(inst.src[2], 4))?;
    list.push(Span(inst.src[3], 1))?;
    for (flag, name) in [(memory.idxen, " idxen"), (memory.offen, " offen")] {
        if flag {
            list.f.write_str(name)?;
        }
    }
    if memory.offset != 0 {
        write!(list.f, " offset:{}", memory.offset)?;
    }
    cache(list, inst)?;
    if memory.lds {
        list.f.write_str(" lds")?;
    }
    Ok(())
}

fn matrix(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let sig = inst.info().sig;
    list.push(Span(inst.dst, sig.result(0).map_or(1, Kind::dwords)))?;
    for at in 0..sig.sources() {
        let count = inst.source_kind(at).map_or(1, Kind::dwords);
        list.push(Span(inst.src[at], count))?;
    }
    let mods = &inst.matrix;
    if mods.scaled {
        let sel = mods.scale_sel;
        for scale in mods.scale {
            list.push(Span(scale, 1))?;
        }
        write!(
            list.f,
            " op_sel:[{},{},0] op_sel_hi:[{},{},0]",
            sel[0] & 1,
            sel[1] & 1,
            sel[0] >> 1,
            sel[1] >> 1
        )?;
    }
    if mods.cbsz != 0 {
        write!(list.f, " cbsz:{}", mods.cbsz)?;
    }
    if mods.abid != 0 {
        write!(list.f, " abid:{}", mods.abid)?;
    }
    if mods.blgp != 0 {
        if inst.info().upper.contains("_F64_") {
            write!(list.f, " neg:{}", bit_list(mods.blgp, 3))?;
        } else {
            write!(list.f, " blgp:{}", mods.blgp)?;
        }
    }
    Ok(())
}

const fn is_bitop(op: Op) -> bool {
    matches!(op, Op::V_BITOP3_B16 | Op::V_BITOP3_B32)
}

fn bit_list(bits: u8, count: usize) -> String {
    let items: Vec<_> = (0..count).map(|at| (bits >> at & 1).to_string()).collect();
    format!("[{}]", items.join(","))
}

/// A source with absolute value and negation; `sext` of SDWA.
fn modified(inst: &Inst, at: usize) -> String {
    let count = inst.source_kind(at).map_or(1, Kind::dwords);
    let mut text = literal_or(inst, inst.src[at], count);
    let float = inst.src[at].inline_float();
    if let (Some(Kind::I16), Some(constant)) = (inst.source_kind(at), float) {
        // The f16 of that value, taken for an integer.
        text = format!("{:#x}", INLINE_FLOATS[constant].0);
    }
    if inst.format == Format::Vop3p && !is_mixed(inst.op) || is_bitop(inst.op) {
        return text;
    }
    if inst.sdwa.is_some_and(|sdwa| at < 2 && sdwa.sext[at]) {
        return format!("sext({text})");
    }
    let abs = if is_mixed(inst.op) {
        inst.mods.neg_hi
    } else {
        inst.mods.abs
    };
    let (abs, neg) = (abs >> at & 1 != 0, inst.mods.neg >> at & 1 != 0);
    if abs {
        text = format!("|{text}|");
    } else if neg && (inst.src[at].inline_int().is_some() || float.is_some()) {
        return format!("neg({text})");
    }
    if neg {
        text = format!("-{text}");
    }
    text
}

const fn is_mixed(op: Op) -> bool {
    matches!(
        op,
        Op::V_FMA_MIX_F32 | Op::V_FMA_MIXLO_F16 | Op::V_FMA_MIXHI_F16
    )
}

fn vector(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let sig = inst.info().sig;
    if inst.dst.is_some() {
        list.push(Span(inst.dst, sig.result(0).map_or(1, Kind::dwords)))?;
    }
    if inst.sdst.is_some() {
        list.push(Span(inst.sdst, 2))?;
    }
    for at in 0..3 {
        if inst.source_kind(at).is_some() {
            list.push(modified(inst, at))?;
        }
    }
    if let Some(dpp) = inst.dpp {
        return write_dpp(list, dpp);
    }
    if let Some(sdwa) = inst.sdwa {
        write_scaling(list, inst)?;
        return write_sdwa(list, inst, sdwa);
    }
    if is_bitop(inst.op) {
        if inst.truth_table() != 0 {
            write!(list.f, " bitop3:{:#x}", inst.truth_table())?;
        }
        if inst.mods.op_sel != 0 {
            let bits = inst.mods.op_sel;
            write!(list.f, " op_sel:{}", bit_list(bits, 4))?;
        }
        return Ok(());
    }
    if inst.format == Format::Vop3p {
        write_packed(list, inst)?;
    } else if inst.mods.op_sel != 0 {
        // Without a third source its place is left out.
        let results = inst.mods.op_sel >> 3 & 1;
        let count = sig.sources();
        let bits = inst.mods.op_sel & ((1 << count) - 1) | results << count;
        write!(list.f, " op_sel:{}", bit_list(bits, count + 1))?;
    }
    write_scaling(list, inst)
}

fn write_scaling(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    if inst.mods.clamp {
        list.f.write_str(" clamp")?;
    }
    list.f
        .write_str(["", " mul:2", " mul:4", " div:2"][usize::from(inst.mods.omod & 3)])
}

fn write_packed(list: &mut List<'_, '_>, inst: &Inst) -> fmt::Result {
    let count = inst.info().sig.sources();
    let all = (1u8 << count) - 1;
    let mods = &inst.mods;
    let mixed = is_mixed(inst.op);
    let usual_hi = if mixed { 0 } else { all };
    if mods.op_sel & all != 0 {
        write!(list.f, " op_sel:{}", bit_list(mods.op_sel, count))?;
    }
    if mods.op_sel_hi & all != usual_hi {
        write!(list.f, " op_sel_hi:{}", bit_list(mods.op_sel_hi, count))?;
    }
    if mixed {
        return Ok(());
    }
    if mods.neg & all != 0 {
        write!(list.f, " neg_lo:{}", bit_list(mods.neg, count))?;
    }
    if mods.neg_hi & all != 0 {
        write!(list.f, " neg_hi:{}", bit_list(mods.neg_hi, count))?;
    }
    Ok(())
}

fn write_dpp(list: &mut List<'_, '_>, dpp: Dpp) -> fmt::Result {
    let ctrl = dpp.ctrl;
    let low = ctrl & 15;
    let pattern = match ctrl {
        0..=0xff => format!(
            "quad_perm:[{},{},{},{}]",
            ctrl & 3,
            ctrl >> 2 & 3,
            ctrl >> 4 & 3,
            ctrl >> 6
        ),
        0x101..=0x10f => format!("row_shl:{low}"),
        0x111..=0x11f => format!("row_shr:{low}"),
        0x121..=0x12f => format!("row_ror:{low}"),
        0x130 => "wave_shl:1".to_owned(),
        0x134 => "wave_rol:1".to_owned(),
        0x138 => "wave_shr:1".to_owned(),
        0x13c => "wave_ror:1".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 => "row_bcast:15".to_owned(),
        0x143 => "row_bcast:31".to_owned(),
        _ => format!("row_newbcast:{low}"),
    };
    write!(
        list.f,
        " {pattern} row_mask:{:#x} bank_mask:{:#x}",
        dpp.row_mask, dpp.bank_mask
    )?;
    if dpp.bound_ctrl {
        list.f.write_str(" bound_ctrl:1")?;
    }
    Ok(())
}

fn write_sdwa(list: &mut List<'_, '_>, inst: &Inst, sdwa: Sdwa) -> fmt::Result {
    const PARTS: [&str; 8] = [
        "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "",
    ];
    let part = |sel: u8| PARTS[usize::from(sel & 7)];
    let fp8 = matches!(
        inst.op,
        Op::V_CVT_F32_FP8 | Op::V_CVT_F32_BF8 | Op::V_CVT_PK_F32_FP8 | Op::V_CVT_PK_F32_BF8
    );
    if inst.format != Format::Vopc && !fp8 {
        let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", ""];
        write!(
            list.f,
            " dst_sel:{} dst_unused:{}",
            part(sdwa.dst_sel),
            unused[usize::from(sdwa.dst_unused & 3)]
        )?;
    }
    write!(list.f, " src0_sel:{}", part(sdwa.src_sel[0]))?;
    if inst.source_kind(1).is_some() {
        write!(list.f, " src1_sel:{}", part(sdwa.src_sel[1]))?;
    }
    Ok(())
}

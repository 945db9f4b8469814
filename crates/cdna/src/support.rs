//! Which operations are executed and which are only known.

use cairn_codeobj::Arch;
use cairn_codeobj::isa::{self, Family, Format, Info, Inst, Kind, OPERATIONS, Only, Operand};

use crate::exec::Route;

/// An instruction of an operation with plain operands.
fn sample(info: &Info) -> Option<Inst> {
    let bytes = [0x00u8, 0x00, 0x80, 0xbf];
    let mut inst = isa::decode(&bytes, Arch::Gfx942).ok()?;
    inst.op = info.op;
    inst.format = match info.family {
        Family::Sop2 => Format::Sop2,
        Family::Sopk => Format::Sopk,
        Family::Sop1 => Format::Sop1,
        Family::Sopc => Format::Sopc,
        Family::Sopp => Format::Sopp,
        Family::Smem => Format::Smem,
        Family::Vop2 => Format::Vop2,
        Family::Vop1 => Format::Vop1,
        Family::Vopc => Format::Vopc,
        Family::Vop3 => Format::Vop3,
        Family::Vop3p if info.upper.contains("MFMA") || info.upper.contains("SMFMAC") => {
            Format::Mai
        }
        Family::Vop3p if info.upper.contains("ACCVGPR") => Format::Mai,
        Family::Vop3p => Format::Vop3p,
        Family::Ds => Format::Ds,
        Family::Vmem | Family::Global => Format::Global,
        Family::Mubuf => Format::Mubuf,
    };
    if info.sig.result(0).is_some() {
        inst.dst = Operand::vgpr(0);
    }
    for at in 0..info.sig.sources() {
        let mask = info.sig.source(at) == Some(Kind::Mask);
        inst.src[at] = if mask { Operand::VCC } else { Operand::vgpr(0) };
    }
    inst.compare = 0x41;
    // The mode register; other hardware registers are fewer.
    inst.imm = 1;
    Some(inst)
}

/// How many operations an architecture has, and the names of those that are
/// not executed.
pub(crate) fn unsupported(arch: Arch) -> (usize, Vec<String>) {
    let has = |info: &&Info| match info.only {
        Only::Any => true,
        Only::Gfx942 => arch == Arch::Gfx942,
        Only::Gfx950 => arch == Arch::Gfx950,
    };
    let (mut known, mut names) = (0, Vec::new());
    for info in OPERATIONS.iter().filter(has) {
        known += 1;
        let Some(inst) = sample(info) else {
            continue;
        };
        if matches!(Route::of(&inst, arch), Route::Unsupported) {
            names.push(inst.base_name());
        }
    }
    names.sort();
    (known, names)
}

//! What devices tell of themselves: attributes, and the structure of properties in both
//! forms that HIP has had.

use std::ffi::c_int;

use cairn_codeobj::Arch;

use crate::settings::Settings;

/// Bytes of the structure up to HIP 5, and since HIP 6.
pub(crate) const BEFORE_6: usize = 792;
pub(crate) const SINCE_6: usize = 1472;

/// The version that is told: the interface is that of HIP 6.4.
pub(crate) const VERSION: c_int = 60_400_000;

/// Largest grid in each dimension.
const MAX_GRID: [i32; 3] = [i32::MAX, 65536, 65536];
/// Atomics, doubles, votes, ballots, shuffles, fences and grids of three dimensions.
const FEATURES: u32 = 0x97ff;

/// Figures of a device. Source: AMD's data sheets.
#[derive(Clone, Copy, Debug)]
struct Figures {
    name: &'static str,
    units: i32,
    clock_khz: i32,
    memory_clock_khz: i32,
    minor: i32,
}

const fn figures(arch: Arch) -> Figures {
    match arch {
        Arch::Gfx950 => Figures {
            name: "AMD Instinct MI355X (simulated)",
            units: 256,
            clock_khz: 2_400_000,
            memory_clock_khz: 2_000_000,
            minor: 5,
        },
        _ => Figures {
            name: "AMD Instinct MI300X (simulated)",
            units: 304,
            clock_khz: 2_100_000,
            memory_clock_khz: 1_300_000,
            minor: 4,
        },
    }
}

/// The product's name.
pub(crate) const fn name(arch: Arch) -> &'static str {
    figures(arch).name
}

/// The bus id of a device.
pub(crate) fn bus_id(number: usize) -> String {
    format!("0000:{:02x}:00.0", bus(number))
}

/// Buses of devices begin at 1.
pub(crate) const fn bus(number: usize) -> i32 {
    number as i32 + 1
}

/// An attribute, by HIP's number; `None` for those that are not known.
pub(crate) fn attribute(settings: &Settings, number: usize, which: c_int) -> Option<c_int> {
    let figures = figures(settings.arch);
    let lds = settings.arch.lds_bytes() as i32;
    Some(match which {
        // EccEnabled, CanMapHostMemory, ConcurrentKernels, UnifiedAddressing,
        // MemoryPoolsSupported, ManagedMemory, ConcurrentManagedAccess, and others a
        // simulator has for nothing.
        0 | 3 | 8 | 9 | 24 | 78 | 85 | 88 => 1,
        // AsyncEngineCount.
        2 => 2,
        5 => figures.clock_khz,
        // ComputeMode, CooperativeLaunch, Integrated, KernelExecTimeout.
        6 | 10 | 11 | 16 | 18 => 0,
        19 => L2_BYTES,
        23 => 9,
        25 => 32,
        26..=28 => Arch::MAX_WORKGROUP as i32,
        29..=31 => MAX_GRID[which as usize - 29],
        56 => Arch::MAX_WORKGROUP as i32,
        57 => THREADS_PER_UNIT,
        58 => i32::MAX,
        59 => 8192,
        60 => figures.memory_clock_khz,
        61 => figures.minor,
        63 => figures.units,
        67 => bus(number),
        68 | 69 => 0,
        71 | 72 => REGISTERS,
        74..=76 | 10002 => lds,
        83 => i32::MAX,
        87 => Arch::WAVE_LANES as i32,
        10000 => 100_000,
        _ => return None,
    })
}

const L2_BYTES: i32 = 4 << 20;
const THREADS_PER_UNIT: i32 = 2048;
const REGISTERS: i32 = 65536;

/// A field of the structure.
enum Value<'a> {
    Text(&'a str),
    Size(u64),
    Int(i32),
}

/// The structure, in the form that has this many bytes.
pub(crate) fn structure(settings: &Settings, number: usize, bytes: usize) -> Vec<u8> {
    use Value::{Int, Size, Text};
    let figures = figures(settings.arch);
    let lds = settings.arch.lds_bytes();
    let target = format!("{}:sramecc+:xnack-", settings.arch);
    let [x, y, z] = MAX_GRID;
    let most = Arch::MAX_WORKGROUP as i32;
    // Offsets since HIP 6 and before; none where the older form has no such field.
    let fields = [
        (0, Some(0), Text(figures.name)),
        (288, Some(256), Size(settings.memory)),
        (296, Some(264), Size(lds.into())),
        (304, Some(272), Int(REGISTERS)),
        (308, Some(276), Int(Arch::WAVE_LANES as i32)),
        (312, Some(712), Size(i32::MAX as u64)),
        (320, Some(280), Int(most)),
        (324, Some(284), Int(most)),
        (328, Some(288), Int(most)),
        (332, Some(292), Int(most)),
        (336, Some(296), Int(x)),
        (340, Some(300), Int(y)),
        (344, Some(304), Int(z)),
        (348, Some(308), Int(figures.clock_khz)),
        (352, Some(320), Size(i32::MAX as u64)),
        (360, Some(328), Int(9)),
        (364, Some(332), Int(figures.minor)),
        (368, Some(720), Size(256)),
        (384, None, Int(1)),
        (388, Some(336), Int(figures.units)),
        (400, Some(388), Int(1)),
        (576, Some(360), Int(1)),
        (580, Some(740), Int(1)),
        (584, Some(368), Int(bus(number))),
        (600, None, Int(2)),
        (604, None, Int(1)),
        (608, Some(312), Int(figures.memory_clock_khz)),
        (612, Some(316), Int(8192)),
        (616, Some(340), Int(L2_BYTES)),
        (624, Some(344), Int(THREADS_PER_UNIT)),
        (628, None, Int(1)),
        (648, None, Int(REGISTERS)),
        (652, Some(772), Int(1)),
        (676, Some(780), Int(1)),
        (696, None, Size(lds.into())),
        (712, None, Int(32)),
        (744, None, Int(1)),
        (1160, Some(396), Text(&target)),
        (1416, Some(376), Size(lds.into())),
        (1424, Some(352), Int(100_000)),
        (1428, Some(356), Int(FEATURES as i32)),
    ];
    let mut structure = vec![0; bytes];
    for (new, old, value) in fields {
        let Some(at) = (if bytes == SINCE_6 { Some(new) } else { old }) else {
            continue;
        };
        let mut put = |bytes: &[u8]| structure[at..at + bytes.len()].copy_from_slice(bytes);
        match value {
            Text(text) => put(text.as_bytes()),
            Size(size) => put(&size.to_le_bytes()),
            Int(number) => put(&number.to_le_bytes()),
        }
    }
    if bytes == SINCE_6 {
        // The UUID: 16 bytes after the name.
        let uuid = format!("SIM-{number:012}");
        structure[256..256 + 16].copy_from_slice(uuid.as_bytes());
    }
    structure
}

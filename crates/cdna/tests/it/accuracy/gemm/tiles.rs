//! The tables of tiles that no tuner has written yet follow a rule, by the figures of the
//! cycle model.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use cairn_codeobj::Product as Device;
use cairn_kernels::Arch;

/// The head of a table by the rule.
const HEAD: &str = "\
# Which tile a product of matrices is computed in. The first entry decides of which dtype,
# layouts, m, n and k (from, to; both included) fit; the last of each dtype is for all others.
# `tile` names the kernels, `parts` says into how many parts k is divided at most, and `groups`
# how many workgroups take the units of work in turns: as many as the device holds at once.
#
# The rule: a tile and a number of parts take, in cycles of a compute unit,
#     k of a part * max(units on the busiest compute unit * the most that matrix (for f32 vector)
#     units, LDS or loads are busy with one k of a unit, the same for a workgroup that is alone)
#     + the bytes of the sums of parts over the bandwidth,
# where units = tiles * parts. The least wins; a smaller tile only where it saves a twentieth, and
# more parts where they save a fifth, as the second launch is not counted. Each range is judged
# at its end. A test computes this file again.
origin = \"rule\"
";

/// Ends of ranges; the last one stands for all that is longer.
const ENDS: [usize; 9] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const DEPTHS: [usize; 5] = [256, 1024, 4096, 16384, 65536];
const PARTS: [usize; 5] = [1, 2, 4, 8, 16];

/// Bytes a cycle that a compute unit loads.
const LOADED: f64 = 64.0;

/// A tile of kernels.
struct Tile {
    side: usize,
    /// Workgroups that a compute unit holds.
    held: usize,
    /// Cycles of a compute unit for one k of a unit of work.
    busy: f64,
    /// The same with one workgroup on it.
    alone: f64,
}

/// Tiles of bf16: side, waves, and rows and columns that a wave has.
fn bf16_tiles(arch: Arch, device: &Device) -> Vec<Tile> {
    let (rate, stage, lds) = match arch {
        Arch::Gfx950 => (4096.0, 64, 160 << 10),
        _ => (2048.0, 32, 64 << 10),
    };
    let shapes = [(256, 8, 128 + 64), (128, 4, 64 + 64), (64, 2, 64 + 32)];
    let tile = |(side, waves, read): (usize, usize, usize)| {
        let matrix = (2 * side * side) as f64 / rate;
        let from_lds = (2 * (waves * read + 2 * side)) as f64 / device.lds_bytes as f64;
        let loads = (2 * 2 * side) as f64 / LOADED;
        Tile {
            side,
            held: lds / (2 * 2 * side * stage * 2),
            busy: matrix.max(from_lds).max(loads),
            alone: (matrix * 4.0 / waves.min(4) as f64)
                .max(from_lds)
                .max(loads),
        }
    };
    shapes.map(tile).into()
}

/// Tiles of f32: a lane reads as many rows and columns as it has; a read of 16 bytes takes 8
/// cycles of 128 bytes.
fn f32_tiles(device: &Device) -> Vec<Tile> {
    let tile = |(side, held): (usize, usize)| {
        let vector = (2 * side * side) as f64 / 128.0;
        let bytes = 4 * (4 * 64 * 2 * side / 16 + 2 * side);
        let busy = vector.max(bytes as f64 / device.lds_bytes as f64);
        Tile {
            side,
            held,
            busy,
            alone: busy,
        }
    };
    // By their vector registers.
    [(128, 4), (64, 6)].map(tile).into()
}

/// Tile, parts and workgroups for a product.
fn best(tiles: &[Tile], device: &Device, [m, n, k]: [usize; 3]) -> (usize, usize, usize) {
    let mut best: Option<(f64, (usize, usize, usize))> = None;
    for parts in PARTS {
        for tile in tiles {
            let depth = k.div_ceil(parts).next_multiple_of(64);
            if parts > 1 && (k.div_ceil(depth) != parts || depth < 256) {
                continue;
            }
            let units = m.div_ceil(tile.side) * n.div_ceil(tile.side) * parts;
            let most = units.div_ceil(device.units as usize);
            let cycles =
                (most as f64 * tile.busy).max(most.div_ceil(tile.held) as f64 * tile.alone);
            let bytes = if parts > 1 {
                (2 * 4 * parts * m * n) as f64
            } else {
                0.0
            };
            let time = depth.min(k) as f64 * cycles + bytes / (device.bandwidth / device.clock);
            // Against what has fewer parts, or the same and a larger tile.
            let gain = |parts_before: usize| if parts > parts_before { 1.25 } else { 1.05 };
            if best.is_none_or(|(least, (_, before, _))| time * gain(before) < least) {
                best = Some((time, (tile.side, parts, tile.held * device.units as usize)));
            }
        }
    }
    best.unwrap().1
}

/// A choice, and the first and last range of m, n and k that it is for.
type Block = ([(usize, usize); 3], (usize, usize, usize));

/// Covers all ranges by blocks with one choice each, of which the first that has a range
/// decides: a block starts at the first range that none has yet, and grows along n, m and k as
/// long as it meets nothing else.
fn blocks(choose: impl Fn([usize; 3]) -> (usize, usize, usize)) -> Vec<Block> {
    let counts = [ENDS.len(), ENDS.len(), DEPTHS.len()];
    let mut left = BTreeMap::new();
    for k in 0..counts[2] {
        for m in 0..counts[0] {
            for n in 0..counts[1] {
                left.insert([k, m, n], choose([ENDS[m], ENDS[n], DEPTHS[k]]));
            }
        }
    }
    let mut blocks = Vec::new();
    while let Some(([k, m, n], choice)) = left.first_key_value().map(|(at, choice)| (*at, *choice))
    {
        let mut block = [(m, m), (n, n), (k, k)];
        let cells = |block: &[(usize, usize); 3]| {
            let [m, n, k] = *block;
            let all = (k.0..=k.1).flat_map(move |k| (m.0..=m.1).map(move |m| (k, m)));
            all.flat_map(move |(k, m)| (n.0..=n.1).map(move |n| [k, m, n]))
        };
        for along in [1, 0, 2] {
            while block[along].1 + 1 < counts[along] {
                let mut more = block;
                more[along].1 += 1;
                if cells(&more).any(|cell| left.get(&cell).is_some_and(|other| *other != choice)) {
                    break;
                }
                block = more;
            }
        }
        left.retain(|cell, _| !cells(&block).any(|inside| inside == *cell));
        blocks.push((block, choice));
    }
    blocks
}

/// The field of a range; the first begins at 0 and the last has all that 32 bits hold.
fn range(what: &str, ends: &[usize], (first, last): (usize, usize)) -> String {
    if first == 0 && last + 1 == ends.len() {
        return String::new();
    }
    let from = first.checked_sub(1).map_or(0, |before| ends[before] + 1);
    let to = if last + 1 == ends.len() {
        u32::MAX as usize
    } else {
        ends[last]
    };
    format!("{what} = [{from}, {to}], ")
}

fn table(arch: Arch) -> String {
    let device = Device::of(arch);
    let mut text = format!("{HEAD}\ngemm = [\n");
    for (dtype, tiles) in [
        ("bf16", bf16_tiles(arch, &device)),
        ("f32", f32_tiles(&device)),
    ] {
        let Tile { side, held, .. } = tiles[0];
        let default = (side, 1, held * device.units as usize);
        let mut blocks = blocks(|sizes| best(&tiles, &device, sizes));
        while blocks.last().is_some_and(|(_, choice)| *choice == default) {
            blocks.pop();
        }
        let all = [ENDS.len(), ENDS.len(), DEPTHS.len()].map(|count| (0, count - 1));
        blocks.push((all, default));
        assert_says_the_best(&blocks, &tiles, &device);
        for ([m, n, k], (side, parts, groups)) in blocks {
            let _ = write!(text, "    {{ dtype = \"{dtype}\", ");
            text += &range("m", &ENDS, m);
            text += &range("n", &ENDS, n);
            text += &range("k", &DEPTHS, k);
            let _ = write!(text, "tile = \"{side}x{side}\", ");
            if parts > 1 {
                let _ = write!(text, "parts = {parts}, ");
            }
            let _ = writeln!(text, "groups = {groups} }},");
        }
    }
    text + "]\n"
}

/// The first block that has a range says what is best there.
fn assert_says_the_best(blocks: &[Block], tiles: &[Tile], device: &Device) {
    for (m, m_end) in ENDS.into_iter().enumerate() {
        for (n, n_end) in ENDS.into_iter().enumerate() {
            for (k, k_end) in DEPTHS.into_iter().enumerate() {
                let has = |(block, _): &&Block| {
                    let mut inside = block.iter().zip([m, n, k]);
                    inside.all(|((first, last), at)| (*first..=*last).contains(&at))
                };
                let (_, found) = blocks.iter().find(has).unwrap();
                assert_eq!(*found, best(tiles, device, [m_end, n_end, k_end]));
            }
        }
    }
}

#[test]
fn tables_that_no_tuner_wrote_follow_the_rule() {
    for arch in [Arch::Gfx942, Arch::Gfx950] {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernels/tiles");
        let path = folder.join(format!("{}.toml", arch.name()));
        let table = table(arch);
        if std::env::var_os("CAIRN_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &table).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap();
        if found.contains("origin = \"rule\"") {
            assert!(
                found == table,
                "{}: CAIRN_UPDATE_GOLDEN=1 writes it anew",
                path.display()
            );
        }
    }
}

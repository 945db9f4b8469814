//! Which tile of a product a workgroup takes: every tile once, and what runs on one XCD
//! shares operands.

use std::collections::BTreeSet;
use std::fs;

use cairn_base::Progress;
use cairn_kernels::{Arch, Request, Search};

use super::*;

/// Writes what the header that the kernels use says of each unit: part, row and column.
const SOURCE: &str = r#"// kernels:  units
// computes: the unit of work of each workgroup
// tiles:    none
// lds:      none
// limit:    workgroup 64, vgprs 64, sgprs 96, lds 0
#include "gemm.h"

KERNEL(64) units(u32* out, u32 m, u32 n, u32 k, u32 side, u32 depth) {
    Product product = {nullptr, nullptr, nullptr, nullptr, nullptr, m, n, k, 0, 0, 0, Activation::None, true};
    Work work(product, side, depth);
    Unit unit = work.unit(product, workgroup());
    if (lane_of_workgroup() == 0) {
        u32* to = out + 6 * workgroup();
        to[0] = work.units, to[1] = unit.part, to[2] = unit.tile.row, to[3] = unit.tile.column;
        to[4] = unit.first_k, to[5] = unit.length;
    }
}
"#;

/// `[part, row, column, first k, length]` of the unit of each workgroup, as the headers say.
fn units([m, n, k]: [usize; 3], side: usize, depth: usize) -> Option<Vec<[u32; 5]>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mapping");
    let kernels = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../kernels");
    let include = folder.join("kernels/include");
    fs::create_dir_all(&include).unwrap();
    for entry in fs::read_dir(kernels.join("include")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), include.join(entry.file_name())).unwrap();
    }
    fs::write(folder.join("kernels/units.hip"), SOURCE).unwrap();
    let request = Request {
        sources: folder.join("kernels"),
        out: folder.join("out"),
        archs: vec![Arch::Gfx942],
        jobs: 1,
        search: Search {
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            ..Search::default()
        },
    };
    let report = cairn_kernels::build(&request, &Progress::hidden()).unwrap();
    let manifest = &report.built[0].manifest;
    let object = manifest
        .object_of(&request.out, Arch::Gfx942, "units")
        .unwrap();
    let count = m.div_ceil(side) * n.div_ceil(side) * k.div_ceil(depth);
    let mut memory = Memory::new(1 << 24, 1);
    let loaded = Loaded::new(object.bytes(), &mut memory).unwrap();
    let out = memory.allocate(count as u64 * 24, "units").unwrap();
    let sizes = [m, n, k, side, depth];
    let args = sizes
        .iter()
        .fold(Args::default().pointer(out), |args, size| {
            args.u32(*size as u32)
        });
    let program = Program::new(&loaded.object, "units").unwrap();
    let launch = Launch {
        loaded: &loaded,
        program: &program,
        grid: [count as u32, 1, 1],
        workgroup: [64, 1, 1],
        dynamic_lds: 0,
        arguments: args.packed(),
    };
    assert_clean(&launch.run(&mut memory, &Options::default()).unwrap());
    let bytes = memory.read(out, count as u64 * 24).unwrap();
    let words: Vec<u32> = bytes
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let found = words.chunks(6).map(|unit| {
        assert_eq!(unit[0] as usize, count);
        unit[1..].try_into().unwrap()
    });
    Some(found.collect())
}

const XCDS: usize = 8;

/// Distinct panels of A and B that the busiest XCD reads, where `order` gives the units as
/// workgroups are numbered and so dealt.
fn panels(order: &[[u32; 5]]) -> usize {
    let of_xcd = |xcd: usize| {
        let mine = || order.iter().skip(xcd).step_by(XCDS);
        let rows: BTreeSet<_> = mine().map(|unit| (unit[0], unit[1])).collect();
        let columns: BTreeSet<_> = mine().map(|unit| (unit[0], unit[2])).collect();
        rows.len() + columns.len()
    };
    (0..XCDS).map(of_xcd).max().unwrap()
}

#[test]
fn workgroups_take_every_unit_once_and_one_xcd_takes_neighbours() {
    if built().is_none() {
        return;
    }
    // Sizes, side, depth; then the panels of the busiest XCD, and those it would read if
    // workgroups took the same order of tiles by their numbers.
    let cases = [
        ([4096, 4096, 64], 256, 64, 12, 18),
        ([4096, 14336, 64], 256, 64, 22, 58),
        ([2048, 2048, 4096], 256, 512, 16, 72),
        ([1000, 900, 64], 64, 64, 13, 17),
        ([100, 300, 200], 64, 64, 5, 9),
    ];
    let mut seen = Vec::new();
    for (sizes, side, depth, ..) in cases {
        let found = units(sizes, side, depth).unwrap();
        let [m, n, k] = sizes;
        let (rows, columns) = (m.div_ceil(side) as u32, n.div_ceil(side) as u32);
        let (parts, mut plain) = (k.div_ceil(depth), Vec::new());
        for part in 0..parts {
            let (first, length) = (part * depth, depth.min(k - part * depth));
            for band in (0..rows).step_by(8) {
                for column in 0..columns {
                    for row in band..rows.min(band + 8) {
                        plain.push([part as u32, row, column, first as u32, length as u32]);
                    }
                }
            }
        }
        let sorted: BTreeSet<_> = found.iter().copied().collect();
        let wanted: BTreeSet<_> = plain.iter().copied().collect();
        assert_eq!(found.len(), plain.len(), "{sizes:?}");
        assert!(sorted == wanted, "{sizes:?}: not a permutation");
        // One after the other on an XCD is a step along the band, or to its next column.
        let near = |pair: &[&[u32; 5]]| {
            let ([part, row, column, ..], [other, to_row, to_column, ..]) = (pair[0], pair[1]);
            let down = column == to_column && row + 1 == *to_row;
            part == other && (down || column + 1 == *to_column && row / 8 == to_row / 8)
        };
        let mut far = 0;
        for xcd in 0..XCDS {
            let mine: Vec<_> = found.iter().skip(xcd).step_by(XCDS).collect();
            far += mine.windows(2).filter(|pair| !near(pair)).count();
        }
        // A jump is the end of a band or of a part.
        let bands = rows.div_ceil(8) as usize * parts;
        assert!(far < bands, "{sizes:?}: {far} jumps in {bands} bands");
        seen.push((sizes, side, depth, panels(&found), panels(&plain)));
    }
    assert_eq!(seen, cases);
}

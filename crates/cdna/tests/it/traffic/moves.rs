//! What only moves elements, constants, and operators of arrays that lie differently.

use super::*;

const COUNT: usize = ROWS * COLUMNS;

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for bits in [8, 16, 32, 64] {
        all.extend(copies(bits));
        all.push(transpose(bits));
        all.push(fill(bits));
    }
    for (suffix, bytes) in [("bf16", 2), ("f32", 4), ("f64", 8)] {
        all.extend(binaries(suffix, bytes));
    }
    all.push(iota());
    all
}

/// Dims and strides of arrays as kernels take them, in elements, of which so many may be
/// moved at once.
pub(super) fn geometry(dims: &[usize], strides: &[&[usize]], at_once: usize) -> Vec<u8> {
    let count: usize = dims.iter().product();
    let front = 6 - dims.len();
    let ones = std::iter::repeat_n(1, front);
    let sizes = [count]
        .into_iter()
        .chain(ones)
        .chain(dims.iter().copied())
        .chain([at_once]);
    let mut bytes: Vec<u8> = sizes.flat_map(|size| (size as u32).to_le_bytes()).collect();
    for strides in strides {
        let zeros = std::iter::repeat_n(0, front);
        let strides = zeros.chain(strides.iter().copied());
        bytes.extend(strides.flat_map(|stride| (stride as u64).to_le_bytes()));
    }
    bytes
}

/// A name, dims, and strides of input and output.
type Form = (&'static str, Vec<usize>, [Vec<usize>; 2]);
/// Strides of two inputs.
type Strides<'a> = [&'a [usize]; 2];

/// A slice of columns, and heads before positions.
fn copies(bits: usize) -> Vec<Case> {
    let (c, r) = (COLUMNS, ROWS);
    let forms: [Form; 2] = [
        ("slice", vec![r, c], [vec![c, 1], vec![c + 512, 1]]),
        (
            "heads",
            vec![c / 128, r, 128],
            [vec![128, c, 1], vec![128 * r, 128, 1]],
        ),
    ];
    forms
        .map(|(what, dims, [from, to])| {
            let mut case = Case::new(format!("copy_{bits} {what}"));
            let bytes = COUNT * bits / 8;
            let at_once = 128 / bits;
            let written = if what == "slice" {
                // What lies between the rows is somebody else's.
                case.more = bytes;
                case.between(bytes / c * (c + 512))
            } else {
                case.result(bytes)
            };
            let args = vec![
                case.operand(vec![3; bytes]),
                written,
                Arg::Bytes(geometry(&dims, &[&from, &to], at_once)),
            ];
            case.launch(format!("copy_{bits}"), COUNT.div_ceil(4096), args);
            case
        })
        .into()
}

/// The columns of matrices as rows.
fn transpose(bits: usize) -> Case {
    let mut case = Case::new(format!("transpose_{bits}"));
    let (batch, rows, columns) = (3, COLUMNS / 4, ROWS / 3 * 4);
    let bytes = batch * rows * columns * bits / 8;
    let size = [rows * columns];
    let mut matrix = words([rows as u32, columns as u32]);
    let wide = [rows as u64, columns as u64, 1];
    matrix.extend(wide.iter().flat_map(|value| value.to_le_bytes()));
    let args = vec![
        case.operand(vec![3; bytes]),
        case.result(bytes),
        Arg::Bytes(geometry(&[batch], &[&size, &size], 1)),
        Arg::Bytes(matrix),
    ];
    let side = if bits < 32 { 64 } else { 32 };
    let groups = batch * rows.div_ceil(side) * columns.div_ceil(side);
    case.launch(case.name.clone(), groups, args);
    case
}

fn fill(bits: usize) -> Case {
    let mut case = Case::new(format!("fill_{bits}"));
    let args = vec![
        case.result(COUNT * bits / 8),
        Arg::U64(COUNT as u64),
        Arg::U64(0x3c),
    ];
    case.launch(case.name.clone(), COUNT.div_ceil(4096), args);
    case
}

fn iota() -> Case {
    let mut case = Case::new("iota_i32");
    let args = vec![case.result(4 * COUNT), Arg::U32(COUNT as u32)];
    case.launch("iota_i32", COUNT.div_ceil(4096), args);
    case
}

/// Subtraction of arrays that lie alike, of one number a row, and of one row.
fn binaries(suffix: &str, bytes: usize) -> Vec<Case> {
    let forms: [(&str, usize, &[usize], Strides<'_>); 3] = [
        ("alike", COUNT, &[COUNT], [&[1], &[1]]),
        (
            "a number a row",
            ROWS,
            &[ROWS, COLUMNS],
            [&[COLUMNS, 1], &[1, 0]],
        ),
        (
            "a row for all",
            COLUMNS,
            &[ROWS, COLUMNS],
            [&[COLUMNS, 1], &[0, 1]],
        ),
    ];
    forms
        .map(|(what, second, dims, strides)| {
            let mut case = Case::new(format!("binary_{suffix} {what}"));
            // Rows that a workgroup takes, where one array has one row for all.
            let band = if second == COLUMNS { 16 } else { 0 };
            let groups = match band {
                0 => COUNT.div_ceil(4096),
                _ => COLUMNS.div_ceil(4096 / bytes) * ROWS.div_ceil(band),
            };
            let args = vec![
                case.operand(vec![0x11; COUNT * bytes]),
                case.operand(vec![0x12; second * bytes]),
                case.result(COUNT * bytes),
                Arg::Bytes(geometry(dims, &strides, 16 / bytes)),
                Arg::U32(1),
                Arg::U32(band as u32),
            ];
            case.launch(format!("binary_{suffix}"), groups, args);
            case
        })
        .into()
}

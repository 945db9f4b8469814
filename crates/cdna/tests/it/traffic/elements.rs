//! One result an element.

use super::*;

const COUNT: usize = ROWS * COLUMNS;
/// Elements of a workgroup where a wave moves blocks of 512.
const BLOCKS: usize = 2048;
/// Elements of a workgroup where a lane moves runs of 16 bytes.
const RUNS: usize = 4096;

/// Workgroups of kernels that handle so many elements in each.
fn groups(each: usize) -> usize {
    COUNT.div_ceil(each)
}

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (ty, suffix) in Type::BOTH {
        for name in ["add", "mul", "swiglu", "geglu"] {
            all.push(pairwise(name, ty, suffix));
        }
        for name in ["swiglu", "geglu"] {
            all.push(gated_backward(name, ty, suffix));
        }
        for (kind, number) in [("silu", 8), ("sine", 13)] {
            all.push(unary(kind, number, ty, suffix));
        }
        all.push(dropout(ty, suffix));
        all.extend([adamw(ty, suffix, false), adamw(ty, suffix, true)]);
        all.push(sum_squares(ty, suffix));
        all.extend(fp8(ty, suffix));
    }
    all.extend(casts());
    all.extend(selects());
    all
}

fn pairwise(name: &str, ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("{name}_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.random(ty, COUNT),
        case.result(COUNT * ty.bytes()),
        Arg::U64(COUNT as u64),
    ];
    case.launch(case.name.clone(), groups(BLOCKS), args);
    case
}

fn gated_backward(name: &str, ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("{name}_backward_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.random(ty, COUNT),
        case.random(ty, COUNT),
        case.result(COUNT * ty.bytes()),
        case.result(COUNT * ty.bytes()),
        Arg::U64(COUNT as u64),
    ];
    case.launch(case.name.clone(), groups(BLOCKS), args);
    case
}

fn unary(kind: &str, number: u32, ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("unary_{suffix} {kind}"));
    let args = vec![
        case.random(ty, COUNT),
        case.result(COUNT * ty.bytes()),
        Arg::U64(COUNT as u64),
        Arg::U32(number),
    ];
    case.launch(format!("unary_{suffix}"), groups(BLOCKS), args);
    case
}

fn dropout(ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("dropout_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.operand(words([5, 0, 7, 0])),
        case.result(COUNT * ty.bytes()),
        Arg::U64(COUNT as u64),
        Arg::U64(11),
        Arg::F32(0.25),
        Arg::F32(0.75),
    ];
    case.launch(case.name.clone(), groups(BLOCKS), args);
    case
}

fn adamw(ty: Type, suffix: &str, copy: bool) -> Case {
    let with = if copy { " with copy" } else { "" };
    let mut case = Case::new(format!("adamw_{suffix}{with}"));
    let state = |seed: u64| words(values(COUNT, seed, 1.0).iter().map(|x| x.abs().to_bits()));
    let floats = |values: &[f32]| words(values.iter().map(|x| x.to_bits()));
    let args = vec![
        case.state(state(1)),
        case.random(ty, COUNT),
        case.state(state(2)),
        case.state(state(3)),
        case.operand(floats(&[1e-3, 0.1, 0.05])),
        case.operand(floats(&[0.5])),
        case.operand(floats(&[1.0])),
        if copy {
            case.result(2 * COUNT)
        } else {
            Arg::Nothing
        },
        Arg::U64(COUNT as u64),
        Arg::Bytes(floats(&[0.9, 0.1, 0.95, 0.05, 1e-8, 0.1])),
    ];
    case.launch(format!("adamw_{suffix}"), groups(BLOCKS), args);
    case
}

fn sum_squares(ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("sum_squares_{suffix}"));
    let parts = groups(16384);
    let (x, between) = (case.random(ty, COUNT), case.between(4 * parts));
    let total = case.result(4);
    let args = vec![x, between.clone(), Arg::U64(COUNT as u64)];
    case.launch(format!("sum_squares_{suffix}"), parts, args);
    case.launch("sum_parts", 1, vec![between, total, Arg::U32(parts as u32)]);
    case
}

fn fp8(ty: Type, suffix: &str) -> Vec<Case> {
    let mut all = Vec::new();
    for format in ["e4m3", "e5m2"] {
        let mut case = Case::new(format!("fp8_amax_{suffix} with fp8_scale_{format}"));
        let parts = groups(4096);
        let (x, between) = (case.random(ty, COUNT), case.between(4 * parts));
        let scales = case.result(8);
        let args = vec![x, between.clone(), Arg::U64(COUNT as u64)];
        case.launch(format!("fp8_amax_{suffix}"), parts, args);
        let args = vec![between, scales, Arg::U32(parts as u32)];
        case.launch(format!("fp8_scale_{format}"), 1, args);
        all.push(case);
        let scales = words([1.0f32, 1.0].map(f32::to_bits));
        let mut case = Case::new(format!("fp8_quantize_{format}_{suffix}"));
        let args = vec![
            case.random(ty, COUNT),
            case.operand(scales.clone()),
            case.result(COUNT),
            Arg::U64(COUNT as u64),
        ];
        case.launch(case.name.clone(), groups(1024), args);
        all.push(case);
        let mut case = Case::new(format!("fp8_dequantize_{format}_{suffix}"));
        let args = vec![
            case.operand(vec![0x31; COUNT]),
            case.operand(scales),
            case.result(COUNT * ty.bytes()),
            Arg::U64(COUNT as u64),
        ];
        case.launch(case.name.clone(), groups(1024), args);
        all.push(case);
    }
    all
}

pub(super) const TYPES: [(&str, usize); 6] = [
    ("u8", 1),
    ("bf16", 2),
    ("f32", 4),
    ("i32", 4),
    ("i64", 8),
    ("f64", 8),
];

fn casts() -> Vec<Case> {
    let pairs = TYPES.iter().flat_map(|from| TYPES.map(|to| (*from, to)));
    let known = pairs.filter(|((from, _), (to, _))| from != to && *from != "u8");
    known
        .map(|((from, read), (to, written))| {
            let mut case = Case::new(format!("cast_{from}_{to}"));
            let float = ["bf16", "f32"].contains(&from) && ["bf16", "f32"].contains(&to);
            let args = vec![
                case.operand(vec![0x11; COUNT * read]),
                case.result(COUNT * written),
                Arg::U64(COUNT as u64),
            ];
            let each = if float { BLOCKS } else { RUNS };
            case.launch(case.name.clone(), groups(each), args);
            case
        })
        .collect()
}

fn selects() -> Vec<Case> {
    let forms = [
        ("f32", 4, 32),
        ("bf16", 2, 16),
        ("i32", 4, 16),
        ("i32", 4, 32),
        ("u8", 1, 16),
        ("u8", 1, 32),
    ];
    forms
        .map(|(by, bytes, bits)| {
            let mut case = Case::new(format!("select_{by}_{bits}"));
            let condition = (0..COUNT * bytes).map(|at| (at / bytes % 3 == 0).into());
            let args = vec![
                case.operand(condition.collect()),
                case.operand(vec![1; COUNT * bits / 8]),
                case.operand(vec![2; COUNT * bits / 8]),
                case.result(COUNT * bits / 8),
                Arg::U64(COUNT as u64),
            ];
            case.launch(case.name.clone(), groups(RUNS), args);
            case
        })
        .into()
}

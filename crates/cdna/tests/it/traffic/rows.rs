//! A row at a time: norms, softmax, cross entropy, reductions.

use super::*;

const COUNT: usize = ROWS * COLUMNS;

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let forms = [
        (Type::F32, Type::F32, "f32"),
        (Type::Bf16, Type::Bf16, "bf16"),
        (Type::Bf16, Type::F32, "bf16_wide"),
    ];
    for (ty, weight, suffix) in forms {
        all.push(rmsnorm(ty, weight, suffix));
        all.push(rmsnorm_backward(ty, weight, suffix, false));
        all.push(rmsnorm_backward(ty, weight, suffix, true));
        all.push(layernorm(ty, weight, suffix));
        all.push(layernorm_backward(ty, weight, suffix));
    }
    for (ty, suffix) in Type::BOTH {
        for stem in ["softmax", "softmax_log"] {
            all.push(softmax(stem, ty, suffix));
            all.push(softmax_backward(stem, ty, suffix));
        }
        all.extend(reduces(ty, suffix));
    }
    // Llama 2's, in round numbers, and Llama 3's.
    for vocabulary in [32768, 128_256] {
        all.push(loss(vocabulary));
        for (ty, suffix) in Type::BOTH {
            all.push(gradient(vocabulary, ty, suffix));
        }
    }
    all.push(losses());
    all
}

/// Rows that a team keeps the weight for.
const EACH: usize = 24;

fn columns() -> Arg {
    Arg::U32(COLUMNS as u32)
}

fn rmsnorm(ty: Type, weight: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("rmsnorm_forward_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.random(weight, COLUMNS),
        case.result(COUNT * ty.bytes()),
        case.result(4 * ROWS),
        Arg::U32(ROWS as u32),
        columns(),
        Arg::U32(EACH as u32),
        Arg::F32(1e-5),
    ];
    case.launch(case.name.clone(), ROWS.div_ceil(EACH), args);
    case
}

/// The sum of bands into the weight's gradient.
fn bands(case: &mut Case, parts: Arg, ty: Type, bands: usize) {
    let suffix = if ty == Type::F32 { "f32" } else { "bf16" };
    let of_weight = case.result(COLUMNS * ty.bytes());
    let args = vec![parts, of_weight, Arg::U32(bands as u32), columns()];
    let groups = COLUMNS.div_ceil(256);
    case.launch(format!("rmsnorm_backward_weight_{suffix}"), groups, args);
}

fn rmsnorm_backward(ty: Type, weight: Type, suffix: &str, add: bool) -> Case {
    let stem = if add { "add_" } else { "" };
    let mut case = Case::new(format!("rmsnorm_backward_rows_{stem}{suffix}"));
    let count = ROWS.div_ceil(32);
    let mut args = vec![
        case.random(ty, COUNT),
        case.random(ty, COUNT),
        case.random(weight, COLUMNS),
        case.random(Type::F32, ROWS),
    ];
    if add {
        args.push(case.random(ty, COUNT));
    }
    let parts = case.between(4 * count * COLUMNS);
    args.extend([
        case.result(COUNT * ty.bytes()),
        parts.clone(),
        Arg::U32(ROWS as u32),
        columns(),
    ]);
    case.launch(case.name.clone(), count, args);
    bands(&mut case, parts, ty, count);
    case
}

fn layernorm(ty: Type, weight: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("layernorm_forward_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.random(weight, COLUMNS),
        case.random(weight, COLUMNS),
        case.result(COUNT * ty.bytes()),
        case.result(4 * ROWS),
        case.result(4 * ROWS),
        Arg::U32(ROWS as u32),
        columns(),
        Arg::U32(EACH as u32),
        Arg::F32(1e-5),
    ];
    case.launch(case.name.clone(), ROWS.div_ceil(EACH), args);
    case
}

/// Rows of two whole bands of layernorm.
const BANDS: usize = 80;

fn layernorm_backward(ty: Type, weight: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("layernorm_backward_{suffix}"));
    let count = BANDS.div_ceil(40);
    let [of_weight, of_bias] = [(); 2].map(|()| case.between(4 * count * COLUMNS));
    let args = vec![
        case.random(ty, BANDS * COLUMNS),
        case.random(ty, BANDS * COLUMNS),
        case.random(weight, COLUMNS),
        case.random(Type::F32, BANDS),
        case.random(Type::F32, BANDS),
        case.result(BANDS * COLUMNS * ty.bytes()),
        of_weight.clone(),
        of_bias.clone(),
        Arg::U32(BANDS as u32),
        columns(),
    ];
    case.launch(case.name.clone(), count, args);
    bands(&mut case, of_weight, ty, count);
    bands(&mut case, of_bias, ty, count);
    case
}

fn softmax(stem: &str, ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("{stem}_forward_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.result(COUNT * ty.bytes()),
        Arg::U32(ROWS as u32),
        columns(),
    ];
    case.launch(case.name.clone(), ROWS, args);
    case
}

fn softmax_backward(stem: &str, ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("{stem}_backward_{suffix}"));
    let args = vec![
        case.random(ty, COUNT),
        case.random(ty, COUNT),
        case.result(COUNT * ty.bytes()),
        Arg::U32(ROWS as u32),
        columns(),
    ];
    case.launch(case.name.clone(), ROWS, args);
    case
}

fn reduces(ty: Type, suffix: &str) -> [Case; 2] {
    let part = |size: usize, stride: usize, at_once: usize| {
        Arg::Bytes(moves::geometry(&[size], &[&[stride]], at_once))
    };
    let mut whole = Case::new(format!("reduce_{suffix}"));
    let args = vec![
        whole.random(ty, COUNT),
        whole.result(ROWS * ty.bytes()),
        part(ROWS, COLUMNS, 1),
        part(COLUMNS, 1, 1),
        Arg::U32(0),
    ];
    whole.launch(whole.name.clone(), ROWS, args);
    // Two whole bands.
    let rows = 128;
    let mut case = Case::new(format!("reduce_columns_{suffix}"));
    let run = 16 / ty.bytes();
    let (bands, groups) = (rows / 64, COLUMNS.div_ceil(256 * run));
    let input = case.random(ty, rows * COLUMNS);
    let out = case.result(COLUMNS * ty.bytes());
    let parts = case.between(4 * bands * COLUMNS);
    let args = vec![
        input,
        out.clone(),
        parts.clone(),
        part(COLUMNS, 1, run),
        part(rows, COLUMNS, 1),
        Arg::U32(groups as u32),
        Arg::U32(0),
    ];
    case.launch(case.name.clone(), groups * bands, args);
    let args = vec![
        parts,
        out,
        Arg::U32(bands as u32),
        columns(),
        Arg::U32(rows as u32),
        Arg::U32(0),
    ];
    let groups = COLUMNS.div_ceil(1024);
    case.launch(format!("reduce_bands_{suffix}"), groups, args);
    [whole, case]
}

/// Tokens beside logits of about a million.
fn tokens(vocabulary: usize) -> usize {
    (1 << 20) / vocabulary
}

fn targets(tokens: usize) -> Vec<u8> {
    words((0..tokens as u32).map(|token| token * 31))
}

fn loss(vocabulary: usize) -> Case {
    let mut case = Case::new(format!("cross_entropy_loss of {vocabulary}"));
    let tokens = tokens(vocabulary);
    let args = vec![
        case.random(Type::F32, tokens * vocabulary),
        case.operand(targets(tokens)),
        case.result(4 * tokens),
        Arg::U32(vocabulary as u32),
        Arg::F32(1e-4),
    ];
    case.launch("cross_entropy_loss", tokens, args);
    case
}

fn gradient(vocabulary: usize, ty: Type, suffix: &str) -> Case {
    let kernel = format!("cross_entropy_gradient_{suffix}");
    let mut case = Case::new(format!("{kernel} of {vocabulary}"));
    let tokens = tokens(vocabulary);
    let args = vec![
        case.random(Type::F32, tokens * vocabulary),
        case.operand(targets(tokens)),
        case.random(Type::F32, 1),
        case.result(tokens * vocabulary * ty.bytes()),
        case.result(4 * tokens),
        Arg::U32(vocabulary as u32),
        Arg::F32(1e-4),
    ];
    case.launch(kernel, tokens, args);
    case
}

fn losses() -> Case {
    let mut case = Case::new("cross_entropy_sum");
    let tokens = 65536;
    let args = vec![
        case.random(Type::F32, tokens),
        case.operand(targets(tokens)),
        case.result(4),
        case.result(4),
        Arg::U32(tokens as u32),
    ];
    case.launch("cross_entropy_sum", 1, args);
    case
}

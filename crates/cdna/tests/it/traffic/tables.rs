//! What reads or writes rows by index: embeddings, rotary positions, caches.

use super::*;

const HEAD: usize = 128;
const HEADS: usize = COLUMNS / HEAD;

pub(super) fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for (ty, suffix) in Type::BOTH {
        all.push(embedding(ty));
        all.push(rope(ty, suffix));
        all.push(cache(ty));
    }
    for (from, to, suffix) in [
        (Type::F32, Type::F32, "f32_f32"),
        (Type::Bf16, Type::F32, "bf16_f32"),
        (Type::Bf16, Type::Bf16, "bf16_bf16"),
    ] {
        all.push(embedding_backward(from, to, suffix));
    }
    all.push(rope_table());
    all
}

/// Rows of a table and tokens that ask for them, some more than once.
const TABLE: usize = 3 * ROWS;
const TOKENS: usize = 2 * ROWS;

fn indices() -> Vec<u8> {
    words((0..TOKENS as u32).map(|token| token * token * 7 % TABLE as u32))
}

fn embedding(ty: Type) -> Case {
    let mut case = Case::new(format!("embedding_{}", 8 * ty.bytes()));
    // As many rows of the table as there are tokens.
    case.more = TOKENS * COLUMNS * ty.bytes();
    let args = vec![
        case.add(Buffer::Table(vec![1; TABLE * COLUMNS * ty.bytes()])),
        case.operand(indices()),
        case.result(TOKENS * COLUMNS * ty.bytes()),
        Arg::U32(TABLE as u32),
        Arg::U32(COLUMNS as u32),
    ];
    case.launch(case.name.clone(), TOKENS, args);
    case
}

/// Two sorts by 9 bits, as for tables of up to 262144 rows, then the rows.
fn embedding_backward(from: Type, to: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("embedding_backward_{suffix}"));
    let (tokens, rows) = (Arg::U32(TOKENS as u32), Arg::U32(TABLE as u32));
    let groups = TOKENS.div_ceil(1024);
    let blocks = Arg::U32(groups as u32);
    let gradient = case.random(from, TOKENS * COLUMNS);
    let mut indices = case.operand(indices());
    let mut positions = Arg::Nothing;
    let counts = case.between(4 * 512 * groups);
    for shift in [0, 9].map(Arg::U32) {
        let to = [(); 2].map(|()| case.between(4 * TOKENS));
        let args = [&indices, &counts, &tokens, &rows, &blocks, &shift];
        case.launch(
            "embedding_sort_count",
            groups,
            args.map(Clone::clone).into(),
        );
        let args = vec![counts.clone(), Arg::U32(512 * groups as u32)];
        case.launch("embedding_sort_scan", 1, args);
        let args = [
            &indices, &positions, &counts, &to[0], &to[1], &tokens, &blocks, &shift,
        ];
        case.launch(
            "embedding_sort_scatter",
            groups,
            args.map(Clone::clone).into(),
        );
        [indices, positions] = to;
    }
    let starts = case.between(4 * (TABLE + 1));
    let args = vec![indices, starts.clone(), tokens, rows];
    case.launch("embedding_sort_starts", TABLE / 256 + 1, args);
    let out = case.result(TABLE * COLUMNS * to.bytes());
    let args = vec![gradient, positions, starts, out, Arg::U32(COLUMNS as u32)];
    case.launch(case.name.clone(), TABLE, args);
    case
}

fn rope(ty: Type, suffix: &str) -> Case {
    let mut case = Case::new(format!("rope_{suffix}"));
    let count = 2 * ROWS * COLUMNS;
    let args = vec![
        case.random(ty, count),
        case.random(Type::F32, ROWS * HEAD),
        case.result(count * ty.bytes()),
        Arg::U32(2),
        Arg::U32(ROWS as u32),
        Arg::U32(HEADS as u32),
        Arg::U32(HEAD as u32 / 2),
        Arg::F32(1.0),
    ];
    case.launch(case.name.clone(), ROWS, args);
    case
}

fn rope_table() -> Case {
    let mut case = Case::new("rope_table");
    let half = HEAD / 2;
    let positions = 16 * ROWS;
    let frequencies = (0..half).flat_map(|i| (0.9f64.powi(i as i32)).to_le_bytes());
    let args = vec![
        case.operand(words(0..positions as u32)),
        case.operand(frequencies.collect()),
        case.result(positions * HEAD * 4),
        Arg::U32(positions as u32),
        Arg::U32(half as u32),
    ];
    case.launch("rope_table", positions.div_ceil(64), args);
    case
}

/// New positions of two sequences in a cache that has room for more.
fn cache(ty: Type) -> Case {
    let bits = 8 * ty.bytes();
    let mut case = Case::new(format!("cache_write_{bits}"));
    let bytes = 2 * ROWS * COLUMNS * ty.bytes();
    case.more = bytes;
    let args = vec![
        case.random(ty, 2 * ROWS * COLUMNS),
        case.operand(words([5])),
        case.between(2 * bytes),
        Arg::U64(2 * (ROWS * COLUMNS) as u64),
        Arg::U32(2 * ROWS as u32),
        Arg::U32(ROWS as u32),
        Arg::U32(COLUMNS as u32),
    ];
    case.launch(case.name.clone(), (2 * ROWS * COLUMNS).div_ceil(4096), args);
    case
}

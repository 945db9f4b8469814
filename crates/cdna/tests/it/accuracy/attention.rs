//! Attention with matrix instructions, and its gradients.

use super::*;

/// Sizes of an attention of one sequence.
pub(super) struct Case {
    queries: usize,
    keys: usize,
    heads: usize,
    key_heads: usize,
    size: usize,
    value_size: usize,
    causal: bool,
    /// Where the first query stands.
    start: i32,
}

const fn case(
    [queries, keys, heads, key_heads]: [usize; 4],
    [size, value_size]: [usize; 2],
    causal: bool,
    start: i32,
) -> Case {
    Case {
        queries,
        keys,
        heads,
        key_heads,
        size,
        value_size,
        causal,
        start,
    }
}

/// As many of the cases have all sizes of heads.
pub(super) const HEADS: usize = 5;

pub(super) const CASES: [Case; 12] = [
    case([37, 101, 2, 1], [64, 64], true, 64),
    case([37, 101, 2, 1], [96, 96], true, 64),
    case([37, 101, 2, 1], [128, 128], true, 64),
    case([37, 101, 2, 1], [192, 192], true, 64),
    case([37, 101, 2, 1], [192, 128], true, 64),
    // More than one tile of each, whole ones and not.
    case([160, 131, 3, 3], [64, 64], true, 0),
    case([160, 130, 1, 1], [96, 96], true, -29),
    case([129, 256, 2, 1], [128, 128], true, 127),
    case([33, 131, 1, 1], [192, 192], false, 0),
    case([131, 33, 1, 1], [192, 128], false, 0),
    case([1, 1, 1, 1], [64, 64], true, 0),
    // The first tile of queries sees nothing, and no query sees the last keys.
    case([150, 40, 1, 1], [128, 128], true, -131),
];

impl Case {
    fn visible(&self, query: usize) -> usize {
        if !self.causal {
            return self.keys;
        }
        let count = i64::from(self.start) + query as i64 + 1;
        (count.max(0) as usize).min(self.keys)
    }

    fn scale(&self) -> f32 {
        (self.size as f32).sqrt().recip()
    }

    /// The structure of sizes, a word at a time.
    fn sizes(&self) -> Vec<Arg<'static>> {
        let words = [
            1,
            self.queries,
            self.keys,
            self.heads,
            self.key_heads,
            self.size,
            self.value_size,
            usize::from(self.causal),
        ];
        let mut all: Vec<_> = words.map(|word| Arg::U32(word as u32)).into();
        all.extend([Arg::U32(self.start as u32), Arg::F32(self.scale())]);
        all
    }

    fn kernel(&self, what: &str) -> String {
        if self.size == self.value_size {
            format!("attention_{what}_bf16_{}", self.size)
        } else {
            format!("attention_{what}_bf16_{}_{}", self.size, self.value_size)
        }
    }
}

/// A tensor `[position, head, size]`.
struct Tensor {
    bytes: Vec<u8>,
    values: Vec<f64>,
    heads: usize,
    size: usize,
}

impl Tensor {
    fn new(positions: usize, heads: usize, size: usize, seed: u64, scale: f32) -> Self {
        let (bytes, values) = Type::Bf16.pack(&values(positions * heads * size, seed, scale));
        Self {
            bytes,
            values,
            heads,
            size,
        }
    }

    fn at(&self, position: usize, head: usize) -> usize {
        (position * self.heads + head) * self.size
    }

    fn row(&self, position: usize, head: usize) -> &[f64] {
        &self.values[self.at(position, head)..][..self.size]
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, row: &[f64]) {
    for (to, value) in to.iter_mut().zip(row) {
        *to += factor * value;
    }
}

pub(super) fn attention(on: On, case: &Case) {
    let q = Tensor::new(case.queries, case.heads, case.size, 1, 2.0);
    let k = Tensor::new(case.keys, case.key_heads, case.size, 2, 2.0);
    let v = Tensor::new(case.keys, case.key_heads, case.value_size, 3, 1.0);
    let (out, lse) = forward(on, case, [&q, &k, &v]);
    backward(on, case, [&q, &k, &v], &out, &lse);
}

/// Checks the output and the logarithmic sums, and gives them as they are in memory.
fn forward(on: On, case: &Case, [q, k, v]: [&Tensor; 3]) -> (Vec<u8>, Vec<u8>) {
    let name = case.kernel("forward");
    let start = case.start.to_le_bytes();
    let mut args = vec![
        Arg::In(&q.bytes),
        Arg::In(&k.bytes),
        Arg::In(&v.bytes),
        Arg::In(&start),
        Arg::Out(case.queries * case.heads * case.value_size * 2),
        Arg::Out(case.queries * case.heads * 4),
    ];
    args.extend(case.sizes());
    let workgroups = case.heads * case.queries.div_ceil(128);
    let [out, lse] = <[_; 2]>::try_from(run(on, &name, workgroups, &args)).unwrap();
    let mut wanted = vec![0.0; case.queries * case.heads * case.value_size];
    let mut sums = vec![0.0; case.queries * case.heads];
    let mut found_sums = Type::F32.unpack(&lse);
    for (query, head) in pairs(case.queries, case.heads) {
        let key_head = head / (case.heads / case.key_heads);
        let scores: Vec<f64> = (0..case.visible(query))
            .map(|key| f64::from(case.scale()) * dot(q.row(query, head), k.row(key, key_head)))
            .collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|score| (score - most).exp()).sum();
        let at = (query * case.heads + head) * case.value_size;
        for (key, score) in scores.iter().enumerate() {
            let probability = (score - most).exp() / total;
            let to = &mut wanted[at..at + case.value_size];
            add(to, probability, v.row(key, key_head));
        }
        let sum = head * case.queries + query;
        if scores.is_empty() {
            assert_eq!(found_sums[sum], f32::NEG_INFINITY, "{name} query {query}");
            found_sums[sum] = 0.0;
        } else {
            sums[sum] = most + total.ln();
        }
    }
    Type::Bf16.check(&out, &wanted, &name);
    let found: Vec<u8> = found_sums
        .iter()
        .flat_map(|sum| sum.to_le_bytes())
        .collect();
    Type::F32.check(&found, &sums, &format!("{name} sums"));
    (out, lse)
}

fn pairs(positions: usize, heads: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..positions).flat_map(move |position| (0..heads).map(move |head| (position, head)))
}

fn backward(on: On, case: &Case, [q, k, v]: [&Tensor; 3], out: &[u8], lse: &[u8]) {
    let gradient = Tensor::new(case.queries, case.heads, case.value_size, 4, 1.0);
    let rows = case.queries * case.heads;
    let mut args = vec![
        Arg::In(out),
        Arg::In(&gradient.bytes),
        Arg::In(lse),
        Arg::Out(rows * 8),
    ];
    args.extend(case.sizes());
    let name = "attention_statistics_bf16";
    let statistics = run(on, name, rows.div_ceil(32), &args).remove(0);
    let found = Type::F32.unpack(&statistics);
    let (outputs, sums) = (Type::Bf16.unpack(out), Type::F32.unpack(lse));
    let mut deltas = vec![0.0; rows];
    for (query, head) in pairs(case.queries, case.heads) {
        let output = &outputs[gradient.at(query, head)..][..case.value_size];
        let output: Vec<f64> = output.iter().copied().map(f64::from).collect();
        deltas[head * case.queries + query] = -dot(&output, gradient.row(query, head));
    }
    let second: Vec<u8> = found
        .chunks(2)
        .flat_map(|two| two[1].to_le_bytes())
        .collect();
    Type::F32.check(&second, &deltas, name);
    for (row, two) in found.chunks(2).enumerate() {
        let wanted = -f64::from(sums[row]) * std::f64::consts::LOG2_E;
        let near = (f64::from(two[0]) - wanted).abs() <= 1e-6 * wanted.abs();
        assert!(
            near || f64::from(two[0]) == wanted,
            "{name}: {} for {wanted}",
            two[0]
        );
    }

    let start = case.start.to_le_bytes();
    let launch = |what: &str, workgroups: usize, bytes: &[usize]| {
        let mut args = vec![
            Arg::In(&q.bytes),
            Arg::In(&k.bytes),
            Arg::In(&v.bytes),
            Arg::In(&gradient.bytes),
            Arg::In(&statistics),
            Arg::In(&start),
        ];
        args.extend(bytes.iter().map(|bytes| Arg::Out(*bytes)));
        args.extend(case.sizes());
        run(on, &case.kernel(what), workgroups, &args)
    };
    let tiles = |positions: usize, heads: usize| heads * positions.div_ceil(128);
    let of_queries = launch(
        "backward_queries",
        tiles(case.queries, case.heads),
        &[q.bytes.len()],
    );
    let bytes = [k.bytes.len(), v.bytes.len()];
    let of_keys = launch("backward_keys", tiles(case.keys, case.key_heads), &bytes);
    let wanted = gradients(case, [q, k, v, &gradient], &found);
    let check = |what: &str, found: &[u8], wanted: &[f64]| {
        Type::Bf16.check(
            found,
            wanted,
            &format!("{} {what}", case.kernel("backward")),
        );
    };
    check("queries", &of_queries[0], &wanted[0]);
    check("keys", &of_keys[0], &wanted[1]);
    check("values", &of_keys[1], &wanted[2]);
}

/// The gradients of queries, keys and values from these statistics.
fn gradients(case: &Case, [q, k, v, gradient]: [&Tensor; 4], statistics: &[f32]) -> [Vec<f64>; 3] {
    let mut of = [q, k, v].map(|tensor| vec![0.0; tensor.values.len()]);
    let scale = f64::from(case.scale());
    for (query, head) in pairs(case.queries, case.heads) {
        let key_head = head / (case.heads / case.key_heads);
        let two = &statistics[2 * (head * case.queries + query)..][..2];
        let (sum, delta) = (f64::from(two[0]), f64::from(two[1]));
        let (own, of_out) = (q.row(query, head), gradient.row(query, head));
        for key in 0..case.visible(query) {
            let score = scale * dot(own, k.row(key, key_head));
            let probability = (score * std::f64::consts::LOG2_E + sum).exp2();
            let of_score = probability * (dot(of_out, v.row(key, key_head)) + delta) * scale;
            add(
                &mut of[0][q.at(query, head)..][..case.size],
                of_score,
                k.row(key, key_head),
            );
            add(
                &mut of[1][k.at(key, key_head)..][..case.size],
                of_score,
                own,
            );
            add(
                &mut of[2][v.at(key, key_head)..][..case.value_size],
                probability,
                of_out,
            );
        }
    }
    of
}

#[test]
fn attention_over_several_tiles() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for case in &CASES[HEADS..] {
            attention(on, case);
        }
    }
}

//! RMSNorm and softmax.

use super::*;

const SHAPES: [(usize, usize); 10] = [
    (1, 1),
    (1, 255),
    (127, 1),
    (3, 127),
    (33, 129),
    (64, 256),
    (37, 1031),
    // Rows of one block and a part; of a team of waves; and longer than registers hold.
    (33, 504),
    (34, 1032),
    (2, 16392),
];

/// Workgroups of `teams` that handle rows: a team is a wave of eight where rows are short
/// and aligned.
fn groups(teams: usize, ty: Type, columns: usize) -> usize {
    let alone = columns.is_multiple_of(16 / ty.bytes()) && columns <= 512;
    teams.div_ceil(if alone { 8 } else { 1 })
}

fn cases() -> impl Iterator<Item = (On, (Type, &'static str), (usize, usize))> {
    let types = TWICE
        .into_iter()
        .flat_map(|on| Type::BOTH.map(|ty| (on, ty)));
    types.flat_map(|(on, ty)| SHAPES.map(|shape| (on, ty, shape)))
}

const EPSILON: f32 = 1e-5;

#[test]
fn rmsnorm_and_its_gradients() {
    if built().is_none() {
        return;
    }
    for (on, (ty, suffix), shape) in cases() {
        rmsnorm(on, ty, suffix, shape);
    }
}

pub(super) fn rmsnorm(on: On, ty: Type, suffix: &str, (rows, columns): (usize, usize)) {
    let arch = on.arch;
    let what = |part: &str| format!("{arch} {part} {suffix} {rows} x {columns}");
    let count = rows * columns;
    let (x, xv) = ty.pack(&values(count, 1, 2.0));
    let (w, wv) = ty.pack(&values(columns, 2, 1.5));
    let (g, gv) = ty.pack(&values(count, 3, 1.0));
    // Rows of a team.
    let each = 3;
    let args = [
        Arg::In(&x),
        Arg::In(&w),
        Arg::Out(count * ty.bytes()),
        Arg::Out(4 * rows),
        Arg::U32(rows as u32),
        Arg::U32(columns as u32),
        Arg::U32(each as u32),
        Arg::F32(EPSILON),
    ];
    let teams = groups(rows.div_ceil(each), ty, columns);
    let out = run(on, &format!("rmsnorm_forward_{suffix}"), teams, &args);
    let scales: Vec<f64> = xv
        .chunks(columns)
        .map(|row| {
            1.0 / (row.iter().map(|x| x * x).sum::<f64>() / columns as f64 + f64::from(EPSILON))
                .sqrt()
        })
        .collect();
    let y: Vec<f64> = (0..count)
        .map(|i| xv[i] * scales[i / columns] * wv[i % columns])
        .collect();
    ty.check(&out[0], &y, &what("y"));
    Type::F32.check(&out[1], &scales, &what("rstd"));

    let bands = rows.div_ceil(32);
    let args = [
        Arg::In(&g),
        Arg::In(&x),
        Arg::In(&w),
        Arg::In(&out[1]),
        Arg::Out(count * ty.bytes()),
        Arg::Out(4 * bands * columns),
        Arg::U32(rows as u32),
        Arg::U32(columns as u32),
    ];
    let name = format!("rmsnorm_backward_rows_{suffix}");
    let back = run(on, &name, groups(bands, ty, columns), &args);
    let mut of_x = vec![0.0; count];
    let mut of_w = vec![0.0; columns];
    for row in 0..rows {
        let at = |column: usize| row * columns + column;
        let s = scales[row];
        let mean = (0..columns)
            .map(|c| gv[at(c)] * wv[c] * xv[at(c)])
            .sum::<f64>()
            / columns as f64;
        for c in 0..columns {
            of_x[at(c)] = s * wv[c] * gv[at(c)] - xv[at(c)] * s.powi(3) * mean;
            of_w[c] += gv[at(c)] * s * xv[at(c)];
        }
    }
    if columns > 1 {
        // With one column the gradient is a difference that all but vanishes.
        ty.check(&back[0], &of_x, &what("gradient of x"));
    }
    let args = [
        Arg::In(&back[1]),
        Arg::Out(columns * ty.bytes()),
        Arg::U32(bands as u32),
        Arg::U32(columns as u32),
    ];
    let weight = run(
        on,
        &format!("rmsnorm_backward_weight_{suffix}"),
        columns.div_ceil(256),
        &args,
    );
    ty.check(&weight[0], &of_w, &what("gradient of weight"));
}

#[test]
fn softmax_and_its_gradient() {
    if built().is_none() {
        return;
    }
    for (on, (ty, suffix), shape) in cases() {
        softmax(on, ty, suffix, shape);
    }
}

pub(super) fn softmax(on: On, ty: Type, suffix: &str, (rows, columns): (usize, usize)) {
    let arch = on.arch;
    let what = |part: &str| format!("{arch} {part} {suffix} {rows} x {columns}");
    let count = rows * columns;
    let teams = groups(rows, ty, columns);
    let (x, xv) = ty.pack(&values(count, 1, 10.0));
    let (g, gv) = ty.pack(&values(count, 2, 1.0));
    let args = [
        Arg::In(&x),
        Arg::Out(count * ty.bytes()),
        Arg::U32(rows as u32),
        Arg::U32(columns as u32),
    ];
    let y = run(on, &format!("softmax_forward_{suffix}"), teams, &args).remove(0);
    let mut yv = Vec::with_capacity(count);
    for row in xv.chunks(columns) {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
        yv.extend(row.iter().map(|x| (x - largest).exp() / sum));
    }
    ty.check(&y, &yv, &what("y"));
    let given: Vec<f64> = ty.unpack(&y).into_iter().map(f64::from).collect();
    let args = [
        Arg::In(&g),
        Arg::In(&y),
        Arg::Out(count * ty.bytes()),
        Arg::U32(rows as u32),
        Arg::U32(columns as u32),
    ];
    let back = run(on, &format!("softmax_backward_{suffix}"), teams, &args).remove(0);
    let mut of_x = vec![0.0; count];
    for row in 0..rows {
        let range = row * columns..(row + 1) * columns;
        let dot: f64 = range.clone().map(|i| given[i] * gv[i]).sum();
        for i in range {
            of_x[i] = given[i] * (gv[i] - dot);
        }
    }
    if columns > 1 {
        ty.check(&back, &of_x, &what("gradient"));
    }
}

#[test]
fn softmax_of_infinities_and_nan() {
    if built().is_none() {
        return;
    }
    let rows = [
        [1.0, f32::NEG_INFINITY, 2.0, f32::NEG_INFINITY],
        [1e30, -1e30, 1e30, 0.0],
        [0.0, f32::NAN, 1.0, 2.0],
    ];
    let bytes: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    for on in TWICE {
        let args = [
            Arg::In(&bytes),
            Arg::Out(bytes.len()),
            Arg::U32(3),
            Arg::U32(4),
        ];
        let y = Type::F32.unpack(&run(on, "softmax_forward_f32", 1, &args)[0]);
        assert_eq!((y[1], y[3]), (0.0, 0.0));
        assert!((y[0] + y[2] - 1.0).abs() < 1e-6);
        assert_eq!(y[4..8], [0.5, 0.0, 0.5, 0.0]);
        assert!(y[8..].iter().all(|value| value.is_nan()));
    }
}

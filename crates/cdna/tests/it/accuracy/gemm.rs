//! Matrix multiplications in every operand order.

use super::*;

/// m, n, k, and what the strides are longer by.
type Shape = (usize, usize, usize, usize);

const SHAPES: [Shape; 8] = [
    (1, 1, 1, 0),
    (127, 129, 255, 0),
    (129, 1, 127, 0),
    (64, 256, 40, 0),
    // Whole pieces with a stage that ends early, and more than one tile.
    (264, 304, 456, 0),
    (256, 256, 512, 8),
    (131, 67, 97, 3),
    (255, 127, 129, 1),
];

pub(super) fn product(on: On, ty: Type, suffix: &str, form: &str, (m, n, k, pad): Shape) {
    let arch = on.arch;
    let (a_rows, a_columns) = if form.starts_with('t') {
        (k, m)
    } else {
        (m, k)
    };
    let (b_rows, b_columns) = if form.ends_with('t') { (n, k) } else { (k, n) };
    let (lda, ldb) = (a_columns + pad, b_columns + pad);
    let (a, av) = ty.pack(&values((a_rows - 1) * lda + a_columns, 1, 1.0));
    let (b, bv) = ty.pack(&values((b_rows - 1) * ldb + b_columns, 2, 1.0));
    let side = if ty == Type::Bf16 { 256 } else { 64 };
    let args = [
        Arg::In(&a),
        Arg::In(&b),
        Arg::Out(m * n * ty.bytes()),
        Arg::U32(m as u32),
        Arg::U32(n as u32),
        Arg::U32(k as u32),
        Arg::U32(lda as u32),
        Arg::U32(ldb as u32),
        Arg::U32(n as u32),
    ];
    let name = format!("gemm_{suffix}_{form}");
    let out = run(on, &name, m.div_ceil(side) * n.div_ceil(side), &args);
    let left = |i: usize, l: usize| {
        if form.starts_with('t') {
            av[l * lda + i]
        } else {
            av[i * lda + l]
        }
    };
    let right = |l: usize, j: usize| {
        if form.ends_with('t') {
            bv[j * ldb + l]
        } else {
            bv[l * ldb + j]
        }
    };
    let mut wanted = Vec::with_capacity(m * n);
    for i in 0..m {
        for j in 0..n {
            wanted.push((0..k).map(|l| left(i, l) * right(l, j)).sum::<f64>());
        }
    }
    ty.check(&out[0], &wanted, &format!("{arch} {name} {m} x {n} x {k}"));
}

#[test]
fn products_in_f32() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for form in ["nn", "nt", "tn"] {
            for shape in SHAPES {
                product(on, Type::F32, "f32", form, shape);
            }
        }
    }
}

#[test]
fn products_in_bf16_on_gfx942() {
    if built().is_some() {
        bf16(TWICE[0]);
    }
}

#[test]
fn products_in_bf16_on_gfx950() {
    if built().is_some() {
        bf16(TWICE[1]);
    }
}

fn bf16(on: On) {
    for form in ["nn", "nt", "tn"] {
        for shape in SHAPES {
            product(on, Type::Bf16, "bf16", form, shape);
        }
    }
}

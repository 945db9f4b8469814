//! Matrix multiplications in every operand order, tile, number of parts and with all that
//! happens to sums before they are stored.

use super::*;

mod mapping;
mod tiles;

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

const FORMS: [&str; 4] = ["nn", "nt", "tn", "tt"];

/// The tiles that take everything.
const TILES: [(Type, &str, usize); 5] = [
    (Type::F32, "f32", 64),
    (Type::F32, "f32", 128),
    (Type::Bf16, "bf16", 64),
    (Type::Bf16, "bf16", 128),
    (Type::Bf16, "bf16", 256),
];

/// Operands, and the sums in f64.
struct Operands {
    a: Vec<u8>,
    b: Vec<u8>,
    sizes: [usize; 6],
    sums: Vec<f64>,
}

impl Operands {
    fn new(ty: Type, form: &str, (m, n, k, pad): Shape) -> Self {
        let (left, right) = (form.starts_with('t'), form.ends_with('t'));
        let (a_rows, a_columns) = if left { (k, m) } else { (m, k) };
        let (b_rows, b_columns) = if right { (n, k) } else { (k, n) };
        let (lda, ldb) = (a_columns + pad, b_columns + pad);
        let (a, av) = ty.pack(&values((a_rows.max(1) - 1) * lda + a_columns, 1, 1.0));
        let (b, bv) = ty.pack(&values((b_rows.max(1) - 1) * ldb + b_columns, 2, 1.0));
        let left = |i: usize, l: usize| {
            if left {
                av[l * lda + i]
            } else {
                av[i * lda + l]
            }
        };
        let right = |l: usize, j: usize| {
            if right {
                bv[j * ldb + l]
            } else {
                bv[l * ldb + j]
            }
        };
        let sum = |i, j| (0..k).map(|l| left(i, l) * right(l, j)).sum::<f64>();
        let sums = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        Self {
            a,
            b,
            sizes: [m, n, k, lda, ldb, n],
            sums: sums.map(|(i, j)| sum(i, j)).collect(),
        }
    }

    fn sizes<'a>(&self) -> [Arg<'a>; 6] {
        self.sizes.map(|size| Arg::U32(size as u32))
    }
}

pub(super) fn product(on: On, ty: Type, suffix: &str, form: &str, shape: Shape) {
    let (m, n, k, _) = shape;
    let operands = Operands::new(ty, form, shape);
    let side = if ty == Type::Bf16 { 256 } else { 64 };
    let mut args = vec![Arg::In(&operands.a), Arg::In(&operands.b)];
    args.push(Arg::Out(m * n * ty.bytes()));
    args.extend(operands.sizes());
    let name = format!("gemm_{suffix}_{form}");
    let out = run(on, &name, m.div_ceil(side) * n.div_ceil(side), &args);
    let what = format!("{} {name} {m} x {n} x {k}", on.arch);
    ty.check(&out[0], &operands.sums, &what);
}

/// What happens to sums: as the kernels number it, and in f64.
type Activation = (u32, fn(f64) -> f64);

const NONE: Activation = (0, |x| x);
const RELU: Activation = (1, |x| x.max(0.0));
const SILU: Activation = (2, |x| x / (1.0 + (-x).exp()));
const GELU: Activation = (3, |x| {
    let u = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
    0.5 * x * (1.0 + u.tanh())
});

/// How a product is taken and finished.
#[derive(Clone, Copy)]
struct Way {
    /// Of K that a part has; 0 for all.
    depth: usize,
    /// Workgroups; 0 for one each unit of work.
    groups: usize,
    bias: bool,
    added: bool,
    activation: Activation,
    /// The result is f32.
    wide: bool,
}

const PLAIN: Way = Way {
    depth: 0,
    groups: 0,
    bias: false,
    added: false,
    activation: NONE,
    wide: false,
};

fn finished(on: On, (ty, suffix, side): (Type, &str, usize), form: &str, shape: Shape, way: Way) {
    let (m, n, k, _) = shape;
    let operands = Operands::new(ty, form, shape);
    let out_ty = if way.wide { Type::F32 } else { ty };
    let (bias, bias_values) = out_ty.pack(&values(n, 3, 1.0));
    let (added, added_values) = out_ty.pack(&values(m * n, 4, 1.0));
    let optional = |wanted: bool, bytes| match wanted {
        true => Arg::In(bytes),
        false => Arg::U64(0),
    };
    let depth = if way.depth == 0 { k.max(1) } else { way.depth };
    let parts = k.div_ceil(depth).max(1);
    let units = m.div_ceil(side) * n.div_ceil(side) * parts;
    let groups = if way.groups == 0 { units } else { way.groups };
    let mode = u32::from(out_ty == Type::F32) + 2 * way.activation.0;
    let end = [optional(way.bias, &bias), optional(way.added, &added)];
    let name = format!("gemm_{suffix}_{side}x{side}_{form}");
    let mut args = vec![Arg::In(&operands.a), Arg::In(&operands.b)];
    let out = if parts == 1 {
        args.extend(end);
        args.push(Arg::Out(m * n * out_ty.bytes()));
        args.extend(operands.sizes());
        args.extend([depth, groups].map(|size| Arg::U32(size as u32)));
        args.push(Arg::U32(mode));
        run(on, &name, groups, &args).remove(0)
    } else {
        args.extend([Arg::U64(0), Arg::U64(0), Arg::Out(parts * m * n * 4)]);
        args.extend(operands.sizes());
        args.extend([depth, groups].map(|size| Arg::U32(size as u32)));
        args.push(Arg::U32(1));
        let sums = run(on, &name, groups, &args).remove(0);
        let mut args = vec![Arg::In(&sums)];
        args.extend(end);
        args.push(Arg::Out(m * n * out_ty.bytes()));
        args.extend([parts, m, n, n].map(|size| Arg::U32(size as u32)));
        args.push(Arg::U32(mode));
        let lanes = m * n.div_ceil(8);
        run(on, "gemm_finish", lanes.div_ceil(256), &args).remove(0)
    };
    let wanted: Vec<f64> = (0..m * n)
        .map(|at| {
            let bias = if way.bias { bias_values[at % n] } else { 0.0 };
            let added = if way.added { added_values[at] } else { 0.0 };
            (way.activation.1)(operands.sums[at] + bias) + added
        })
        .collect();
    let what = format!("{} {name} {m} x {n} x {k}, {parts} parts", on.arch);
    out_ty.check(&out, &wanted, &what);
}

/// What differs between one case and the next, so that every tile and form meets whole and
/// odd sizes, and each way of finishing meets both.
fn cases(side: usize, index: usize) -> [(Shape, Way); 3] {
    let activation = [NONE, RELU, SILU, GELU][index % 4];
    let (more, even) = (side + 8, index.is_multiple_of(2));
    [
        // Two tiles a side, whole pieces, few workgroups for the units.
        (
            (more, more + 16, 136, 0),
            Way {
                groups: 3,
                bias: true,
                added: true,
                activation,
                wide: even,
                ..PLAIN
            },
        ),
        // Nothing whole; parts, of which the last is short.
        (
            (more - 5, 37, 201, index % 3),
            Way {
                depth: 64,
                bias: even,
                added: true,
                activation,
                wide: !even,
                ..PLAIN
            },
        ),
        // Whole parts in turns of five workgroups.
        (
            (side / 2, more, 192, 8),
            Way {
                depth: 64,
                groups: 5,
                wide: even,
                ..PLAIN
            },
        ),
    ]
}

fn every_tile(on: On) {
    for (number, tile) in TILES.into_iter().enumerate() {
        for (index, form) in FORMS.into_iter().enumerate() {
            for (shape, way) in cases(tile.2, number + index) {
                finished(on, tile, form, shape, way);
            }
        }
        // Nothing to sum.
        let way = Way {
            bias: true,
            activation: GELU,
            ..PLAIN
        };
        finished(on, tile, "nt", (3, 9, 0, 0), way);
    }
}

#[test]
fn every_tile_in_every_way_on_gfx942() {
    if built().is_some() {
        every_tile(TWICE[0]);
    }
}

#[test]
fn every_tile_in_every_way_on_gfx950() {
    if built().is_some() {
        every_tile(TWICE[1]);
    }
}

#[test]
fn products_in_f32() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for form in FORMS {
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
    for form in FORMS {
        for shape in SHAPES {
            product(on, Type::Bf16, "bf16", form, shape);
        }
    }
}

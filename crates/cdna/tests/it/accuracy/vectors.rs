//! Elementwise kernels.

use super::*;

const COUNTS: [usize; 7] = [1, 127, 129, 255, 1024, 2053, 4099];

fn groups(count: usize) -> usize {
    count.div_ceil(2048)
}

#[test]
fn sums_products_and_swiglu() {
    if built().is_none() {
        return;
    }
    for (on, (ty, suffix), count) in cases() {
        binary(on, ty, suffix, count);
    }
}

pub(super) fn binary(on: On, ty: Type, suffix: &str, count: usize) {
    let arch = on.arch;
    let silu = |x: f64| x / (1.0 + (-x).exp());
    let ((a, x), (b, y)) = (
        ty.pack(&values(count, 1, 8.0)),
        ty.pack(&values(count, 2, 8.0)),
    );
    for (name, op) in [
        ("add", &(|x: f64, y: f64| x + y) as &dyn Fn(f64, f64) -> f64),
        ("mul", &|x, y| x * y),
        ("swiglu", &|x, y| silu(x) * y),
    ] {
        let name = format!("{name}_{suffix}");
        let args = [
            Arg::In(&a),
            Arg::In(&b),
            Arg::Out(count * ty.bytes()),
            Arg::U64(count as u64),
        ];
        let out = run(on, &name, groups(count), &args);
        let wanted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| op(*x, *y)).collect();
        ty.check(&out[0], &wanted, &format!("{arch} {name} {count}"));
    }
}

#[test]
fn gradients_of_swiglu() {
    if built().is_none() {
        return;
    }
    for (on, (ty, suffix), count) in cases() {
        gradients(on, ty, suffix, count);
    }
}

pub(super) fn gradients(on: On, ty: Type, suffix: &str, count: usize) {
    let arch = on.arch;
    let (d, dv) = ty.pack(&values(count, 3, 1.0));
    let (g, gv) = ty.pack(&values(count, 4, 8.0));
    let (u, uv) = ty.pack(&values(count, 5, 2.0));
    let bytes = count * ty.bytes();
    let args = [
        Arg::In(&d),
        Arg::In(&g),
        Arg::In(&u),
        Arg::Out(bytes),
        Arg::Out(bytes),
        Arg::U64(count as u64),
    ];
    let name = format!("swiglu_backward_{suffix}");
    let out = run(on, &name, groups(count), &args);
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let of_gate: Vec<f64> = (0..count)
        .map(|i| dv[i] * uv[i] * sigmoid(gv[i]) * (1.0 + gv[i] * (1.0 - sigmoid(gv[i]))))
        .collect();
    let of_up: Vec<f64> = (0..count).map(|i| dv[i] * gv[i] * sigmoid(gv[i])).collect();
    ty.check(&out[0], &of_gate, &format!("{arch} {name} gate {count}"));
    ty.check(&out[1], &of_up, &format!("{arch} {name} up {count}"));
}

#[test]
fn casts_are_exact() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for count in COUNTS {
            casts(on, count);
        }
    }
}

pub(super) fn casts(on: On, count: usize) {
    let arch = on.arch;
    // Bit patterns, not numbers: denormals, infinities and ties are among them.
    let bits: Vec<u32> = (0..count as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b1) ^ (i << 15))
        .collect();
    let bits: Vec<u32> = bits
        .into_iter()
        .filter(|bits| !f32::from_bits(*bits).is_nan())
        .collect();
    let count = bits.len();
    let input: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let groups = groups(count);
    let args = [Arg::In(&input), Arg::Out(2 * count), Arg::U64(count as u64)];
    let narrow = run(on, "cast_f32_bf16", groups, &args).remove(0);
    let wanted: Vec<u8> = bits
        .iter()
        .flat_map(|bits| round_to_bf16(f32::from_bits(*bits)).to_le_bytes())
        .collect();
    assert!(narrow == wanted, "{arch} {count}");
    let args = [
        Arg::In(&narrow),
        Arg::Out(4 * count),
        Arg::U64(count as u64),
    ];
    let wide = run(on, "cast_bf16_f32", groups, &args).remove(0);
    let wanted: Vec<u8> = narrow
        .chunks(2)
        .flat_map(|half| [0, 0, half[0], half[1]])
        .collect();
    assert!(wide == wanted, "{arch} {count}");
}

fn cases() -> impl Iterator<Item = (On, (Type, &'static str), usize)> {
    let types = TWICE
        .into_iter()
        .flat_map(|on| Type::BOTH.map(|ty| (on, ty)));
    types.flat_map(|(on, ty)| COUNTS.map(|count| (on, ty, count)))
}

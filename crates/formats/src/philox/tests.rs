//! Known answers, independence of chunking, and the distributions.

use super::*;

#[test]
fn known_answers() {
    // The published vectors of the Random123 library for philox4x32 with 10 rounds.
    let table = [
        (
            0,
            [0; 4],
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
        ),
        (
            u64::MAX,
            [u32::MAX; 4],
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
        ),
        (
            0x299f_31d0_a409_3822,
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        ),
    ];
    for (seed, counter, expected) in table {
        assert_eq!(Philox::new(seed).block(counter), expected);
    }
}

#[test]
fn scope_hashes_are_fnv_1a() {
    // From the test vectors that accompany the FNV draft.
    assert_eq!(scope_hash(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(scope_hash("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(scope_hash("foobar"), 0x8594_4171_f739_67e8);
}

/// Checks that a fill in pieces equals a fill at once and the element-wise function.
fn check_fill<T: Copy + Default + PartialEq + std::fmt::Debug>(
    fill: impl Fn(u64, &mut [T]),
    one: impl Fn(u64) -> T,
) {
    // The second start crosses the 32-bit boundary of the counter.
    for first in [0, (1 << 34) - 100, 7] {
        let mut whole = vec![T::default(); 500];
        fill(first, &mut whole);
        for (i, value) in whole.iter().enumerate() {
            assert_eq!(*value, one(first + i as u64), "element {first} + {i}");
        }
        for piece in [1, 3, 64, 65, 499] {
            let mut pieces = vec![T::default(); 500];
            for (i, out) in pieces.chunks_mut(piece).enumerate() {
                fill(first + (i * piece) as u64, out);
            }
            assert_eq!(pieces, whole, "pieces of {piece} from {first}");
        }
    }
}

#[test]
fn fills_do_not_depend_on_chunking() {
    let stream = Philox::new(42).stream(3, scope_hash("layers.0.attention"));
    check_fill(
        |first, out| stream.fill_bits(first, out),
        |e| stream.bits(e),
    );
    check_fill(
        |first, out| stream.fill_uniform(first, out, 0.0, 1.0),
        |e| stream.uniform(e),
    );
    check_fill(
        |first, out| stream.fill_normal(first, out, 0.0, 1.0),
        |e| stream.normal(e),
    );
}

#[test]
fn seed_step_scope_and_element_each_matter() {
    let reference = Philox::new(1).stream(2, 3);
    let others = [
        Philox::new(2).stream(2, 3),
        Philox::new(1 | 1 << 40).stream(2, 3),
        Philox::new(1).stream(3, 3),
        Philox::new(1).stream(2 | 1 << 40, 3),
        Philox::new(1).stream(2, 4),
        // Exchanged roles must not meet.
        Philox::new(3).stream(2, 1),
    ];
    let draw = |stream: &Stream| {
        let mut out = [0; 64];
        stream.fill_bits(0, &mut out);
        out
    };
    let expected = draw(&reference);
    for other in others {
        let found = draw(&other);
        let same = found.iter().zip(&expected).filter(|(a, b)| a == b);
        assert_eq!(same.count(), 0, "{other:?}");
    }
    let mut sorted = expected;
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn elementary_functions_are_accurate() {
    let mut word = 1_u32;
    let mut worst_ln = 0_f64;
    let mut worst_turn = 0_f64;
    for i in 0..200_000_u32 {
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Small words and those around the quarter turns first.
        let w = match i {
            0..1000 => i,
            1000..2000 => u32::MAX - (i - 1000),
            2000..6000 => ((i % 4) << 30).wrapping_add((i / 4).wrapping_sub(1000)),
            6000..8000 => (1_u32 << 29).wrapping_add(i).wrapping_sub(7000),
            _ => word,
        };
        let u = (f64::from(w) + 0.5) / 4_294_967_296.0;
        worst_ln = worst_ln.max(((ln(u) - u.ln()) / u.ln()).abs());
        let angle = f64::from(w) * (std::f64::consts::PI / 2_147_483_648.0);
        let [cos, sin] = cos_sin_turn(w);
        worst_turn = worst_turn
            .max((cos - angle.cos()).abs())
            .max((sin - angle.sin()).abs());
    }
    assert!(worst_ln < 1e-13, "ln is off by {worst_ln:e}");
    assert!(worst_turn < 1e-14, "cos or sin is off by {worst_turn:e}");
}

/// Empirical moments and Kolmogorov-Smirnov distance to a distribution function.
fn ks_distance(sample: &mut [f32], cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_unstable_by(f32::total_cmp);
    let n = sample.len() as f64;
    sample.iter().enumerate().fold(0.0, |worst: f64, (i, x)| {
        let p = cdf(f64::from(*x));
        worst
            .max((p - i as f64 / n).abs())
            .max(((i + 1) as f64 / n - p).abs())
    })
}

/// The normal distribution function, from the integral by Simpson's rule on [0, |x|].
fn normal_cdf(x: f64) -> f64 {
    let n = 200;
    let h = x / f64::from(n);
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let sum: f64 = (0..=n)
        .map(|i| {
            let weight = match i {
                0 => 1.0,
                _ if i == n => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density(f64::from(i) * h)
        })
        .sum();
    0.5 + sum * h / 3.0
}

#[test]
fn samples_follow_their_distributions() {
    const N: usize = 100_000;
    // At this distance a true sample fails once in ten million; the seed is fixed.
    let critical = 2.9 / (N as f64).sqrt();
    let stream = Philox::new(7).stream(0, scope_hash("embedding"));
    let mut sample = vec![0.0; N];
    stream.fill_uniform(0, &mut sample, -2.0, 3.0);
    assert!(sample.iter().all(|x| (-2.0..3.0).contains(x)));
    let d = ks_distance(&mut sample, |x| (x + 2.0) / 5.0);
    assert!(d < critical, "uniform: {d}");

    stream.fill_normal(0, &mut sample, 1.0, 0.02);
    // Neighbours come from one pair of words and must still be uncorrelated.
    let z: Vec<f64> = sample
        .iter()
        .map(|x| (f64::from(*x) - 1.0) / 0.02)
        .collect();
    let n_pairs = (N / 2) as f64;
    let correlation = z.chunks_exact(2).map(|p| p[0] * p[1]).sum::<f64>() / n_pairs;
    assert!(
        correlation.abs() < 5.4 / n_pairs.sqrt(),
        "correlation {correlation}"
    );
    let d = ks_distance(&mut sample, |x| normal_cdf((x - 1.0) / 0.02));
    assert!(d < critical, "normal: {d}");
}

#[test]
fn extreme_words_give_finite_normals() {
    for radius in [0, 1, u32::MAX] {
        for angle in [0, 1 << 29, 1 << 30, 1 << 31, 3 << 30, u32::MAX] {
            let pair = normal_pair(radius, angle);
            assert!(
                pair.iter().all(|x| x.is_finite() && x.abs() < 6.77),
                "{pair:?}"
            );
        }
    }
    let [largest, _] = normal_pair(0, 0);
    assert!((largest - (66.0 * std::f64::consts::LN_2).sqrt()).abs() < 1e-12);
}

#[test]
fn uniform_never_reaches_the_upper_end() {
    // Near a thousand one unit in the last place is 6e-5, so naive sums round up to the end.
    let stream = Philox::new(0).stream(0, 0);
    let mut out = vec![0.0; 1 << 16];
    let (low, high) = (1000.0, 1000.001);
    stream.fill_uniform(0, &mut out, low, high);
    assert!(out.iter().all(|x| (low..high).contains(x)));
    stream.fill_uniform(0, &mut out, 2.0, 2.0);
    assert!(
        out.iter().all(|x| *x == 2.0),
        "an empty interval gives its end"
    );
}

#[test]
fn bits_are_fixed_for_all_time() {
    // A run that is resumed by a later version must draw the same numbers, so these may
    // only change together with a note that breaks old checkpoints.
    let stream = Philox::new(1234).stream(5, scope_hash("layers.1.mlp"));
    let mut normals = [0.0; 3];
    stream.fill_normal(9, &mut normals, 0.0, 1.0);
    let found = (stream.bits(9), normals.map(f32::to_bits));
    // Derived apart from this code, from the definitions and a C library's log, cos and sin:
    // 0.206496..., -0.800514..., 0.429411...
    let expected = [1_045_656_516, 3_209_490_055, 1_054_596_060];
    assert_eq!(found, (1_816_436_218, expected));
}

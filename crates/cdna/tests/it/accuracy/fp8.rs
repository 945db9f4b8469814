//! 8-bit floats: the largest magnitude, the scale, and conversions both ways.

use super::*;

/// Sign, exponent and mantissa of a format, its bias, and its largest value.
pub(super) struct Format {
    name: &'static str,
    mantissa: u32,
    bias: i32,
    largest: f64,
}

pub(super) fn formats(arch: Arch) -> [Format; 2] {
    // FNUZ before gfx950, OCP from it on.
    let (bias, largest, wide) = if arch == Arch::Gfx942 {
        (8, 240.0, 16)
    } else {
        (7, 448.0, 15)
    };
    [
        Format {
            name: "e4m3",
            mantissa: 3,
            bias,
            largest,
        },
        Format {
            name: "e5m2",
            mantissa: 2,
            bias: wide,
            largest: 57344.0,
        },
    ]
}

impl Format {
    /// The finite values of the codes from 0 on, by the definition.
    fn values(&self) -> Vec<f64> {
        let codes = (0u32..128).map(|code| {
            let (exponent, rest) = (
                (code >> self.mantissa) as i32,
                f64::from(code & ((1 << self.mantissa) - 1)),
            );
            let step = rest / f64::from(1 << self.mantissa);
            if exponent == 0 {
                step * 2f64.powi(1 - self.bias)
            } else {
                (1.0 + step) * 2f64.powi(exponent - self.bias)
            }
        });
        codes.take_while(|value| *value <= self.largest).collect()
    }

    /// The code of the nearest value, ties to the even code.
    fn encode(&self, codes: &[f64], value: f64) -> u8 {
        let magnitude = value.abs().min(self.largest);
        let above = codes
            .partition_point(|known| *known < magnitude)
            .min(codes.len() - 1);
        let below = above.saturating_sub(1);
        let (up, down) = (codes[above] - magnitude, magnitude - codes[below]);
        let code = match up.total_cmp(&down) {
            _ if codes[above] == magnitude => above,
            std::cmp::Ordering::Less => above,
            std::cmp::Ordering::Greater => below,
            std::cmp::Ordering::Equal => {
                if above % 2 == 0 {
                    above
                } else {
                    below
                }
            }
        };
        code as u8
    }
}

#[test]
fn conversions_are_exact() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for format in formats(on.arch) {
            for (ty, suffix) in Type::BOTH {
                conversions(on, &format, ty, suffix);
            }
        }
    }
}

pub(super) fn conversions(on: On, format: &Format, ty: Type, suffix: &str) {
    let arch = on.arch;
    let codes = format.values();
    // Every tie between two codes, its neighbours, and values beyond the range.
    let mut input: Vec<f32> = codes
        .windows(2)
        .map(|pair| ((pair[0] + pair[1]) / 2.0) as f32)
        .collect();
    input.extend(codes.iter().map(|value| *value as f32));
    input.extend(values(1001, 3, format.largest as f32 * 1.5));
    input.extend(values(501, 4, codes[9] as f32));
    input.extend([f32::INFINITY, f32::NEG_INFINITY, 0.0]);
    input.extend(input.clone().iter().map(|value| -value));
    let (bytes, given) = ty.pack(&input);
    let count = given.len();
    let scales: Vec<u8> = [1.0f32, 1.0]
        .iter()
        .flat_map(|scale| scale.to_le_bytes())
        .collect();
    let groups = count.div_ceil(1024);
    let args = [
        Arg::In(&bytes),
        Arg::In(&scales),
        Arg::Out(count),
        Arg::U64(count as u64),
    ];
    let name = format!("fp8_quantize_{}_{suffix}", format.name);
    let quantized = run(on, &name, groups, &args).remove(0);
    for (value, code) in given.iter().zip(&quantized) {
        let wanted = format.encode(&codes, *value);
        assert_eq!(code & 0x7f, wanted, "{arch} {name} of {value}");
        assert!(
            wanted == 0 || (code & 0x80 != 0) == (*value < 0.0),
            "{arch} {name}: sign of {value}"
        );
    }
    let args = [
        Arg::In(&quantized),
        Arg::In(&scales),
        Arg::Out(count * ty.bytes()),
        Arg::U64(count as u64),
    ];
    let name = format!("fp8_dequantize_{}_{suffix}", format.name);
    let back = ty.unpack(&run(on, &name, groups, &args)[0]);
    for (code, value) in quantized.iter().zip(back) {
        let magnitude = codes[usize::from(code & 0x7f)];
        assert_eq!(
            f64::from(value.abs()),
            magnitude,
            "{arch} {name} of {code:#x}"
        );
    }
}

#[test]
fn nan_stays_nan() {
    if built().is_none() {
        return;
    }
    let input: Vec<u8> = [1.0f32, f32::NAN, -2.0, f32::NAN, f32::NAN]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let scales: Vec<u8> = [1.0f32, 1.0]
        .iter()
        .flat_map(|scale| scale.to_le_bytes())
        .collect();
    for on in TWICE {
        let arch = on.arch;
        for format in ["e4m3", "e5m2"] {
            let args = [Arg::In(&input), Arg::In(&scales), Arg::Out(5), Arg::U64(5)];
            let codes = run(on, &format!("fp8_quantize_{format}_f32"), 1, &args).remove(0);
            let args = [Arg::In(&codes), Arg::In(&scales), Arg::Out(20), Arg::U64(5)];
            let back =
                Type::F32.unpack(&run(on, &format!("fp8_dequantize_{format}_f32"), 1, &args)[0]);
            let nan: Vec<bool> = back.iter().map(|value| value.is_nan()).collect();
            assert_eq!(nan, [false, true, false, true, true], "{arch} {format}");
            assert_eq!((back[0], back[2]), (1.0, -2.0));
        }
    }
}

#[test]
fn scales_come_from_the_largest_magnitude() {
    if built().is_none() {
        return;
    }
    for on in TWICE {
        for (ty, suffix) in Type::BOTH {
            for count in [1, 127, 129, 255, 4096, 9001] {
                scales(on, ty, suffix, count);
            }
        }
    }
}

pub(super) fn scales(on: On, ty: Type, suffix: &str, count: usize) {
    let arch = on.arch;
    let (bytes, given) = ty.pack(&values(count, 5, 3.0));
    let parts = count.div_ceil(4096);
    let args = [Arg::In(&bytes), Arg::Out(4 * parts), Arg::U64(count as u64)];
    let maxima = run(on, &format!("fp8_amax_{suffix}"), parts, &args).remove(0);
    let largest = given
        .iter()
        .fold(0.0f64, |largest, value| largest.max(value.abs()));
    let found = Type::F32.unpack(&maxima).into_iter().fold(0.0f32, f32::max);
    assert_eq!(f64::from(found), largest);
    for format in formats(arch) {
        let args = [Arg::In(&maxima), Arg::Out(8), Arg::U32(parts as u32)];
        let scales = Type::F32.unpack(&run(on, &format!("fp8_scale_{}", format.name), 1, &args)[0]);
        let scale = format.largest as f32 / found;
        assert_eq!(scales, [scale, 1.0 / scale], "{arch} {}", format.name);
    }
}

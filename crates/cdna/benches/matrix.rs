//! Speed of matrix instructions: GFLOP/s of one thread, for the forms that matter.
//!
//! Time is the thread's own time on a CPU, so that other programs disturb little.
//!
//!     cargo bench -p cairn-cdna --bench matrix [-- PART OF A NAME]

use std::hint::black_box;

use cairn_cdna::matrix::{Arch, Form, Lanes, Mfma, Mode, Modifiers, Scales, Sources};

const FORMS: [(&str, Arch); 11] = [
    ("v_mfma_f32_32x32x8_bf16", Arch::Gfx942),
    ("v_mfma_f32_16x16x16_bf16", Arch::Gfx942),
    ("v_mfma_f32_32x32x8_f16", Arch::Gfx942),
    ("v_mfma_f32_16x16x32_bf16", Arch::Gfx950),
    ("v_mfma_f32_32x32x16_fp8_fp8", Arch::Gfx942),
    ("v_mfma_f32_32x32x2_f32", Arch::Gfx942),
    ("v_mfma_f32_16x16x8_xf32", Arch::Gfx942),
    ("v_mfma_i32_32x32x16_i8", Arch::Gfx942),
    ("v_mfma_f64_16x16x4_f64", Arch::Gfx942),
    ("v_mfma_scale_f32_16x16x128_f8f6f4", Arch::Gfx950),
    ("v_smfmac_f32_16x16x32_bf16", Arch::Gfx942),
];

fn main() {
    println!("{:<36} {:>8} {:>8}", "GFLOP/s", "exact", "fast");
    // Cargo itself passes `--bench`.
    let part = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let wanted = |name: &str| part.as_ref().is_none_or(|part| name.contains(part));
    for (mnemonic, arch) in FORMS.into_iter().filter(|(name, _)| wanted(name)) {
        let Some(form) = Form::find(mnemonic) else {
            eprintln!("no form {mnemonic}");
            std::process::exit(1);
        };
        let Ok(mfma) = Mfma::new(form, arch, Modifiers::default()) else {
            eprintln!("{mnemonic} is not on {arch}");
            std::process::exit(1);
        };
        let speeds = [Mode::Exact, Mode::Fast].map(|mode| speed(&mfma, mode));
        println!("{mnemonic:<36} {:>8.2} {:>8.2}", speeds[0], speeds[1]);
    }
}

/// Nanoseconds that this thread has been on a CPU.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|word| word.parse().ok());
    first.unwrap_or_else(|| {
        eprintln!("cannot read the time of this thread");
        std::process::exit(1);
    })
}

/// GFLOP/s over at least a tenth of a second.
fn speed(mfma: &Mfma, mode: Mode) -> f64 {
    // Numbers near 1 in every format of 16 bits and less; some f32 and f64 too.
    let register = |seed: u32| -> Lanes {
        std::array::from_fn(|lane| {
            let word = (seed + lane as u32).wrapping_mul(0x9e37_79b9);
            0x3c3c_3838 ^ (word & 0x8383_8383)
        })
    };
    let registers =
        |n: usize, seed| -> Vec<Lanes> { (0..n as u32).map(|r| register(seed + 64 * r)).collect() };
    let a = registers(mfma.a_layout().registers(), 1);
    let b = registers(mfma.b_layout().registers(), 2);
    let index = register(3);
    let scale: Lanes = [127; 64];
    let scales = Scales {
        lanes: &scale,
        byte: 0,
    };
    let sources = Sources {
        a: &a,
        b: &b,
        index: (mfma.form().kind == cairn_cdna::matrix::Kind::Sparse).then_some(&index),
        scales: Some([scales; 2]),
    };
    let mut d = vec![[0; 64]; mfma.d_layout().registers()];
    let (start, mut runs) = (cpu_ns(), 0_u64);
    while cpu_ns() - start < 100_000_000 {
        for _ in 0..100 {
            // The accumulator starts anew, so that it stays in range.
            d.fill([0; 64]);
            let done = mfma.accumulate(mode, black_box(&sources), black_box(&mut d));
            if let Err(error) = done {
                eprintln!("{error}");
                std::process::exit(1);
            }
        }
        runs += 100;
    }
    (runs * mfma.flops()) as f64 / (cpu_ns() - start) as f64
}

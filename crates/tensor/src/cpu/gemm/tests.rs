//! Every kernel against a plain loop in f64.

use cairn_formats::DType;
use half::{bf16, f16};

use super::{Gemm, GemmArgs, GemmError, GemmPlan, OperandB};
use crate::cpu::isa::Isa;
use crate::threads::Pool;

/// The levels this processor has, lowest first.
fn isas() -> Vec<Isa> {
    [
        Isa::Portable,
        Isa::Avx2,
        Isa::Avx512,
        Isa::Avx512Bf16,
        Isa::Amx,
    ]
    .into_iter()
    .filter(|&isa| isa <= Isa::detect())
    .collect()
}

fn encode(values: &[f64], dtype: DType) -> Vec<u8> {
    values
        .iter()
        .flat_map(|&x| match dtype {
            DType::F64 => x.to_ne_bytes().to_vec(),
            DType::BF16 => bf16::from_f64(x).to_ne_bytes().to_vec(),
            DType::F16 => f16::from_f64(x).to_ne_bytes().to_vec(),
            _ => (x as f32).to_ne_bytes().to_vec(),
        })
        .collect()
}

fn decode(bytes: &[u8], dtype: DType) -> Vec<f64> {
    bytes
        .chunks_exact(dtype.bytes(1))
        .map(|x| match dtype {
            DType::F64 => f64::from_ne_bytes(x.try_into().unwrap()),
            DType::BF16 => bf16::from_ne_bytes(x.try_into().unwrap()).to_f64(),
            DType::F16 => f16::from_ne_bytes(x.try_into().unwrap()).to_f64(),
            _ => f64::from(f32::from_ne_bytes(x.try_into().unwrap())),
        })
        .collect()
}

/// Numbers between -1 and 1 from a multiplicative congruential generator (L'Ecuyer 1999).
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(0x2c65_89dc_24d4_36bd);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// Elements of a buffer that holds `batch` matrices.
fn extent(rows: usize, cols: usize, ld: usize, batch: usize, stride: usize) -> usize {
    if rows * cols * batch == 0 {
        return 0;
    }
    (batch - 1) * stride + (rows - 1) * ld + cols
}

struct Case {
    gemm: Gemm,
    a: Vec<u8>,
    b: Vec<u8>,
    c: Vec<u8>,
    bias: Vec<u8>,
    want: Vec<f64>,
}

impl Case {
    fn new(gemm: Gemm) -> Self {
        let (ar, ac) = if gemm.trans_a {
            (gemm.k, gemm.m)
        } else {
            (gemm.m, gemm.k)
        };
        let (br, bc) = if gemm.trans_b {
            (gemm.n, gemm.k)
        } else {
            (gemm.k, gemm.n)
        };
        let acc = match gemm.in_dtype {
            DType::F64 => DType::F64,
            _ => DType::F32,
        };
        let fill = |n, seed, dtype| encode(&numbers(n, seed), dtype);
        let a = fill(
            extent(ar, ac, gemm.lda, gemm.batch, gemm.stride_a),
            1,
            gemm.in_dtype,
        );
        let b = fill(
            extent(br, bc, gemm.ldb, gemm.batch, gemm.stride_b),
            2,
            gemm.in_dtype,
        );
        let c = fill(
            extent(gemm.m, gemm.n, gemm.ldc, gemm.batch, gemm.stride_c),
            3,
            gemm.out_dtype,
        );
        let bias = fill(gemm.n, 4, acc);
        let want = naive(
            &gemm,
            &decode(&a, gemm.in_dtype),
            &decode(&b, gemm.in_dtype),
            &decode(&c, gemm.out_dtype),
            &decode(&bias, acc),
        );
        Self {
            gemm,
            a,
            b,
            c,
            bias,
            want,
        }
    }

    fn run(&self, isa: Isa, threads: usize, packed: bool) -> Vec<u8> {
        let pool = Pool::new(threads).unwrap();
        let plan = GemmPlan::new(&self.gemm, isa, threads).unwrap();
        let mut packed_b = vec![0xa5; plan.packed_b_bytes()];
        let mut scratch = vec![0x5a; plan.scratch_bytes()];
        let b = if packed {
            plan.pack_b(&self.b, &mut packed_b, &pool).unwrap();
            scratch.truncate(plan.scratch_bytes_packed());
            OperandB::Packed(&packed_b)
        } else {
            OperandB::Plain(&self.b)
        };
        let mut c = self.c.clone();
        let args = GemmArgs {
            a: &self.a,
            b,
            c: &mut c,
            bias: self.gemm.bias.then_some(&self.bias),
            scratch: &mut scratch,
        };
        plan.run(args, &pool).unwrap();
        c
    }

    /// The ratio of signal to noise in dB that the types allow.
    fn limit(&self) -> f64 {
        match (self.gemm.in_dtype, self.gemm.out_dtype) {
            (DType::F64, _) => 280.0,
            (_, DType::BF16) => 40.0,
            (_, DType::F16) => 60.0,
            _ => 100.0,
        }
    }

    /// Checks all kernels, thread counts and both ways to give `B`.
    fn check(&self) {
        for isa in isas() {
            let first = self.run(isa, 1, false);
            let snr = snr(&self.want, &decode(&first, self.gemm.out_dtype));
            assert!(
                snr >= self.limit(),
                "{isa}: {snr:.1} dB below {}: {:?}",
                self.limit(),
                self.gemm
            );
            for (threads, packed) in [(2, false), (4, false), (1, true), (3, true)] {
                assert!(
                    self.run(isa, threads, packed) == first,
                    "{isa}: other bits with {threads} threads, packed {packed}: {:?}",
                    self.gemm
                );
            }
        }
    }
}

fn naive(gemm: &Gemm, a: &[f64], b: &[f64], c: &[f64], bias: &[f64]) -> Vec<f64> {
    let mut out = c.to_vec();
    for batch in 0..gemm.batch {
        for i in 0..gemm.m {
            for (j, &bias) in bias.iter().enumerate() {
                let at = batch * gemm.stride_c + i * gemm.ldc + j;
                let mut sum = if gemm.accumulate { c[at] } else { 0.0 };
                for p in 0..gemm.k {
                    let (ai, aj) = if gemm.trans_a { (p, i) } else { (i, p) };
                    let (bi, bj) = if gemm.trans_b { (j, p) } else { (p, j) };
                    sum += a[batch * gemm.stride_a + ai * gemm.lda + aj]
                        * b[batch * gemm.stride_b + bi * gemm.ldb + bj];
                }
                out[at] = sum + if gemm.bias { bias } else { 0.0 };
            }
        }
    }
    out
}

/// Signal to noise in dB; infinite when equal, NaN counts as noise.
fn snr(want: &[f64], got: &[f64]) -> f64 {
    assert_eq!(want.len(), got.len());
    let signal: f64 = want.iter().map(|x| x * x).sum();
    let noise: f64 = want.iter().zip(got).map(|(x, y)| (x - y) * (x - y)).sum();
    if noise == 0.0 {
        return f64::INFINITY;
    }
    let ratio = 10.0 * (signal / noise).log10();
    if ratio.is_nan() {
        f64::NEG_INFINITY
    } else {
        ratio
    }
}

const DTYPES: [(DType, DType); 7] = [
    (DType::F32, DType::F32),
    (DType::BF16, DType::F32),
    (DType::BF16, DType::BF16),
    (DType::F16, DType::F32),
    (DType::F16, DType::F16),
    (DType::F32, DType::BF16),
    (DType::F64, DType::F64),
];

/// The same product with the operands stored the other way round.
fn forms(m: usize, n: usize, k: usize, types: (DType, DType)) -> [Gemm; 4] {
    let nt = Gemm::nt(m, n, k, types.0, types.1);
    let tt = Gemm {
        trans_a: true,
        lda: m,
        ..nt
    };
    [
        Gemm::new(m, n, k, types.0, types.1),
        nt,
        Gemm::tn(m, n, k, types.0, types.1),
        tt,
    ]
}

#[test]
fn odd_sizes() {
    let sizes = [
        (1, 1, 1),
        (1, 127, 129),
        (127, 1, 255),
        (129, 255, 1),
        (255, 127, 129),
        (31, 33, 65),
        (64, 64, 64),
        (61, 97, 101),
        (13, 260, 37),
        (300, 5, 64),
    ];
    for (m, n, k) in sizes {
        for types in DTYPES {
            for gemm in forms(m, n, k, types) {
                Case::new(gemm).check();
            }
        }
    }
}

#[test]
fn accumulation_and_bias() {
    for (m, n, k) in [(33, 70, 40), (64, 96, 64), (5, 3, 7)] {
        for types in DTYPES {
            for gemm in forms(m, n, k, types) {
                Case::new(gemm.accumulate()).check();
                Case::new(gemm.with_bias()).check();
                Case::new(gemm.accumulate().with_bias()).check();
            }
        }
    }
}

#[test]
fn empty_sums_and_empty_results() {
    for types in DTYPES {
        for (m, n, k) in [(0, 5, 3), (5, 0, 3), (0, 0, 0), (5, 7, 0), (33, 40, 0)] {
            for gemm in forms(m, n, k, types) {
                for gemm in [gemm, gemm.accumulate(), gemm.with_bias(), gemm.batched(0)] {
                    Case::new(gemm).check();
                }
            }
        }
    }
}

#[test]
fn rows_apart_and_batches() {
    for types in DTYPES {
        for gemm in forms(37, 45, 50, types) {
            Case::new(Gemm {
                lda: gemm.lda + 3,
                ldb: gemm.ldb + 5,
                ldc: gemm.ldc + 7,
                ..gemm
            })
            .check();
            Case::new(gemm.batched(3)).check();
            Case::new(Gemm {
                stride_b: 0,
                ..gemm.batched(3)
            })
            .check();
            // Heads side by side in each row, as attention has them.
            Case::new(Gemm {
                lda: gemm.lda * 4,
                stride_a: gemm.lda,
                ldc: gemm.ldc * 4,
                stride_c: gemm.ldc,
                batch: 4,
                ..gemm
            })
            .check();
        }
    }
}

#[test]
fn sums_longer_than_a_block() {
    for types in [
        (DType::F32, DType::F32),
        (DType::BF16, DType::F32),
        (DType::BF16, DType::BF16),
    ] {
        for k in [4096, 4097, 9000] {
            for gemm in forms(35, 34, k, types) {
                Case::new(gemm).check();
                Case::new(gemm.accumulate().with_bias()).check();
            }
        }
    }
}

#[test]
fn many_chunks() {
    for types in DTYPES {
        Case::new(Gemm::nt(300, 600, 96, types.0, types.1)).check();
        Case::new(Gemm::tn(520, 140, 130, types.0, types.1)).check();
    }
}

#[test]
fn values_beside_the_result_stay() {
    let gemm = Gemm {
        ldc: 50,
        ..Gemm::nt(40, 33, 64, DType::BF16, DType::BF16)
    };
    let case = Case::new(gemm);
    for isa in isas() {
        let got = case.run(isa, 2, false);
        for (row, (got, was)) in got.chunks(100).zip(case.c.chunks(100)).enumerate() {
            if let (Some(got), Some(was)) = (got.get(66..), was.get(66..)) {
                assert_eq!(got, was, "{isa}, row {row}");
            }
        }
    }
}

#[test]
fn infinities_and_nans_arrive() {
    for types in [(DType::F32, DType::F32), (DType::BF16, DType::BF16)] {
        let gemm = Gemm::nt(40, 40, 40, types.0, types.1);
        let mut case = Case::new(gemm);
        let mut a = decode(&case.a, types.0);
        a[40 * 3 + 5] = f64::NAN;
        a[40 * 35 + 7] = f64::INFINITY;
        case.a = encode(&a, types.0);
        for isa in isas() {
            let got = decode(&case.run(isa, 1, false), types.1);
            for (i, row) in got.chunks(40).enumerate() {
                match i {
                    3 => assert!(row.iter().all(|x| x.is_nan()), "{isa}"),
                    35 => assert!(row.iter().all(|x| !x.is_finite()), "{isa}"),
                    _ => assert!(row.iter().all(|x| x.is_finite()), "{isa}, row {i}"),
                }
            }
        }
    }
}

#[test]
fn nonsense_is_refused() {
    let plan = |gemm: Gemm| GemmPlan::new(&gemm, Isa::Portable, 1);
    let gemm = Gemm::new(4, 5, 6, DType::F32, DType::F32);
    for (i, o) in [
        (DType::F32, DType::F64),
        (DType::F64, DType::F32),
        (DType::I32, DType::F32),
        (DType::F32, DType::F8E4M3),
    ] {
        assert!(matches!(
            plan(Gemm::new(4, 5, 6, i, o)),
            Err(GemmError::DTypes { .. })
        ));
    }
    for bad in [
        Gemm { lda: 5, ..gemm },
        Gemm { ldb: 4, ..gemm },
        Gemm { ldc: 4, ..gemm },
    ] {
        assert!(matches!(plan(bad), Err(GemmError::LeadingDimension { .. })));
    }
    assert!(matches!(
        plan(Gemm {
            batch: 2,
            stride_c: 19,
            ..gemm
        }),
        Err(GemmError::Overlap { .. })
    ));
    for huge in [
        Gemm::new(usize::MAX, 1, 1, DType::F32, DType::F32),
        Gemm::new(1 << 32, 1 << 32, 1 << 32, DType::F32, DType::F32),
        gemm.batched(usize::MAX),
    ] {
        assert!(matches!(plan(huge), Err(GemmError::TooLarge { .. })));
    }
}

#[test]
fn wrong_buffers_are_refused() {
    let pool = Pool::new(2).unwrap();
    let plan = GemmPlan::new(
        &Gemm::new(4, 5, 6, DType::F32, DType::F32),
        Isa::detect(),
        2,
    );
    let plan = plan.unwrap();
    let (a, b) = (vec![0f32; 25], vec![0f32; 31]);
    let (a, b): (&[u8], &[u8]) = (bytemuck::cast_slice(&a), bytemuck::cast_slice(&b));
    let mut c = vec![1f32; 21];
    let mut scratch = vec![0u8; plan.scratch_bytes()];
    let mut call = |a: &[u8], b: &[u8], c0: usize, c1: usize, s: usize, bias: Option<&[u8]>| {
        let args = GemmArgs {
            a,
            b: OperandB::Plain(b),
            c: &mut bytemuck::cast_slice_mut(&mut c)[c0..c1],
            bias,
            scratch: &mut scratch[..s],
        };
        plan.run(args, &pool)
    };
    let s = plan.scratch_bytes();
    assert_eq!(call(a, b, 0, 84, s, None), Ok(()));
    let short = |operand| move |e: GemmError| matches!(e, GemmError::Length { operand: o, .. } if o == operand);
    assert!(call(&a[..95], b, 0, 80, s, None).is_err_and(short("a")));
    assert!(call(a, &b[..119], 0, 80, s, None).is_err_and(short("b")));
    assert!(call(a, b, 0, 79, s, None).is_err_and(short("c")));
    assert!(call(a, b, 0, 80, s - 1, None).is_err_and(short("scratch")));
    let misaligned = |e| matches!(e, GemmError::Alignment { .. });
    assert!(call(&a[1..], b, 0, 80, s, None).is_err_and(misaligned));
    assert!(call(a, &b[2..], 0, 80, s, None).is_err_and(misaligned));
    assert!(call(a, b, 3, 83, s, None).is_err_and(misaligned));
    assert!(matches!(
        call(a, b, 0, 80, s, Some(&a[..20])),
        Err(GemmError::Bias { .. })
    ));
    let big = Pool::new(3).unwrap();
    let args = GemmArgs {
        a,
        b: OperandB::Plain(b),
        c: bytemuck::cast_slice_mut(&mut c),
        bias: None,
        scratch: &mut scratch,
    };
    assert!(matches!(
        plan.run(args, &big),
        Err(GemmError::Threads { .. })
    ));
}

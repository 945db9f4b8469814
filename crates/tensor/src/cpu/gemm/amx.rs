//! The bf16 kernel for AMX: 32 x 32 in four tiles.
//!
//! The tile registers have no stable intrinsics, so the instructions are written out.
//! Layout of a tile and of its configuration: Intel SDM volume 1, chapter 18.

#![expect(
    unsafe_code,
    reason = "SIMD kernels and the disjoint parts of a result"
)]

use std::arch::asm;

use cairn_formats::DType;

use super::avx512::{expect_lines, store_bf16};
use super::pack::View;
use super::pack_avx512;
use super::store::{self, Target};
use super::tile::{Accumulators, Operands, Panels, Tile};

/// `tmm0..3` hold 2 x 2 tiles of `C`, `tmm4..5` two of `A`, `tmm6..7` two of `B`.
/// `tdpbf16ps` multiplies exactly, rounds each sum to nearest even and takes denormal
/// numbers as zero.
#[derive(Debug)]
pub(super) struct AmxBf16;

/// The 64 bytes `ldtilecfg` reads: palette 1, each tile 16 rows of 64 bytes.
#[repr(C, align(64))]
struct TileConfig {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    bytes_per_row: [u16; 16],
    rows: [u8; 16],
}

static CONFIG: TileConfig = TileConfig {
    palette: 1,
    start_row: 0,
    reserved: [0; 14],
    bytes_per_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Adds the product of two panels to `tmm0..3`. `A` streams through the first-level cache
/// (`tileloaddt1`), so that the panel of `B`, which the next tiles read again, stays in
/// it. `$prefetch` comes four times for each 32 terms.
macro_rules! multiply {
    ($k:expr, $a:expr, $b:expr, $ahead:expr, $prefetch:literal) => {
        asm!(
            "test {blocks}, {blocks}",
            "jz 3f",
            "2:",
            "tileloaddt1 tmm4, [{a} + {sa}]",
            $prefetch,
            "tileloadd tmm6, [{b} + {sb}]",
            $prefetch,
            "tileloadd tmm7, [{b} + {sb} + 1024]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            $prefetch,
            "tileloaddt1 tmm5, [{low} + {sa}]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            $prefetch,
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {a}, 64",
            "add {low}, 64",
            "add {b}, 2048",
            "dec {blocks}",
            "jnz 2b",
            "3:",
            blocks = inout(reg) $k / 32 => _,
            a = inout(reg) $a.first => _,
            low = inout(reg) $a.first.add(16 * $a.outer_stride) => _,
            b = inout(reg) $b => _,
            ahead = inout(reg) $ahead => _,
            sa = in(reg) $a.outer_stride * 2,
            sb = in(reg) 64usize,
            options(nostack, readonly),
        )
    };
}

impl Tile for AmxBf16 {
    type Packed = u16;
    type Acc = f32;
    const NAME: &'static str = "amx_bf16";
    const MR: usize = 32;
    const NR: usize = 32;
    const KU: usize = 32;
    const PANELS: Panels = Panels::Pairs;
    const IN_PLACE: bool = true;
    const RATE: f64 = 512.0;

    unsafe fn pack_panels(
        view: &View<'_, u16>,
        first: usize,
        width: usize,
        panel: usize,
        out: &mut [u16],
    ) -> bool {
        // SAFETY: by contract; AVX512_BF16 and AMX include AVX-512 F, BW and VL.
        unsafe { pack_avx512::panels::<_, 2>(view, first, width, Self::PANELS, panel, out) };
        true
    }

    unsafe fn pack_rows(
        view: &View<'_, u16>,
        first: usize,
        stride: usize,
        out: &mut [u16],
    ) -> bool {
        // SAFETY: by contract; AVX512_BF16 and AMX include AVX-512 F, BW and VL.
        unsafe { pack_avx512::rows::<_, 2>(view, first, stride, out) };
        true
    }

    unsafe fn store(target: &Target<'_, f32>, acc: &[f32]) {
        // SAFETY: by contract.
        unsafe {
            if target.dtype == DType::BF16 {
                store_bf16(target, acc);
            } else {
                store::store(target, acc, Self::NR);
            }
        }
    }

    unsafe fn begin() {
        // SAFETY: the processor has AMX by contract; `CONFIG` is a valid configuration
        // of 64 bytes. Nothing else in the program uses the tile registers.
        unsafe {
            asm!("ldtilecfg [{0}]", in(reg) &raw const CONFIG, options(nostack, readonly));
        }
    }

    unsafe fn end() {
        // SAFETY: the processor has AMX by contract.
        unsafe { asm!("tilerelease", options(nostack, nomem)) }
    }

    unsafe fn run(operands: Operands<u16>, acc: Accumulators<f32>) {
        let Operands { k, a, b, ahead } = operands;
        // SAFETY: `acc` is 32 rows of 32 elements: four tiles of 16 rows of 64 bytes.
        // `a` is 32 rows of `k` elements, `b` has two tiles of 1024 bytes for each 32
        // terms. The instructions touch only these and the tile registers, which no
        // other code uses between `begin` and `end`; prefetching has no effect that a
        // program can observe.
        unsafe {
            let (c, ld) = (acc.first, acc.ld * 4);
            let low = c.add(16 * acc.ld);
            if acc.load {
                asm!(
                    "tileloadd tmm0, [{c} + {ld}]",
                    "tileloadd tmm1, [{c} + {ld} + 64]",
                    "tileloadd tmm2, [{low} + {ld}]",
                    "tileloadd tmm3, [{low} + {ld} + 64]",
                    c = in(reg) c, low = in(reg) low, ld = in(reg) ld,
                    options(nostack, readonly),
                );
            } else {
                asm!(
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tilezero tmm3",
                    options(nostack, nomem),
                );
            }
            if let Some(ahead) = ahead {
                multiply!(
                    k,
                    a,
                    b,
                    ahead,
                    "prefetcht1 [{ahead}]
                     prefetcht1 [{ahead} + 64]
                     prefetcht1 [{ahead} + 128]
                     prefetcht1 [{ahead} + 192]
                     prefetcht1 [{ahead} + 256]
                     prefetcht1 [{ahead} + 320]
                     prefetcht1 [{ahead} + 384]
                     prefetcht1 [{ahead} + 448]
                     add {ahead}, 512"
                );
            } else {
                multiply!(k, a, b, a.first, "/* {ahead} */");
            }
            asm!(
                "tilestored [{c} + {ld}], tmm0",
                "tilestored [{c} + {ld} + 64], tmm1",
                "tilestored [{low} + {ld}], tmm2",
                "tilestored [{low} + {ld} + 64], tmm3",
                c = in(reg) c, low = in(reg) low, ld = in(reg) ld,
                options(nostack),
            );
        }
    }
    fn expect(target: &Target<'_, f32>) {
        expect_lines(target);
    }
}

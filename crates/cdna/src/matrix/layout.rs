//! Where in the registers the elements of a matrix are.
//!
//! Inputs. A lane holds consecutive elements along k of one row of A (or one column of B).
//! Lanes run over the rows first, then over the blocks, then along k. An operand of eight
//! registers is read as two operands of four, each with half of k (gfx950: f8f6f4 with
//! 8-bit elements, and B of its sparse forms).
//!
//! Outputs. A register holds N columns of several rows: lanes run over the columns, then
//! over blocks when a block is smaller than a register, then over rows four apart (one
//! apart for f64).
//!
//! Sources: AMD's matrix instruction calculator for CDNA3; for the halves, one-hot
//! probes of MI350 published with Composable Kernel (`scale_mapping_*.txt`) and of its
//! sparse forms.

use super::forms::Accumulator;

/// Where an element begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The register, counted from the operand's first.
    pub register: usize,
    /// The lane.
    pub lane: usize,
    /// The lowest bit of the element. Wider elements, and 6-bit ones that do not fit,
    /// continue in the next register of the lane.
    pub bit: usize,
}

/// A power of two: every count of a layout is one, and dividing by it is a shift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Power(u8);

impl Power {
    fn of(count: usize) -> Self {
        debug_assert!(count.is_power_of_two());
        Self(count.trailing_zeros() as u8)
    }

    const fn get(self) -> usize {
        1 << self.0
    }

    const fn times(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    const fn over(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    const fn multiply(self, x: usize) -> usize {
        x << self.0
    }

    const fn divide(self, x: usize) -> usize {
        x >> self.0
    }

    const fn remainder(self, x: usize) -> usize {
        x & (self.get() - 1)
    }
}

/// The layout of A or B. What is a row of A is a column of B; both are called row here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputLayout {
    rows: Power,
    k: Power,
    blocks: Power,
    bits: usize,
    per_lane: Power,
    /// Elements that follow each other along k.
    run: Power,
    /// Parts into which lanes cut k.
    groups: Power,
}

impl InputLayout {
    pub(super) fn new(rows: usize, k: usize, blocks: usize, bits: usize) -> Self {
        let [rows, k, blocks] = [rows, k, blocks].map(Power::of);
        let per_lane = rows.times(k).times(blocks).over(Power::of(64));
        let run = match per_lane.multiply(bits) {
            256 => per_lane.over(Power::of(2)),
            _ => per_lane,
        };
        Self {
            rows,
            k,
            blocks,
            bits,
            per_lane,
            run,
            groups: k.over(per_lane),
        }
    }

    /// Rows of A, or columns of B.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows.get()
    }

    /// Stored elements along k: half of the form's for a compressed A.
    #[must_use]
    pub const fn k(&self) -> usize {
        self.k.get()
    }

    /// Blocks.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.blocks.get()
    }

    /// Elements a lane holds.
    #[must_use]
    pub const fn per_lane(&self) -> usize {
        self.per_lane.get()
    }

    /// Registers of the operand.
    #[must_use]
    pub const fn registers(&self) -> usize {
        self.per_lane.multiply(self.bits) / 32
    }

    /// Bits of a lane's compression indices: two for each element.
    pub(super) const fn index_bits(&self) -> usize {
        2 * self.per_lane()
    }

    /// The first of the lanes that hold row 0 to the last of a block, for the `group`th
    /// part of k.
    pub(super) const fn first_lane(&self, block: usize, group: usize) -> usize {
        self.rows.multiply(self.blocks.multiply(group) + block)
    }

    /// Parts into which lanes cut k.
    pub(super) const fn groups(&self) -> usize {
        self.groups.get()
    }

    /// The k of a lane's element, for the lanes of the `group`th part.
    pub(super) const fn k_of(&self, group: usize, slot: usize) -> usize {
        let part = self.groups.multiply(self.run.divide(slot)) + group;
        self.run.multiply(part) + self.run.remainder(slot)
    }

    /// Where an element is. The arguments must be within the shape.
    #[must_use]
    pub const fn place(&self, block: usize, row: usize, k: usize) -> Place {
        let part = self.run.divide(k);
        let (group, part) = (self.groups.remainder(part), self.groups.divide(part));
        let bit = (self.run.multiply(part) + self.run.remainder(k)) * self.bits;
        Place {
            register: bit / 32,
            lane: self.first_lane(block, group) + row,
            bit: bit % 32,
        }
    }

    /// Block, row and k of the `slot`th element of a lane: the inverse of
    /// [`InputLayout::place`].
    #[must_use]
    pub const fn element(&self, lane: usize, slot: usize) -> (usize, usize, usize) {
        let above = self.rows.divide(lane);
        let (block, group) = (self.blocks.remainder(above), self.blocks.divide(above));
        (block, self.rows.remainder(lane), self.k_of(group, slot))
    }
}

/// The layout of C and D.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputLayout {
    n: Power,
    /// Registers of all.
    registers: usize,
    /// Registers an element takes.
    width: Power,
    /// Rows in registers that follow each other.
    height: Power,
    /// Groups of `height` rows side by side in a register.
    groups: Power,
    /// Blocks side by side in a register.
    side_by_side: Power,
    /// Elements that a block has in a lane.
    per_block: Power,
}

impl OutputLayout {
    pub(super) fn new(m: usize, n: usize, blocks: usize, accumulator: Accumulator) -> Self {
        let (width, height) = match accumulator {
            Accumulator::F64 => (2, 1),
            Accumulator::F32 | Accumulator::I32 => (1, 4),
        };
        let groups = (m / height).min(64 / n);
        Self {
            n: Power::of(n),
            registers: m * n * blocks * width / 64,
            width: Power::of(width),
            height: Power::of(height),
            groups: Power::of(groups),
            side_by_side: Power::of(64 / (n * groups)),
            per_block: Power::of(m / groups),
        }
    }

    /// Registers of the operand.
    #[must_use]
    pub const fn registers(&self) -> usize {
        self.registers
    }

    /// Where an element is. The arguments must be within the shape.
    #[must_use]
    pub const fn place(&self, block: usize, row: usize, column: usize) -> Place {
        let group = self.height.divide(row);
        // Elements of a lane that the blocks before this one take.
        let before = self.per_block.multiply(self.side_by_side.divide(block));
        let above = self.height.multiply(self.groups.divide(group));
        let element = before + above + self.height.remainder(row);
        let beside = self.side_by_side.multiply(self.groups.remainder(group));
        let beside = beside + self.side_by_side.remainder(block);
        Place {
            register: self.width.multiply(element),
            lane: self.n.multiply(beside) + column,
            bit: 0,
        }
    }

    /// Block, row and column of the element that begins in a register: the inverse of
    /// [`OutputLayout::place`].
    #[must_use]
    pub const fn element(&self, register: usize, lane: usize) -> (usize, usize, usize) {
        let element = self.width.divide(register);
        let beside = self.n.divide(lane);
        let before = self.per_block.divide(element);
        let block = self.side_by_side.multiply(before) + self.side_by_side.remainder(beside);
        let above = self.height.divide(self.per_block.remainder(element));
        let group = self.groups.multiply(above) + self.side_by_side.divide(beside);
        let row = self.height.multiply(group) + self.height.remainder(element);
        (block, row, self.n.remainder(lane))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::matrix::{Element, Form};

    /// A form's layouts, for each type that its elements can have.
    fn inputs(form: &Form) -> Vec<InputLayout> {
        let mut found = Vec::new();
        for element in [form.a].into_iter().chain(Element::SELECTABLE) {
            if element == form.a || matches!(form.kind, crate::matrix::Kind::Selected) {
                found.extend([form.a_layout(element), form.b_layout(element)]);
            }
        }
        found
    }

    #[test]
    fn every_bit_of_an_input_belongs_to_one_element() {
        for form in Form::all() {
            for layout in inputs(form) {
                let mut seen = BTreeSet::new();
                for block in 0..layout.blocks() {
                    for row in 0..layout.rows() {
                        for k in 0..layout.k() {
                            let place = layout.place(block, row, k);
                            let bit = place.register * 32 + place.bit;
                            assert_eq!(bit % layout.bits, 0);
                            assert_eq!(
                                layout.element(place.lane, bit / layout.bits),
                                (block, row, k),
                                "{} {layout:?}",
                                form.mnemonic
                            );
                            assert!(
                                place.lane < 64 && bit + layout.bits <= layout.registers() * 32
                            );
                            assert!(seen.insert((place.lane, bit)));
                        }
                    }
                }
                let bits = seen.len() * layout.bits;
                assert_eq!(bits, layout.registers() * 64 * 32, "{}", form.mnemonic);
            }
        }
    }

    #[test]
    fn every_word_of_an_output_belongs_to_one_element() {
        for form in Form::all() {
            let layout = form.d_layout();
            let mut seen = BTreeSet::new();
            for block in 0..form.blocks {
                for row in 0..form.m {
                    for column in 0..form.n {
                        let place = layout.place(block, row, column);
                        assert_eq!(
                            layout.element(place.register, place.lane),
                            (block, row, column),
                            "{}",
                            form.mnemonic
                        );
                        assert!(place.lane < 64 && place.register < layout.registers());
                        assert!(seen.insert(place));
                    }
                }
            }
            assert_eq!(layout.width.multiply(seen.len()), layout.registers() * 64);
        }
    }

    fn form(mnemonic: &str) -> &'static Form {
        Form::find(mnemonic).unwrap()
    }

    #[test]
    fn results_are_where_amd_says() {
        let wide = form("v_mfma_f32_32x32x8_bf16").d_layout();
        let square = form("v_mfma_f32_16x16x16_bf16").d_layout();
        let blocks = form("v_mfma_f32_16x16x4_4b_f16").d_layout();
        let small = form("v_mfma_f32_4x4x4_16b_f16").d_layout();
        let doubles = form("v_mfma_f64_16x16x4_f64").d_layout();
        let small_doubles = form("v_mfma_f64_4x4x4_4b_f64").d_layout();
        for lane in 0..64 {
            for r in 0..16 {
                let row = 8 * (r / 4) + 4 * (lane / 32) + r % 4;
                assert_eq!(wide.element(r, lane), (0, row, lane % 32));
                let row = 4 * (lane / 16) + r % 4;
                assert_eq!(blocks.element(r, lane), (r / 4, row, lane % 16));
            }
            for r in 0..4 {
                assert_eq!(square.element(r, lane), (0, 4 * (lane / 16) + r, lane % 16));
                assert_eq!(small.element(r, lane), (lane / 4, r, lane % 4));
                let row = 4 * r + lane / 16;
                assert_eq!(doubles.element(2 * r, lane), (0, row, lane % 16));
            }
            let found = small_doubles.element(0, lane);
            assert_eq!(found, (lane / 4 % 4, lane / 16, lane % 4));
        }
    }

    #[test]
    fn inputs_are_where_amd_says() {
        let place = |register, lane, bit| Place {
            register,
            lane,
            bit,
        };
        let a = |mnemonic| {
            let form = form(mnemonic);
            form.a_layout(form.a)
        };
        // 32x32x8: lane = row + 32 * (k / 4), two elements a register.
        assert_eq!(a("v_mfma_f32_32x32x8_f16").place(0, 5, 6), place(1, 37, 0));
        assert_eq!(
            a("v_mfma_f32_32x32x1_2b_f32").place(1, 3, 0),
            place(0, 35, 0)
        );
        assert_eq!(a("v_mfma_f32_16x16x4_f32").place(0, 7, 3), place(0, 55, 0));
        assert_eq!(a("v_mfma_f32_16x16x8_xf32").place(0, 7, 3), place(1, 23, 0));
        assert_eq!(
            a("v_mfma_f32_4x4x4_16b_bf16").place(9, 2, 3),
            place(1, 38, 16)
        );
        assert_eq!(a("v_mfma_f64_4x4x4_4b_f64").place(2, 1, 3), place(0, 57, 0));
        assert_eq!(a("v_mfma_i32_16x16x32_i8").place(0, 3, 13), place(1, 19, 8));
        // gfx950's 16-bit forms hold eight elements a lane.
        assert_eq!(
            a("v_mfma_f32_16x16x32_bf16").place(0, 2, 13),
            place(2, 18, 16)
        );
    }

    #[test]
    fn eight_registers_are_two_halves() {
        let fp8 = form("v_mfma_f32_16x16x128_f8f6f4").a_layout(Element::Fp8);
        assert_eq!(fp8.element(16, 0), (0, 0, 16));
        assert_eq!(fp8.element(0, 16), (0, 0, 64));
        assert_eq!(fp8.element(48, 31), (0, 0, 127));
        let fp8 = form("v_mfma_f32_32x32x64_f8f6f4").b_layout(Element::Bf8);
        assert_eq!(fp8.element(33, 17), (0, 1, 49));
        // Six and four registers are not.
        let fp6 = form("v_mfma_f32_16x16x128_f8f6f4").a_layout(Element::Fp6);
        assert_eq!(fp6.element(16, 31), (0, 0, 63));
        assert_eq!(fp6.place(0, 0, 5).bit, 30);
        let fp4 = form("v_mfma_f32_32x32x64_f8f6f4").a_layout(Element::Fp4);
        assert_eq!(fp4.element(40, 9), (0, 8, 41));
    }

    /// One-hot probes of gfx950: which slot and lane group of B meets slot `a` of lane
    /// group `ag` of A when the indices choose the first two of four.
    #[test]
    fn sparse_b_meets_a_as_probed() {
        for (mnemonic, per_lane) in [
            ("v_smfmac_f32_16x16x64_f16", 8),
            ("v_smfmac_f32_16x16x128_fp8_fp8", 16),
        ] {
            let form = form(mnemonic);
            let (a_layout, b_layout) = (form.a_layout(form.a), form.b_layout(form.b));
            assert_eq!(a_layout.per_lane(), per_lane);
            for a in 0..per_lane {
                for ag in 0..4 {
                    let half = per_lane / 2;
                    let b = per_lane * (ag / 2) + 4 * (a % half / 2) + a % 2;
                    let bg = 2 * (ag % 2) + a / half;
                    let (_, _, stored) = a_layout.element(16 * ag, a);
                    let k = stored / 2 * 4 + stored % 2;
                    assert_eq!(
                        b_layout.element(16 * bg, b),
                        (0, 0, k),
                        "{mnemonic} {a} {ag}"
                    );
                }
            }
        }
    }
}

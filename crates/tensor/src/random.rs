//! Random numbers of operators, shared by every backend so that all draw the same.

use cairn_formats::{Philox, Stream};
use cairn_graph::ops::Dropout;

/// Which elements a [`Dropout`] keeps.
#[derive(Clone, Debug)]
pub struct Mask {
    stream: Stream,
    p: f32,
}

impl Mask {
    /// The mask for `rng = [seed, step]`.
    #[must_use]
    pub fn new(op: &Dropout, seed: i64, step: i64) -> Self {
        let stream = Philox::new(seed.cast_unsigned()).stream(step.cast_unsigned(), op.key);
        Self {
            stream,
            p: op.p as f32,
        }
    }

    /// Whether the element at this row-major position is kept.
    #[must_use]
    pub fn keeps(&self, element: usize) -> bool {
        self.stream.uniform(element as u64) >= self.p
    }

    /// Whether each of the elements from `first` on is kept.
    #[inline(always)]
    pub fn fill(&self, first: usize, to: &mut [bool]) {
        let mut drawn = [0.0; 256];
        for (index, to) in to.chunks_mut(256).enumerate() {
            let drawn = &mut drawn[..to.len()];
            let first = first + index * 256;
            self.stream.fill_uniform(first as u64, drawn, 0.0, 1.0);
            for (to, drawn) in to.iter_mut().zip(drawn) {
                *to = *drawn >= self.p;
            }
        }
    }
}

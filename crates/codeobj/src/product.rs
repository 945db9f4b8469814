//! Products: how much of everything a GPU of an architecture has.
//!
//! Figures: AMD's data sheets of MI300X and MI355X (compute units, clocks, bandwidth, peak
//! rates, from which the operations a cycle follow; links: half of the peak of both
//! directions); L2: AMD's white paper on CDNA 3.

use crate::Arch;

/// A GPU as its data sheet describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Product {
    /// Its name.
    pub name: &'static str,
    /// Compute units.
    pub units: u64,
    /// Cycles a second.
    pub clock: f64,
    /// Bytes a second from memory.
    pub bandwidth: f64,
    /// Bytes a cycle from the L2 caches of all dies: 16 channels of 128 bytes on each of 8.
    pub cache_bytes: u64,
    /// Bytes a cycle from the LDS of a compute unit.
    pub lds_bytes: u64,
    /// Bytes a second to or from the host.
    pub host_link: f64,
    /// Bytes a second to or from one other device.
    pub peer_link: f64,
    /// Matrix operations on 16-bit floats that a SIMD unit does in a cycle.
    pub matrix_16: u64,
    /// Operations on f32 that a SIMD unit does in a cycle outside of matrix instructions,
    /// two lanes of a register pair at once.
    pub vector_32: u64,
}

/// MI300X.
pub const MI300X: Product = Product {
    name: "MI300X",
    units: 304,
    clock: 2.1e9,
    bandwidth: 5.3e12,
    cache_bytes: 16_384,
    lds_bytes: 128,
    host_link: 64e9,
    peer_link: 64e9,
    matrix_16: 512,
    vector_32: 64,
};

/// MI355X.
pub const MI355X: Product = Product {
    name: "MI355X",
    units: 256,
    clock: 2.4e9,
    bandwidth: 8.0e12,
    cache_bytes: 16_384,
    lds_bytes: 256,
    host_link: 64e9,
    peer_link: 76.8e9,
    matrix_16: 1024,
    vector_32: 64,
};

impl Product {
    /// The product of an architecture; of those before CDNA4 it is the MI300X.
    #[must_use]
    pub const fn of(arch: Arch) -> Self {
        match arch {
            Arch::Gfx950 => MI355X,
            _ => MI300X,
        }
    }

    /// Most matrix operations on 16-bit floats in a second.
    #[must_use]
    pub fn peak_matrix_16(&self) -> f64 {
        self.peak(self.matrix_16)
    }

    /// Most operations on f32 in a second outside of matrix instructions.
    #[must_use]
    pub fn peak_vector_32(&self) -> f64 {
        self.peak(self.vector_32)
    }

    /// Bytes a second from the L2 caches.
    #[must_use]
    pub fn cache_bandwidth(&self) -> f64 {
        self.cache_bytes as f64 * self.clock
    }

    fn peak(&self, per_cycle: u64) -> f64 {
        (self.units * u64::from(Arch::SIMDS) * per_cycle) as f64 * self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The peaks that the data sheets print, in TFLOP/s.
    #[test]
    fn peaks_are_those_of_the_data_sheets() {
        for (product, matrix, vector) in [(MI300X, 1307.4, 163.4), (MI355X, 2516.6, 157.3)] {
            assert!((product.peak_matrix_16() / 1e12 - matrix).abs() < 0.05);
            assert!((product.peak_vector_32() / 1e12 - vector).abs() < 0.05);
        }
    }
}

//! Counter-based random numbers: Philox4x32-10.
//!
//! A random number is a pure function of (seed, step, scope, element), so it depends
//! neither on threads, nor on chunking, nor on the order in which numbers are asked for.
//! A tensor that is sharded draws for each element what it would draw unsharded.
//!
//! The generator and its constants are from J. K. Salmon, M. A. Moraes, R. O. Dror and
//! D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11.

/// Multipliers of the two halves of a round.
const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
/// What a round adds to the key: the golden ratio and the square root of three, less one.
const KEY_STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const ROUNDS: usize = 10;
/// Random words per counter value.
const WORDS: usize = 4;
/// Counter values computed side by side, so that the rounds become vector code.
const LANES: usize = 16;

/// The generator with a 64-bit key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Philox {
    key: [u32; 2],
}

impl Philox {
    /// The generator keyed by `seed`, low word first.
    pub const fn new(seed: u64) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
        }
    }

    /// The four random words of one counter value.
    #[inline]
    pub fn block(&self, counter: [u32; 4]) -> [u32; 4] {
        let [[a], [b], [c], [d]] = self.rounds(counter.map(|word| [word]));
        [a, b, c, d]
    }

    /// The random numbers of one scope at one step. `scope` is a hash of the scope's path,
    /// such as [`scope_hash`] gives; `step` counts optimizer steps, or is 0 for initial values.
    pub fn stream(&self, step: u64, scope: u64) -> Stream {
        let seed = u64::from(self.key[0]) | u64::from(self.key[1]) << 32;
        // Both mixings are bijections, so under one seed distinct scopes have distinct keys.
        Stream {
            generator: Self::new(mix(mix(seed) ^ scope)),
            step,
        }
    }

    /// The rounds over `N` counter values, held word by word.
    #[inline(always)]
    fn rounds<const N: usize>(&self, counters: [[u32; N]; WORDS]) -> [[u32; N]; WORDS] {
        let [mut a, mut b, mut c, mut d] = counters;
        let mut key = self.key;
        for _ in 0..ROUNDS {
            let (ab, cd) = (a.iter_mut().zip(&mut b), c.iter_mut().zip(&mut d));
            for ((a, b), (c, d)) in ab.zip(cd) {
                let left = u64::from(*a) * u64::from(MULTIPLIERS[0]);
                let right = u64::from(*c) * u64::from(MULTIPLIERS[1]);
                *a = (right >> 32) as u32 ^ *b ^ key[0];
                *c = (left >> 32) as u32 ^ *d ^ key[1];
                *b = right as u32;
                *d = left as u32;
            }
            key[0] = key[0].wrapping_add(KEY_STEPS[0]);
            key[1] = key[1].wrapping_add(KEY_STEPS[1]);
        }
        [a, b, c, d]
    }
}

/// The 64-bit FNV-1a hash of a scope's path, for [`Philox::stream`].
pub const fn scope_hash(path: &str) -> u64 {
    let bytes = path.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): a bijection.
const fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The random numbers of one (seed, step, scope), indexed by element.
///
/// Fills take the index of their first element: a tensor filled in pieces, by any number
/// of threads, holds the same bits as one filled at once. Fills are inlined, so that a caller
/// compiled for a wider instruction set runs them there; the bits are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stream {
    generator: Philox,
    step: u64,
}

/// The words of [`LANES`] consecutive counter values, in order of elements.
type Batch = [u32; LANES * WORDS];

impl Stream {
    /// 32 uniform random bits for an element.
    pub fn bits(&self, element: u64) -> u32 {
        self.words(element)[(element % WORDS as u64) as usize]
    }

    /// A uniform number in [0, 1) for an element: a multiple of 2^-24.
    pub fn uniform(&self, element: u64) -> f32 {
        unit(self.bits(element))
    }

    /// A standard normal number for an element.
    pub fn normal(&self, element: u64) -> f32 {
        let words = self.words(element);
        let lane = (element % WORDS as u64) as usize;
        let pair = normal_pair(words[lane & !1], words[lane | 1]);
        pair[lane & 1] as f32
    }

    /// Fills `out` with random bits for elements `first..first + out.len()`.
    #[inline(always)]
    pub fn fill_bits(&self, first: u64, out: &mut [u32]) {
        self.for_each_batch(first, out, |words, out| *out = *words);
    }

    /// Fills `out` with numbers uniform in [low, high) for elements `first..`.
    #[inline(always)]
    pub fn fill_uniform(&self, first: u64, out: &mut [f32], low: f32, high: f32) {
        let range = high - low;
        // The sum may round up to `high`, which is outside.
        let last = if high > low { high.next_down() } else { low };
        self.for_each_batch(first, out, |words, out| {
            for (out, word) in out.iter_mut().zip(words) {
                *out = (low + unit(*word) * range).min(last);
            }
        });
    }

    /// Fills `out` with normal numbers of this mean and standard deviation for elements
    /// `first..`. Only additions, multiplications, divisions and square roots are used, which
    /// IEEE 754 defines to the bit, so the numbers are the same on every machine.
    #[inline(always)]
    pub fn fill_normal(&self, first: u64, out: &mut [f32], mean: f32, std: f32) {
        let (mean, std) = (f64::from(mean), f64::from(std));
        self.for_each_batch(first, out, |words, out| {
            for (out, words) in out.chunks_exact_mut(2).zip(words.chunks_exact(2)) {
                let [a, b] = normal_pair(words[0], words[1]);
                out[0] = (mean + std * a) as f32;
                out[1] = (mean + std * b) as f32;
            }
        });
    }

    /// The four words of the counter value that an element belongs to.
    fn words(&self, element: u64) -> [u32; WORDS] {
        let block = element / WORDS as u64;
        let (step_low, step_high) = (self.step as u32, (self.step >> 32) as u32);
        self.generator
            .block([block as u32, (block >> 32) as u32, step_low, step_high])
    }

    /// The words of `LANES` counter values from `block` on.
    #[inline(always)]
    fn batch(&self, block: u64) -> Batch {
        let counter = |lane: usize| block.wrapping_add(lane as u64);
        let [a, b, c, d] = self.generator.rounds([
            std::array::from_fn(|lane| counter(lane) as u32),
            std::array::from_fn(|lane| (counter(lane) >> 32) as u32),
            [self.step as u32; LANES],
            [(self.step >> 32) as u32; LANES],
        ]);
        let mut words = [0; LANES * WORDS];
        for (lane, out) in words.chunks_exact_mut(WORDS).enumerate() {
            out.copy_from_slice(&[a[lane], b[lane], c[lane], d[lane]]);
        }
        words
    }

    /// Calls `convert` for batches that cover the elements of `out`. Batches start at
    /// multiples of their length whatever `first` is, and their ends are cut off.
    #[inline(always)]
    fn for_each_batch<T: Copy + Default>(
        &self,
        first: u64,
        out: &mut [T],
        convert: impl Fn(&Batch, &mut [T; LANES * WORDS]),
    ) {
        const LEN: usize = LANES * WORDS;
        let mut values = [T::default(); LEN];
        let mut skip = (first % LEN as u64) as usize;
        let mut block = first / LEN as u64 * LANES as u64;
        let mut rest = out;
        while !rest.is_empty() {
            convert(&self.batch(block), &mut values);
            let n = (LEN - skip).min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            now.copy_from_slice(&values[skip..skip + n]);
            rest = later;
            skip = 0;
            block = block.wrapping_add(LANES as u64);
        }
    }
}

/// The upper 24 bits as a number in [0, 1).
#[inline(always)]
fn unit(word: u32) -> f32 {
    (word >> 8) as f32 * (1.0 / (1 << 24) as f32)
}

/// Two independent standard normal numbers from 64 random bits, by the Box-Muller
/// transform. Magnitudes reach sqrt(2 * 33 * ln 2) = 6.76.
#[inline(always)]
fn normal_pair(radius: u32, angle: u32) -> [f64; 2] {
    let u = (f64::from(radius) + 0.5) * (1.0 / (1_u64 << 32) as f64);
    let r = (-2.0 * ln(u)).sqrt();
    let [cos, sin] = cos_sin_turn(angle);
    [r * cos, r * sin]
}

/// The natural logarithm of a positive normal number, with a relative error below 1e-13.
///
/// With u = m * 2^e and m in [sqrt(1/2), sqrt(2)), ln u = e ln 2 + 2 artanh(s) where
/// s = (m - 1) / (m + 1), and the series of artanh converges as s^2 < 0.03.
#[inline(always)]
fn ln(u: f64) -> f64 {
    /// The bits of sqrt(1/2), rounded down: subtracting them makes the exponent field
    /// count from there.
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcc;
    let bits = u.to_bits();
    let exponent = (bits.wrapping_sub(SQRT_HALF) as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((exponent as u64) << 52));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut series = 1.0 / 17.0;
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * z + 1.0 / odd;
    }
    exponent as i32 as f64 * std::f64::consts::LN_2 + 2.0 * s * series
}

/// Cosine and sine of `angle` turns of 2^-32, to about 1e-14.
///
/// The nearest quarter turn is exact in the integer; the rest, at most an eighth of a turn,
/// goes through the Taylor series.
#[inline(always)]
fn cos_sin_turn(angle: u32) -> [f64; 2] {
    let quarter = angle.wrapping_add(1 << 29) >> 30;
    let rest = angle.wrapping_sub(quarter << 30) as i32;
    let t = f64::from(rest) * (std::f64::consts::PI / (1_u64 << 31) as f64);
    let z = t * t;
    let mut cos = 1.0;
    for n in [
        15.0 * 16.0,
        13.0 * 14.0,
        11.0 * 12.0,
        9.0 * 10.0,
        7.0 * 8.0,
        5.0 * 6.0,
        3.0 * 4.0,
        2.0,
    ] {
        cos = 1.0 - cos * z * (1.0 / n);
    }
    let mut sin = 1.0;
    for n in [
        14.0 * 15.0,
        12.0 * 13.0,
        10.0 * 11.0,
        8.0 * 9.0,
        6.0 * 7.0,
        4.0 * 5.0,
        2.0 * 3.0,
    ] {
        sin = 1.0 - sin * z * (1.0 / n);
    }
    sin *= t;
    let (c, s) = if quarter & 1 == 0 {
        (cos, sin)
    } else {
        (sin, cos)
    };
    let c_sign = if quarter == 1 || quarter == 2 {
        -1.0
    } else {
        1.0
    };
    let s_sign = if quarter >= 2 { -1.0 } else { 1.0 };
    [c * c_sign, s * s_sign]
}

#[cfg(test)]
mod tests;

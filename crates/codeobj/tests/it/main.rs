//! Code objects that a compiler wrote, and what is left of them after damage.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests end a test as tests do"
)]

mod damaged;
mod read;

const GFX90A: &[u8] = include_bytes!("../../../../tests/golden/codeobj/add.gfx90a.hsaco");
const GFX942: &[u8] = include_bytes!("../../../../tests/golden/codeobj/add.gfx942.hsaco");
const GFX950: &[u8] = include_bytes!("../../../../tests/golden/codeobj/add.gfx950.hsaco");

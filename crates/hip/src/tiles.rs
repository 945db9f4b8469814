//! Which tile a product of matrices is computed in: a table per architecture, which is
//! data.
//!
//! The tables are `kernels/tiles/<arch>.toml`, compiled in: a table names kernels of this
//! checkout and is read by this code, so it belongs to neither a build of the kernels nor a
//! run. A tuner reads and writes the same text by [`Tiles::parse`] and tries a table by
//! [`crate::Gpu::with_tiles`].

use std::ops::RangeInclusive;

use cairn_codeobj::Arch;
use cairn_formats::DType;
use serde::Deserialize;

/// How the operands of a product lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// `a [m, k], b [k, n]`
    Nn,
    /// `a [m, k], b [n, k]`
    Nt,
    /// `a [k, m], b [k, n]`
    Tn,
    /// `a [k, m], b [n, k]`
    Tt,
}

impl Layout {
    /// How kernels name it.
    #[must_use]
    pub const fn letters(self) -> &'static str {
        match self {
            Self::Nn => "nn",
            Self::Nt => "nt",
            Self::Tn => "tn",
            Self::Tt => "tt",
        }
    }
}

/// How a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Rows and columns of a tile.
    pub side: usize,
    /// Into how many parts `k` is divided, at most; their sums are added in order.
    pub parts: usize,
    /// Most workgroups, which take the units of work in turns; `None` for one each.
    pub groups: Option<usize>,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Of the operands.
    pub dtype: DType,
    /// How they lie.
    pub layout: Layout,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Terms of a sum.
    pub k: usize,
}

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TilesError {
    /// It is no TOML, or has other fields than a table.
    #[error("the table of tiles for {arch} cannot be read: {reason}")]
    Text {
        /// The architecture.
        arch: &'static str,
        /// What is wrong, with the place.
        reason: String,
    },
    /// An entry makes no sense.
    #[error("entry {entry} of the table of tiles for {arch}: {reason}")]
    Entry {
        /// The architecture.
        arch: &'static str,
        /// Its number, from 1.
        entry: usize,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A product might find no entry.
    #[error(
        "the table of tiles for {arch} ends without an entry for {dtype} that has no layouts, m, n and k: add one as its last"
    )]
    NoDefault {
        /// The architecture.
        arch: &'static str,
        /// The dtype.
        dtype: DType,
    },
}

/// The text of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    /// Where the entries come from; for readers only.
    #[serde(rename = "origin")]
    _origin: String,
    gemm: Vec<Entry>,
}

/// An entry: it is for products of which all that it names holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    layouts: Option<Vec<Layout>>,
    m: Option<[usize; 2]>,
    n: Option<[usize; 2]>,
    k: Option<[usize; 2]>,
    tile: String,
    parts: Option<usize>,
    groups: Option<usize>,
}

/// A rule made of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    dtype: DType,
    layouts: Option<Vec<Layout>>,
    ranges: [RangeInclusive<usize>; 3],
    choice: Choice,
}

impl Rule {
    fn new(entry: &Entry) -> Result<Self, String> {
        let (dtype, sides): (_, &[usize]) = match entry.dtype.as_str() {
            "f32" => (DType::F32, &[64, 128]),
            "bf16" => (DType::BF16, &[64, 128, 256]),
            other => {
                return Err(format!(
                    "no kernels for dtype `{other}`, but for f32 and bf16"
                ));
            }
        };
        let named = |side: &&usize| entry.tile == format!("{side}x{side}");
        let side = sides.iter().find(named).ok_or_else(|| {
            let all: Vec<_> = sides.iter().map(|side| format!("{side}x{side}")).collect();
            let (tile, all) = (&entry.tile, all.join(", "));
            format!("no tile `{tile}` of {}; there are {all}", entry.dtype)
        })?;
        for (what, value) in [("parts", entry.parts), ("groups", entry.groups)] {
            if value.is_some_and(|value| value == 0 || u32::try_from(value).is_err()) {
                return Err(format!("`{what}` is at least 1 and less than 2^32"));
            }
        }
        let range = |what, range: Option<[usize; 2]>| match range {
            Some([from, to]) if from > to => Err(format!("`{what}` begins behind its end")),
            Some([from, to]) => Ok(from..=to),
            None => Ok(0..=usize::MAX),
        };
        Ok(Self {
            dtype,
            layouts: entry.layouts.clone(),
            ranges: [
                range("m", entry.m)?,
                range("n", entry.n)?,
                range("k", entry.k)?,
            ],
            choice: Choice {
                side: *side,
                parts: entry.parts.unwrap_or(1),
                groups: entry.groups,
            },
        })
    }

    fn is_for(&self, product: &Product) -> bool {
        let sizes = [product.m, product.n, product.k];
        let mut ranges = self.ranges.iter().zip(&sizes);
        let layouts = self.layouts.as_ref();
        self.dtype == product.dtype
            && layouts.is_none_or(|layouts| layouts.contains(&product.layout))
            && ranges.all(|(range, size)| range.contains(size))
    }

    /// Whether it is for every product of its dtype.
    fn is_default(&self) -> bool {
        self.layouts.is_none() && self.ranges.iter().all(|range| *range == (0..=usize::MAX))
    }
}

/// The table of an architecture: of its entries the first that fits a product decides, so
/// the same shape always takes the same kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    rules: Vec<Rule>,
    /// What the last entries for f32 and bf16 say.
    defaults: [Choice; 2],
}

impl Tiles {
    /// Cairn's table for an architecture.
    ///
    /// # Errors
    /// When the table is damaged.
    pub fn of(arch: Arch) -> Result<Self, TilesError> {
        let text = match arch {
            Arch::Gfx950 => include_str!("../../../kernels/tiles/gfx950.toml"),
            _ => include_str!("../../../kernels/tiles/gfx942.toml"),
        };
        Self::parse(arch, text)
    }

    /// A table from its text.
    ///
    /// # Errors
    /// When it is no table, names what does not exist, or lacks an entry for all.
    pub fn parse(arch: Arch, text: &str) -> Result<Self, TilesError> {
        let arch = arch.name();
        let text: Text = toml_edit::de::from_str(text).map_err(|error| TilesError::Text {
            arch,
            reason: error.to_string().trim_end().to_owned(),
        })?;
        let mut rules = Vec::with_capacity(text.gemm.len());
        for (index, entry) in text.gemm.iter().enumerate() {
            rules.push(Rule::new(entry).map_err(|reason| TilesError::Entry {
                arch,
                entry: index + 1,
                reason,
            })?);
        }
        let default = |dtype| {
            let last = rules.iter().rev().find(|rule| rule.dtype == dtype);
            let last = last.filter(|rule| rule.is_default());
            last.map(|rule| rule.choice)
                .ok_or(TilesError::NoDefault { arch, dtype })
        };
        let defaults = [default(DType::F32)?, default(DType::BF16)?];
        Ok(Self { rules, defaults })
    }

    /// How a product is computed.
    #[must_use]
    pub fn choose(&self, product: &Product) -> Choice {
        let rule = self.rules.iter().find(|rule| rule.is_for(product));
        let [f32, bf16] = self.defaults;
        let default = if product.dtype == DType::F32 {
            f32
        } else {
            bf16
        };
        rule.map_or(default, |rule| rule.choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: &str = "
        [[gemm]]\ndtype = \"f32\"\ntile = \"64x64\"
        [[gemm]]\ndtype = \"bf16\"\ntile = \"256x256\"
    ";

    fn parse(entries: &str) -> Result<Tiles, TilesError> {
        Tiles::parse(
            Arch::Gfx942,
            &format!("origin = \"a test\"\n{entries}\n{LAST}"),
        )
    }

    fn product(m: usize, n: usize, k: usize) -> Product {
        Product {
            dtype: DType::BF16,
            layout: Layout::Tn,
            m,
            n,
            k,
        }
    }

    #[test]
    fn the_first_entry_that_fits_decides() {
        let tiles = parse(
            "[[gemm]]\ndtype = \"bf16\"\nlayouts = [\"nn\"]\ntile = \"64x64\"\n\
             [[gemm]]\ndtype = \"bf16\"\nm = [1, 64]\nk = [512, 4096]\ntile = \"64x64\"\nparts = 4\n\
             [[gemm]]\ndtype = \"bf16\"\nm = [1, 128]\ntile = \"128x128\"\ngroups = 304",
        )
        .unwrap();
        let choice = |side, parts, groups| Choice {
            side,
            parts,
            groups,
        };
        assert_eq!(tiles.choose(&product(64, 9, 512)), choice(64, 4, None));
        assert_eq!(
            tiles.choose(&product(64, 9, 511)),
            choice(128, 1, Some(304))
        );
        assert_eq!(tiles.choose(&product(129, 9, 511)), choice(256, 1, None));
        let other = Product {
            layout: Layout::Nn,
            ..product(4096, 9, 511)
        };
        assert_eq!(tiles.choose(&other), choice(64, 1, None));
        let other = Product {
            dtype: DType::F32,
            ..product(64, 9, 512)
        };
        assert_eq!(tiles.choose(&other), choice(64, 1, None));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let said = |entries: &str| parse(entries).unwrap_err().to_string();
        let entry = |rest: &str| said(&format!("[[gemm]]\ndtype = \"bf16\"\n{rest}"));
        assert_eq!(
            entry("tile = \"96x96\""),
            "entry 1 of the table of tiles for gfx942: no tile `96x96` of bf16; there are 64x64, 128x128, 256x256"
        );
        assert!(entry("tile = \"64x64\"\nparts = 0").contains("`parts` is at least 1"));
        assert!(entry("tile = \"64x64\"\nn = [9, 8]").contains("`n` begins behind its end"));
        assert!(entry("tile = \"64x64\"\nparst = 2").contains("parst"));
        assert!(entry("tile = \"64x64\"\nlayouts = [\"tx\"]").contains("tx"));
        let fp64 = said("[[gemm]]\ndtype = \"f64\"\ntile = \"64x64\"");
        assert!(fp64.contains("no kernels for dtype `f64`"), "{fp64}");
        assert!(said("]").contains("cannot be read"));
        let text = LAST.replace("\"bf16\"", "\"bf16\"\nm = [1, 9]");
        let said = Tiles::parse(Arch::Gfx950, &format!("origin = \"a test\"\n{text}"));
        let said = said.unwrap_err().to_string();
        assert!(said.contains("without an entry for bf16"), "{said}");
    }

    /// Same shape, same kernel; and no shape is without one.
    #[test]
    fn the_tables_of_both_architectures_choose_for_every_shape() {
        for arch in Arch::ALL {
            let tiles = Tiles::of(arch).unwrap();
            assert_eq!(tiles, Tiles::of(arch).unwrap());
            let mut sides = std::collections::BTreeSet::new();
            for dtype in [DType::F32, DType::BF16] {
                for (m, n, k) in [(0, 0, 0), (1, 1, 1), (4096, 4096, 4096), (64, 64, 1 << 20)] {
                    let choice = tiles.choose(&Product {
                        dtype,
                        layout: Layout::Tt,
                        m,
                        n,
                        k,
                    });
                    sides.insert((dtype, choice.side));
                }
            }
            assert!(sides.contains(&(DType::BF16, 64)), "{arch}: {sides:?}");
            assert!(sides.contains(&(DType::BF16, 256)), "{arch}: {sides:?}");
        }
    }
}

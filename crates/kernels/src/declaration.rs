//! What a kernel's header comment declares: what a workgroup computes, how the
//! work is tiled, what lies where in LDS, and the limits `check` holds it to.
//!
//! ```text
//! // kernels:  rmsnorm_forward_f32, rmsnorm_forward_bf16
//! // computes: one row a workgroup
//! // tiles:    1 row x 256 lanes
//! // lds:      [0, 16) sums of the four waves
//! // limit:    workgroup 256, vgprs 32, sgprs 32, lds 16
//! ```
//!
//! `limit gfx950:` holds for that architecture instead. A text goes on in the
//! next line when that is indented further than the field's name.

use cairn_codeobj::Arch;
use serde::{Deserialize, Serialize};

use crate::KernelsError;

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The entry points it is for.
    pub kernels: Vec<String>,
    /// What a workgroup computes.
    pub computes: String,
    /// How the work is cut.
    pub tiles: String,
    /// What lies where in LDS.
    pub lds: String,
    /// The limits, where no other holds.
    pub limit: Limit,
    /// The limits of single architectures.
    pub limits: Vec<(Arch, Limit)>,
}

/// The most a kernel may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The lanes of a workgroup, exactly.
    pub workgroup: u32,
    /// Vector registers, of both kinds together.
    pub vgprs: u32,
    /// Scalar registers.
    pub sgprs: u32,
    /// Bytes of LDS.
    pub lds: u32,
}

impl Declaration {
    /// The limits for an architecture.
    #[must_use]
    pub fn limit_for(&self, arch: Arch) -> Limit {
        let own = self.limits.iter().find(|(known, _)| *known == arch);
        own.map_or(self.limit, |(_, limit)| *limit)
    }
}

/// A field of the comment: line, name, text.
struct Field {
    line: usize,
    name: String,
    text: String,
}

/// The declarations in the comment at the beginning of a source.
///
/// # Errors
/// When a field is missing, unknown or malformed.
pub fn parse(source: &str, text: &str) -> Result<Vec<Declaration>, KernelsError> {
    let mut declarations = Vec::new();
    let mut open: Option<Draft> = None;
    for field in fields(text) {
        let fault = |what: String| KernelsError::Declaration {
            place: format!("{source}:{}", field.line),
            what,
        };
        if field.name == "kernels" {
            if let Some(draft) = open.take() {
                declarations.push(draft.finish(source)?);
            }
            open = Some(Draft::new(field.line, &field.text));
            continue;
        }
        let Some(draft) = &mut open else {
            return Err(fault(format!("`{}:` stands before `kernels:`", field.name)));
        };
        draft.take(&field).map_err(fault)?;
    }
    if let Some(draft) = open {
        declarations.push(draft.finish(source)?);
    }
    if declarations.is_empty() {
        return Err(KernelsError::Declaration {
            place: format!("{source}:1"),
            what: "the header comment declares no kernels".to_owned(),
        });
    }
    Ok(declarations)
}

const NAMES: [&str; 5] = ["kernels", "computes", "tiles", "lds", "limit"];

/// The fields of the leading comment, in order.
fn fields(text: &str) -> Vec<Field> {
    let mut fields: Vec<Field> = Vec::new();
    let mut goes_on = false;
    let comment = text
        .lines()
        .map_while(|line| line.trim_start().strip_prefix("//"));
    for (index, line) in comment.enumerate() {
        let content = line.strip_prefix(' ').unwrap_or(line);
        let named = content.split_once(':').filter(|(name, _)| {
            let word = name.split(' ').next().unwrap_or_default();
            !name.starts_with(' ') && NAMES.contains(&word)
        });
        if let Some((name, value)) = named {
            fields.push(Field {
                line: index + 1,
                name: name.to_owned(),
                text: value.trim().to_owned(),
            });
            goes_on = true;
        } else if goes_on && content.starts_with(' ') && !content.trim().is_empty() {
            if let Some(last) = fields.last_mut() {
                last.text = format!("{} {}", last.text, content.trim());
            }
        } else {
            goes_on = false;
        }
    }
    fields
}

/// A declaration that is being read.
struct Draft {
    line: usize,
    kernels: Vec<String>,
    computes: Option<String>,
    tiles: Option<String>,
    lds: Option<String>,
    limit: Option<Limit>,
    limits: Vec<(Arch, Limit)>,
}

impl Draft {
    fn new(line: usize, names: &str) -> Self {
        let names = names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        Self {
            line,
            kernels: names.map(str::to_owned).collect(),
            computes: None,
            tiles: None,
            lds: None,
            limit: None,
            limits: Vec::new(),
        }
    }

    fn take(&mut self, field: &Field) -> Result<(), String> {
        let once = |slot: &mut Option<String>| match slot {
            Some(_) => Err(format!("`{}:` stands twice", field.name)),
            None => {
                *slot = Some(field.text.clone());
                Ok(())
            }
        };
        match field.name.as_str() {
            "computes" => once(&mut self.computes),
            "tiles" => once(&mut self.tiles),
            "lds" => once(&mut self.lds),
            "limit" if self.limit.is_none() => {
                self.limit = Some(limit(&field.text)?);
                Ok(())
            }
            name => {
                let arch = name.strip_prefix("limit ").and_then(Arch::from_name);
                let arch = arch.ok_or_else(|| format!("`{name}:` is no field, or stands twice"))?;
                self.limits.push((arch, limit(&field.text)?));
                Ok(())
            }
        }
    }

    fn finish(self, source: &str) -> Result<Declaration, KernelsError> {
        let fault = |what: &str| KernelsError::Declaration {
            place: format!("{source}:{}", self.line),
            what: what.to_owned(),
        };
        let text = |value: &Option<String>, name: &str| {
            let value = value.clone().filter(|text| !text.is_empty());
            value.ok_or_else(|| fault(&format!("the declaration has no `{name}:`")))
        };
        if self.kernels.is_empty() {
            return Err(fault("`kernels:` names none"));
        }
        Ok(Declaration {
            computes: text(&self.computes, "computes")?,
            tiles: text(&self.tiles, "tiles")?,
            lds: text(&self.lds, "lds")?,
            limit: self
                .limit
                .ok_or_else(|| fault("the declaration has no `limit:`"))?,
            kernels: self.kernels.clone(),
            limits: self.limits.clone(),
        })
    }
}

/// `workgroup 256, vgprs 32, sgprs 32, lds 16`, each once, in any order.
fn limit(text: &str) -> Result<Limit, String> {
    const WANTED: [&str; 4] = ["workgroup", "vgprs", "sgprs", "lds"];
    let mut values: [Option<u32>; 4] = [None; 4];
    for part in text.split(',').map(str::trim) {
        let entry = part.split_once(' ').and_then(|(name, value)| {
            let at = WANTED.iter().position(|wanted| *wanted == name)?;
            Some((at, value.trim().parse().ok()?))
        });
        let (at, value) =
            entry.ok_or_else(|| format!("`{part}` is no limit such as `vgprs 64`"))?;
        if values[at].replace(value).is_some() {
            return Err(format!("the limit `{}` stands twice", WANTED[at]));
        }
    }
    let of = |at: usize| values[at].ok_or_else(|| format!("the limit `{}` is missing", WANTED[at]));
    Ok(Limit {
        workgroup: of(0)?,
        vgprs: of(1)?,
        sgprs: of(2)?,
        lds: of(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\
// Norms.
//
// kernels:  a, b
// computes: one row a workgroup,
//           in order
// tiles:    1 x 256
// lds:      none
// limit:    workgroup 256, vgprs 32, sgprs 16, lds 0
// limit gfx950: workgroup 256, vgprs 40, sgprs 16, lds 0
//
// A note: with a colon.
//
// kernels: c
// computes: x
// tiles: y
// lds: z
// limit: lds 4, vgprs 8, sgprs 1, workgroup 64

// kernels: not_here
#include \"device.h\"
";

    #[test]
    fn fields_are_read_with_their_continuations() {
        let read = parse("norm.hip", GOOD).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].kernels, ["a", "b"]);
        assert_eq!(read[0].computes, "one row a workgroup, in order");
        assert_eq!(read[0].limit_for(Arch::Gfx942).vgprs, 32);
        assert_eq!(read[0].limit_for(Arch::Gfx950).vgprs, 40);
        assert_eq!(read[1].kernels, ["c"]);
        assert_eq!(
            read[1].limit,
            Limit {
                workgroup: 64,
                vgprs: 8,
                sgprs: 1,
                lds: 4
            }
        );
    }

    #[test]
    fn what_is_missing_or_wrong_is_told_with_its_place() {
        let fault = |text: &str| parse("k.hip", text).unwrap_err().to_string();
        assert_eq!(
            fault("int x;\n"),
            "k.hip:1: the header comment declares no kernels"
        );
        for (from, to, expected) in [
            (
                "// tiles:    1 x 256\n",
                "",
                "k.hip:3: the declaration has no `tiles:`",
            ),
            (
                "kernels:  a, b",
                "kernels:",
                "k.hip:3: `kernels:` names none",
            ),
            (
                "vgprs 32",
                "vgprs many",
                "k.hip:8: `vgprs many` is no limit such as `vgprs 64`",
            ),
            ("vgprs 32, ", "", "k.hip:8: the limit `vgprs` is missing"),
            ("vgprs 32", "lds 1", "k.hip:8: the limit `lds` stands twice"),
            (
                "limit gfx950:",
                "limit gfx9:",
                "k.hip:9: `limit gfx9:` is no field, or stands twice",
            ),
            (
                "// lds:      none",
                "// tiles: again",
                "k.hip:7: `tiles:` stands twice",
            ),
            (
                "// kernels:  a, b\n",
                "",
                "k.hip:3: `computes:` stands before `kernels:`",
            ),
        ] {
            assert!(GOOD.contains(from), "{from}");
            assert_eq!(fault(&GOOD.replacen(from, to, 1)), expected);
        }
    }
}

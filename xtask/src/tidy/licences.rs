//! Licences of everything that is linked: an SPDX expression must allow a use
//! under one of the accepted licences.

use cargo_metadata::Metadata;

use super::Fault;

const ACCEPTED: [&str; 12] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn check(metadata: &Metadata) -> Vec<Fault> {
    metadata
        .packages
        .iter()
        .filter_map(|package| {
            let place = format!("{} {}", package.name, package.version);
            match &package.license {
                None => Some(Fault::new("licences", place, "states no licence")),
                Some(licence) if acceptable(licence) => None,
                Some(licence) => Some(Fault::new(
                    "licences",
                    place,
                    format!("`{licence}` is not accepted"),
                )),
            }
        })
        .collect()
}

/// True when the expression can be met by accepted licences only.
fn acceptable(expression: &str) -> bool {
    // Cargo also takes the old form `MIT/Apache-2.0`.
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        at: 0,
    };
    parser.any_of() == Some(true) && parser.at == words.len()
}

/// Reads `OR` of `AND` of licences and groups; `None` for a malformed expression.
struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Parser<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any_of(&mut self) -> Option<bool> {
        let mut good = self.all_of()?;
        while self.take("OR") {
            good |= self.all_of()?;
        }
        Some(good)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut good = self.one()?;
        while self.take("AND") {
            good &= self.one()?;
        }
        Some(good)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let good = self.any_of()?;
            return self.take(")").then_some(good);
        }
        let mut name = (*self.words.get(self.at)?).to_owned();
        self.at += 1;
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.words.get(self.at)?);
            self.at += 1;
        }
        Some(ACCEPTED.contains(&name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        for good in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR GPL-3.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
        ] {
            assert!(acceptable(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT",
            "MIT OR",
            "MIT Apache-2.0",
            "Apache-2.0 WITH Something",
            "MIT AND (GPL-3.0-only OR AGPL-3.0-only)",
        ] {
            assert!(!acceptable(bad), "{bad}");
        }
    }
}

//! Reading the manifest and the lock: every mistake with its place, unknown
//! fields and newer versions included.

use std::ops::Range;
use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile, nearest};
use toml_edit::{Document, DocumentMut, Item, Table, Value};

/// A message about a file that is wrong.
pub(crate) type Wrong = Box<Diagnostic>;

/// A kind of file: what its messages say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The code of its messages.
    pub(crate) code: &'static str,
    /// The highest version understood.
    pub(crate) version: i64,
    /// The next step after a conflict or damage.
    pub(crate) repair: &'static str,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) range: Range<usize>,
}

/// Parses a file and checks its version.
pub(crate) fn parse(kind: Kind, source: &Arc<SourceFile>) -> Result<Document<String>, Wrong> {
    if let Some(range) = conflict_marker(&source.text) {
        return Err(Box::new(
            Diagnostic::error(kind.code, "the file has a conflict marker")
                .at(source, range, "left by a merge")
                .hint(kind.repair),
        ));
    }
    let document = Document::parse(source.text.clone()).map_err(|error| {
        let range = error.span().unwrap_or(0..0);
        Diagnostic::error(kind.code, error.message().to_owned()).at(source, range, "")
    })?;
    let version = document.as_table().get("version");
    match version.and_then(Item::as_integer) {
        Some(found) if (1..=kind.version).contains(&found) => Ok(document),
        Some(found) if found > kind.version => Err(Box::new(
            Diagnostic::error(
                kind.code,
                format!(
                    "the file has version {found}, this program knows versions up to {}",
                    kind.version
                ),
            )
            .at(source, span(version), "from a newer program")
            .hint("update this checkout"),
        )),
        _ => Err(Box::new(
            Diagnostic::error(kind.code, "the file says no `version`")
                .at(source, span(version), "")
                .hint(format!("the first line is `version = {}`", kind.version)),
        )),
    }
}

/// Parses a file that was checked before, to change it in place.
pub(crate) fn edit(kind: Kind, source: &Arc<SourceFile>) -> Result<DocumentMut, Wrong> {
    Ok(parse(kind, source)?.into_mut())
}

/// Sets a text, keeping what stands around the old one.
pub(crate) fn set_text(table: &mut Table, key: &str, text: &str) {
    let mut value = Value::from(text);
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(value));
}

/// The tables under `[[entry]]`.
pub(crate) fn entries<'a>(
    kind: Kind,
    source: &'a Arc<SourceFile>,
    document: &'a Document<String>,
) -> Result<Vec<&'a Table>, Wrong> {
    let mut top = Fields::new(kind, source, document.as_table());
    // Read already.
    top.known.push("version");
    let tables = top.tables("entry")?;
    top.finish()?;
    Ok(tables)
}

fn span(item: Option<&Item>) -> Range<usize> {
    item.and_then(Item::span).unwrap_or(0..0)
}

/// The line of a conflict marker.
fn conflict_marker(text: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marker = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
        if marker.iter().any(|marker| line.starts_with(marker)) {
            return Some(start..start + line.trim_end().len());
        }
        start += line.len();
    }
    None
}

/// A text, or a list of texts.
#[derive(Debug)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The fields of one table.
pub(crate) struct Fields<'a> {
    kind: Kind,
    source: &'a Arc<SourceFile>,
    table: &'a Table,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(kind: Kind, source: &'a Arc<SourceFile>, table: &'a Table) -> Self {
        Self {
            kind,
            source,
            table,
            known: Vec::new(),
        }
    }

    /// An error at a place of this file.
    pub(crate) fn wrong(&self, range: Range<usize>, message: impl Into<String>) -> Wrong {
        Box::new(Diagnostic::error(self.kind.code, message).at(self.source, range, ""))
    }

    /// Where the table begins.
    pub(crate) fn place(&self) -> Range<usize> {
        self.table.span().unwrap_or(0..0)
    }

    fn get(&mut self, key: &'static str) -> Option<&'a Item> {
        self.known.push(key);
        self.table.get(key).filter(|item| !item.is_none())
    }

    fn mistyped(&self, key: &str, item: &Item, wanted: &str) -> Wrong {
        let message = format!("`{key}` is {wanted}, not {}", article(item.type_name()));
        self.wrong(item.span().unwrap_or(0..0), message)
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<Placed<String>>, Wrong> {
        let Some(item) = self.get(key) else {
            return Ok(None);
        };
        match item.as_str() {
            Some(text) => Ok(Some(Placed {
                value: text.to_owned(),
                range: item.span().unwrap_or(0..0),
            })),
            None => Err(self.mistyped(key, item, "a text")),
        }
    }

    /// A text that must be there.
    pub(crate) fn needed(&mut self, key: &'static str) -> Result<Placed<String>, Wrong> {
        match self.text(key)? {
            Some(text) => Ok(text),
            None => Err(self.wrong(self.place(), format!("`{key}` is missing"))),
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn count(&mut self, key: &'static str) -> Result<Option<u64>, Wrong> {
        let Some(item) = self.get(key) else {
            return Ok(None);
        };
        match item
            .as_integer()
            .and_then(|count| u64::try_from(count).ok())
        {
            Some(count) => Ok(Some(count)),
            None => Err(self.mistyped(key, item, "a whole number from 0 on")),
        }
    }

    /// A list of texts; empty when absent.
    pub(crate) fn texts(&mut self, key: &'static str) -> Result<Vec<Placed<String>>, Wrong> {
        let Some(item) = self.get(key) else {
            return Ok(Vec::new());
        };
        let wrong = || self.mistyped(key, item, "a list of texts");
        let mut texts = Vec::new();
        for value in item.as_array().ok_or_else(wrong)? {
            texts.push(Placed {
                value: value.as_str().ok_or_else(wrong)?.to_owned(),
                range: value.span().unwrap_or(0..0),
            });
        }
        Ok(texts)
    }

    /// A text, or a list of texts.
    pub(crate) fn text_or_texts(
        &mut self,
        key: &'static str,
    ) -> Result<Option<Placed<OneOrMore>>, Wrong> {
        let Some(item) = self.table.get(key) else {
            self.known.push(key);
            return Ok(None);
        };
        let range = item.span().unwrap_or(0..0);
        let value = if item.is_str() {
            OneOrMore::One(self.needed(key)?.value)
        } else {
            let texts = self.texts(key)?;
            OneOrMore::More(texts.into_iter().map(|text| text.value).collect())
        };
        Ok(Some(Placed { value, range }))
    }

    /// The tables of `[[key]]`.
    pub(crate) fn tables(&mut self, key: &'static str) -> Result<Vec<&'a Table>, Wrong> {
        let Some(item) = self.get(key) else {
            return Ok(Vec::new());
        };
        match item.as_array_of_tables() {
            Some(tables) => Ok(tables.iter().collect()),
            None => Err(self.mistyped(key, item, &format!("a list of tables `[[{key}]]`"))),
        }
    }

    /// Refuses every field that was not asked for.
    pub(crate) fn finish(self) -> Result<(), Wrong> {
        for (key, item) in self.table {
            if self.known.contains(&key) {
                continue;
            }
            let range = self
                .table
                .key(key)
                .and_then(toml_edit::Key::span)
                .or_else(|| item.span());
            let wrong = self.wrong(range.unwrap_or(0..0), format!("unknown field `{key}`"));
            return Err(match nearest(key, self.known.iter().copied()) {
                Some(near) => Box::new(wrong.hint(format!("did you mean `{near}`?"))),
                None => Box::new(wrong.hint(format!("known are {}", self.known.join(", ")))),
            });
        }
        Ok(())
    }
}

fn article(kind: &str) -> String {
    match kind.chars().next() {
        Some('a' | 'e' | 'i' | 'o' | 'u') => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

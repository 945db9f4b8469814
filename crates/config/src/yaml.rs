//! Bytes to values with origins: parser events, YAML 1.1 scalars, anchors,
//! merge keys. What a text may cost is bounded: its size, its depth, and how
//! much its aliases expand to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::value::{Kind, Map, Origin, Value};

mod decode;
mod relax;
pub(crate) mod scalar;
mod tags;
mod timestamp;

/// Bytes a file may have.
pub const MAX_BYTES: usize = 16 << 20;
/// How deep lists and maps may nest, aliases expanded.
pub const MAX_DEPTH: usize = 128;
/// Values a file may hold, aliases expanded.
pub const MAX_VALUES: usize = 1_000_000;
/// Bytes of text that aliases of one file may copy.
pub const MAX_COPIED_BYTES: usize = 64 << 20;
/// Warnings reported about one file.
const MAX_WARNINGS: usize = 50;

/// Reads one document. `None` comes with an error in `diagnostics`; an empty
/// document is null.
#[must_use]
pub fn read(
    name: &str,
    bytes: Vec<u8>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Arc<SourceFile>, Option<Value>) {
    let text = match decode::text(name, bytes) {
        Ok(text) => text,
        Err((source, error)) => {
            diagnostics.push(error);
            return (source, None);
        }
    };
    let source = SourceFile::new(name, text);
    let mut relaxed = relax::Relaxed::default();
    loop {
        let view = relaxed.view(&source.text);
        let mut reader = Reader::new(&source, view.offsets);
        let error = match reader.run(&view.text) {
            Ok(value) => {
                diagnostics.append(&mut reader.warnings);
                return (source, Some(value));
            }
            Err(Failure::Syntax(error)) => {
                let at = reader.byte(error.marker().index());
                if relaxed.repair(&source.text, &error, at) {
                    continue;
                }
                reader.syntax(&error)
            }
            Err(Failure::Other(error)) => *error,
        };
        diagnostics.append(&mut reader.warnings);
        diagnostics.push(error);
        return (source, None);
    }
}

/// Why reading stopped.
enum Failure {
    /// The parser refused the text.
    Syntax(ScanError),
    /// The text is YAML, but not such as can be read here.
    Other(Box<Diagnostic>),
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Other(Box::new(diagnostic))
    }
}

/// A finished value with what it costs to copy it.
struct Node {
    value: Value,
    values: usize,
    text_bytes: usize,
    height: usize,
}

/// A list or map being read.
struct Frame {
    start: usize,
    anchor: usize,
    list: Option<Vec<Value>>,
    map: Map,
    /// Values of `<<` keys, in the order of the text.
    merges: Vec<Value>,
    key: Option<Key>,
    values: usize,
    text_bytes: usize,
    height: usize,
}

/// A key that waits for its value.
struct Key {
    name: String,
    range: Range<usize>,
    merge: bool,
}

struct Reader<'a> {
    source: &'a Arc<SourceFile>,
    /// Byte offset of each character; empty when they are the same.
    offsets: Vec<u32>,
    frames: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    warnings: Vec<Diagnostic>,
    values: usize,
    copied_bytes: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Arc<SourceFile>, offsets: Vec<u32>) -> Self {
        Self {
            source,
            offsets,
            frames: Vec::new(),
            anchors: BTreeMap::new(),
            warnings: Vec::new(),
            values: 0,
            copied_bytes: 0,
        }
    }

    fn run(&mut self, text: &str) -> Result<Value, Failure> {
        let mut parser = Parser::new_from_str(text);
        let mut root = None;
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(Failure::Syntax)?;
            let range = self.range(span);
            let done = match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err(self.second_document(range).into());
                    }
                    None
                }
                Event::Scalar(text, style, anchor, tag) => {
                    self.scalar(text, style, anchor, tag.as_deref(), range)?
                }
                Event::Alias(anchor) => self.alias(anchor, range)?,
                Event::SequenceStart(anchor, tag) => self.open(true, anchor, tag, range)?,
                Event::MappingStart(anchor, tag) => self.open(false, anchor, tag, range)?,
                Event::SequenceEnd | Event::MappingEnd => self.close(range)?,
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => None,
            };
            if let Some(node) = done {
                root = Some(node);
            }
        }
        Ok(root.unwrap_or_else(|| Value::new(Kind::Null, Origin::new(self.source, 0..0))))
    }

    /// Characters of the parser to bytes of the text.
    fn byte(&self, index: usize) -> usize {
        let bytes = self.source.text.len();
        if self.offsets.is_empty() {
            return index.min(bytes);
        }
        self.offsets.get(index).map_or(bytes, |at| *at as usize)
    }

    fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    fn error_at(
        &self,
        code: &'static str,
        message: impl Into<String>,
        range: Range<usize>,
        text: &str,
    ) -> Diagnostic {
        Diagnostic::error(code, message).at(self.source, range, text)
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let at = self.byte(error.marker().index());
        if error.info().contains("recursion limit") {
            return self.deep(at..at);
        }
        let text = &self.source.text;
        let width = text
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        let message = format!("broken YAML: {}", error.info());
        let diagnostic = self.error_at("config::yaml-syntax", message, at..at + width, "");
        if error.info().contains("tab") || text.get(at..at + 1) == Some("\t") {
            diagnostic.hint("indent with spaces: YAML does not allow tabs there")
        } else {
            diagnostic.hint("check the indentation, and that every quote and bracket is closed")
        }
    }

    fn second_document(&self, range: Range<usize>) -> Diagnostic {
        self.error_at(
            "config::several-documents",
            "the file holds more than one YAML document",
            range,
            "the second one starts here",
        )
        .hint("keep one document in a file; remove the `---` or split the file")
    }

    fn warn(&mut self, warning: Diagnostic) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Accounts for values that come into being at `range`.
    fn charge(
        &mut self,
        values: usize,
        copied: usize,
        range: &Range<usize>,
    ) -> Result<(), Diagnostic> {
        self.values = self.values.saturating_add(values);
        self.copied_bytes = self.copied_bytes.saturating_add(copied);
        if self.values <= MAX_VALUES && self.copied_bytes <= MAX_COPIED_BYTES {
            return Ok(());
        }
        let message = format!(
            "the file expands to more than {MAX_VALUES} values or {MAX_COPIED_BYTES} bytes of text"
        );
        Err(self
            .error_at(
                "config::too-large",
                message,
                range.clone(),
                "the limit is passed here",
            )
            .hint("anchors that contain aliases multiply: write the values out, or use fewer"))
    }

    fn deep(&self, range: Range<usize>) -> Diagnostic {
        self.error_at(
            "config::too-deep",
            format!("lists and maps nest deeper than {MAX_DEPTH}"),
            range,
            "",
        )
        .hint("flatten the structure")
    }

    fn expects_key(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.list.is_none() && frame.key.is_none())
    }

    fn scalar(
        &mut self,
        mut text: Cow<'_, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        range: Range<usize>,
    ) -> Result<Option<Value>, Diagnostic> {
        self.charge(1, 0, &range)?;
        let plain = style == ScalarStyle::Plain;
        let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if block && self.ends_unbroken(&range) && text.ends_with('\n') {
            // The parser ends the last line of a file even where the file does not.
            text.to_mut().pop();
        }
        let merge = plain && tag.is_none() && text == "<<";
        let kind = match tag {
            None if plain => scalar::resolve(&text),
            None => Ok(Kind::Str(text.into_owned())),
            Some(tag) => tags::resolve(tag, plain, &text),
        };
        let kind = kind.map_err(|message| {
            self.error_at("config::bad-scalar", message, range.clone(), "")
                .hint("put it in quotes if it is meant as text")
        })?;
        let range = self.without_trail(range, style);
        let text_bytes = match &kind {
            Kind::Str(text) | Kind::Date(text) | Kind::BigInt(text) => text.len(),
            _ => 0,
        };
        let value = Value::new(kind, Origin::new(self.source, range));
        self.finish(
            Node {
                value,
                values: 1,
                text_bytes,
                height: 0,
            },
            anchor,
            merge,
        )
    }

    /// A scalar's range without the blanks and comment that the parser counts in
    /// after a quoted one, and without the line break after a block.
    fn without_trail(&self, range: Range<usize>, style: ScalarStyle) -> Range<usize> {
        let written = self.source.text.get(range.clone()).unwrap_or_default();
        let kept = match style {
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => relax::quoted_length(written),
            _ => written.trim_end().len(),
        };
        range.start..range.start + kept
    }

    /// True when nothing follows a range and the file's last line has no end.
    fn ends_unbroken(&self, range: &Range<usize>) -> bool {
        let text = &self.source.text;
        range.end >= text.len() && !text.ends_with(['\n', '\r'])
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) -> Result<Option<Value>, Diagnostic> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(self
                .error_at(
                    "config::yaml-syntax",
                    "an anchor contains an alias of itself",
                    range,
                    "",
                )
                .hint("write the value out"));
        };
        if self.frames.len() + node.height > MAX_DEPTH {
            return Err(self.deep(range));
        }
        let (values, text_bytes, height) = (node.values, node.text_bytes, node.height);
        self.charge(values, text_bytes, &range)?;
        let Some(value) = self.anchors.get(&anchor).map(|node| node.value.clone()) else {
            return Ok(None);
        };
        self.finish(
            Node {
                value,
                values,
                text_bytes,
                height,
            },
            0,
            false,
        )
    }

    fn open(
        &mut self,
        list: bool,
        anchor: usize,
        tag: Option<Cow<'_, Tag>>,
        range: Range<usize>,
    ) -> Result<Option<Value>, Diagnostic> {
        self.charge(1, 0, &range)?;
        if self.expects_key() {
            return Err(self
                .error_at(
                    "config::complex-key",
                    "a list or mapping cannot be a key",
                    range,
                    "",
                )
                .hint("put text that contains brackets or braces in quotes"));
        }
        if self.frames.len() >= MAX_DEPTH {
            return Err(self.deep(range));
        }
        if let Some(tag) = tag {
            tags::collection(&tag, list).map_err(|message| {
                self.error_at("config::bad-tag", message, range.clone(), "")
                    .hint("remove the tag")
            })?;
        }
        self.frames.push(Frame {
            start: range.start,
            anchor,
            list: list.then(Vec::new),
            map: Map::new(),
            merges: Vec::new(),
            key: None,
            values: 1,
            text_bytes: 0,
            height: 0,
        });
        Ok(None)
    }

    fn close(&mut self, range: Range<usize>) -> Result<Option<Value>, Diagnostic> {
        let Some(frame) = self.frames.pop() else {
            return Ok(None);
        };
        let (values, text_bytes, height, anchor) = (
            frame.values,
            frame.text_bytes,
            frame.height + 1,
            frame.anchor,
        );
        let text = &self.source.text;
        let end = range.end.max(frame.start);
        // A block ends where the next one starts: leave out the blank between.
        let end = frame.start
            + text
                .get(frame.start..end)
                .map_or(0, |body| body.trim_end().len());
        let origin = Origin::new(self.source, frame.start..end);
        let kind = match frame.list {
            Some(items) => Kind::List(items),
            None => Kind::Map(self.merge(frame.map, frame.merges)?),
        };
        self.finish(
            Node {
                value: Value::new(kind, origin),
                values,
                text_bytes,
                height,
            },
            anchor,
            false,
        )
    }

    /// Puts the maps of `<<` under a map's own entries: earlier maps of a list
    /// win over later ones, own entries over all.
    fn merge(&self, own: Map, merges: Vec<Value>) -> Result<Map, Diagnostic> {
        if merges.is_empty() {
            return Ok(own);
        }
        let mut result = Map::new();
        for merged in merges {
            let maps = match merged.kind {
                Kind::List(items) => items.into_iter().rev().collect(),
                _ => vec![merged],
            };
            for map in maps {
                let Kind::Map(entries) = map.kind else {
                    let message = format!(
                        "`<<` merges a mapping or a list of mappings, not {}",
                        map.described()
                    );
                    return Err(map
                        .origin
                        .mark(Diagnostic::error("config::bad-merge", message), "")
                        .hint("name an anchor of a mapping: `<<: *name`"));
                };
                result.extend(entries);
            }
        }
        for (key, mut value) in own {
            if let Some(old) = result.get_mut(&key) {
                let old = std::mem::replace(old, Value::new(Kind::Null, value.origin.clone()));
                value.origin.replaced = Some(Arc::new(old));
            }
            result.insert(key, value);
        }
        Ok(result)
    }

    /// Hands a finished node to where it belongs; returns the root.
    fn finish(
        &mut self,
        node: Node,
        anchor: usize,
        merge: bool,
    ) -> Result<Option<Value>, Diagnostic> {
        if anchor > 0 {
            let range = node.value.origin.range.clone();
            self.charge(node.values, node.text_bytes, &range)?;
            let Node {
                values,
                text_bytes,
                height,
                ..
            } = node;
            self.anchors.insert(
                anchor,
                Node {
                    value: node.value.clone(),
                    values,
                    text_bytes,
                    height,
                },
            );
        }
        let expects_key = self.expects_key();
        let Some(frame) = self.frames.last_mut() else {
            return Ok(Some(node.value));
        };
        frame.values = frame.values.saturating_add(node.values);
        frame.text_bytes = frame.text_bytes.saturating_add(node.text_bytes);
        frame.height = frame.height.max(node.height);
        if expects_key {
            let key = self.key(&node.value, merge)?;
            if let Some(frame) = self.frames.last_mut() {
                frame.key = Some(key);
            }
            return Ok(None);
        }
        if let Some(items) = &mut frame.list {
            items.push(node.value);
        } else if let Some(key) = frame.key.take() {
            self.entry(key, node.value);
        }
        Ok(None)
    }

    /// A value as a key. Keys are text; other scalars are read as JSON would
    /// write them, with a warning where 1.1 made `on` a truth value.
    fn key(&mut self, value: &Value, merge: bool) -> Result<Key, Diagnostic> {
        let range = value.origin.range.clone();
        if merge {
            return Ok(Key {
                name: String::new(),
                range,
                merge: true,
            });
        }
        let name = match &value.kind {
            Kind::Str(text) => text.clone(),
            Kind::List(_) | Kind::Map(_) => {
                return Err(self
                    .error_at(
                        "config::complex-key",
                        "a list or mapping cannot be a key",
                        range,
                        "",
                    )
                    .hint("put text that contains brackets or braces in quotes"));
            }
            _ => {
                let name = match value.to_json() {
                    serde_json::Value::String(text) => text,
                    other => other.to_string(),
                };
                let message = format!(
                    "this key is read as {}; its name becomes `{name}`",
                    value.described()
                );
                self.warn(
                    value
                        .origin
                        .mark(Diagnostic::warning("config::odd-key", message), "")
                        .hint("put the key in quotes"),
                );
                name
            }
        };
        Ok(Key {
            name,
            range,
            merge: false,
        })
    }

    fn entry(&mut self, key: Key, mut value: Value) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if key.merge {
            frame.merges.push(value);
            return;
        }
        value.key = Some(key.range.clone());
        // Repeats of one key keep one earlier value, so that chains stay short.
        let (index, old) = frame.map.insert_full(key.name, value);
        let Some(mut old) = old else { return };
        old.origin.replaced = None;
        let first = old.key.clone().unwrap_or_default();
        let Some((name, new)) = frame.map.get_index_mut(index) else {
            return;
        };
        new.origin.replaced = Some(Arc::new(old));
        let warning = Diagnostic::warning(
            "config::duplicate-key",
            format!(
                "`{}` is given twice; the last one counts",
                scalar::shorten(name)
            ),
        )
        .at(self.source, key.range, "this one counts")
        .at(self.source, first, "this one is ignored")
        .hint("remove one of them");
        self.warn(warning);
    }
}

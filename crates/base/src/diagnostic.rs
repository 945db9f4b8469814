//! One form for everything a user is told: what is wrong, where, and what to
//! do next. Built where the knowledge is, rendered once at the edge.

use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something was read in a way the user may not expect.
    Note,
    /// The run goes on, but probably not as intended.
    Warning,
    /// The run cannot go on.
    Error,
}

/// A text that diagnostics point into.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The name shown to people: a path, or `<command line>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// A shared source with this name and text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self {
            name: name.into(),
            text: text.into(),
        })
    }

    /// The 1-based line and column (in characters) of a byte offset.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }
}

/// A place in a source, with what there is to say about it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text pointed into.
    pub source: Arc<SourceFile>,
    /// Byte range in that text.
    pub range: Range<usize>,
    /// Shown beside the marker; may be empty.
    pub text: String,
}

/// One message for a person or a program.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable code such as `config::unknown-key`.
    pub code: &'static str,
    /// What is wrong: lower case, no final full stop.
    pub message: String,
    /// Where; the first one is the primary place.
    pub labels: Vec<Label>,
    /// What to do next, most useful first.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error with this code and message.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning with this code and message.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// A note with this code and message.
    #[must_use]
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code,
            message: message.into(),
            labels: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(
        mut self,
        source: &Arc<SourceFile>,
        range: Range<usize>,
        text: impl Into<String>,
    ) -> Self {
        self.labels.push(Label {
            source: Arc::clone(source),
            range,
            text: text.into(),
        });
        self
    }

    /// Adds a next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// True for [`Severity::Error`].
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The text shown to people, with source snippets, in colour when asked.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let mut group = level
            .primary_title(self.message.as_str())
            .id(self.code)
            .elements(std::iter::empty::<
                Snippet<'_, annotate_snippets::Annotation<'_>>,
            >());
        for (index, label) in self.labels.iter().enumerate() {
            let kind = if index == 0 {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let text = &label.source.text;
            let mut annotation = kind.span(whole_characters(text, &label.range));
            if !label.text.is_empty() {
                annotation = annotation.label(label.text.as_str());
            }
            group = group.element(
                Snippet::source(text.as_str())
                    .path(label.source.name.as_str())
                    .annotation(annotation),
            );
        }
        for hint in &self.hints {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer.render(&[group])
    }

    /// The form a program reads: severity, code, message, places, hints.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let places: Vec<_> = self
            .labels
            .iter()
            .map(|label| {
                let (line, column) = label.source.line_column(label.range.start);
                serde_json::json!({"file": label.source.name, "line": line, "column": column, "text": label.text})
            })
            .collect();
        serde_json::json!({
            "severity": self.severity, "code": self.code, "message": self.message,
            "places": places, "hints": self.hints,
        })
    }
}

/// The range within `text`, widened to whole characters.
fn whole_characters(text: &str, range: &Range<usize>) -> Range<usize> {
    let mut end = range.end.min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let mut start = range.start.min(end);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_inside_a_character_is_widened() {
        assert_eq!(whole_characters("a\u{e9}b", &(2..2)), 1..3);
        assert_eq!(whole_characters("a\u{e9}b", &(0..99)), 0..4);
        let source = SourceFile::new("f", "a\u{e9}b");
        let shown = Diagnostic::error("t", "m")
            .at(&source, 2..2, "here")
            .render(false);
        assert!(shown.contains("here"), "{shown}");
    }
}

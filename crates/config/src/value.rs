//! The value tree: what YAML, environment and command line turn into, with the
//! place each value came from and what it replaced.

use std::ops::Range;
use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile};
use indexmap::IndexMap;
use serde_json::{Number, Value as Json};

/// An ordered mapping from key to value.
pub type Map = IndexMap<String, Value>;

/// A value and its origin. Equality looks at the value alone.
#[derive(Clone, Debug)]
pub struct Value {
    /// The value itself.
    pub kind: Kind,
    /// Where it was written, how it was read and what it replaced.
    pub origin: Origin,
    /// Where its key was written, when it stands in a map of a file.
    pub key: Option<Range<usize>>,
}

/// What a value may be: the types of YAML 1.1 that experiments use.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer that fits 64 bits with sign.
    Int(i64),
    /// A larger integer, in decimal digits with an optional minus sign.
    BigInt(String),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Str(String),
    /// A date or a point in time, in ISO 8601.
    Date(String),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping.
    Map(Map),
}

/// Where a value came from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The text it stands in.
    pub source: Arc<SourceFile>,
    /// The byte range of the value in that text.
    pub range: Range<usize>,
    /// How it came to be what it is.
    pub via: Via,
    /// The value of lower precedence that it took the place of.
    pub replaced: Option<Arc<Value>>,
}

/// How a value was made from the text at its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Written there as it is.
    Literal,
    /// `${NAME}` or `${NAME:default}` in it was replaced.
    Environment,
    /// Typed on the command line.
    CommandLine,
    /// Not written anywhere: a value this program supplies.
    Builtin,
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Origin {
    /// A place in a source, as written.
    #[must_use]
    pub fn new(source: &Arc<SourceFile>, range: Range<usize>) -> Self {
        Self {
            source: Arc::clone(source),
            range,
            via: Via::Literal,
            replaced: None,
        }
    }

    /// The place of a value that this program supplies; `name` says why.
    #[must_use]
    pub fn builtin(name: &str) -> Self {
        let source = SourceFile::new(format!("<{name}>"), "");
        Self {
            source,
            range: 0..0,
            via: Via::Builtin,
            replaced: None,
        }
    }

    /// The 1-based line in the source.
    #[must_use]
    pub fn line(&self) -> usize {
        self.source.line_column(self.range.start).0
    }

    /// `file:line`, or the name alone for what no file holds.
    #[must_use]
    pub fn place(&self) -> String {
        match self.via {
            Via::Builtin | Via::CommandLine => self.source.name.clone(),
            Via::Literal | Via::Environment => format!("{}:{}", self.source.name, self.line()),
        }
    }

    /// Adds this place to a diagnostic.
    #[must_use]
    pub fn mark(&self, diagnostic: Diagnostic, text: impl Into<String>) -> Diagnostic {
        diagnostic.at(&self.source, self.range.clone(), text)
    }
}

impl Value {
    /// A value with an origin and no key.
    #[must_use]
    pub fn new(kind: Kind, origin: Origin) -> Self {
        Self {
            kind,
            origin,
            key: None,
        }
    }

    /// A value that this program supplies; `name` says why.
    #[must_use]
    pub fn builtin(kind: Kind, name: &str) -> Self {
        Self::new(kind, Origin::builtin(name))
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer, if it is one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self.kind {
            Kind::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The number, if it is an integer or a floating-point number.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a reader that asks for f64 accepts its precision"
    )]
    pub fn as_f64(&self) -> Option<f64> {
        match &self.kind {
            Kind::Int(value) => Some(*value as f64),
            Kind::BigInt(digits) => digits.parse().ok(),
            Kind::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match &self.kind {
            Kind::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The entries for change, if it is a map.
    pub fn as_map_mut(&mut self) -> Option<&mut Map> {
        match &mut self.kind {
            Kind::Map(map) => Some(map),
            _ => None,
        }
    }

    /// True for `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// The value at a dotted path such as `optim.betas.0`; a number indexes a
    /// list.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Self> {
        path.split('.')
            .try_fold(self, |value, part| match &value.kind {
                Kind::Map(map) => map.get(part),
                Kind::List(items) => items.get(part.parse::<usize>().ok()?),
                _ => None,
            })
    }

    /// The name of its type, for messages: `integer`, `text`, ...
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "boolean",
            Kind::Int(_) | Kind::BigInt(_) => "integer",
            Kind::Float(_) => "number",
            Kind::Str(_) => "text",
            Kind::Date(_) => "date",
            Kind::List(_) => "list",
            Kind::Map(_) => "mapping",
        }
    }

    /// [`Self::type_name`] with its article: `an integer`, `text`, `null`.
    #[must_use]
    pub fn described(&self) -> String {
        match self.type_name() {
            name @ ("null" | "text") => name.to_owned(),
            name @ "integer" => format!("an {name}"),
            name => format!("a {name}"),
        }
    }

    /// The value as JSON. Integers beyond 64 bits, dates, infinities and NaN,
    /// which JSON lacks, become text.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match &self.kind {
            Kind::Null => Json::Null,
            Kind::Bool(value) => Json::Bool(*value),
            Kind::Int(value) => Json::from(*value),
            Kind::BigInt(digits) => match digits.parse::<u64>() {
                Ok(value) => Json::from(value),
                Err(_) => Json::from(digits.as_str()),
            },
            Kind::Float(value) => match Number::from_f64(*value) {
                Some(number) => Json::Number(number),
                None => Json::from(float_text(*value)),
            },
            Kind::Str(text) | Kind::Date(text) => Json::from(text.as_str()),
            Kind::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Kind::Map(map) => Json::Object(
                map.iter()
                    .map(|(key, value)| (key.clone(), value.to_json()))
                    .collect(),
            ),
        }
    }

    /// A value from JSON; everything in it gets the same origin.
    #[must_use]
    pub fn from_json(json: &Json, origin: &Origin) -> Self {
        let kind = match json {
            Json::Null => Kind::Null,
            Json::Bool(value) => Kind::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(value), _, _) => Kind::Int(value),
                (None, Some(value), _) => Kind::BigInt(value.to_string()),
                (None, None, Some(value)) => Kind::Float(value),
                (None, None, None) => Kind::Null,
            },
            Json::String(text) => Kind::Str(text.clone()),
            Json::Array(items) => Kind::List(
                items
                    .iter()
                    .map(|item| Self::from_json(item, origin))
                    .collect(),
            ),
            Json::Object(map) => Kind::Map(
                map.iter()
                    .map(|(key, value)| (key.clone(), Self::from_json(value, origin)))
                    .collect(),
            ),
        };
        Self::new(kind, origin.clone())
    }
}

/// Infinities and NaN as YAML writes them; other numbers as Rust does.
#[must_use]
pub fn float_text(value: f64) -> String {
    if value.is_nan() {
        ".nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 {
            ".inf".to_owned()
        } else {
            "-.inf".to_owned()
        }
    } else {
        format!("{value:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dotted_path_reaches_into_maps_and_lists() {
        let json = serde_json::json!({"optim": {"betas": [0.9, 0.95]}, "n": 1});
        let value = Value::from_json(&json, &Origin::builtin("test"));
        assert_eq!(
            value.get("optim.betas.1").and_then(Value::as_f64),
            Some(0.95)
        );
        assert_eq!(value.get("n").and_then(Value::as_i64), Some(1));
        assert!(value.get("optim.gamma").is_none());
        assert!(value.get("optim.betas.2").is_none());
        assert!(value.get("n.x").is_none());
        assert_eq!(value.to_json(), json);
    }

    #[test]
    fn json_keeps_one_and_one_point_zero_apart() {
        let value = Value::from_json(&serde_json::json!([1, 1.0]), &Origin::builtin("test"));
        assert_eq!(value.to_json().to_string(), "[1,1.0]");
    }

    #[test]
    fn what_json_lacks_becomes_text() {
        let big = Value::builtin(
            Kind::BigInt("123456789012345678901234567890".to_owned()),
            "test",
        );
        assert_eq!(
            big.to_json(),
            serde_json::json!("123456789012345678901234567890")
        );
        let fits = Value::builtin(Kind::BigInt(u64::MAX.to_string()), "test");
        assert_eq!(fits.to_json(), serde_json::json!(u64::MAX));
        assert_eq!(
            Value::builtin(Kind::Float(f64::NAN), "test").to_json(),
            serde_json::json!(".nan")
        );
    }
}

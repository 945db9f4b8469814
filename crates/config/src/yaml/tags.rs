//! Explicit tags: those of YAML's own types, on values they fit. Tags that
//! would construct foreign objects are refused.

use saphyr_parser::Tag;

use crate::value::Kind;

use super::{scalar, timestamp};

/// A scalar under an explicit tag.
///
/// # Errors
/// A message when the tag is unknown or the text does not have its type.
pub(super) fn resolve(tag: &Tag, plain: bool, text: &str) -> Result<Kind, String> {
    let misfit = || {
        format!(
            "`{}` does not have the type that the tag `{}` says",
            scalar::shorten(text),
            show(tag)
        )
    };
    if tag.handle == "!" && tag.suffix.is_empty() {
        return Ok(Kind::Str(text.to_owned()));
    }
    if !tag.is_yaml_core_schema() {
        return Err(unknown(tag));
    }
    match tag.suffix.as_str() {
        "str" => Ok(Kind::Str(text.to_owned())),
        "null" => Ok(Kind::Null),
        "bool" => scalar::boolean(text).map(Kind::Bool).ok_or_else(misfit),
        "int" => match scalar::resolve(text)? {
            kind @ (Kind::Int(_) | Kind::BigInt(_)) => Ok(kind),
            _ => Err(misfit()),
        },
        "float" => match scalar::resolve(text)? {
            Kind::Float(value) => Ok(Kind::Float(value)),
            #[expect(
                clippy::cast_precision_loss,
                reason = "the tag asks for a floating-point number"
            )]
            Kind::Int(value) => Ok(Kind::Float(value as f64)),
            Kind::Str(text) => text
                .replace('_', "")
                .parse()
                .map(Kind::Float)
                .map_err(|_| misfit()),
            _ => Err(misfit()),
        },
        "timestamp" => timestamp::resolve(text)?.map(Kind::Date).ok_or_else(misfit),
        _ if plain && tag.suffix == "merge" => Ok(Kind::Str(text.to_owned())),
        _ => Err(unknown(tag)),
    }
}

/// Checks the tag of a list or map.
///
/// # Errors
/// A message when the tag is not the one it has anyway.
pub(super) fn collection(tag: &Tag, list: bool) -> Result<(), String> {
    let plain = tag.handle == "!" && tag.suffix.is_empty();
    let own = if list { "seq" } else { "map" };
    if plain || (tag.is_yaml_core_schema() && tag.suffix == own) {
        Ok(())
    } else {
        Err(unknown(tag))
    }
}

fn unknown(tag: &Tag) -> String {
    format!("the tag `{}` is not supported", show(tag))
}

fn show(tag: &Tag) -> String {
    let text = if tag.is_yaml_core_schema() {
        format!("!!{}", tag.suffix)
    } else {
        format!("{}{}", tag.handle, tag.suffix)
    };
    scalar::shorten(&text)
}

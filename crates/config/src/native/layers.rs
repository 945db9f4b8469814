//! Which layers have experts: an interval, a list of 0 and 1, or the form
//! `[0]*3+[1]*58` that Megatron also reads.

use cairn_base::Diagnostic;
use serde_json::Value as Json;

use super::entries::mark;
use super::table::Field;
use crate::value::{Kind, Value};

/// More layers than any row allows; longer patterns are refused unread.
const LONGEST: usize = 1 << 12;

/// A written pattern as JSON: the interval, or a list of truth values.
pub(super) fn read(row: &Field, value: &Value) -> Result<Json, Diagnostic> {
    let wrong = || {
        let message = format!("`{}` is no layer pattern", row.name);
        mark(
            &value.origin,
            Diagnostic::error("config::wrong-type", message),
            "",
        )
        .hint("write an interval `2`, a list `[0, 1, 1]` or the short form \"[0]*3+[1]*58\"")
    };
    match &value.kind {
        Kind::Int(interval) if (1..=LONGEST as i64).contains(interval) => Ok(Json::from(*interval)),
        Kind::List(items) if items.len() <= LONGEST => {
            let flags: Option<Vec<bool>> = items
                .iter()
                .map(|item| match item.kind {
                    Kind::Int(0) | Kind::Bool(false) => Some(false),
                    Kind::Int(1) | Kind::Bool(true) => Some(true),
                    _ => None,
                })
                .collect();
            flags.map(Json::from).ok_or_else(wrong)
        }
        Kind::Str(text) => pattern(text).map(Json::from).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// One entry a layer from what `read` gave.
pub(super) fn expand(json: &Json, num_layers: usize) -> Vec<bool> {
    match json {
        Json::Array(items) => items
            .iter()
            .map(|item| item.as_bool().unwrap_or(false))
            .collect(),
        _ => {
            let interval = json
                .as_u64()
                .and_then(|interval| usize::try_from(interval).ok());
            let interval = interval.unwrap_or(1).max(1);
            (0..num_layers).map(|index| index % interval == 0).collect()
        }
    }
}

/// Reads `[0]*3+[1,0]*2`, with or without parentheses around it.
fn pattern(text: &str) -> Option<Vec<bool>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = text
        .strip_prefix('(')
        .and_then(|text| text.strip_suffix(')'))
        .unwrap_or(&text);
    let mut flags = Vec::new();
    for term in inner.split('+') {
        let (list, times) = match term.split_once('*') {
            Some((list, times)) => (list, times.parse::<usize>().ok()?),
            None => (term, 1),
        };
        let items: Vec<bool> = list
            .strip_prefix('[')?
            .strip_suffix(']')?
            .split(',')
            .map(|item| match item {
                "0" => Some(false),
                "1" => Some(true),
                _ => None,
            })
            .collect::<Option<_>>()?;
        if items.len().checked_mul(times)?.checked_add(flags.len())? > LONGEST {
            return None;
        }
        for _ in 0..times {
            flags.extend_from_slice(&items);
        }
    }
    Some(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_equals_the_list_it_stands_for() {
        assert_eq!(
            pattern("[0]*2+[1]*3"),
            Some(vec![false, false, true, true, true])
        );
        assert_eq!(
            pattern("([0, 1] * 2)"),
            Some(vec![false, true, false, true])
        );
        assert_eq!(pattern("[1]"), Some(vec![true]));
        for wrong in [
            "",
            "[2]",
            "[0]*",
            "[0]*-1",
            "0*3",
            "[0]*99999999999",
            "[0]*18446744073709551615+[1]",
            "[0]*5000",
        ] {
            assert_eq!(pattern(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_interval_starts_with_an_expert_layer() {
        assert_eq!(expand(&Json::from(2), 5), [true, false, true, false, true]);
        assert_eq!(expand(&Json::from(1), 2), [true, true]);
    }
}

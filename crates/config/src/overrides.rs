//! Override tokens of the command line: `key=value`, `--key=value`,
//! `--key value`, `--flag`, with dotted keys.

use std::ops::Range;
use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile};

use crate::merge;
use crate::value::{Kind, Map, Origin, Value, Via};
use crate::yaml::{MAX_DEPTH, scalar};

mod literal;

/// Keys at the top of an experiment. An override whose first segment is one of
/// them addresses the experiment; any other the selected module's params.
pub const EXPERIMENT_KEYS: [&str; 6] = [
    "workspace",
    "exp_name",
    "user_name",
    "work_group",
    "platform",
    "env",
];
/// Experiment keys whose value is text whatever it looks like.
const TEXT_KEYS: [&str; 4] = ["workspace", "exp_name", "user_name", "work_group"];

/// Parsed overrides, by what they address.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// For the experiment's top level.
    pub experiment: Map,
    /// For the params of the selected module.
    pub params: Map,
}

/// Parses tokens in order; a later one wins over an earlier one.
#[must_use]
pub fn parse(tokens: &[String], diagnostics: &mut Vec<Diagnostic>) -> Overrides {
    let source = SourceFile::new("<command line>", tokens.join(" "));
    let mut starts = Vec::with_capacity(tokens.len());
    let mut at = 0;
    for token in tokens {
        starts.push(at);
        at += token.len() + 1;
    }
    let mut parser = Parser {
        source,
        out: Overrides::default(),
        diagnostics,
    };
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let start = starts.get(index).copied().unwrap_or_default();
        let next = tokens
            .get(index + 1)
            .map(|next| (next.as_str(), start + token.len() + 1));
        index += 1 + usize::from(parser.token(token, start, next));
    }
    parser.out
}

struct Parser<'a> {
    source: Arc<SourceFile>,
    out: Overrides,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Parser<'_> {
    /// Reads one token; true when it took the next one as its value.
    fn token(&mut self, token: &str, start: usize, next: Option<(&str, usize)>) -> bool {
        let (body, body_start, flag) = match token.strip_prefix("--") {
            Some(body) => (body, start + 2, true),
            None => (token, start, false),
        };
        if !flag && (token.starts_with('-') || !token.contains('=')) {
            let warning = Diagnostic::warning(
                "config::ignored-argument",
                format!("`{}` is ignored: it is no override", scalar::shorten(token)),
            )
            .at(&self.source, start..start + token.len(), "")
            .hint("write `key=value` or `--key value`");
            self.diagnostics.push(warning);
            return false;
        }
        if let Some((key, value)) = body.split_once('=') {
            let range = body_start + key.len() + 1..body_start + body.len();
            self.assign(key, body_start, Some(value), range);
            return false;
        }
        match next.filter(|(next, _)| !next.starts_with("--")) {
            Some((value, value_start)) => {
                self.assign(
                    body,
                    body_start,
                    Some(value),
                    value_start..value_start + value.len(),
                );
                true
            }
            None => {
                self.assign(body, body_start, None, start..start + token.len());
                false
            }
        }
    }

    /// Sets a dotted key; no value means true.
    fn assign(&mut self, key: &str, key_start: usize, text: Option<&str>, range: Range<usize>) {
        let key_range = key_start..key_start + key.len();
        let mut origin = Origin::new(&self.source, range);
        origin.via = Via::CommandLine;
        let parts: Vec<&str> = key.split('.').collect();
        if parts.iter().any(|part| part.is_empty()) || parts.len() > MAX_DEPTH / 2 {
            let error = Diagnostic::error(
                "config::bad-override",
                format!("`{}` is no key", scalar::shorten(key)),
            )
            .at(&self.source, key_range, "")
            .hint("write names joined by single dots, as in `optimizer.lr=1.0e-4`");
            self.diagnostics.push(error);
            return;
        }
        let kind = match text {
            None => Kind::Bool(true),
            Some(text) if parts.len() == 1 && TEXT_KEYS.contains(&key) => {
                Kind::Str(text.to_owned())
            }
            Some(text) => literal::typed(text, &origin),
        };
        let value = Value {
            kind,
            origin,
            key: Some(key_range.clone()),
        };
        let addresses_experiment = parts
            .first()
            .is_some_and(|first| EXPERIMENT_KEYS.contains(first));
        let map = if addresses_experiment {
            &mut self.out.experiment
        } else {
            &mut self.out.params
        };
        if let Err(taken) = insert(map, &parts, value) {
            let error = Diagnostic::error(
                "config::bad-override",
                format!(
                    "`{key}` is set below `{taken}`, which another override makes a plain value"
                ),
            )
            .at(&self.source, key_range, "")
            .hint(format!("remove one of the two, or put `{taken}` last"));
            self.diagnostics.push(error);
        }
    }
}

/// Sets a nested key; the error is the prefix that holds a plain value.
fn insert(map: &mut Map, parts: &[&str], value: Value) -> Result<(), String> {
    let Some((last, parents)) = parts.split_last() else {
        return Ok(());
    };
    let mut map = map;
    for (depth, part) in parents.iter().enumerate() {
        let origin = value.origin.clone();
        let entry = map
            .entry((*part).to_owned())
            .or_insert_with(|| Value::new(Kind::Map(Map::new()), origin));
        let taken = || parts[..=depth].join(".");
        map = entry.as_map_mut().ok_or_else(taken)?;
    }
    match map.get_mut(*last) {
        Some(old) => merge::replace(old, value),
        None => {
            map.insert((*last).to_owned(), value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn run(tokens: &[&str]) -> (Json, Json, Vec<&'static str>) {
        let tokens: Vec<String> = tokens.iter().map(|t| (*t).to_owned()).collect();
        let mut diagnostics = Vec::new();
        let out = parse(&tokens, &mut diagnostics);
        let json = |map: Map| Value::builtin(Kind::Map(map), "test").to_json();
        (
            json(out.experiment),
            json(out.params),
            diagnostics.iter().map(|d| d.code).collect(),
        )
    }

    #[test]
    fn the_three_forms_and_the_bare_flag() {
        let (_, params, codes) = run(&[
            "a=1", "--b=2", "--c", "-5", "--d", "--e", "x=y=z", "--f", "a=7", "--a-b", "1",
        ]);
        assert_eq!(
            params,
            json!({"a": 1, "b": 2, "c": -5, "d": true, "e": "x=y=z", "f": "a=7", "a-b": 1})
        );
        assert!(codes.is_empty());
    }

    #[test]
    fn loose_and_single_dash_tokens_are_skipped_with_a_warning() {
        let (_, params, codes) = run(&["loose", "-x", "-y=1", "a=1"]);
        assert_eq!(params, json!({"a": 1}));
        assert_eq!(codes, ["config::ignored-argument"; 3]);
    }

    #[test]
    fn dotted_keys_nest_and_the_last_wins() {
        assert_eq!(
            run(&["a.b.c=1", "a.b.d=2", "a.b.c=3"]).1,
            json!({"a": {"b": {"c": 3, "d": 2}}})
        );
        assert_eq!(run(&["a.b=1", "a=2"]).1, json!({"a": 2}));
        let (_, params, codes) = run(&["a=1", "a.b=2"]);
        assert_eq!(
            (params, codes),
            (json!({"a": 1}), vec!["config::bad-override"])
        );
        assert_eq!(
            run(&["=1", "a..b=1", ".x=1", "--"]).2,
            ["config::bad-override"; 4]
        );
    }

    #[test]
    fn top_level_keys_address_the_experiment_and_names_stay_text() {
        let (experiment, params, _) = run(&[
            "exp_name=007",
            "workspace=/tmp/1.5",
            "platform.config=platform_local.yaml",
            "env.A=1",
            "seed=1",
            "environment=2",
        ]);
        assert_eq!(
            experiment,
            json!({"exp_name": "007", "workspace": "/tmp/1.5", "platform": {"config": "platform_local.yaml"}, "env": {"A": 1}})
        );
        assert_eq!(params, json!({"seed": 1, "environment": 2}));
    }

    #[test]
    fn an_override_points_at_its_own_value() {
        let tokens = ["--a".to_owned(), "é1".to_owned(), "b.c=xyz".to_owned()];
        let out = parse(&tokens, &mut Vec::new());
        let shown = |path: &str| {
            let value = out.params.get(path.split('.').next().unwrap()).unwrap();
            let value = path
                .split_once('.')
                .map_or(Some(value), |(_, rest)| value.get(rest))
                .unwrap();
            value.origin.source.text[value.origin.range.clone()].to_owned()
        };
        assert_eq!(shown("a"), "é1");
        assert_eq!(shown("b.c"), "xyz");
    }
}

//! Deep merge: maps merge key by key, anything else replaces what was there
//! and remembers it.

use std::sync::Arc;

use crate::value::{Kind, Map, Value};

/// Earlier values that a value remembers; older ones are let go.
const MAX_HISTORY: usize = 32;

/// Puts `over` on top of `base`: two maps merge recursively, anything else
/// (lists, scalars, null) is replaced.
pub fn merge(base: &mut Value, over: Value) {
    if let (Kind::Map(_), Kind::Map(_)) = (&base.kind, &over.kind) {
        let Kind::Map(entries) = over.kind else {
            return;
        };
        let Kind::Map(map) = &mut base.kind else {
            return;
        };
        merge_maps(map, entries);
        return;
    }
    replace(base, over);
}

/// [`merge`] for the entries of two maps.
pub fn merge_maps(base: &mut Map, over: Map) {
    for (key, value) in over {
        match base.get_mut(&key) {
            Some(old) => merge(old, value),
            None => {
                base.insert(key, value);
            }
        }
    }
}

/// Puts `new` in the place of `old`. What `new` had replaced comes first in its
/// history, then `old` with what that had replaced.
pub fn replace(old: &mut Value, mut new: Value) {
    let before = std::mem::replace(old, Value::new(Kind::Null, new.origin.clone()));
    let mut earlier = history(new.origin.replaced.take());
    earlier.extend(history(Some(Arc::new(before))));
    earlier.truncate(MAX_HISTORY);
    let mut chain = None;
    for value in earlier.into_iter().rev() {
        let mut value = Arc::unwrap_or_clone(value);
        value.origin.replaced = chain;
        chain = Some(Arc::new(value));
    }
    new.origin.replaced = chain;
    *old = new;
}

/// The values of a chain, newest first.
fn history(mut next: Option<Arc<Value>>) -> Vec<Arc<Value>> {
    let mut out = Vec::new();
    while let Some(value) = next {
        next = value.origin.replaced.clone();
        out.push(value);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::value::Origin;

    fn value(json: &Json) -> Value {
        Value::from_json(json, &Origin::builtin("test"))
    }

    fn merged(base: &Json, over: &Json) -> Json {
        let mut result = value(base);
        merge(&mut result, value(over));
        result.to_json()
    }

    #[test]
    fn maps_merge_and_everything_else_replaces() {
        for (base, over, expected) in [
            (
                json!({"a": 1, "b": 2}),
                json!({"b": 3, "c": 4}),
                json!({"a": 1, "b": 3, "c": 4}),
            ),
            (
                json!({"a": {"x": 1}}),
                json!({"a": {"y": 2}}),
                json!({"a": {"x": 1, "y": 2}}),
            ),
            (json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]})),
            (
                json!({"a": {"x": 1}}),
                json!({"a": null}),
                json!({"a": null}),
            ),
            (
                json!({"a": 1}),
                json!({"a": {"x": 1}}),
                json!({"a": {"x": 1}}),
            ),
        ] {
            assert_eq!(merged(&base, &over), expected);
        }
    }

    #[test]
    fn a_replaced_value_is_remembered_and_the_memory_is_bounded() {
        let mut result = value(&json!({"a": 0}));
        for i in 1..100 {
            merge(&mut result, value(&json!({"a": i})));
        }
        let mut seen = Vec::new();
        let mut next = result.get("a").cloned().map(Arc::new);
        while let Some(value) = next {
            seen.push(value.as_i64().unwrap());
            next = value.origin.replaced.clone();
        }
        assert_eq!(&seen[..3], [99, 98, 97]);
        assert!(seen.len() <= MAX_HISTORY + 1, "{}", seen.len());
    }

    fn json_value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|b| json!(b)),
            (0..9i64).prop_map(|n| json!(n))
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
                proptest::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    /// True when every leaf of `over` stands in `result`.
    fn leaves_stand(over: &Json, result: &Json) -> bool {
        match (over, result) {
            (Json::Object(over), Json::Object(result)) => over.iter().all(|(key, value)| {
                result
                    .get(key)
                    .is_some_and(|found| leaves_stand(value, found))
            }),
            (over, result) => over == result,
        }
    }

    proptest! {
        #[test]
        fn the_upper_tree_wins_and_the_lower_keeps_the_rest(a in json_value(), b in json_value(), c in json_value()) {
            prop_assert_eq!(merged(&a, &a), a.clone());
            let both = merged(&a, &b);
            prop_assert!(leaves_stand(&b, &both));
            prop_assert_eq!(merged(&both, &b), both.clone());
            if let (Json::Object(a), Json::Object(b), Json::Object(both)) = (&a, &b, &both) {
                for (key, value) in a.iter().filter(|(key, _)| !b.contains_key(*key)) {
                    prop_assert_eq!(both.get(key), Some(value));
                }
                prop_assert!(both.keys().all(|key| a.contains_key(key) || b.contains_key(key)));
            }
            prop_assert!(leaves_stand(&c, &merged(&both, &c)));
        }
    }
}

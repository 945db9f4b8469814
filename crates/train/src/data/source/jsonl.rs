//! JSON lines: one object a line, the text under a key.

use std::io::{BufRead, BufReader};
use std::path::Path;

use cairn_base::{FileError, files};
use serde_json::Value;

use super::Document;
use crate::data::DataError;

/// Appends the documents of one file. Blank lines are skipped.
pub(super) fn load(
    path: &Path,
    text_key: &str,
    documents: &mut Vec<Document>,
) -> Result<(), DataError> {
    let mut reader = BufReader::new(files::open(path)?);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = reader.read_until(b'\n', &mut bytes);
        if read.map_err(|error| FileError::new("read", path, error))? == 0 {
            break;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let text = text(&bytes, text_key).map_err(|reason| DataError::JsonLine {
            path: path.to_path_buf(),
            line,
            reason,
        })?;
        documents.push(Document { group: None, text });
    }
    Ok(())
}

fn text(line: &[u8], key: &str) -> Result<String, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        // Its own line number is always 1, as it sees but one line.
        let reason = error.to_string();
        let reason = reason.split(" at line ").next().unwrap_or(&reason);
        format!("no JSON (column {}): {reason}", error.column())
    })?;
    let Value::Object(mut object) = value else {
        return Err("not a JSON object".to_owned());
    };
    match object.remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` is not a text")),
        None => {
            let keys: Vec<_> = object
                .keys()
                .take(8)
                .map(|key| format!("`{key}`"))
                .collect();
            let keys = if keys.is_empty() {
                "none".to_owned()
            } else {
                keys.join(", ")
            };
            Err(format!("there is no key `{key}`; keys are: {keys}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Vec<String>, DataError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, content).unwrap();
        let mut documents = Vec::new();
        load(&path, "text", &mut documents)?;
        Ok(documents.into_iter().map(|d| d.text).collect())
    }

    #[test]
    fn texts_come_in_order_and_escapes_are_read() {
        let content =
            "{\"text\": \"one\\nline\"}\n\n  \n{\"id\": 3, \"text\": \"gr\\u00fc\\u00df\"}";
        assert_eq!(read(content).unwrap(), ["one\nline", "grüß"]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let cases = [
            (
                "{\"text\": \"a\"}\n{\"text\": ",
                "a.jsonl:2: no JSON (column 9): EOF while parsing a value",
            ),
            ("[1]\n", "a.jsonl:1: not a JSON object"),
            (
                "{\"body\": 1, \"id\": 2}",
                "a.jsonl:1: there is no key `text`; keys are: `body`, `id`",
            ),
            ("{}", "a.jsonl:1: there is no key `text`; keys are: none"),
            ("{\"text\": 4}", "a.jsonl:1: `text` is not a text"),
        ];
        for (content, expected) in cases {
            let error = read(content).unwrap_err();
            assert!(error.to_string().ends_with(expected), "{error}");
            assert_eq!(error.code(), "data::json-line");
        }
    }
}

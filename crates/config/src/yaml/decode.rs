//! Bytes to the text of a YAML file: size, encoding and characters are checked
//! before the parser sees any of it.

use std::sync::Arc;

use cairn_base::{Diagnostic, SourceFile};

use super::MAX_BYTES;

/// Checks what a YAML text may consist of, before the parser sees it.
pub(super) fn text(name: &str, bytes: Vec<u8>) -> Result<String, (Arc<SourceFile>, Diagnostic)> {
    if bytes.len() > MAX_BYTES {
        let source = SourceFile::new(name, "");
        let message = format!(
            "{name} has {} bytes, more than the {MAX_BYTES} a configuration may have",
            bytes.len()
        );
        let error = Diagnostic::error("config::too-large", message)
            .hint("check that this is a configuration file; keep data in files of its own");
        return Err((source, error));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let source = SourceFile::new(name, String::from_utf8_lossy(error.as_bytes()));
            let error = Diagnostic::error("config::not-utf8", format!("{name} is not UTF-8 text"))
                .at(
                    &source,
                    at..at + char::REPLACEMENT_CHARACTER.len_utf8(),
                    "first byte that is not UTF-8",
                )
                .hint("save the file as UTF-8");
            return Err((source, error));
        }
    };
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    if let Some((at, found)) = text.char_indices().find(|(_, c)| !printable(*c)) {
        let source = SourceFile::new(name, text);
        let message = format!(
            "the character U+{:04X} may not stand in YAML",
            u32::from(found)
        );
        let error = Diagnostic::error("config::yaml-syntax", message)
            .at(&source, at..at + found.len_utf8(), "")
            .hint("remove it, or write it as an escape in double quotes");
        return Err((source, error));
    }
    Ok(text)
}

/// The characters of YAML 1.1 that `PyYAML` accepts.
fn printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && c != '\u{feff}'
}

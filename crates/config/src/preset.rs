//! Presets by framework: `<root>/<modules|models>/<framework>/<name>.yaml` and
//! `<root>/platforms/<name>`, in the first root that has it.

use std::path::{Path, PathBuf};

use cairn_base::{Diagnostic, nearest};

use crate::load::{Loader, normalize};
use crate::value::Value;

/// Names listed when a preset is unknown.
const MAX_LISTED: usize = 12;

/// What a preset is for: names the folder it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder<'a> {
    /// `modules/<framework>`.
    Modules(&'a str),
    /// `models/<framework>`.
    Models(&'a str),
    /// `platforms`.
    Platforms,
}

impl Folder<'_> {
    fn path(self) -> PathBuf {
        match self {
            Self::Modules(framework) => Path::new("modules").join(framework),
            Self::Models(framework) => Path::new("models").join(framework),
            Self::Platforms => PathBuf::from("platforms"),
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Modules(_) => "module preset",
            Self::Models(_) => "model preset",
            Self::Platforms => "platform",
        }
    }
}

/// Finds and loads a preset; `None` comes with an error. `named_by` is the
/// value that names it.
pub(crate) fn load(loader: &mut Loader<'_>, folder: Folder<'_>, named_by: &Value) -> Option<Value> {
    let Some(name) = named_by.as_str() else {
        let message = format!(
            "a {} is named by text, not by {}",
            folder.noun(),
            named_by.described()
        );
        loader.push(
            named_by
                .origin
                .mark(Diagnostic::error("config::bad-preset-name", message), "")
                .hint("write the name of a file"),
        );
        return None;
    };
    let Some(inside) = inside_root(folder, name) else {
        let message = format!(
            "the {} `{name}` lies outside the preset folders",
            folder.noun()
        );
        loader.push(
            named_by
                .origin
                .mark(
                    Diagnostic::error("config::path-escape", message),
                    "leads outside",
                )
                .hint("name a file below the preset root, or add its folder with `--configs DIR`"),
        );
        return None;
    };
    let roots = loader.roots();
    let found = roots
        .iter()
        .map(|root| root.join(&inside))
        .find(|path| loader.files().exists(path));
    match found {
        Some(path) => loader.load(&path),
        None => {
            let error = unknown(loader, folder, name, &inside);
            loader.push(named_by.origin.mark(error, "named here"));
            None
        }
    }
}

/// The preset's path below a root, `None` when it would leave it.
fn inside_root(folder: Folder<'_>, name: &str) -> Option<PathBuf> {
    let file = if name.ends_with(".yaml") || name.ends_with(".yml") {
        name.to_owned()
    } else {
        format!("{name}.yaml")
    };
    if Path::new(&file).is_absolute() || name.contains('\0') {
        return None;
    }
    let inside = normalize(&folder.path().join(file));
    let stays = inside.is_relative() && !inside.starts_with("..");
    stays.then_some(inside)
}

/// The error for a preset that no root has, with the names that exist.
fn unknown(loader: &Loader<'_>, folder: Folder<'_>, name: &str, inside: &Path) -> Diagnostic {
    let owner = match folder {
        Folder::Modules(framework) | Folder::Models(framework) => {
            format!(" for framework `{framework}`")
        }
        Folder::Platforms => String::new(),
    };
    let noun = folder.noun();
    let mut error = Diagnostic::error(
        "config::unknown-preset",
        format!("there is no {noun} `{name}`{owner}"),
    );
    let directory = inside.parent().unwrap_or(Path::new(""));
    let mut known: Vec<String> = Vec::new();
    for root in loader.roots() {
        let names = loader.files().list(&root.join(directory));
        known.extend(
            names
                .into_iter()
                .filter(|n| n.ends_with(".yaml") || n.ends_with(".yml")),
        );
    }
    known.sort();
    known.dedup();
    let wanted = inside
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    if let Some(found) = nearest(&wanted, known.iter().map(String::as_str)) {
        error = error.hint(format!("did you mean `{found}`?"));
    }
    let places: Vec<String> = loader
        .roots()
        .iter()
        .map(|root| root.join(inside).display().to_string())
        .collect();
    if known.is_empty() {
        let shown = if places.is_empty() {
            "no preset folder is known: name one with `--configs DIR`".to_owned()
        } else {
            format!("looked for {}", places.join(", "))
        };
        return error.hint(shown);
    }
    let listed = nearby(&wanted, &known);
    let more = if known.len() > listed.len() {
        format!(" and {} more", known.len() - listed.len())
    } else {
        String::new()
    };
    error
        .hint(format!("known here: {}{more}", listed.join(", ")))
        .hint(format!("looked for {}", places.join(", ")))
}

/// A dozen names, those that share the longest start with the wanted one first.
fn nearby(wanted: &str, known: &[String]) -> Vec<String> {
    let shared = |name: &str| {
        name.chars()
            .zip(wanted.chars())
            .take_while(|(a, b)| a.eq_ignore_ascii_case(b))
            .count()
    };
    let mut names: Vec<&String> = known.iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(shared(name)));
    names.into_iter().take(MAX_LISTED).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_name_stays_below_its_root() {
        let models = Folder::Models("toy");
        for (name, expected) in [
            ("m1", Some("models/toy/m1.yaml")),
            ("m1.yaml", Some("models/toy/m1.yaml")),
            ("m1.yml", Some("models/toy/m1.yml")),
            ("llama3.1_8B", Some("models/toy/llama3.1_8B.yaml")),
            ("sub/m1.yaml", Some("models/toy/sub/m1.yaml")),
            ("../megatron/x.yaml", Some("models/megatron/x.yaml")),
            ("../../../x", None),
            ("../../../../etc/passwd", None),
            ("/etc/passwd", None),
            ("a\0b", None),
        ] {
            assert_eq!(
                inside_root(models, name),
                expected.map(PathBuf::from),
                "{name:?}"
            );
        }
        assert_eq!(inside_root(Folder::Models("../../.."), "x"), None);
        assert_eq!(inside_root(Folder::Models("/etc"), "x"), None);
    }
}

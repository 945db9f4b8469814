//! `cargo xtask kernels list`.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::table;

/// A kernel as the sources declare it.
#[derive(Default)]
struct Row {
    computes: String,
    sources: Vec<String>,
    built: Vec<&'static str>,
}

pub(super) fn run(context: &Context) -> Result {
    let tree = tree(context)?;
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for source in &tree.sources {
        for declaration in &source.declarations {
            for name in &declaration.kernels {
                let row = rows.entry(name.clone()).or_default();
                row.sources.push(source.file());
                if row.computes.is_empty() || source.only.is_none() {
                    row.computes.clone_from(&declaration.computes);
                }
            }
        }
    }
    for arch in archs::BUILDABLE {
        let Ok(manifest) = Manifest::load(&out(context), arch) else {
            continue;
        };
        let current = manifest.must_be_from(&tree, arch).is_ok();
        for name in manifest.kernels.keys().filter(|_| current) {
            if let Some(row) = rows.get_mut(name) {
                row.built.push(arch.name());
            }
        }
    }
    if context.json() {
        let list: Vec<_> = rows
            .iter()
            .map(|(name, row)| json!({"kernel": name, "computes": row.computes, "sources": row.sources, "built": row.built}))
            .collect();
        return context.print_json(&list.into());
    }
    let cells: Vec<_> = rows
        .into_iter()
        .map(|(name, row)| {
            let built = if row.built.is_empty() {
                "-".to_owned()
            } else {
                row.built.join(" ")
            };
            vec![name, row.sources.join(" "), built]
        })
        .collect();
    context.print(&table::render(&["kernel", "sources", "built for"], &cells))
}

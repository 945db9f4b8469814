//! Bytes to a resolved experiment: whatever they are, nothing panics, hangs or
//! grows without bound. The first line is split at spaces into overrides, the
//! rest is the experiment.

#![no_main]

use std::io;
use std::path::{Path, PathBuf};

use cairn_config::{Env, Files, Options, resolve, show};
use libfuzzer_sys::fuzz_target;

const PLATFORM: &[u8] = b"{name: x, num_nodes_env_key: null, node_rank_env_key: null, master_addr_env_key: null, master_port_env_key: null, gpus_per_node_env_key: null, master_sink_level: INFO, workspace: w}";

struct World<'a>(&'a [u8]);

impl Files for World<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.to_str() {
            Some("exp.yaml") => Ok(self.0.to_vec()),
            Some("c/modules/toy/c.yaml" | "c/modules/native/c.yaml") => Ok(b"a: {b: 1}\nc: 2\n".to_vec()),
            Some("c/models/toy/m.yaml" | "c/models/native/m.yaml") => Ok(b"extends: n.yaml\nd: 3\n".to_vec()),
            Some("c/models/toy/n.yaml" | "c/models/native/n.yaml") => Ok(b"e: ${E:3}\n".to_vec()),
            Some("c/platforms/p.yaml" | "c/platforms/platform_azure.yaml") => Ok(PLATFORM.to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        self.read(path).is_ok()
    }

    fn list(&self, _: &Path) -> Vec<String> {
        vec!["c.yaml".to_owned(), "m.yaml".to_owned(), "exp.yaml".to_owned()]
    }
}

impl Env for World<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (name.len() == 1).then(|| name.repeat(3))
    }
}

fuzz_target!(|data: &[u8]| {
    let split = data.iter().position(|b| *b == b'\n').map_or(data.len(), |at| at + 1);
    let (first, rest) = data.split_at(split);
    let overrides: Vec<String> = String::from_utf8_lossy(first).split_whitespace().map(str::to_owned).collect();
    let world = World(rest);
    let roots = [PathBuf::from("c")];
    let options = Options { files: &world, env: &world, roots: &roots, overrides: &overrides, module: "pre_trainer" };
    let (resolved, diagnostics) = resolve(Path::new("exp.yaml"), &options);
    assert!(resolved.is_some() || !diagnostics.is_empty());
    for diagnostic in &diagnostics {
        let _ = diagnostic.render(false);
        let _ = diagnostic.to_json();
    }
    if let Some(resolved) = resolved {
        let shown = show::yaml(&resolved);
        let mut errors = Vec::new();
        assert!(cairn_config::yaml::read("shown", shown.into_bytes(), &mut errors).1.is_some());
        let _ = show::yaml_with_origins(&resolved);
        let _ = resolved.to_json();
    }
});

//! The real file system and environment behind [`Files`] and [`Env`].

use std::io;
use std::path::Path;

use crate::resolve::{Env, Files};

/// Files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

/// Variables of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEnv;

impl Files for SystemFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn list(&self, directory: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }
}

impl Env for SystemEnv {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

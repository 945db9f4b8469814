//! Repositories with a long history, the same in every run.

use std::path::Path;

use cairn_base::{Exec, files};

use crate::context::Result;

/// A linear congruential generator: the same text everywhere, and no more is needed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

/// Makes a bare repository with this many files and commits.
pub(super) fn make(path: &Path, seed: u64, commits: usize, count: usize) -> Result {
    let parent = path.parent().unwrap_or(path);
    files::create_dir_all(parent)?;
    Exec::new("git")
        .args(["init", "--quiet", "--bare", "--initial-branch=main"])
        .arg(path)
        .output()?;
    Exec::new("git")
        .arg("--git-dir")
        .arg(path)
        .args(["fast-import", "--quiet"])
        .stdin(stream(seed, commits, count))
        .output()?;
    Exec::new("git")
        .arg("--git-dir")
        .arg(path)
        .args(["repack", "-a", "-d", "-q"])
        .output()?;
    Ok(())
}

/// All commits in the form that `git fast-import` reads: the first has all files, each
/// later one changes a few.
fn stream(seed: u64, commits: usize, count: usize) -> Vec<u8> {
    let mut draws = Draws(seed);
    let mut out = String::new();
    for commit in 0..commits {
        let message = format!("change {commit}");
        let time = 1_700_000_000 + commit * 600;
        out.push_str(&format!(
            "commit refs/heads/main\ncommitter A <a@example.org> {time} +0000\ndata {}\n{message}\n",
            message.len()
        ));
        let changed: Vec<usize> = if commit == 0 {
            (0..count).collect()
        } else {
            (0..3).map(|_| draws.below(count)).collect()
        };
        for file in changed {
            let text = text(&mut draws);
            out.push_str(&format!(
                "M 100644 inline {}\ndata {}\n{text}\n",
                name(file),
                text.len()
            ));
        }
        out.push('\n');
    }
    out.into_bytes()
}

fn name(file: usize) -> String {
    format!("src/area{}/part{}/module{file}.py", file % 17, file % 101)
}

/// Lines such as programs have: few words, used again and again, with numbers between.
fn text(draws: &mut Draws) -> String {
    const WORDS: [&str; 16] = [
        "self",
        "return",
        "config",
        "tensor",
        "def",
        "layer",
        "hidden_size",
        "import",
        "if",
        "else",
        "forward",
        "weight",
        "rank",
        "group",
        "assert",
        "parallel",
    ];
    let lines = 40 + draws.below(400);
    let mut text = String::new();
    for _ in 0..lines {
        text.push_str(&" ".repeat(4 * draws.below(4)));
        for _ in 0..2 + draws.below(6) {
            text.push_str(WORDS[draws.below(WORDS.len())]);
            text.push_str(&format!("_{} ", draws.below(1 << 16)));
        }
        text.push('\n');
    }
    text
}

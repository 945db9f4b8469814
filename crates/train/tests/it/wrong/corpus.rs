//! Corpora and tokenizers that cannot be used, in a run that has outputs: they
//! stay as they were. A run that has none leaves no folder behind.

use std::path::PathBuf;

use crate::engine::{Ended, How, RESUME, Workspace, contents};

/// A run that has outputs, with checkpoints, and this experiment's folder.
fn with_outputs() -> Workspace {
    let workspace = Workspace::tiny(&["train_iters=1", "lr_warmup_iters=0"]);
    workspace.complete(How::default());
    workspace
}

/// Trains what is refused: once where there are outputs, once where there are
/// none. Nothing of either changes.
fn refused(workspace: &Workspace) -> Ended {
    let mut first = None;
    let mut used = with_outputs();
    used.change(&workspace.overrides());
    let before = contents(&used.run_dir());
    assert!(before.len() > 4, "{:?}", before.keys());
    for (place, how) in [(workspace, How::default()), (&used, RESUME)] {
        let ended = place.train(how);
        assert_ne!(ended.code, Some(0), "{}", ended.stderr);
        let message = ended.diagnostic()["message"].clone();
        let wanted = first.get_or_insert((message.clone(), ended));
        assert_eq!(wanted.0, message);
    }
    assert_eq!(contents(&used.run_dir()), before);
    assert!(
        !workspace.run_dir().exists(),
        "a refused run leaves nothing"
    );
    first.expect("two runs").1
}

/// A run on a text file of this content.
fn on_text(name: &str, content: &[u8], overrides: &[&str]) -> (Workspace, PathBuf) {
    let mut workspace = Workspace::tiny(&[
        "data.source=text",
        "data.tokenizer.kind=bytes",
        "vocab_size=320",
    ]);
    let file = workspace.dir.path().join(name);
    std::fs::write(&file, content).unwrap();
    workspace.change(&[&format!("data.paths=['{}']", file.display())]);
    workspace.change(overrides);
    (workspace, file)
}

#[test]
fn an_empty_corpus() {
    let (workspace, file) = on_text("empty.txt", b"", &[]);
    refused(&workspace).expect_error(2, "data::empty-corpus", "1 file(s)", "data.paths");
    assert!(file.exists());
}

#[test]
fn an_unreadable_corpus() {
    // Not by permissions: they do not bind every user.
    let (workspace, file) = on_text("corpus.txt", b"", &[]);
    std::fs::remove_file(&file).unwrap();
    refused(&workspace).expect_error(2, "file::not-found", "corpus.txt", "data.paths");
    std::fs::create_dir(&file).unwrap();
    let ended = refused(&workspace);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.diagnostic()["message"]
            .as_str()
            .unwrap()
            .contains("corpus.txt"),
        "{}",
        ended.stderr
    );
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, b"text and then \xff\xfe").unwrap();
    let ended = refused(&workspace);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.diagnostic()["message"]
            .as_str()
            .unwrap()
            .contains("UTF-8"),
        "{}",
        ended.stderr
    );
    assert!(
        !ended.diagnostic()["hints"].as_array().unwrap().is_empty(),
        "{}",
        ended.stderr
    );
    let (mut workspace, _) = on_text("corpus.txt", b"text", &[]);
    workspace.change(&[&format!(
        "data.paths=['{}/*.md']",
        workspace.dir.path().display()
    )]);
    refused(&workspace).expect_error(2, "data::no-match", "*.md", "data.paths");
}

#[test]
fn a_sequence_longer_than_the_data() {
    let (workspace, _) = on_text(
        "short.txt",
        b"twenty bytes of text",
        &["data.validation_fraction=0"],
    );
    refused(&workspace).expect_error(2, "data::too-short", "seq", "seq_length");
    let text = "a line of text that goes on\n".repeat(40);
    let (workspace, _) = on_text("short.txt", text.as_bytes(), &["eval_interval=5"]);
    let ended = refused(&workspace);
    ended.expect_error(2, "data::too-short", "validation", "validation_fraction");
}

#[test]
fn a_tokenizer_of_another_vocabulary_size() {
    let text = "words and more words, and words again\n".repeat(200);
    let bpe = [
        "data.tokenizer.kind=bpe",
        "data.tokenizer.vocab_size=270",
        "vocab_size=270",
    ];
    let (mut first, _) = on_text("corpus.txt", text.as_bytes(), &bpe);
    first.change(&["train_iters=1", "save_interval=0", "lr_warmup_iters=0"]);
    first.complete(How::default());
    let tokenizer = first.run_dir().join("tokenizer.json");
    let path = format!("data.tokenizer.path={}", tokenizer.display());
    let other = ["data.tokenizer.kind=file", &path, "vocab_size=4096"];
    let (second, _) = on_text("corpus.txt", text.as_bytes(), &other);
    refused(&second).expect_error(2, "data::vocabulary", "270 tokens", "vocab_size: 270");
}

#[test]
fn a_tokenizer_file_that_is_none() {
    let (mut workspace, file) = on_text("corpus.txt", b"some text", &[]);
    workspace.change(&[
        "data.tokenizer.kind=file",
        &format!("data.tokenizer.path={}", file.display()),
    ]);
    refused(&workspace).expect_error(2, "data::tokenizer", "corpus.txt", "tokenizer.json");
}

#[test]
fn a_run_is_not_resumed_on_other_data() {
    let text = "a line of text that goes on\n".repeat(400);
    let overrides = [
        "train_iters=4",
        "lr_warmup_iters=0",
        "lr_decay_style=constant",
    ];
    let (mut workspace, file) = on_text("corpus.txt", text.as_bytes(), &overrides);
    workspace.complete(How::default());
    let before = contents(&workspace.run_dir());
    std::fs::write(&file, text.replace("line", "lime")).unwrap();
    workspace.change(&["train_iters=8"]);
    let ended = workspace.train(RESUME);
    ended.expect_error(2, "train::other-data", "not what", "same files");
    assert_eq!(contents(&workspace.run_dir()), before);
}

/// The position in the data counts sequences: of another length it means another place.
#[test]
fn a_run_is_not_resumed_with_other_sequences() {
    let text = "a line of text that goes on\n".repeat(400);
    let overrides = [
        "train_iters=4",
        "lr_warmup_iters=0",
        "lr_decay_style=constant",
    ];
    let (mut workspace, _file) = on_text("corpus.txt", text.as_bytes(), &overrides);
    workspace.complete(How::default());
    let before = contents(&workspace.run_dir());
    workspace.change(&["train_iters=8", "seq_length=16"]);
    let ended = workspace.train(RESUME);
    ended.expect_error(2, "train::other-seq-length", "sequences of", "seq_length=");
    assert_eq!(contents(&workspace.run_dir()), before);
}

//! Opening data of every source, the cache, the split.

use std::path::Path;

use super::*;
use crate::data::megatron::{IndexedWriter, TokenType};
use crate::data::{inspect, prepare, source, split};

/// Settings that are right, for files that need not exist.
pub(in crate::data) fn settings() -> Settings {
    Settings {
        source: SourceKind::Text,
        paths: vec!["none.txt".to_owned()],
        text_key: "text".to_owned(),
        tokenizer: Some(TokenizerSettings::Bytes),
        vocab_size: 257,
        validation_fraction: 0.0,
        seq_length: 8,
        seed: 1,
        cache_dir: PathBuf::from("none"),
        workspace_root: None,
    }
}

/// A folder with 40 files of text, and settings for them.
fn corpus() -> (tempfile::TempDir, Settings) {
    let dir = tempfile::tempdir().unwrap();
    for i in 0..40 {
        let text = format!("fn number_{i}() -> u32 {{ {} }} // größer\n", i * 7919).repeat(3);
        std::fs::write(dir.path().join(format!("{i:02}.rs")), text).unwrap();
    }
    let settings = Settings {
        paths: vec![format!("{}/*.rs", dir.path().display())],
        tokenizer: Some(TokenizerSettings::Bpe { vocab_size: 320 }),
        vocab_size: 320,
        validation_fraction: 0.2,
        cache_dir: dir.path().join("cache"),
        ..settings()
    };
    (dir, settings)
}

fn all_tokens(stream: &TokenStream) -> Vec<i32> {
    let mut tokens = vec![0; stream.tokens() as usize];
    stream.read(0, &mut tokens).unwrap();
    tokens
}

/// The documents of a side, decoded.
fn documents(dataset: &Dataset, stream: &TokenStream) -> Vec<String> {
    let tokenizer = dataset.tokenizer.as_ref().unwrap();
    let end = tokenizer.end_of_text() as i32;
    let tokens = all_tokens(stream);
    assert_eq!(tokens.last(), Some(&end));
    let documents = tokens[..tokens.len() - 1].split(|token| *token == end);
    documents
        .map(|document| {
            let ids: Vec<u32> = document.iter().map(|token| *token as u32).collect();
            tokenizer.decode(&ids).unwrap()
        })
        .collect()
}

#[test]
fn every_document_is_whole_on_one_side_and_counted_exactly() {
    for tokenizer in [
        TokenizerSettings::Bpe { vocab_size: 320 },
        TokenizerSettings::Bytes,
    ] {
        let (dir, mut settings) = corpus();
        settings.tokenizer = Some(tokenizer);
        let dataset = Dataset::open(&settings).unwrap();
        let train = documents(&dataset, &dataset.train);
        let validation = documents(&dataset, dataset.validation.as_ref().unwrap());
        let mut read: Vec<_> = train.iter().chain(&validation).cloned().collect();
        let mut written: Vec<_> = (0..40)
            .map(|i| std::fs::read_to_string(dir.path().join(format!("{i:02}.rs"))).unwrap())
            .collect();
        read.sort();
        written.sort();
        assert_eq!(read, written);
        for (texts, stats) in [
            (&train, dataset.train_stats),
            (&validation, dataset.validation_stats.unwrap()),
        ] {
            assert_eq!(stats.documents, texts.len() as u64);
            assert_eq!(
                stats.bytes,
                Some(texts.iter().map(|t| t.len() as u64).sum())
            );
            let chars: usize = texts.iter().map(|t| t.chars().count()).sum();
            assert_eq!(stats.chars, Some(chars as u64));
        }
        assert!(
            (5..=8).contains(&validation.len()),
            "{} held out",
            validation.len()
        );
    }
}

#[test]
fn crates_are_on_one_side_only_whatever_their_version() {
    let documents: Vec<_> = (0..60)
        .map(|i| source::Document {
            group: Some(format!("crate-{}", i % 20)),
            text: format!("// version {i}\n").repeat(20),
        })
        .collect();
    let items: Vec<_> = documents.iter().map(source::Document::item).collect();
    let division = split::divide(&items, 0.2).unwrap();
    let (train, validation) = build::sides(&documents, &division);
    let held_out = build::held_out(&documents, &division);
    assert_eq!((train.len(), validation.len(), held_out.len()), (48, 12, 4));
    for document in &documents {
        let is_held = held_out.contains(document.group.as_ref().unwrap());
        assert_eq!(validation.contains(&document.text.as_str()), is_held);
        assert_eq!(train.contains(&document.text.as_str()), !is_held);
    }
}

#[test]
fn bits_per_char_is_the_loss_in_bits_over_the_text() {
    let stats = SplitStats {
        documents: 1,
        tokens: 100,
        bytes: Some(300),
        chars: Some(250),
    };
    // 2 bits a token, 2.5 characters a token.
    let bits = stats.bits_per_char(2.0 * std::f64::consts::LN_2).unwrap();
    assert!((bits - 0.8).abs() < 1e-12, "{bits}");
    assert_eq!(
        SplitStats {
            chars: None,
            ..stats
        }
        .bits_per_char(1.0),
        None
    );
}

#[test]
fn a_second_run_tokenises_nothing_and_reads_the_same() {
    let (_dir, settings) = corpus();
    let first = Dataset::open(&settings).unwrap();
    let second = Dataset::open(&settings).unwrap();
    assert_eq!((first.cache_hit, second.cache_hit), (false, true));
    assert_eq!(second.timings.encode, 0.0);
    assert_eq!(first.fingerprint, second.fingerprint);
    assert_eq!(all_tokens(&first.train), all_tokens(&second.train));
    assert_eq!(first.train_stats, second.train_stats);
    assert_eq!(first.validation_stats, second.validation_stats);
}

#[test]
fn whatever_decides_the_tokens_is_in_the_fingerprint_and_nothing_else() {
    let (dir, settings) = corpus();
    let print = |change: &dyn Fn(&mut Settings)| {
        let mut changed = settings.clone();
        change(&mut changed);
        Dataset::open(&changed).unwrap().fingerprint
    };
    let base = print(&|_| ());
    assert_eq!(base, print(&|s| s.seed = 99));
    assert_eq!(base, print(&|s| s.seq_length = 4));
    assert_ne!(base, print(&|s| s.validation_fraction = 0.3));
    assert_ne!(
        base,
        print(&|s| s.tokenizer = Some(TokenizerSettings::Bytes))
    );
    assert_ne!(
        base,
        print(&|s| {
            s.tokenizer = Some(TokenizerSettings::Bpe { vocab_size: 310 });
            s.vocab_size = 310;
        })
    );
    std::fs::write(dir.path().join("00.rs"), "another text\n").unwrap();
    assert_ne!(base, print(&|_| ()));
}

#[test]
fn preparing_twice_from_nothing_gives_the_same_bytes() {
    let files = |settings: &Settings| -> Vec<Vec<u8>> {
        let dir = Dataset::open(settings).unwrap().cache_dir.unwrap();
        let names = [
            "train.bin",
            "train.idx",
            "validation.bin",
            "validation.idx",
            "tokenizer.json",
            "manifest.json",
        ];
        names
            .iter()
            .map(|name| std::fs::read(dir.join(name)).unwrap())
            .collect()
    };
    let (dir, settings) = corpus();
    let first = files(&settings);
    let again = Settings {
        cache_dir: dir.path().join("other"),
        ..settings
    };
    assert_eq!(first, files(&again));
}

#[test]
fn one_file_gives_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("book.txt");
    let text: String = (0..200).map(|i| format!("line {i}\n")).collect();
    std::fs::write(&path, &text).unwrap();
    let settings = Settings {
        paths: vec![path.display().to_string()],
        validation_fraction: 0.1,
        cache_dir: dir.path().join("cache"),
        ..settings()
    };
    let dataset = Dataset::open(&settings).unwrap();
    let (train, validation) = (
        documents(&dataset, &dataset.train),
        documents(&dataset, dataset.validation.as_ref().unwrap()),
    );
    assert_eq!([train, validation.clone()].concat().concat(), text);
    assert!(validation[0].starts_with("line ") && validation[0].ends_with("line 199\n"));
    let share = validation[0].len() as f64 / text.len() as f64;
    assert!((0.09..=0.1).contains(&share), "{share}");
}

#[test]
fn json_lines_are_documents() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.jsonl");
    std::fs::write(
        &path,
        "{\"body\": \"first text\"}\n{\"body\": \"\"}\n{\"body\": \"second\"}\n",
    )
    .unwrap();
    let settings = Settings {
        source: SourceKind::Jsonl,
        paths: vec![path.display().to_string()],
        text_key: "body".to_owned(),
        cache_dir: dir.path().join("cache"),
        ..settings()
    };
    let dataset = Dataset::open(&settings).unwrap();
    assert_eq!(
        documents(&dataset, &dataset.train),
        ["first text", "second"]
    );
    assert!(dataset.validation.is_none() && dataset.eval_batches(1, 0, 1, None).unwrap().is_none());
    let wrong = Settings {
        text_key: "text".to_owned(),
        ..settings
    };
    assert_eq!(Dataset::open(&wrong).unwrap_err().code(), "data::json-line");
}

#[test]
fn a_tokenizer_of_another_vocabulary_is_refused_before_any_work() {
    let (dir, settings) = corpus();
    let json = Dataset::open(&settings)
        .unwrap()
        .tokenizer
        .unwrap()
        .to_json()
        .unwrap()
        .unwrap();
    let path = dir.path().join("tokenizer.json");
    std::fs::write(&path, json).unwrap();
    let cases = [
        (TokenizerSettings::Bpe { vocab_size: 320 }, 321),
        (TokenizerSettings::File { path: path.clone() }, 300),
        (TokenizerSettings::File { path: path.clone() }, 321),
        (TokenizerSettings::Bytes, 256),
    ];
    for (tokenizer, vocab_size) in cases {
        let cache_dir = dir.path().join("untouched");
        let wrong = Settings {
            tokenizer: Some(tokenizer),
            vocab_size,
            cache_dir: cache_dir.clone(),
            ..settings.clone()
        };
        let error = Dataset::open(&wrong).unwrap_err();
        assert_eq!(error.code(), "data::vocabulary");
        assert!(error.diagnostic().hints[0].contains("vocab_size"));
        assert!(!cache_dir.exists());
    }
    let right = Settings {
        tokenizer: Some(TokenizerSettings::File { path }),
        ..settings
    };
    assert!(Dataset::open(&right).is_ok());
}

#[test]
fn a_small_corpus_cannot_fill_a_large_vocabulary_and_says_so() {
    let (_dir, settings) = corpus();
    let large = Settings {
        tokenizer: Some(TokenizerSettings::Bpe { vocab_size: 5000 }),
        vocab_size: 5000,
        ..settings
    };
    let dataset = Dataset::open(&large).unwrap();
    assert_eq!(dataset.notes[0].code, "data::small-vocabulary");
}

#[test]
fn data_shorter_than_a_sequence_is_refused_on_either_side() {
    let (_dir, settings) = corpus();
    let long = Settings {
        seq_length: 1 << 20,
        ..settings.clone()
    };
    let error = Dataset::open(&long).unwrap_err();
    assert!(
        error.to_string().starts_with("the training data has "),
        "{error}"
    );
    let tokens = Dataset::open(&settings)
        .unwrap()
        .validation_stats
        .unwrap()
        .tokens;
    let middle = Settings {
        seq_length: tokens as usize,
        ..settings
    };
    let error = Dataset::open(&middle).unwrap_err();
    assert!(
        error.to_string().starts_with("the validation data has "),
        "{error}"
    );
}

/// Two documents in `dir`, of 100 and 50 tokens, in two sequences each.
fn write_pair(dir: &Path) {
    let mut writer = IndexedWriter::create(&dir.join("d"), TokenType::U16).unwrap();
    for (first, length) in [(0, 100), (100, 50)] {
        let tokens: Vec<u32> = (first..first + length).collect();
        for half in tokens.chunks(length as usize / 2) {
            writer.push(half).unwrap();
            writer.end_sequence().unwrap();
        }
        writer.end_document();
    }
    writer.finish().unwrap();
}

#[test]
fn a_pair_is_split_by_document_and_within_where_it_must() {
    let dir = tempfile::tempdir().unwrap();
    write_pair(dir.path());
    let of = |fraction| {
        let settings = Settings {
            source: SourceKind::Megatron,
            paths: vec![dir.path().join("d").display().to_string()],
            tokenizer: None,
            vocab_size: 150,
            validation_fraction: fraction,
            seq_length: 4,
            ..settings()
        };
        let dataset = Dataset::open(&settings).unwrap();
        let validation = dataset
            .validation
            .as_deref()
            .map(all_tokens)
            .unwrap_or_default();
        (all_tokens(&dataset.train), validation)
    };
    let range = |range: std::ops::Range<i32>| range.collect::<Vec<_>>();
    assert_eq!(of(0.0), (range(0..150), vec![]));
    assert_eq!(of(0.4), (range(0..100), range(100..150)));
    assert_eq!(of(0.1), (range(0..135), range(135..150)));
    assert_eq!(of(0.2), (range(0..120), range(120..150)));
}

#[test]
fn a_pair_for_a_larger_model_is_refused_when_its_tokens_are_read() {
    let dir = tempfile::tempdir().unwrap();
    write_pair(dir.path());
    let settings = Settings {
        source: SourceKind::Megatron,
        paths: vec![format!("{}/*.idx", dir.path().display())],
        tokenizer: Some(TokenizerSettings::Bpe { vocab_size: 100 }),
        vocab_size: 100,
        ..settings()
    };
    let dataset = Dataset::open(&settings).unwrap();
    assert_eq!(dataset.notes[0].code, "data::no-text");
    let mut batches = dataset.batches(8, 0, 1, Position::default()).unwrap();
    let error = (0..3).find_map(|_| batches.next_batch().err()).unwrap();
    assert_eq!(error.code(), "data::token-range");
}

#[test]
fn made_up_data_needs_no_file() {
    let settings = Settings {
        source: SourceKind::Mock,
        paths: vec![],
        tokenizer: None,
        validation_fraction: 0.1,
        ..settings()
    };
    let dataset = Dataset::open(&settings).unwrap();
    let mut batches = dataset.batches(4, 0, 1, Position::default()).unwrap();
    let batch = batches.next_batch().unwrap();
    assert_eq!(batch.tokens.len(), 32);
    let eval = dataset.eval_batches(4, 0, 1, Some(2)).unwrap().unwrap();
    assert_eq!(eval.count(), 2);
    let other = Dataset::open(&Settings {
        seed: 2,
        ..settings
    })
    .unwrap();
    let other = other
        .batches(4, 0, 1, Position::default())
        .unwrap()
        .next_batch()
        .unwrap();
    assert_ne!(batch, other);
}

#[test]
fn reports_say_what_there_is() {
    let (_dir, settings) = corpus();
    let prepared = prepare(&settings).unwrap();
    assert!(!prepared.cache_hit && prepared.seconds.encode > 0.0);
    assert_eq!(prepared.tokenizer.as_ref().unwrap().vocab_size, 320);
    let stats = prepared.train.stats;
    let chars = stats.chars.unwrap() as f64 / stats.tokens as f64;
    assert_eq!(prepared.train.chars_per_token, Some(chars));
    let inspected = inspect(&settings, 3).unwrap();
    assert!(inspected.prepared.cache_hit);
    assert_eq!(inspected.examples.len(), 3);
    let dataset = Dataset::open(&settings).unwrap();
    let mut batches = dataset.batches(1, 0, 1, Position::default()).unwrap();
    for example in &inspected.examples {
        let tokens = batches.next_batch().unwrap().tokens;
        assert_eq!(example.tokens, tokens);
        let ids: Vec<u32> = tokens.iter().map(|token| *token as u32).collect();
        let text = dataset.tokenizer.as_ref().unwrap().decode(&ids).unwrap();
        assert_eq!(example.text, Some(text));
    }
    let json = serde_json::to_value(&inspected).unwrap();
    assert_eq!(json["source"], "text");
    assert_eq!(json["train"]["documents"], stats.documents);
}

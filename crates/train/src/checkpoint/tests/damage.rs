//! Damaged checkpoints are recognised, named and passed over.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

const SHARD: &str = "shard-00001-of-00003.safetensors";

/// Rewrites the manifest through `edit` with a hash that fits.
fn edit_manifest(path: &Path, edit: impl Fn(&str) -> String) {
    let text = edit(&fs::read_to_string(path.join(MANIFEST_NAME)).unwrap());
    fs::write(path.join(MANIFEST_NAME), &text).unwrap();
    fs::write(
        path.join("manifest.b3"),
        blake3::hash(text.as_bytes()).to_hex().as_str(),
    )
    .unwrap();
}

fn edit_file(path: PathBuf, edit: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(&path).unwrap();
    edit(&mut bytes);
    fs::write(path, bytes).unwrap();
}

type Harm = fn(&Path);

/// What is done to a checkpoint, and what the message must say.
const HARMS: &[(&str, Harm, &str)] = &[
    (
        "truncated shard",
        |p| edit_file(p.join(SHARD), |b| b.truncate(b.len() - 1)),
        "bytes instead of",
    ),
    (
        "empty shard",
        |p| edit_file(p.join(SHARD), Vec::clear),
        "0 bytes instead of",
    ),
    (
        "longer shard",
        |p| edit_file(p.join(SHARD), |b| b.push(0)),
        "bytes instead of",
    ),
    (
        "flipped data",
        |p| edit_file(p.join(SHARD), |b| *b.last_mut().unwrap() ^= 1),
        "does not match its BLAKE3 hash",
    ),
    (
        "flipped length",
        |p| edit_file(p.join(SHARD), |b| b[6] ^= 0x80),
        "header is longer than the file",
    ),
    (
        "flipped header",
        |p| edit_file(p.join(SHARD), |b| b[8] = b'['),
        "not a JSON object",
    ),
    (
        "missing shard",
        |p| fs::remove_file(p.join(SHARD)).unwrap(),
        "shard-00001-of-00003.safetensors is missing",
    ),
    (
        "missing manifest",
        |p| fs::remove_file(p.join(MANIFEST_NAME)).unwrap(),
        "manifest.json is missing",
    ),
    (
        "missing hash",
        |p| fs::remove_file(p.join("manifest.b3")).unwrap(),
        "manifest.b3 is missing",
    ),
    (
        "empty manifest",
        |p| fs::write(p.join(MANIFEST_NAME), "").unwrap(),
        "does not match manifest.b3",
    ),
    (
        "changed state",
        |p| {
            edit_file(p.join(MANIFEST_NAME), |b| {
                let at = b.windows(5).position(|w| w == b"index").unwrap();
                b[at] = b'j';
            });
        },
        "does not match manifest.b3",
    ),
    (
        "no JSON",
        |p| edit_manifest(p, |t| t.replace('{', "(")),
        "is not JSON",
    ),
    (
        "other JSON",
        |p| edit_manifest(p, |t| t.replace("\"files\"", "\"filez\"")),
        "is not a manifest",
    ),
    (
        "other version",
        |p| edit_manifest(p, |t| t.replace("\"version\": 1", "\"version\": 2")),
        "format version 2",
    ),
    (
        "path escape",
        |p| {
            edit_manifest(p, |t| {
                t.replace(SHARD, "../step-00000002/shard-00001-of-00003.safetensors")
            });
        },
        "unusable file name",
    ),
    (
        "impossible shape",
        |p| edit_manifest(p, |t| t.replace(" 16,", " 18446744073709551615,")),
        "impossible shape",
    ),
    (
        "tensor twice",
        |p| {
            edit_manifest(p, |t| {
                t.replace("embedding.weight.master", "embedding.weight")
            });
        },
        "twice",
    ),
    (
        "unlisted file",
        |p| edit_manifest(p, |t| t.replacen("00001-of", "00009-of", 1)),
        "which is not listed",
    ),
    (
        "another shape",
        |p| edit_manifest(p, |t| t.replacen(" 16,", " 8,", 1)),
        "tensor `embedding.weight` is described as",
    ),
    (
        "another name",
        |p| edit_manifest(p, |t| t.replace("adam.count", "adam.kount")),
        "is not in the manifest",
    ),
    (
        "empty folder",
        |p| {
            fs::remove_dir_all(p).unwrap();
            fs::create_dir(p).unwrap();
        },
        "manifest.json is missing",
    ),
];

#[test]
fn each_kind_of_damage_is_named_and_the_older_checkpoint_is_used() {
    for (kind, harm, message) in HARMS {
        let dir = tempfile::tempdir().unwrap();
        saved(dir.path(), &[2, 4]);
        let newest = dir.path().join("step-00000004");
        harm(&newest);
        let error = load(&newest).unwrap_err();
        assert!(error.to_string().contains(message), "{kind}: {error}");
        assert!(verify(&newest).is_err(), "{kind}");

        let (found, warnings) = load_latest(dir.path()).unwrap();
        assert_holds(&found.unwrap(), 2);
        assert_eq!(warnings.len(), 1, "{kind}");
        assert!(
            warnings[0].message.starts_with("skipping a checkpoint: "),
            "{}",
            warnings[0].message
        );
        assert!(
            warnings[0].message.contains("step-00000004"),
            "{}",
            warnings[0].message
        );
        assert!(!warnings[0].is_error());
        let latest = find_latest(dir.path()).unwrap();
        assert_eq!(
            latest.path.unwrap(),
            dir.path().join("step-00000002"),
            "{kind}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// One flipped bit anywhere, in any file, is noticed.
    #[test]
    fn no_flipped_bit_passes(file in 0usize..16, at in any::<usize>(), bit in 0u8..8) {
        let dir = tempfile::tempdir().unwrap();
        let path = save_now(dir.path(), &snapshot(4), &options()).unwrap();
        let files = names(&path);
        let name = &files[file % files.len()];
        edit_file(path.join(name), |bytes| {
            // Behind the 64 digits of the hash stands only the file's name.
            let length = if name == "manifest.b3" { 64 } else { bytes.len() };
            bytes[at % length] ^= 1 << bit;
        });
        prop_assert!(load(&path).is_err(), "{name} {at}");
    }
}

#[test]
fn a_folder_without_checkpoints_has_no_latest() {
    let dir = tempfile::tempdir().unwrap();
    for path in [dir.path().to_path_buf(), dir.path().join("none")] {
        let latest = find_latest(&path).unwrap();
        assert_eq!(latest.path, None);
        assert!(latest.warnings.is_empty());
    }
    let error = locate(dir.path()).unwrap_err();
    assert_eq!(error.diagnostic(None).code, "checkpoint::none");
    let error = locate(&dir.path().join("none")).unwrap_err();
    assert_eq!(error.diagnostic(None).code, "checkpoint::read");
}

#[test]
fn list_and_inspect_say_what_is_there() {
    let run = tempfile::tempdir().unwrap();
    let dir = run.path().join("checkpoints");
    saved(&dir, &[2, 4, 6]);
    edit_file(dir.join("step-00000004").join(SHARD), |b| {
        *b.last_mut().unwrap() ^= 1;
    });
    edit_file(dir.join("step-00000006").join(SHARD), |b| b.truncate(9));

    let problems = |full| -> Vec<(u64, bool)> {
        list(run.path(), full)
            .unwrap()
            .iter()
            .map(|l| (l.step, l.problem.is_some()))
            .collect()
    };
    assert_eq!(problems(false), [(2, false), (4, false), (6, true)]);
    assert_eq!(problems(true), [(2, false), (4, true), (6, true)]);

    let inspection = inspect(run.path()).unwrap();
    assert_eq!(inspection.step, 2);
    assert_eq!(inspection.elements, 128 + 128 + 1);
    assert_eq!(inspection.tensors.len(), 4);
    assert_eq!(inspection.state, snapshot(2).state);
    assert!(
        inspect(&dir.join("step-00000004")).is_err(),
        "asked for by name, it is not passed over"
    );
    assert!(list(&run.path().join("none"), false).is_err());
}

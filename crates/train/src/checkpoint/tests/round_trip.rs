//! What is saved comes back, byte for byte, and other readers agree.

use proptest::prelude::*;

use super::*;

#[test]
fn everything_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = save_now(dir.path(), &snapshot(7), &options()).unwrap();
    assert_eq!(path, dir.path().join("step-00000007"));
    let checkpoint = load(&path).unwrap();
    assert_holds(&checkpoint, 7);
    assert_eq!(
        checkpoint.record("adam.count").unwrap().shape,
        Vec::<usize>::new()
    );
    assert!(checkpoint.record("adam.counts").is_none());
    assert_eq!(names(dir.path()), ["step-00000007"]);
}

#[test]
fn the_same_state_gives_the_same_files() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [a, b] = dirs
        .each_ref()
        .map(|dir| save_now(dir.path(), &snapshot(7), &options()).unwrap());
    assert_eq!(names(&a), names(&b));
    assert!(
        names(&a).len() >= 4,
        "several shards, manifest, hash: {:?}",
        names(&a)
    );
    for name in names(&a) {
        assert_eq!(
            std::fs::read(a.join(&name)).unwrap(),
            std::fs::read(b.join(&name)).unwrap(),
            "{name}"
        );
    }
}

#[test]
fn the_safetensors_library_reads_the_same_tensors() {
    let dir = tempfile::tempdir().unwrap();
    let mut wanted = snapshot(3);
    // Odd sizes first, so that only sorting keeps the wide ones aligned.
    wanted
        .records
        .insert(0, record("flags", DType::Bool, &[3], 5));
    wanted
        .records
        .insert(1, record("packed", DType::F4E2M1, &[5], 6));
    wanted
        .records
        .insert(2, record("fp8", DType::F8E4M3Fnuz, &[7], 6));
    let path = save_now(dir.path(), &wanted, &Options::default()).unwrap();
    let file = std::fs::read(path.join("shard-00001-of-00001.safetensors")).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&file).unwrap();
    assert_eq!(tensors.len(), wanted.records.len());
    for record in &wanted.records {
        let view = tensors.tensor(&record.name).unwrap();
        assert_eq!(view.data(), record.bytes, "{}", record.name);
        if record.dtype != DType::F4E2M1 {
            assert_eq!(view.shape(), record.shape, "{}", record.name);
            let at = view.data().as_ptr() as usize - file.as_ptr() as usize;
            assert_eq!(
                at % (record.dtype.bits() / 8),
                0,
                "{} is not aligned",
                record.name
            );
        }
    }
    assert_eq!(load(&path).unwrap().records, wanted.records);
}

#[test]
fn inconsistent_records_are_refused_and_nothing_is_written() {
    let table: [(&str, Vec<TensorRecord>); 4] = [
        (
            "the name is used twice",
            vec![
                record("a", DType::U8, &[1], 1),
                record("a", DType::U8, &[1], 2),
            ],
        ),
        (
            "the name is reserved",
            vec![record("__metadata__", DType::U8, &[1], 1)],
        ),
        (
            "3 bytes for f32 of shape [1]",
            vec![TensorRecord {
                bytes: vec![0; 3],
                ..record("a", DType::F32, &[1], 1)
            }],
        ),
        (
            "0 bytes for f32 of shape",
            vec![TensorRecord {
                bytes: vec![],
                shape: vec![usize::MAX, 2],
                ..record("a", DType::F32, &[1], 1)
            }],
        ),
    ];
    for (reason, records) in table {
        let dir = tempfile::tempdir().unwrap();
        let error = save_now(
            dir.path(),
            &Snapshot {
                records,
                ..snapshot(1)
            },
            &options(),
        )
        .unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert!(names(dir.path()).is_empty());
    }
}

#[test]
fn a_large_tensor_gets_a_shard_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let records = [40, 500, 40, 40].map(|n| record(&format!("t{n}-{}", n * 3), DType::U8, &[n], 1));
    let mut records = records.to_vec();
    records[2].name = "b".into();
    records[3].name = "c".into();
    let path = save_now(
        dir.path(),
        &Snapshot {
            records,
            ..snapshot(1)
        },
        &Options {
            shard_bytes: 100,
            ..options()
        },
    );
    let manifest = verify(&path.unwrap()).unwrap();
    let files: Vec<_> = manifest.tensors.iter().map(|t| t.file.as_str()).collect();
    let shard = |n: usize| format!("shard-0000{n}-of-00003.safetensors");
    assert_eq!(files, [shard(1), shard(2), shard(3), shard(3)]);
}

#[test]
fn a_model_of_another_architecture_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let checkpoint = load(&save_now(dir.path(), &snapshot(1), &options()).unwrap()).unwrap();
    let wanted: Vec<(&str, DType, &[usize])> = vec![
        ("adam.count", DType::I64, &[]),
        ("embedding.weight", DType::BF16, &[16, 8]),
        ("empty", DType::F32, &[0, 4]),
        ("embedding.weight.master", DType::F32, &[16, 8]),
    ];
    checkpoint.expect(wanted.clone()).unwrap();
    let mut other = wanted;
    other[1] = ("embedding.weight", DType::BF16, &[32, 8]);
    other[2] = ("layers.0.norm", DType::F32, &[8]);
    let error = checkpoint.expect(other).unwrap_err();
    let text = error.to_string();
    for part in [
        "`embedding.weight` is bf16 [16, 8], the model wants bf16 [32, 8]",
        "`layers.0.norm` is missing",
        "the model has no `empty`",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(error.diagnostic(None).code, "checkpoint::architecture");
}

fn records_strategy() -> impl Strategy<Value = Vec<TensorRecord>> {
    let one = (
        0..DType::ALL.len(),
        prop::collection::vec(0usize..5, 0..4),
        any::<u64>(),
    );
    prop::collection::vec(one, 0..8).prop_map(|list| {
        list.into_iter()
            .enumerate()
            .map(|(i, (dtype, shape, seed))| {
                record(&format!("t\"{i}\n"), DType::ALL[dtype], &shape, seed)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_records_and_numbers_come_back(
        records in records_strategy(),
        shard_bytes in 1usize..200,
        double in any::<f64>().prop_filter("finite", |x| x.is_finite()),
        single in any::<f32>().prop_filter("finite", |x| x.is_finite()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let state = json!({"double": double, "single": single});
        let snapshot = Snapshot { step: 5, records, state, experiment: json!(null) };
        let path = save_now(dir.path(), &snapshot, &Options { shard_bytes, ..options() }).unwrap();
        let checkpoint = load(&path).unwrap();
        prop_assert_eq!(&checkpoint.records, &snapshot.records);
        let read = |key: &str| checkpoint.state[key].as_f64().unwrap();
        prop_assert_eq!(read("double").to_bits(), double.to_bits());
        prop_assert_eq!((read("single") as f32).to_bits(), single.to_bits());
    }
}

//! Batches: order, resumption, ranks.

use proptest::prelude::*;

use super::*;

/// Tokens that tell their position: 0, 1, 2...
fn counting(tokens: u64) -> Arc<TokenStream> {
    use crate::data::megatron::{IndexedDataset, IndexedWriter, TokenType};
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("d");
    let mut writer = IndexedWriter::create(&prefix, TokenType::I32).unwrap();
    let list: Vec<u32> = (0..tokens as u32).collect();
    writer.push(&list).unwrap();
    writer.end_sequence().unwrap();
    writer.end_document();
    writer.finish().unwrap();
    let data = Arc::new(IndexedDataset::open(&prefix).unwrap());
    let mut stream = TokenStream::new(i32::MAX as usize);
    data.document(0)
        .for_each(|sequence| stream.push(&data, sequence));
    Arc::new(stream)
}

fn batches(stream: &Arc<TokenStream>, shape: BatchShape, position: Position) -> Batches {
    Batches::new(Arc::clone(stream), shape, 42, position).unwrap()
}

/// The sequences a batch holds, by their first tokens.
fn sequences_of(batch: &Batch, seq_length: usize) -> Vec<i32> {
    batch
        .tokens
        .chunks(seq_length)
        .map(|row| row[0] / seq_length as i32)
        .collect()
}

#[test]
fn targets_are_the_next_tokens_and_each_is_one_once() {
    let stream = counting(4 * 10 + 3);
    let mut all = batches(&stream, BatchShape::single(4, 2), Position::default());
    let mut targets = Vec::new();
    assert_eq!(all.sequences(), 10);
    for _ in 0..5 {
        let batch = all.next_batch().unwrap();
        assert_eq!(batch.tokens.len(), 8);
        for (token, target) in batch.tokens.iter().zip(&batch.targets) {
            assert_eq!(token + 1, *target);
        }
        targets.extend(batch.targets);
    }
    targets.sort_unstable();
    assert_eq!(targets, (1..=40).collect::<Vec<_>>());
    assert_eq!(all.position(), Position { epoch: 1, index: 0 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn resuming_anywhere_continues_the_same_stream(
        tokens in 9u64..120, seq in 1usize..5, rows in 1usize..5, before in 0usize..30, after in 1usize..30,
    ) {
        let stream = counting(tokens);
        let shape = BatchShape::single(seq, rows);
        let mut whole = batches(&stream, shape, Position::default());
        for _ in 0..before {
            whole.next_batch().unwrap();
        }
        let stored = serde_json::to_string(&whole.position()).unwrap();
        let mut resumed = batches(&stream, shape, serde_json::from_str(&stored).unwrap());
        for _ in 0..after {
            prop_assert_eq!(resumed.next_batch().unwrap(), whole.next_batch().unwrap());
            prop_assert_eq!(resumed.position(), whole.position());
        }
    }

    #[test]
    fn an_epoch_has_every_sequence_once(count in 1u64..80, rows in 1usize..6) {
        let stream = counting(3 * count + 1);
        let mut all = batches(&stream, BatchShape::single(3, rows), Position::default());
        let mut seen = Vec::new();
        while seen.len() < 2 * count as usize {
            seen.extend(sequences_of(&all.next_batch().unwrap(), 3));
        }
        for epoch in seen.chunks(count as usize).take(2) {
            let mut epoch = epoch.to_vec();
            epoch.sort_unstable();
            prop_assert!(epoch.into_iter().eq(0..count as i32));
        }
    }

    #[test]
    fn ranks_together_see_what_one_rank_sees(count in 4u64..60, world in 1usize..5, rows in 1usize..4) {
        let stream = counting(2 * count + 1);
        let mut alone = batches(&stream, BatchShape::single(2, rows * world), Position::default());
        let mut ranks: Vec<_> = (0..world)
            .map(|rank| {
                let shape = BatchShape { seq_length: 2, micro_batch_size: rows, rank, world_size: world };
                batches(&stream, shape, Position::default())
            })
            .collect();
        for _ in 0..20 {
            let whole = alone.next_batch().unwrap();
            let parts: Vec<_> = ranks.iter_mut().map(|rank| rank.next_batch().unwrap()).collect();
            let tokens: Vec<i32> = parts.iter().flat_map(|part| part.tokens.clone()).collect();
            prop_assert_eq!(tokens, whole.tokens);
            prop_assert!(ranks.iter().all(|rank| rank.position() == alone.position()));
        }
    }

    #[test]
    fn evaluation_has_every_sequence_at_most_once(count in 1u64..60, rows in 1usize..5, world in 1usize..3) {
        let stream = counting(2 * count + 1);
        let mut seen = Vec::new();
        for rank in 0..world {
            let shape = BatchShape { seq_length: 2, micro_batch_size: rows, rank, world_size: world };
            let eval = EvalBatches::new(Arc::clone(&stream), shape, None).unwrap();
            prop_assert_eq!(eval.count(), (count / (rows * world) as u64).max(1));
            for batch in eval.iter() {
                seen.extend(sequences_of(&batch.unwrap(), 2));
            }
        }
        let total = seen.len();
        seen.sort_unstable();
        seen.dedup();
        prop_assert!(seen.len() == total || count < (rows * world) as u64);
    }
}

#[test]
fn the_seed_decides_the_order_and_epochs_differ() {
    let stream = counting(2 * 50 + 1);
    let order = |seed| -> Vec<i32> {
        let shape = BatchShape::single(2, 50);
        let mut all = Batches::new(Arc::clone(&stream), shape, seed, Position::default()).unwrap();
        (0..2)
            .flat_map(|_| sequences_of(&all.next_batch().unwrap(), 2))
            .collect()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert_ne!(order(1)[..50], order(1)[50..]);
}

#[test]
fn evaluation_takes_the_number_asked_for_from_all_over() {
    let stream = counting(2 * 1000 + 1);
    let eval = EvalBatches::new(Arc::clone(&stream), BatchShape::single(2, 8), Some(10)).unwrap();
    assert_eq!(eval.count(), 10);
    let seen: Vec<i32> = eval
        .iter()
        .flat_map(|batch| sequences_of(&batch.unwrap(), 2))
        .collect();
    assert_eq!(seen.len(), 80);
    let late = seen.iter().filter(|sequence| **sequence >= 500).count();
    assert!((20..60).contains(&late), "{late} of 80 in the second half");
    let again: Vec<_> = eval.iter().map(Result::unwrap).collect();
    assert_eq!(eval.batch(3).unwrap(), again[3]);
}

#[test]
fn data_shorter_than_a_sequence_is_refused() {
    let shape = BatchShape::single(16, 1);
    let error = Batches::new(counting(16), shape, 1, Position::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the training data has 16 tokens, too few for one sequence of 16 and its target"
    );
    assert!(error.diagnostic().hints[0].contains("seq_length"));
    assert!(Batches::new(counting(17), shape, 1, Position::default()).is_ok());
    let error = EvalBatches::new(counting(0), shape, None).unwrap_err();
    assert!(error.diagnostic().hints[0].contains("validation_fraction"));
}

#[test]
fn a_position_of_other_data_is_refused() {
    let position = Position {
        epoch: 0,
        index: 10,
    };
    let shape = BatchShape::single(2, 1);
    let error = Batches::new(counting(21), shape, 1, position).unwrap_err();
    assert_eq!(error.code(), "data::position");
    assert!(Batches::new(counting(23), shape, 1, position).is_ok());
}

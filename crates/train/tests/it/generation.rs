//! Decoding with a cache of keys and values against the plain forward pass.

use cairn_nn::training::{OptimizerConfig, StepConfig};
use cairn_nn::{ModelConfig, Precision, decode};
use cairn_tensor::{Dispatcher, HostTensor, Pool, Program, ProgramOptions, Store};
use cairn_train::hugging_face;
use cairn_train::native::Engine;
use cairn_train::native::sample::{Sampling, generate};

use crate::common::{dispatchers, root};

const COUNT: usize = 40;

fn load(name: &str, precision: Precision) -> (ModelConfig, Store) {
    let dir = root().join("tests/golden/hf").join(name);
    let config = hugging_face::read_config(&dir).unwrap();
    let mut store = hugging_face::import(&dir, &config, precision).unwrap();
    for spec in cairn_nn::models::parameters(&config) {
        cairn_train::native::init::add_state(&mut store, &spec, precision).unwrap();
    }
    (config, store)
}

fn engine(
    config: &ModelConfig,
    store: Store,
    precision: Precision,
    dispatcher: Dispatcher,
) -> Engine {
    let step = StepConfig {
        micro_batch: 1,
        seq_len: 8,
        precision,
        recompute: cairn_graph::passes::Recompute::None,
        z_loss: 0.0,
        loss_chunk: 8,
    };
    let optimizer = OptimizerConfig {
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weight_decay: 0.0,
        clip_grad: 0.0,
    };
    let pool = Pool::new(2).unwrap();
    let mut engine = Engine::new(
        config.clone(),
        step,
        &optimizer,
        1,
        dispatcher,
        pool,
        ProgramOptions::default(),
    )
    .unwrap();
    engine.store = store;
    engine.prepare().unwrap();
    engine
}

/// Greedy tokens by running the whole sequence anew for each, and the smallest
/// lead of a chosen token over the runner-up.
fn without_cache(
    config: &ModelConfig,
    store: &mut Store,
    dispatcher: &Dispatcher,
    prompt: &[u32],
) -> (Vec<u32>, f64) {
    let pool = Pool::new(2).unwrap();
    let mut ids: Vec<i32> = prompt.iter().map(|token| token.cast_signed()).collect();
    let mut least: f64 = f64::INFINITY;
    for _ in 0..COUNT {
        let graph = decode::all_logits(config, Precision::F32, 1, ids.len()).unwrap();
        let mut program = Program::compile(graph, dispatcher, ProgramOptions::default()).unwrap();
        store.insert("tokens", HostTensor::new([1, ids.len()], &ids).unwrap());
        program.run(store, &pool).unwrap();
        let logits = program.output(store, "logits").unwrap().to_f64().unwrap();
        let last = &logits[logits.len() - config.vocab_size..];
        let mut order: Vec<usize> = (0..last.len()).collect();
        order.sort_by(|a, b| last[*b].total_cmp(&last[*a]));
        least = least.min(last[order[0]] - last[order[1]]);
        ids.push(i32::try_from(order[0]).unwrap());
    }
    let made = ids[prompt.len()..]
        .iter()
        .map(|token| token.cast_unsigned())
        .collect();
    (made, least)
}

#[test]
fn a_cache_does_not_change_greedy_tokens() {
    let greedy = Sampling {
        temperature: 0.0,
        top_k: None,
        seed: 0,
    };
    for name in ["llama31", "qwen2_tied", "qwen3"] {
        for (backend, dispatcher) in dispatchers() {
            for prompt in [&[3_u32][..], &[1, 17, 4, 9, 30, 2, 11]] {
                let what = format!("{name} on {backend}, prompt of {}", prompt.len());
                let (config, mut store) = load(name, Precision::F32);
                let (want, least) = without_cache(&config, &mut store, &dispatcher, prompt);
                // A tie would make the comparison a matter of rounding.
                assert!(least > 1e-5, "{what}: the lead is only {least:e}");
                let (_, store) = load(name, Precision::F32);
                let mut engine = engine(&config, store, Precision::F32, dispatcher.clone());
                let got = generate(&mut engine, prompt, COUNT, None, &greedy).unwrap();
                assert_eq!(got, want, "{what}");
                // Again, with a cache that is not empty.
                assert_eq!(
                    generate(&mut engine, prompt, COUNT, None, &greedy).unwrap(),
                    want,
                    "{what}, again"
                );
            }
        }
    }
}

#[test]
fn generation_ends_at_the_end_token_and_needs_a_prompt() {
    let (config, store) = load("llama31", Precision::F32);
    let (_, dispatcher) = dispatchers().pop().unwrap();
    let mut engine = engine(&config, store, Precision::F32, dispatcher);
    let greedy = Sampling {
        temperature: 0.0,
        top_k: None,
        seed: 0,
    };
    let all = generate(&mut engine, &[3], COUNT, None, &greedy).unwrap();
    assert_eq!(all.len(), COUNT);
    let end = all[COUNT / 2];
    let first = all.iter().position(|token| *token == end).unwrap();
    let short = generate(&mut engine, &[3], COUNT, Some(end), &greedy).unwrap();
    assert_eq!(short, all[..=first]);
    assert_eq!(
        generate(&mut engine, &[], COUNT, None, &greedy).unwrap(),
        Vec::<u32>::new()
    );
    assert_eq!(
        generate(&mut engine, &[3, 4], 0, None, &greedy).unwrap(),
        Vec::<u32>::new()
    );
}

#[test]
fn drawn_tokens_follow_the_seed() {
    let draw = |seed: u64, temperature: f64, top_k: Option<usize>, precision: Precision| {
        let (config, store) = load("llama31", precision);
        let (_, dispatcher) = dispatchers().pop().unwrap();
        let mut engine = engine(&config, store, precision, dispatcher);
        generate(
            &mut engine,
            &[3, 5],
            COUNT,
            None,
            &Sampling {
                temperature,
                top_k,
                seed,
            },
        )
        .unwrap()
    };
    for precision in [Precision::F32, Precision::Bf16] {
        assert_eq!(draw(1, 1.0, None, precision), draw(1, 1.0, None, precision));
        assert_ne!(draw(1, 1.0, None, precision), draw(2, 1.0, None, precision));
        // Among one there is no choice.
        assert_eq!(
            draw(1, 1.0, Some(1), precision),
            draw(2, 0.0, None, precision)
        );
    }
}

//! Streams, events, pinned copies, and runs that are captured and replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_graph::Op;
use cairn_hip::{Event, Gpu, Stream};
use cairn_tensor::program::Replays;
use cairn_tensor::{
    Address, Backend, DeviceArgs, DeviceMemory, Kernel, KernelError, Signature, TensorError,
};

use crate::programs::{COLUMNS, bytes, compile, on_gpu, set, sum, tensor};
use crate::support::{on_each, pool};

#[test]
fn events_tell_when_a_stream_has_come_to_them() {
    on_each(
        "runtime::events_tell_when_a_stream_has_come_to_them",
        |gpu| {
            let device = gpu.kernels().device();
            let (first, last) = (Event::new(device).unwrap(), Event::new(device).unwrap());
            let early = last.micros_since(&first).unwrap_err().to_string();
            assert!(
                early.contains("hipEventElapsedTime failed on device 0"),
                "{early}"
            );
            let (graph, mut store) = sum();
            let mut program = on_gpu(&graph, gpu, false);
            device.stream().record(&first).unwrap();
            program.run(&mut store, &pool()).unwrap();
            device.stream().record(&last).unwrap();
            // Another stream can wait for them.
            let other = Stream::new(device).unwrap();
            let seen = Event::new(device).unwrap();
            other.wait_for(&last).unwrap();
            other.record(&seen).unwrap();
            seen.wait().unwrap();
            assert!(first.is_done().unwrap() && last.is_done().unwrap());
            let micros = last.micros_since(&first).unwrap();
            assert!(micros > 0.0, "{micros}");
            let backwards = first.micros_since(&last).unwrap();
            assert!((micros + backwards).abs() < 1e-3, "{micros} {backwards}");
        },
    );
}

/// Times of nodes are the device's own, and lie one after the other.
#[test]
fn a_profile_is_measured_by_events() {
    on_each("runtime::a_profile_is_measured_by_events", |gpu| {
        let (graph, mut store) = sum();
        let mut program = on_gpu(&graph, gpu, false);
        let mut spans = Vec::new();
        program.run(&mut store, &pool()).unwrap();
        program
            .run_profiled(&mut store, &pool(), &mut spans)
            .unwrap();
        assert_eq!(spans.len(), program.kernels().len());
        for span in &spans {
            assert_eq!(span.clock, "cycle model");
            assert!(span.micros > 0.0, "{span:?}");
        }
        for pair in spans.windows(2) {
            let between = pair[1].start.duration_since(pair[0].start).as_secs_f64() * 1e6;
            assert!((between - pair[0].micros).abs() < 0.01, "{pair:?}");
        }
    });
}

#[test]
fn copies_go_through_pinned_memory_that_is_used_again() {
    on_each(
        "runtime::copies_go_through_pinned_memory_that_is_used_again",
        |gpu| {
            let device = gpu.kernels().device();
            let content = |number: usize| -> Vec<u8> {
                let bytes = 1000 + 3000 * number;
                (0..bytes).map(|at| (at * 31 + number * 7) as u8).collect()
            };
            let mut pieces: Vec<(Address, Vec<u8>)> = Vec::new();
            for number in 0..20 {
                let content = content(number);
                let address = device.alloc(content.len()).unwrap();
                // What lies there first is overwritten by the copy that comes later.
                device.copy_in(address, &vec![0xff; content.len()]).unwrap();
                device.copy_in(address, &content).unwrap();
                pieces.push((address, content));
            }
            let mut found: Vec<Vec<u8>> = pieces.iter().map(|(_, c)| vec![0; c.len()]).collect();
            let mut targets: Vec<_> = pieces
                .iter()
                .zip(&mut found)
                .map(|((address, _), to)| (*address, to.as_mut_slice()))
                .collect();
            device.copy_out_all(&mut targets).unwrap();
            for (number, ((_, content), found)) in pieces.iter().zip(&found).enumerate() {
                assert!(content == found, "piece {number}");
            }
            let stats = device.host_stats();
            assert!(stats.reuses >= 30, "{stats:?}");
            assert!(stats.held <= 2 << 20, "{stats:?}");
            // What is larger goes directly.
            let large: Vec<u8> = (0..3 << 20).map(|at: u32| ((at * 13) >> 4) as u8).collect();
            let address = device.alloc(large.len()).unwrap();
            device.copy_in(address, &large).unwrap();
            let mut back = vec![0; large.len()];
            device.copy_out(address, &mut back).unwrap();
            assert!(back == large);
            assert_eq!(device.host_stats(), stats);
        },
    );
}

/// What is replayed gives the bits of what is started node by node, is counted as often,
/// and is captured anew when a tensor lies elsewhere.
#[test]
fn a_program_is_captured_once_and_replayed() {
    on_each("runtime::a_program_is_captured_once_and_replayed", |gpu| {
        let device = gpu.kernels().device();
        let (graph, mut store) = sum();
        let mut program = on_gpu(&graph, gpu, false);
        let (_, mut eager_store) = sum();
        let mut eager = on_gpu(&graph, gpu, true);
        let run = |program: &mut _, store: &mut _, seed| {
            let before = device.launches();
            set(store, "x", seed);
            cairn_tensor::Program::run(program, store, &pool()).unwrap();
            let mut launched = device.launches();
            for (kernel, count) in &mut launched {
                *count -= before.get(kernel).copied().unwrap_or(0);
            }
            launched.retain(|_, count| *count > 0);
            launched
        };
        let same = |store: &_, other: &_| assert_eq!(bytes(store, "sum"), bytes(other, "sum"));
        for seed in 0..6 {
            let launched = run(&mut program, &mut store, seed);
            assert_eq!(run(&mut eager, &mut eager_store, seed), launched);
            assert_eq!(launched.values().sum::<u64>(), 4, "{launched:?}");
            same(&store, &eager_store);
            assert_eq!(
                program.output(&store, "twice").unwrap().bytes(),
                eager.output(&eager_store, "twice").unwrap().bytes()
            );
        }
        let replays = |eager, captured, replayed| Replays {
            eager,
            captured,
            replayed,
        };
        assert_eq!(program.replays(), replays(1, 1, 5));
        assert_eq!(eager.replays(), replays(6, 0, 0));
        assert_eq!(device.replays(), 5);
        assert_eq!(program.eager_because(), None);
        let reason = eager.eager_because().unwrap();
        assert!(reason.contains("anomalies"), "{reason}");

        // Held meanwhile, so that the new tensor cannot get the old one's place.
        let held = device.alloc(COLUMNS * 4).unwrap();
        for (store, program) in [(&mut store, &mut program), (&mut eager_store, &mut eager)] {
            store.insert("x", tensor(&[COLUMNS], 9));
            store.insert("other", tensor(&[COLUMNS], 9));
            for seed in 10..14 {
                run(program, store, seed);
            }
        }
        same(&store, &eager_store);
        let now = program.replays();
        assert_eq!(now.eager + now.replayed, 10);
        assert!(now.captured <= 2 && now.replayed >= 8, "{now:?}");
        device.free(held, COLUMNS * 4);
    });
}

/// A GPU whose kernels take memory whenever they are launched.
#[derive(Debug)]
struct Greedy(Gpu, Arc<AtomicUsize>);

#[derive(Debug)]
struct Taking {
    inner: Box<dyn Kernel>,
    memory: Arc<dyn DeviceMemory>,
    taken: Arc<AtomicUsize>,
}

impl Backend for Greedy {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        self.0.memory()
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        Some(Box::new(Taking {
            inner: self.0.kernel(op, signature)?,
            memory: self.0.memory()?,
            taken: self.1.clone(),
        }))
    }
}

impl Kernel for Taking {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn scratch_bytes(&self) -> usize {
        self.inner.scratch_bytes()
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.inner.in_place()
    }

    fn launch(&self, args: &DeviceArgs<'_>) -> Result<(), KernelError> {
        // More each time, so that HIP is asked and not only the pool.
        let bytes = 4096 * (1 + self.taken.fetch_add(1, Ordering::Relaxed));
        let failed = |error: TensorError| KernelError(error.to_string());
        let address = self.memory.alloc(bytes).map_err(failed)?;
        let launched = self.inner.launch(args);
        self.memory.free(address, bytes);
        launched
    }
}

/// What cannot be captured runs node by node, for a reason that is told.
#[test]
fn what_cannot_be_captured_runs_node_by_node() {
    let test = "runtime::what_cannot_be_captured_runs_node_by_node";
    on_each(test, |gpu| {
        let (graph, mut store) = sum();
        let mut greedy = compile(&graph, Greedy(gpu.clone(), Arc::default()), false);
        let (_, mut wanted) = sum();
        let mut plain = on_gpu(&graph, gpu, false);
        for seed in 0..4 {
            for (program, store) in [(&mut greedy, &mut store), (&mut plain, &mut wanted)] {
                set(store, "x", seed);
                program.run(store, &pool()).unwrap();
            }
            assert_eq!(bytes(&store, "sum"), bytes(&wanted, "sum"));
        }
        let reason = greedy.eager_because().unwrap();
        assert!(reason.contains("hipMalloc failed on device 0"), "{reason}");
        assert_eq!((greedy.replays().eager, greedy.replays().replayed), (4, 0));
        assert_eq!(plain.replays().replayed, 3);
    });
}

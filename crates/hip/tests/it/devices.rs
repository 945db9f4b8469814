//! Several GPUs in one process.

use std::path::Path;
use std::sync::Arc;

use cairn_hip::{Device, Gpu, Kernels};
use cairn_tensor::{DeviceMemory, Reference};

use crate::programs::{COLUMNS, bytes, compile, on_gpu, set, sum};
use crate::support::{ARCHS, INSIDE, again, built, has_kernels, place_library, pool};

const COUNT: i32 = 4;

fn gpu(folder: &Path, ordinal: i32) -> Gpu {
    let device = Device::open(&[folder.to_path_buf()], ordinal).unwrap();
    assert_eq!(device.ordinal(), ordinal);
    Gpu::new(Kernels::open(Arc::new(device), &built()).unwrap())
}

/// Runs the body on four devices of each architecture.
fn on_four(test: &str, body: impl Fn(&[Gpu])) {
    if !has_kernels() {
        return;
    }
    if std::env::var_os(INSIDE).is_none() {
        for arch in ARCHS {
            again(test, &format!("{}:{COUNT}", arch.name()), &[]);
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    place_library(folder.path());
    let gpus: Vec<Gpu> = (0..COUNT).map(|at| gpu(folder.path(), at)).collect();
    body(&gpus);
}

/// Each has its own memory, stream, kernels and graphs, whatever thread drives it.
#[test]
fn each_works_by_itself() {
    on_four("devices::each_works_by_itself", |gpus| {
        const RUNS: usize = 4;
        let run = |number: usize, mut program: cairn_tensor::Program| {
            let (_, mut store) = sum();
            for round in 0..RUNS {
                set(&mut store, "x", 10 * number + round);
                program.run(&mut store, &pool()).unwrap();
            }
            bytes(&store, "sum")
        };
        let (graph, _) = sum();
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = gpus
                .iter()
                .enumerate()
                .map(|(number, gpu)| {
                    let graph = &graph;
                    scope.spawn(move || run(number, on_gpu(graph, gpu, false)))
                })
                .collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        for (number, (gpu, found)) in gpus.iter().zip(&found).enumerate() {
            let wanted = run(number, compile(&graph, Reference, false));
            assert!(*found == wanted, "device {number}");
            let device = gpu.kernels().device();
            assert_eq!(device.replays(), RUNS as u64 - 1, "device {number}");
            assert_eq!(device.launches().values().sum::<u64>(), 4 * RUNS as u64);
            let stats = device.memory_stats();
            assert!(stats.used == 0 && stats.peak > 0, "{stats:?}");
        }
    });
}

/// Around all of them: each copy comes after the one before without a wait of the host.
#[test]
fn a_tensor_moves_between_them() {
    on_four("devices::a_tensor_moves_between_them", |gpus| {
        let devices: Vec<&Arc<Device>> = gpus.iter().map(|gpu| gpu.kernels().device()).collect();
        let len = COLUMNS * 4;
        let content: Vec<u8> = (0..len).map(|at| (at * 7 + 3) as u8).collect();
        let places: Vec<_> = devices
            .iter()
            .map(|device| {
                let address = device.alloc(len).unwrap();
                device.copy_in(address, &vec![0; len]).unwrap();
                address
            })
            .collect();
        devices[0].copy_in(places[0], &content).unwrap();
        for to in 1..devices.len() {
            let from = to - 1;
            devices[to]
                .copy_from(places[to], devices[from], places[from], len)
                .unwrap();
            // Overwritten only when the copy is done.
            devices[from]
                .copy_in(places[from], &vec![0xff; len])
                .unwrap();
        }
        let read = |at: usize| {
            let mut bytes = vec![0; len];
            devices[at].copy_out(places[at], &mut bytes).unwrap();
            bytes
        };
        assert!(read(3) == content);
        assert!(read(0) == vec![0xff; len]);
        // An address of a third device is refused by name.
        let wrong = devices[1].copy_from(places[1], devices[0], places[2], len);
        let said = wrong.unwrap_err().to_string();
        assert!(
            said.contains("hipMemcpyPeerAsync failed on device 1"),
            "{said}"
        );
    });
}

//! The executor on memory that is not the host's: a device that is a table of
//! byte vectors, whose kernels are the reference's on copies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cairn_graph::ops::{Assign, Binary, BinaryKind, Slice};
use cairn_graph::{Graph, Op};
use cairn_tensor::backend::{Args, View, ViewMut};
use cairn_tensor::{
    Address, Backend, DType, DeviceArgs, DeviceMemory, DeviceView, Dispatcher, HostTensor,
    KernelError, Pool, Program, ProgramOptions, Reference, Signature, Store, TensorError,
    TensorType, backend, suite,
};

use crate::passes::model;
use crate::support::{f64s, input, pool, tensor};

/// Bytes by the address they begin at, and how often bytes were copied.
#[derive(Debug, Default)]
struct Table {
    pieces: Mutex<BTreeMap<u64, Vec<u8>>>,
    copied_in: AtomicUsize,
    copied_out: AtomicUsize,
    limit: Option<usize>,
}

impl Table {
    /// The rest of the piece that an address lies in.
    fn rest(&self, at: Address) -> Vec<u8> {
        let pieces = self.pieces.lock().unwrap();
        let (start, piece) = pieces.range(..=at.0).next_back().unwrap();
        piece[(at.0 - start) as usize..].to_vec()
    }

    fn write(&self, at: Address, bytes: &[u8]) {
        let mut pieces = self.pieces.lock().unwrap();
        let (start, piece) = pieces.range_mut(..=at.0).next_back().unwrap();
        let from = (at.0 - start) as usize;
        piece[from..from + bytes.len()].copy_from_slice(bytes);
    }
}

impl DeviceMemory for Table {
    fn alloc(&self, bytes: usize) -> Result<Address, TensorError> {
        let mut pieces = self.pieces.lock().unwrap();
        let held: usize = pieces.values().map(Vec::len).sum();
        if self.limit.is_some_and(|limit| held + bytes > limit) {
            return Err(TensorError::OutOfMemory { bytes });
        }
        let end = pieces.iter().next_back().map_or(1 << 40, |(at, piece)| {
            (at + piece.len() as u64 + 1).next_multiple_of(256)
        });
        pieces.insert(end, vec![0xff; bytes]);
        Ok(Address(end))
    }

    fn free(&self, address: Address, bytes: usize) {
        let piece = self.pieces.lock().unwrap().remove(&address.0).unwrap();
        assert_eq!(piece.len(), bytes);
    }

    fn copy_in(&self, to: Address, from: &[u8]) -> Result<(), TensorError> {
        self.copied_in.fetch_add(1, Ordering::Relaxed);
        self.write(to, from);
        Ok(())
    }

    fn copy_out(&self, from: Address, to: &mut [u8]) -> Result<(), TensorError> {
        self.copied_out.fetch_add(1, Ordering::Relaxed);
        to.copy_from_slice(&self.rest(from)[..to.len()]);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), TensorError> {
        Ok(())
    }
}

/// A backend that works in a table and lacks some operators.
#[derive(Debug)]
struct Device {
    table: Arc<Table>,
    lacks: &'static [&'static str],
}

#[derive(Debug)]
struct OnTable {
    table: Arc<Table>,
    inner: Box<dyn backend::Kernel>,
}

impl Device {
    fn new(lacks: &'static [&'static str]) -> Self {
        let table = Arc::new(Table::default());
        Self { table, lacks }
    }
}

impl Backend for Device {
    fn name(&self) -> &str {
        "table"
    }

    fn memory(&self) -> Option<Arc<dyn DeviceMemory>> {
        Some(self.table.clone())
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn backend::Kernel>> {
        if self.lacks.contains(&op.name()) {
            return None;
        }
        Some(Box::new(OnTable {
            table: self.table.clone(),
            inner: Reference.kernel(op, signature)?,
        }))
    }
}

impl backend::Kernel for OnTable {
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
        // Whole words: a vector of bytes may begin anywhere.
        let aligned = |view: &DeviceView<'_>| {
            let bytes = self.table.rest(view.address);
            let mut words = vec![0_u64; bytes.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
            (words, bytes.len())
        };
        let contiguous = |view: &DeviceView<'_>| view.dtype.bytes(view.shape.num_elements());
        let read: Vec<_> = args
            .inputs
            .iter()
            .map(|view| view.as_ref().map(aligned))
            .collect();
        let mut written: Vec<_> = args.outputs.iter().map(aligned).collect();
        let mut scratch = vec![0xff_u8; self.inner.scratch_bytes()];
        let inputs = args.inputs.iter().zip(&read).map(|(view, data)| {
            let (view, (words, len)) = view.as_ref().zip(data.as_ref())?;
            let len = if view.strides.is_some() {
                *len
            } else {
                contiguous(view)
            };
            Some(View {
                dtype: view.dtype,
                shape: view.shape,
                strides: view.strides,
                data: &bytemuck::cast_slice(words)[..len],
            })
        });
        let outputs = args.outputs.iter().zip(&mut written);
        self.inner.run(&mut Args {
            inputs: inputs.collect(),
            outputs: outputs
                .map(|(view, (words, _))| ViewMut {
                    dtype: view.dtype,
                    shape: view.shape,
                    data: &mut bytemuck::cast_slice_mut(words)[..contiguous(view)],
                })
                .collect(),
            scratch: &mut scratch,
            pool: &pool(1),
        })?;
        for (view, (words, _)) in args.outputs.iter().zip(&written) {
            let bytes = &bytemuck::cast_slice(words)[..contiguous(view)];
            self.table.write(view.address, bytes);
        }
        Ok(())
    }
}

#[test]
fn the_suite_runs_in_a_devices_memory_and_leaves_nothing_there() {
    let device = Device::new(&[]);
    let small = |op: &str| {
        matches!(
            op,
            "binary" | "transpose" | "adamw" | "cache_write" | "reduce"
        )
    };
    let report = suite::check_backend(&device, &pool(1), &suite::rows(), &small);
    assert_eq!(report.describe_failures(), "");
    assert!(report.cases.len() > 300, "{}", report.cases.len());
    assert!(device.table.pieces.lock().unwrap().is_empty());
}

/// A model gives the same bits in a device's memory as in the host's, also where
/// some of its operators run on the host.
#[test]
fn a_program_gives_the_same_bits_in_a_devices_memory() {
    let (graph, mut store) = model(DType::F32);
    let expected = crate::support::run(&graph, &mut store);
    for lacks in [&[][..], &["rmsnorm", "attention_grad", "embedding"]] {
        let device = Device::new(lacks);
        let table = device.table.clone();
        let dispatcher = Dispatcher::new(vec![Arc::new(device), Arc::new(Reference)]);
        let mut program =
            Program::compile(graph.clone(), &dispatcher, ProgramOptions::default()).unwrap();
        let fallbacks = program.kernels().iter().filter(|k| k.fallback).count();
        assert_eq!(fallbacks > 0, !lacks.is_empty(), "{fallbacks}");
        let (_, mut store) = model(DType::F32);
        program.run(&mut store, &pool(1)).unwrap();
        let before = table.copied_in.load(Ordering::Relaxed);
        program.run(&mut store, &pool(1)).unwrap();
        let again = table.copied_in.load(Ordering::Relaxed) - before;
        assert_eq!(again == 0, lacks.is_empty(), "leaves stay: {again} copies");
        for ((name, _), expected) in graph.outputs().iter().zip(&expected) {
            let found = program.output(&store, name).unwrap();
            assert_eq!(found.bytes(), expected.bytes(), "{name}");
        }
        let names: Vec<&str> = graph.outputs().iter().map(|(name, _)| &**name).collect();
        let together = program.read(&store, &names).unwrap();
        for (found, expected) in together.iter().zip(&expected) {
            assert_eq!(found.bytes(), expected.bytes());
        }
        assert!(program.read(&store, &["nothing"]).is_err());
        let reason = program.eager_because().unwrap();
        let wanted = match lacks {
            [] => "the device captures nothing",
            _ => "runs on the host",
        };
        assert!(reason.contains(wanted), "{reason}");
        drop(store);
        assert!(
            table.pieces.lock().unwrap().is_empty(),
            "all was given back"
        );
    }
}

/// state <- state + x, and its first element.
fn sum() -> (Graph, Store) {
    let (mut graph, mut store) = (Graph::new(), Store::new());
    let x = input(&mut graph, &mut store, "x", f64s([3]));
    store.insert("sum", tensor(f64s([3]), 7));
    let state = graph.add_state("sum", f64s([3])).unwrap();
    let add = Binary {
        kind: BinaryKind::Add,
    };
    let added = graph.add1(add, &[state, x]).unwrap();
    let assigned = graph.add1(Assign {}, &[state, added]).unwrap();
    let first = Slice {
        start: vec![0],
        end: vec![1],
    };
    let first = graph.add1(first, &[assigned]).unwrap();
    graph.set_output("first", first);
    (graph, store)
}

fn values(store: &Store, name: &str) -> Vec<f64> {
    store.get(name).unwrap().unwrap().to_f64().unwrap()
}

/// The host reads what the device wrote, the device what the host wrote, and a
/// program of the host may follow one of the device.
#[test]
fn a_state_is_one_tensor_wherever_it_is_used() {
    let (graph, mut store) = sum();
    let device = Device::new(&[]);
    let table = device.table.clone();
    let on_device = Dispatcher::new(vec![Arc::new(device)]);
    let options = ProgramOptions::default();
    let mut there = Program::compile(graph.clone(), &on_device, options).unwrap();
    let mut here = Program::compile(graph, &crate::support::reference(), options).unwrap();
    let (x, mut want) = (values(&store, "x"), values(&store, "sum"));
    let step = |store: &mut Store, program: &mut Program, want: &mut Vec<f64>, pool: &Pool| {
        program.run(store, pool).unwrap();
        want.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
        assert_eq!(values(store, "sum"), *want);
        assert_eq!(program.output_scalar(store, "first").unwrap(), want[0]);
    };
    let pool = pool(1);
    step(&mut store, &mut there, &mut want, &pool);
    step(&mut store, &mut there, &mut want, &pool);
    let out = table.copied_out.load(Ordering::Relaxed);
    assert_eq!(values(&store, "sum"), want);
    assert_eq!(table.copied_out.load(Ordering::Relaxed), out, "copied once");
    step(&mut store, &mut here, &mut want, &pool);
    step(&mut store, &mut there, &mut want, &pool);
    let slot = store.get_mut("sum").unwrap().unwrap();
    slot.as_mut_slice::<f64>().unwrap()[1] = 50.0;
    want[1] = 50.0;
    step(&mut store, &mut there, &mut want, &pool);
}

#[test]
fn what_a_device_cannot_do_is_told() {
    let (graph, mut store) = sum();
    let options = ProgramOptions {
        detect_anomaly: true,
    };
    let alone = Dispatcher::new(vec![Arc::new(Device::new(&["binary"]))]);
    let error = Program::compile(graph.clone(), &alone, options).unwrap_err();
    assert!(
        matches!(&error, TensorError::NoKernel { op, .. } if op == "binary"),
        "{error}"
    );

    let full = Device {
        table: Arc::new(Table {
            limit: Some(16),
            ..Table::default()
        }),
        lacks: &[],
    };
    let mut program = Program::compile(
        graph.clone(),
        &Dispatcher::new(vec![Arc::new(full)]),
        options,
    )
    .unwrap();
    let error = program.run(&mut store, &pool(1)).unwrap_err();
    assert!(matches!(error, TensorError::OutOfMemory { .. }), "{error}");

    let dispatcher = Dispatcher::new(vec![Arc::new(Device::new(&[]))]);
    let mut program = Program::compile(graph, &dispatcher, options).unwrap();
    let nan = TensorType::new(DType::F64, [3]);
    store.insert(
        "x",
        HostTensor::from_f64(nan, &[0.0, f64::NAN, 0.0]).unwrap(),
    );
    let error = program.run(&mut store, &pool(1)).unwrap_err();
    assert!(
        matches!(&error, TensorError::Anomaly { op, element: 1, .. } if op == "binary"),
        "{error}"
    );
}

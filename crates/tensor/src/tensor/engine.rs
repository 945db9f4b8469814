//! Compiles and runs recorded graphs, and keeps the programs.

use std::collections::BTreeMap;

use cairn_graph::dump;
use cairn_graph::passes::{self, Recompute};

use super::build::{self, Recording};
use super::context::Counters;
use crate::backend::Dispatcher;
use crate::error::TensorError;
use crate::host::HostTensor;
use crate::program::{Program, ProgramOptions};
use crate::store::Store;
use crate::threads::Pool;

/// Programs kept before all are dropped: more than a loop has, few enough that
/// graphs which never come again do not fill the memory.
const PROGRAMS: usize = 128;

pub(super) struct Engine {
    dispatcher: Dispatcher,
    pool: Pool,
    counters: Counters,
    kept: Kept,
}

/// What can be dropped at any time.
#[derive(Default)]
struct Kept {
    /// By the stored form of the graph.
    programs: BTreeMap<String, Program>,
    /// The leaves of all programs.
    store: Store,
    /// Which tensor's value each leaf in the store holds, by the tensor's id.
    held: BTreeMap<String, u64>,
}

impl Engine {
    pub(super) fn new(dispatcher: Dispatcher, pool: Pool) -> Self {
        Self {
            dispatcher,
            pool,
            counters: Counters::default(),
            kept: Kept::default(),
        }
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// Runs a recording on the values of its leaves; gives its results in order.
    pub(super) fn run(&mut self, recording: Recording) -> Result<Vec<HostTensor>, TensorError> {
        let Recording { graph, leaves, .. } = recording;
        let key = dump::to_json(&graph).to_string();
        let (nodes, results) = (graph.nodes().len(), graph.outputs().len());
        if !self.kept.programs.contains_key(&key) {
            let graph = passes::standard(&graph, Recompute::None)?;
            let options = ProgramOptions::default();
            let program = Program::compile(graph, &self.dispatcher, options)?;
            self.counters.compiled += 1;
            let fallback = program.kernels().iter().any(|kernel| kernel.fallback);
            self.counters.fallbacks += u64::from(fallback);
            if self.kept.programs.len() >= PROGRAMS {
                self.kept = Kept::default();
            }
            self.kept.programs.insert(key.clone(), program);
        }
        let Kept {
            programs,
            store,
            held,
        } = &mut self.kept;
        for (name, tensor) in leaves {
            // Values never change, so the same tensor need not be copied again.
            if held.get(&name) == Some(&tensor.id()) {
                continue;
            }
            let value = tensor
                .node
                .value()
                .ok_or_else(|| TensorError::NoOutput { name: name.clone() })?;
            match store.get_mut(&name)? {
                Some(slot) => slot.bytes_mut().copy_from_slice(value.bytes()),
                None => {
                    let copy = HostTensor::from_bytes(value.ty().clone(), value.bytes())?;
                    store.insert(name.clone(), copy);
                }
            }
            held.insert(name, tensor.id());
        }
        let program = programs
            .get_mut(&key)
            .ok_or(TensorError::NoOutput { name: key })?;
        program.run(store, &self.pool)?;
        self.counters.runs += 1;
        self.counters.nodes = nodes;
        (0..results)
            .map(|index| program.output(store, &build::name(index)))
            .collect()
    }
}

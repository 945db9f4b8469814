//! Runs on a device: node by node, or as one piece that was captured before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cairn_graph::memory::Storage;

use super::profile::{self, Span};
use super::{Program, Step};
use crate::device::{Captured, DeviceMemory, Mark};
use crate::error::TensorError;
use crate::store::Store;
use crate::threads::Pool;

/// What was captured of a program.
#[derive(Debug, Default)]
pub(super) struct Replay {
    /// Where everything was in the last run.
    last: Vec<u64>,
    /// The work, and where everything is that it touches.
    captured: Option<(Captured, Vec<u64>)>,
    /// Why the device did not capture.
    refused: Option<String>,
    runs: Replays,
}

/// How a program ran on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replays {
    /// Runs that started node by node.
    pub eager: u64,
    /// How often the work of a run was captured.
    pub captured: u64,
    /// Runs that started what was captured.
    pub replayed: u64,
}

impl Program {
    /// How the runs on a device were started.
    #[must_use]
    pub fn replays(&self) -> Replays {
        self.replay.runs
    }

    /// Why runs on a device start node by node, if they always do.
    #[must_use]
    pub fn eager_because(&self) -> Option<String> {
        if self.options.detect_anomaly {
            return Some("each operator is waited for to detect anomalies".to_owned());
        }
        if let Some(step) = self.steps.iter().find(|step| step.on_host) {
            let node = &self.graph.nodes()[step.node];
            return Some(format!("`{}` runs on the host", node.op.name()));
        }
        self.replay.refused.clone()
    }

    /// Runs all nodes. A kernel's arguments are its operands' addresses and what is fixed
    /// when the program is compiled, so while the addresses stay, so does the work.
    pub(super) fn run_on_device(
        &mut self,
        memory: &Arc<dyn DeviceMemory>,
        store: &mut Store,
        pool: &Pool,
        spans: Option<&mut Vec<Span>>,
    ) -> Result<(), TensorError> {
        let addresses = self.addresses(store);
        let may = spans.is_none() && self.eager_because().is_none();
        if may && self.replay.last == addresses && !self.has_captured(&addresses) {
            self.capture(memory, store, pool, &addresses);
        }
        let captured = self.replay.captured.as_ref();
        match captured.filter(|(_, of)| may && *of == addresses) {
            Some((work, _)) => {
                memory.starting(self.steps.len(), &|| self.describe(&self.steps[0]));
                memory.replay(work)?;
                for step in &self.steps {
                    self.note_written(step, store);
                }
                self.replay.runs.replayed += 1;
            }
            None => {
                self.run_eagerly(memory, store, pool, spans)?;
                self.replay.runs.eager += 1;
            }
        }
        self.replay.last = addresses;
        Ok(())
    }

    fn has_captured(&self, addresses: &[u64]) -> bool {
        let captured = self.replay.captured.as_ref();
        captured.is_some_and(|(_, of)| of == addresses)
    }

    /// Captures a run, or keeps the reason for which the device refuses.
    fn capture(
        &mut self,
        memory: &Arc<dyn DeviceMemory>,
        store: &Store,
        pool: &Pool,
        addresses: &[u64],
    ) {
        self.replay.captured = None;
        if self.steps.is_empty() {
            return;
        }
        let captured = memory.capture(&mut || {
            for step in &self.steps {
                let started = self.values(memory, store).run_step(step, pool);
                started.map_err(|error| self.kernel_error(step, error.0))?;
            }
            Ok(())
        });
        match captured {
            Ok(Some(work)) => {
                self.replay.captured = Some((work, addresses.to_vec()));
                self.replay.runs.captured += 1;
            }
            Ok(None) => self.replay.refused = Some("the device captures nothing".to_owned()),
            Err(error) => self.replay.refused = Some(error.to_string()),
        }
    }

    /// Where the arena and every leaf are.
    fn addresses(&self, store: &Store) -> Vec<u64> {
        let arena = store.device_arena_of(self.id);
        let arena = arena.map(|arena| arena.address());
        let leaves = self.bindings.iter().flatten();
        let leaves = leaves.filter_map(|position| store.address_at(*position));
        let leaves = leaves.map(|(address, _)| address);
        arena
            .into_iter()
            .chain(leaves)
            .map(|address| address.0)
            .collect()
    }

    fn run_eagerly(
        &self,
        memory: &Arc<dyn DeviceMemory>,
        store: &mut Store,
        pool: &Pool,
        spans: Option<&mut Vec<Span>>,
    ) -> Result<(), TensorError> {
        let mut timer = match &spans {
            Some(_) => Some(Timer::new(memory)?),
            None => None,
        };
        for step in &self.steps {
            if !self.options.detect_anomaly {
                memory.starting(1, &|| self.describe(step));
            }
            let started = Instant::now();
            let launched = self.values(memory, store).run_step(step, pool);
            launched.map_err(|error| self.kernel_error(step, error.0))?;
            self.note_written(step, store);
            if let Some(timer) = &mut timer {
                timer.done(self, step, started)?;
            }
            if self.options.detect_anomaly {
                let done = memory.synchronize();
                done.map_err(|error| self.kernel_error(step, error.to_string()))?;
                self.check_finite(step, store)?;
            }
        }
        if let (Some(spans), Some(timer)) = (spans, timer) {
            spans.extend(timer.spans()?);
        }
        Ok(())
    }

    /// Leaves that a step writes are newer on the device.
    fn note_written(&self, step: &Step, store: &mut Store) {
        for place in &step.outputs {
            if let Storage::Leaf(value) = place.storage
                && let Some(position) = self.bindings[value.0 as usize]
            {
                store.written_on_device(position);
            }
        }
    }
}

/// Times of the nodes of one run: by the device's own marks where it has some, and by the
/// host's clock where not, or where the host computes.
struct Timer<'a> {
    memory: &'a Arc<dyn DeviceMemory>,
    began: Instant,
    /// After the node before.
    last: Option<Mark>,
    spans: Vec<(Span, Option<[Mark; 2]>)>,
}

impl<'a> Timer<'a> {
    fn new(memory: &'a Arc<dyn DeviceMemory>) -> Result<Self, TensorError> {
        Ok(Self {
            memory,
            began: Instant::now(),
            last: memory.mark()?,
            spans: Vec::new(),
        })
    }

    /// A step was started, or the host has computed it.
    fn done(&mut self, of: &Program, step: &Step, started: Instant) -> Result<(), TensorError> {
        let now = self.memory.mark()?;
        let before = std::mem::replace(&mut self.last, now.clone());
        let marks = before.zip(now).filter(|_| !step.on_host);
        if marks.is_none() {
            self.memory.synchronize()?;
        }
        let span = profile::span(&of.graph, step, started, Instant::now());
        self.spans.push((span, marks.map(|(from, to)| [from, to])));
        Ok(())
    }

    /// All spans, one after the other.
    fn spans(self) -> Result<Vec<Span>, TensorError> {
        self.memory.synchronize()?;
        let mut at = self.began;
        let mut spans = Vec::with_capacity(self.spans.len());
        for (mut span, marks) in self.spans {
            if let Some([from, to]) = marks {
                span.micros = self.memory.elapsed(&from, &to)?.max(0.0);
                span.clock = self.memory.clock();
                span.start = at;
            }
            at = span.start + Duration::from_secs_f64(span.micros / 1e6);
            spans.push(span);
        }
        Ok(spans)
    }
}

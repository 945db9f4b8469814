//! `plan estimate`: parameters, FLOPs and memory of an experiment, from its
//! graph alone: no tensor is allocated. A model that the engine cannot build
//! has no graph; what follows from its parameter count is said then.

mod counted;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use cairn_config::native::{TrainingParams, trainable};
use cairn_graph::memory::{self, MemoryOptions, MemoryPlan};
use cairn_graph::{AliasKind, Graph};
use cairn_launch::request::PlanEstimate;
use cairn_nn::training;
use serde::Serialize;

pub use counted::{Counted, CountedMemory, flops_per_token};

use super::Context;
use crate::error::TrainError;
use crate::native::convert;

/// What one process needs for one optimizer step.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// True: the numbers come from the graph and its memory plan.
    pub planned: bool,
    /// Learned elements.
    pub parameters: u64,
    /// Tokens of an optimizer step.
    pub tokens_per_step: u64,
    /// FLOPs of an optimizer step, recomputation included.
    pub flops_per_step: u64,
    /// FLOPs spent on recomputation, part of the above.
    pub recompute_flops_per_step: u64,
    /// Least bytes moved by an optimizer step.
    pub bytes_per_step: u64,
    /// Memory by what it is for, in bytes.
    pub memory: Memory,
    /// Activations alive at the peak, by scope, in bytes, largest first.
    pub peak_by_scope: Vec<(String, u64)>,
    /// Operator and scope during which memory is highest.
    pub peak_at: String,
    /// Milliseconds it took to build, differentiate and plan the graph.
    pub planning_ms: f64,
}

/// Bytes by what they are for.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// Master weights.
    pub parameters: u64,
    /// Copies in the compute dtype.
    pub copies: u64,
    /// Gradients.
    pub gradients: u64,
    /// Optimizer moments.
    pub moments: u64,
    /// Activations and working space: the arena.
    pub arena: u64,
    /// The copy of weights and moments that a checkpoint is written from while
    /// training goes on; 0 where none is written before the last step.
    pub checkpoint_copy: u64,
    /// The sum.
    pub total: u64,
}

/// Builds the graphs of a step and reports what they need.
///
/// # Errors
/// When the training asks for what the native engine has not.
pub fn estimate(context: &Context, request: &PlanEstimate) -> Result<u8, TrainError> {
    let started = Instant::now();
    let experiment = &request.experiment.native;
    let training = &experiment.training;
    if let Err(why) = trainable(&experiment.model) {
        context.answer(&Counted::new(experiment, &why.message), ToString::to_string)?;
        return Ok(0);
    }
    let model = convert::model(&experiment.model, training)?;
    let step = convert::step(training, experiment.model.vocab_size);
    let micro_batches = training.num_micro_batches(1) as u64;
    let grad = training::loss_and_gradients(&model, &step, micro_batches > 1)?;
    let update = training::update(&model, step.precision, &convert::optimizer(training))?;
    let scratch = crate::estimate::scratch_bytes(&grad, context.isa, context.threads);
    let plan = memory::plan(
        &grad,
        &MemoryOptions {
            scratch_bytes: scratch,
            ..MemoryOptions::default()
        },
    );
    let (flops, recompute, bytes) = work(&grad);
    let (update_flops, _, update_bytes) = work(&update);
    let parameters = cairn_nn::models::num_parameters(&model) as u64;
    let memory = memory_of(
        &update,
        &plan,
        parameters * step.precision.master().bytes(1) as u64,
        copies_for_checkpoints(training),
    );
    let peak = &grad.nodes()[plan.peak_node.min(grad.nodes().len() - 1)];
    let report = Estimate {
        planned: true,
        parameters,
        tokens_per_step: training.tokens_per_step() as u64,
        flops_per_step: flops * micro_batches + update_flops,
        recompute_flops_per_step: recompute * micro_batches,
        bytes_per_step: bytes * micro_batches + update_bytes,
        memory,
        peak_by_scope: by_layer(&plan),
        peak_at: format!("{} in {}", peak.op.name(), grad.scope_path(peak.scope)),
        planning_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    context.answer(&report, ToString::to_string)?;
    Ok(0)
}

/// FLOPs, recomputed FLOPs and bytes of one run of a graph.
fn work(graph: &Graph) -> (u64, u64, u64) {
    let (mut flops, mut recompute, mut bytes) = (0, 0, 0);
    for node in graph.nodes() {
        let views = node
            .op
            .aliases()
            .iter()
            .any(|alias| alias.kind == AliasKind::View);
        let cost = graph.cost(node);
        flops += cost.flops;
        if node.stage == cairn_graph::Stage::Recompute {
            recompute += cost.flops;
        }
        bytes += if views { 0 } else { cost.bytes };
    }
    (flops, recompute, bytes)
}

/// Whether a checkpoint is written beside a training that goes on. The last one
/// of a run is not: it needs no copy.
fn copies_for_checkpoints(training: &TrainingParams) -> bool {
    let interval = training.save_interval;
    training.async_save && interval > 0 && interval < training.train_iters
}

fn memory_of(update: &Graph, plan: &MemoryPlan, parameters: u64, copied: bool) -> Memory {
    let states = |suffix: &[&str]| {
        let matching = update
            .leaves("state")
            .filter(|(name, _)| suffix.iter().any(|end| name.ends_with(end)));
        matching
            .map(|(_, value)| update.ty(value).bytes() as u64)
            .sum::<u64>()
    };
    let (copies, gradients) = (states(&["@copy"]), states(&["@grad"]));
    let moments = states(&["@exp_avg", "@exp_avg_sq"]);
    let arena = plan.arena_bytes as u64;
    let checkpoint_copy = if copied { parameters + moments } else { 0 };
    Memory {
        parameters,
        copies,
        gradients,
        moments,
        arena,
        checkpoint_copy,
        total: parameters + copies + gradients + moments + arena + checkpoint_copy,
    }
}

/// Peak bytes with the parts of each layer added up.
fn by_layer(plan: &MemoryPlan) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (scope, bytes) in &plan.peak_by_scope {
        let parts: Vec<&str> = scope
            .split('.')
            .take(if scope.starts_with("layers.") { 2 } else { 1 })
            .collect();
        let name = if scope.is_empty() {
            "(top)".to_owned()
        } else {
            parts.join(".")
        };
        *sums.entry(name).or_default() += *bytes as u64;
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = &self.memory;
        writeln!(f, "parameters           {}", grouped(self.parameters))?;
        writeln!(f, "tokens a step        {}", grouped(self.tokens_per_step))?;
        writeln!(
            f,
            "work a step          {:.3} TFLOP",
            self.flops_per_step as f64 / 1e12
        )?;
        if self.recompute_flops_per_step > 0 {
            writeln!(
                f,
                "  recomputation      {:.3} TFLOP",
                self.recompute_flops_per_step as f64 / 1e12
            )?;
        }
        writeln!(f, "  least bytes moved  {}", gib(self.bytes_per_step))?;
        writeln!(f, "memory of a process  {}", gib(m.total))?;
        for (name, bytes) in [
            ("master weights", m.parameters),
            ("compute copies", m.copies),
            ("gradients", m.gradients),
            ("moments", m.moments),
            ("activations", m.arena),
            ("checkpoint copy", m.checkpoint_copy),
        ] {
            writeln!(f, "  {name:<18} {}", gib(bytes))?;
        }
        writeln!(f, "peak during          {}", self.peak_at)?;
        for (scope, bytes) in self.peak_by_scope.iter().take(8) {
            writeln!(f, "  {scope:<18} {}", gib(*bytes))?;
        }
        if self.peak_by_scope.len() > 8 {
            let rest: u64 = self.peak_by_scope[8..].iter().map(|row| row.1).sum();
            writeln!(
                f,
                "  {:<18} {}",
                format!("{} more", self.peak_by_scope.len() - 8),
                gib(rest)
            )?;
        }
        write!(f, "planned in           {:.0} ms", self.planning_ms)
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.3} GiB", bytes as f64 / f64::from(1 << 30))
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

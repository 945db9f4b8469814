//! Attention and its gradients.

use cairn_graph::Op;
use cairn_graph::ops::attention::{AttentionSizes, attention_sizes};
use cairn_graph::ops::{Attention, AttentionGrad};
use cairn_tensor::{Address, DeviceArgs, KernelError, Signature};

use super::{attributes, operand, result, scratch, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;
use crate::module::Kernels;

/// Most elements of a head: one a lane.
const MAX_SIZE: usize = 256;

/// Queries or keys of a workgroup of the kernels with matrix instructions.
const TILE: usize = 128;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    forward(op, signature).or_else(|| backward(op, signature))
}

/// The operands' sizes and dtype, where a kernel takes them.
fn problem(signature: &Signature) -> Option<(AttentionSizes, &'static str)> {
    let types: Vec<_> = signature.inputs.iter().map(|input| &input.ty).collect();
    let dtype = suffix(types.first()?.dtype)?;
    let sizes = attention_sizes(types[0], types.get(1)?, types.get(2)?).ok()?;
    let fits = sizes.d <= MAX_SIZE && sizes.dv <= MAX_SIZE && signature.is_contiguous();
    fits.then_some((sizes, dtype))
}

/// `Sizes` of the kernels.
fn sizes_arg(sizes: &AttentionSizes, scale: f64, causal: bool) -> Option<Arg> {
    let numbers = [
        sizes.b, sizes.sq, sizes.sk, sizes.hq, sizes.hk, sizes.d, sizes.dv,
    ];
    let mut bytes = Vec::new();
    for number in numbers {
        bytes.extend(size(number)?.to_le_bytes());
    }
    bytes.extend(u32::from(causal).to_le_bytes());
    let start = i32::try_from(sizes.sk as i64 - sizes.sq as i64).ok()?;
    bytes.extend(start.to_le_bytes());
    bytes.extend((scale as f32).to_le_bytes());
    Some(Arg::Bytes(bytes))
}

/// Where the position of the first query is, if it is an operand.
fn start(args: &DeviceArgs<'_>, index: usize) -> Result<Arg, KernelError> {
    if args.inputs.len() > index {
        operand(args, index)
    } else {
        Ok(Arg::Buffer(Address(0)))
    }
}

/// The sizes of heads by which kernels with matrix instructions are named, where there are
/// some for this problem. They read 16 bytes at a time and count a sequence's bytes in 32 bits.
fn tiled(sizes: &AttentionSizes, dtype: &str, scale: f64) -> Option<String> {
    let name = match (sizes.d, sizes.dv) {
        (d @ (64 | 96 | 128 | 192), dv) if d == dv => d.to_string(),
        (192, 128) => "192_128".to_owned(),
        _ => return None,
    };
    let heads = (sizes.hq * sizes.d).max(sizes.hk * sizes.d);
    // A tile beyond the last position is still addressed.
    let bytes = (sizes.sq.max(sizes.sk) + TILE) * heads * 2;
    let rows = size(sizes.b * sizes.hq * sizes.sq)?;
    let fits = dtype == "bf16" && bytes < 1 << 31 && rows < 1 << 31;
    // A largest score times a scale that is not positive is not the largest.
    (fits && scale > 0.0 && (scale as f32).is_normal()).then_some(name)
}

/// Whether 16 bytes can be read at once from each of these.
fn aligned(args: &[Arg]) -> bool {
    let fits = |arg: &Arg| !matches!(arg, Arg::Buffer(address) if address.0 % 16 != 0);
    args.iter().all(fits)
}

fn forward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<Attention>(op)?;
    let (sizes, dtype) = problem(signature)?;
    let plain = format!("attention_forward_{dtype}");
    let tiled =
        tiled(&sizes, dtype, op.scale).map(|heads| format!("attention_forward_bf16_{heads}"));
    let given = sizes_arg(&sizes, op.scale, op.causal)?;
    let queries = (sizes.b * sizes.hq * sizes.sq) as u64;
    let tiles = (sizes.b * sizes.hq * sizes.sq.div_ceil(TILE)) as u64;
    let name = tiled.clone().unwrap_or_else(|| plain.clone());
    Some(Plan::new([name], move |kernels, args| {
        let tensors = [
            operand(args, 0)?,
            operand(args, 1)?,
            operand(args, 2)?,
            result(args, 0)?,
        ];
        let (name, workgroups) = match &tiled {
            Some(name) if aligned(&tensors) => (name, tiles),
            _ => (&plain, queries),
        };
        let [q, k, v, out] = tensors;
        let start = start(args, 3)?;
        let given = [q, k, v, start, out, result(args, 1)?, given.clone()];
        kernels.launch(name, workgroups, &given)
    }))
}

/// q, k, v, out, lse, dout (, start) -> dq, dk, dv: what is summed over the output of each
/// query first, then the gradients of queries, then those of keys and values.
fn backward(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<AttentionGrad>(op)?;
    let (sizes, dtype) = problem(signature)?;
    let given = sizes_arg(&sizes, op.scale, op.causal)?;
    let plain = Gradients::plain(&sizes, dtype);
    let tiled = tiled(&sizes, dtype, op.scale).map(|heads| Gradients::tiled(&sizes, &heads));
    let names = tiled.as_ref().unwrap_or(&plain).names();
    let plan = Plan::new(names, move |kernels, args| {
        let mut tensors = Vec::new();
        for index in [0, 1, 2, 3, 5] {
            tensors.push(operand(args, index)?);
        }
        for index in 0..3 {
            tensors.push(result(args, index)?);
        }
        let fits = |_: &&Gradients| aligned(&tensors);
        tiled
            .as_ref()
            .filter(fits)
            .unwrap_or(&plain)
            .launch(kernels, args, &given)
    });
    // A number a query, or two.
    Some(plan.scratch(sizes.b * sizes.hq * sizes.sq * 8))
}

/// Three kernels with their numbers of workgroups.
struct Gradients {
    first: (String, u64),
    queries: (String, u64),
    keys: (String, u64),
    /// The first kernel takes the logarithmic sums, and the others its result in their place.
    with_sums: bool,
}

impl Gradients {
    fn plain(sizes: &AttentionSizes, dtype: &str) -> Self {
        let queries = sizes.b * sizes.hq * sizes.sq;
        let keys = sizes.b * sizes.hk * sizes.sk;
        Self {
            first: (
                format!("attention_delta_{dtype}"),
                queries.div_ceil(4) as u64,
            ),
            queries: (
                format!("attention_backward_queries_{dtype}"),
                queries as u64,
            ),
            keys: (format!("attention_backward_keys_{dtype}"), keys as u64),
            with_sums: false,
        }
    }

    fn tiled(sizes: &AttentionSizes, heads: &str) -> Self {
        let rows = sizes.b * sizes.hq * sizes.sq;
        let queries = sizes.b * sizes.hq * sizes.sq.div_ceil(TILE);
        let keys = sizes.b * sizes.hk * sizes.sk.div_ceil(TILE);
        let name = |what| format!("attention_backward_{what}_bf16_{heads}");
        Self {
            first: (
                "attention_statistics_bf16".to_owned(),
                rows.div_ceil(32) as u64,
            ),
            queries: (name("queries"), queries as u64),
            keys: (name("keys"), keys as u64),
            with_sums: true,
        }
    }

    fn names(&self) -> [String; 3] {
        [&self.first, &self.queries, &self.keys].map(|(name, _)| name.clone())
    }

    fn launch(
        &self,
        kernels: &Kernels,
        args: &DeviceArgs<'_>,
        sizes: &Arg,
    ) -> Result<(), KernelError> {
        let numbers = || scratch(args, 0);
        let mut given = vec![operand(args, 3)?, operand(args, 5)?];
        if self.with_sums {
            given.push(operand(args, 4)?);
        }
        given.extend([numbers(), sizes.clone()]);
        kernels.launch(&self.first.0, self.first.1, &given)?;

        let mut common = vec![
            operand(args, 0)?,
            operand(args, 1)?,
            operand(args, 2)?,
            operand(args, 5)?,
        ];
        if !self.with_sums {
            common.push(operand(args, 4)?);
        }
        common.extend([numbers(), start(args, 6)?]);
        let mut given = common.clone();
        given.extend([result(args, 0)?, sizes.clone()]);
        kernels.launch(&self.queries.0, self.queries.1, &given)?;

        common.extend([result(args, 1)?, result(args, 2)?, sizes.clone()]);
        kernels.launch(&self.keys.0, self.keys.1, &common)
    }
}

//! Rotary positions.

use std::sync::OnceLock;

use cairn_graph::Op;
use cairn_graph::ops::{Rope, RopeTable};
use cairn_tensor::{Address, DeviceMemory, KernelError, Signature};

use super::{attributes, operand, place, result, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;
use crate::device::Device;
use crate::module::Kernels;

/// Positions of a workgroup of `rope_table`.
const POSITIONS: u32 = 64;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    table(op, signature).or_else(|| rope(op, signature))
}

fn table(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let op = attributes::<RopeTable>(op)?;
    let positions = signature.inputs.first()?;
    let count = size(positions.ty.shape.num_elements()).filter(|_| signature.is_contiguous())?;
    let half = size(op.head_dim / 2)?;
    let bytes = op.frequencies().into_iter().flat_map(f64::to_le_bytes);
    let frequencies = Constant::new(bytes.collect());
    Some(Plan::new(
        ["rope_table".to_owned()],
        move |kernels, args| {
            let given = [
                operand(args, 0)?,
                Arg::Buffer(frequencies.on(kernels)?),
                result(args, 0)?,
                Arg::U32(count),
                Arg::U32(half),
            ];
            kernels.launch("rope_table", u64::from(count.div_ceil(POSITIONS)), &given)
        },
    ))
}

fn rope(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let sign = if attributes::<Rope>(op)?.inverse {
        -1.0
    } else {
        1.0
    };
    let x = signature
        .inputs
        .first()
        .filter(|_| signature.is_contiguous())?;
    let name = format!("rope_{}", suffix(x.ty.dtype)?);
    let shape = &x.ty.shape;
    let (batches, positions) = (size(shape[0])?, size(shape[1])?);
    let (heads, half) = (size(shape[2])?, size(shape[3] / 2)?);
    // A position's pairs are counted in 32 bits.
    size(shape.num_elements() / 2)?;
    let plan = Plan::new([name.clone()], move |kernels, args| {
        let given = [
            place(args, 0, 0)?,
            operand(args, 1)?,
            result(args, 0)?,
            Arg::U32(batches),
            Arg::U32(positions),
            Arg::U32(heads),
            Arg::U32(half),
            Arg::F32(sign),
        ];
        kernels.launch(&name, u64::from(positions), &given)
    });
    Some(plan.in_place(&[(0, 0)]))
}

/// Bytes that a kernel reads, brought to the device once.
struct Constant {
    bytes: Vec<u8>,
    there: OnceLock<(std::sync::Arc<Device>, Address)>,
}

impl Constant {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            there: OnceLock::new(),
        }
    }

    fn on(&self, kernels: &Kernels) -> Result<Address, KernelError> {
        if let Some((_, address)) = self.there.get() {
            return Ok(*address);
        }
        let device = kernels.device().clone();
        let failed = |error: cairn_tensor::TensorError| KernelError(error.to_string());
        let address = device.alloc(self.bytes.len()).map_err(failed)?;
        device.copy_in(address, &self.bytes).map_err(failed)?;
        Ok(self.there.get_or_init(|| (device, address)).1)
    }
}

impl Drop for Constant {
    fn drop(&mut self) {
        if let Some((device, address)) = self.there.take() {
            device.free(address, self.bytes.len());
        }
    }
}

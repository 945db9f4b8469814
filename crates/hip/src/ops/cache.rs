//! Keys and values that stay between calls.

use cairn_graph::Op;
use cairn_graph::ops::CacheWrite;
use cairn_tensor::Signature;

use super::{RUNS, attributes, operand, result, size};
use crate::args::Arg;
use crate::backend::Plan;

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    attributes::<CacheWrite>(op)?;
    let [cache, fresh, _] = signature.inputs.as_slice() else {
        return None;
    };
    let width = cache.ty.dtype.bits();
    let fits = [16, 32].contains(&width) && signature.is_contiguous();
    let name = format!("cache_write_{width}");
    let (held, added) = (&cache.ty.shape, &fresh.ty.shape);
    let (most, length, entry) = (size(held[1])?, size(added[1])?, size(held[2] * held[3])?);
    let count = added.num_elements();
    fits.then(|| {
        Plan::new([name.clone()], move |kernels, args| {
            let given = [
                operand(args, 1)?,
                operand(args, 2)?,
                result(args, 0)?,
                Arg::U64(count as u64),
                Arg::U32(most),
                Arg::U32(length),
                Arg::U32(entry),
            ];
            kernels.launch(&name, count.div_ceil(RUNS) as u64, &given)
        })
    })
}

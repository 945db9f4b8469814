//! Explicit updates of states.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{OpError, invalid};
use crate::op::{Alias, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::{arity, same};
use crate::types::TensorType;

/// `state, value: same type -> state'`: the state's storage now holds `value`.
///
/// A planner may let the producer of `value` write there directly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assign {}

impl Op for Assign {
    fn name(&self) -> &'static str {
        "assign"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 2)?;
        same(inputs[0], inputs[1], "a state and a value")?;
        Ok(vec![inputs[0].clone()])
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let dims = letters(inputs[0].shape.ndim());
        ShardRule::einsum(&format!("{dims},{dims}->{dims}"), "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::must(0, 0)]
    }
}

/// `cache: [b, max, h, d], new: [b, s, h, d], position: i32 [] -> cache'`:
/// writes `new` at `position ..` along the second dim. A write past the end is
/// an error at run time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheWrite {}

impl Op for CacheWrite {
    fn name(&self) -> &'static str {
        "cache_write"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        arity(inputs, 3)?;
        let (cache, new) = (&inputs[0].shape, &inputs[1].shape);
        let fits = cache.ndim() == 4
            && new.ndim() == 4
            && inputs[0].dtype == inputs[1].dtype
            && (cache[0], cache[2], cache[3]) == (new[0], new[2], new[3])
            && new[1] <= cache[1]
            && *inputs[2] == TensorType::new(DType::I32, []);
        if !fits {
            return invalid(
                "needs cache [b,max,h,d], new [b,s,h,d] with s <= max and an i32 scalar position",
            );
        }
        Ok(vec![inputs[0].clone()])
    }

    fn shard(&self, _: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        ShardRule::einsum("b.hd,b.hd,->b.hd", "")
    }

    fn aliases(&self) -> Vec<Alias> {
        vec![Alias::must(0, 0)]
    }
}

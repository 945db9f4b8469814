//! Scaled dot-product attention with grouped queries, in blocks
//! (Dao et al., 2022; Ainslie et al., 2023): never an S x S matrix in memory.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::op::{Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::float;
use crate::ops::rmsnorm::statistics;
use crate::types::TensorType;

/// `q: [b, sq, hq, d], k: [b, sk, hk, d], v: [b, sk, hk, dv] (, start: i32 [])
/// -> out: [b, sq, hq, dv], lse: f32 [b, hq, sq]`.
///
/// `hk` divides `hq`; query head `h` reads key head `h / (hq / hk)`. With
/// `causal`, query `i` sees keys `0 ..= start + i`, where `start` defaults to
/// `sk - sq` (the last query sees every key). Scores, softmax and sums are in
/// f32 (f64 for f64); probabilities enter the second product in the storage
/// dtype. `lse` is the natural logarithm of the sum of exponentials, kept for
/// the gradient. A query that sees no key gives 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attention {
    /// Factor on the scores, usually `1 / sqrt(d)`.
    pub scale: f64,
    /// Hide later keys.
    pub causal: bool,
}

/// Sizes of one attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionSizes {
    /// Sequences.
    pub b: usize,
    /// Queries a sequence.
    pub sq: usize,
    /// Keys a sequence.
    pub sk: usize,
    /// Query heads.
    pub hq: usize,
    /// Key and value heads.
    pub hk: usize,
    /// Size of a query or key head.
    pub d: usize,
    /// Size of a value head.
    pub dv: usize,
}

/// Sizes for these operands.
///
/// # Errors
/// When the shapes do not fit each other.
pub fn attention_sizes(
    q: &TensorType,
    k: &TensorType,
    v: &TensorType,
) -> Result<AttentionSizes, OpError> {
    float(q, "query")?;
    if q.dtype != k.dtype || q.dtype != v.dtype {
        return invalid("needs queries, keys and values in one dtype");
    }
    let ([b, sq, hq, d], [b_k, sk, hk, d_k], [b_v, sk_v, hk_v, dv]) =
        (&q.shape[..], &k.shape[..], &v.shape[..])
    else {
        return invalid("needs q [b,sq,hq,d], k [b,sk,hk,d], v [b,sk,hk,dv]");
    };
    if (b, d) != (b_k, d_k)
        || (b, sk, hk) != (b_v, sk_v, hk_v)
        || *hk == 0
        || !hq.is_multiple_of(*hk)
    {
        return invalid(
            "needs k and v of one length, one batch, and query heads a multiple of key heads",
        );
    }
    Ok(AttentionSizes {
        b: *b,
        sq: *sq,
        sk: *sk,
        hq: *hq,
        hk: *hk,
        d: *d,
        dv: *dv,
    })
}

fn check_start(start: Option<&&TensorType>) -> Result<(), OpError> {
    match start {
        Some(ty) if ty.dtype != DType::I32 || ty.shape.ndim() != 0 => {
            invalid("needs an i32 scalar as start")
        }
        _ => Ok(()),
    }
}

impl Op for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        if inputs.len() != 3 && inputs.len() != 4 {
            return Err(OpError::Arity {
                expected: "3 or 4".to_owned(),
                got: inputs.len(),
            });
        }
        let s = attention_sizes(inputs[0], inputs[1], inputs[2])?;
        check_start(inputs.get(3))?;
        if self.causal && inputs.len() == 3 && s.sk < s.sq {
            return invalid("needs at least as many keys as queries when causal");
        }
        let dtype = inputs[0].dtype;
        Ok(vec![
            TensorType::new(dtype, [s.b, s.sq, s.hq, s.dv]),
            TensorType::new(statistics(dtype), [s.b, s.hq, s.sq]),
        ])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let mut grads = vec![None; cx.inputs.len()];
        let Some(dout) = cx.grads[0] else {
            return Ok(grads);
        };
        let mut inputs = vec![
            cx.inputs[0],
            cx.inputs[1],
            cx.inputs[2],
            cx.outputs[0],
            cx.outputs[1],
            dout,
        ];
        inputs.extend(cx.inputs.get(3));
        let op = AttentionGrad {
            scale: self.scale,
            causal: self.causal,
        };
        let made = cx.graph.add(op, &inputs)?;
        for (slot, grad) in grads.iter_mut().zip(made) {
            *slot = Some(grad);
        }
        Ok(grads)
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(product_flops(inputs, self.causal, 1, 1), inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let start = if inputs.len() == 4 { "," } else { "" };
        ShardRule::einsum(&format!("b.h.,b.h.,b.h.{start}->b.h.,bh."), "")
    }
}

/// FLOPs of `with_d` products of length `d` and `with_dv` of length `dv` for
/// every visible pair of query and key.
fn product_flops(inputs: &[&TensorType], causal: bool, with_d: u64, with_dv: u64) -> u64 {
    let Ok(s) = attention_sizes(inputs[0], inputs[1], inputs[2]) else {
        return 0;
    };
    let (sq, sk) = (s.sq as u64, s.sk as u64);
    // Query i of sq sees sk - sq + i + 1 keys.
    let pairs = if causal && sk >= sq {
        sq * (sk - sq) + sq * (sq + 1) / 2
    } else {
        sq * sk
    };
    2 * (s.b * s.hq) as u64 * pairs * (with_d * s.d as u64 + with_dv * s.dv as u64)
}

/// `q, k, v, out, lse, dout (, start) -> dq, dk, dv`, each of its input's type.
///
/// Probabilities are computed again from `lse`. Gradients of keys and values
/// are summed over query blocks, and over the query heads of a group, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttentionGrad {
    /// Factor on the scores.
    pub scale: f64,
    /// Hide later keys.
    pub causal: bool,
}

impl Op for AttentionGrad {
    fn name(&self) -> &'static str {
        "attention_grad"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        if inputs.len() != 6 && inputs.len() != 7 {
            return Err(OpError::Arity {
                expected: "6 or 7".to_owned(),
                got: inputs.len(),
            });
        }
        attention_sizes(inputs[0], inputs[1], inputs[2])?;
        crate::ops::same(inputs[3], inputs[5], "an output and a gradient")?;
        check_start(inputs.get(6))?;
        Ok(inputs[..3].iter().map(|ty| (*ty).clone()).collect())
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        Cost::new(product_flops(inputs, self.causal, 3, 2), inputs, outputs)
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let start = if inputs.len() == 7 { "," } else { "" };
        ShardRule::einsum(
            &format!("b.h.,b.h.,b.h.,b.h.,bh.,b.h.{start}->b.h.,b.h.,b.h."),
            "",
        )
    }
}

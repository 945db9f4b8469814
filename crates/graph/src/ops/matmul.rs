//! Matrix multiplication.

use cairn_formats::DType;
use serde::{Deserialize, Serialize};

use crate::error::{GraphError, OpError, invalid};
use crate::graph::ValueId;
use crate::op::{Alias, Cost, GradCx, InputGrads, Op, ShardRule};
use crate::ops::elementwise::letters;
use crate::ops::float;
use crate::types::{Shape, TensorType};

/// `c = op(a) op(b) (+ c0)`.
///
/// Shapes: `a: [batch.., m, k]` (or `[.., k, m]` with `trans_a`), `b: [k, n]`
/// shared by every batch, or `[batch.., k, n]` (last two swapped with
/// `trans_b`), optional `c0: [batch.., m, n]` in `out_dtype`. With a shared `b`
/// and no `trans_a` the batch dims are just more rows.
///
/// dtypes: `a` and `b` share one float dtype; products are exact in f32 for
/// bf16 and f16 and accumulate in f32 (f64 for f64); the result is rounded once
/// to `out_dtype`. Determinism: the order over `k` depends on shape only.
/// Gradient: `da = dc op(b)^T`, `db = op(a)^T dc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatMul {
    /// Read `a` with its last two dims swapped.
    pub trans_a: bool,
    /// Read `b` with its last two dims swapped.
    pub trans_b: bool,
    /// Storage dtype of the result.
    pub out_dtype: DType,
}

/// Sizes of one multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatMulSizes {
    /// Number of independent products.
    pub batch: usize,
    /// Rows of the result (of each batch).
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of the sums.
    pub k: usize,
    /// `b` is one matrix shared by all batches.
    pub shared_b: bool,
}

impl MatMul {
    /// Sizes for these operand shapes, or why they do not fit. A shared `b`
    /// under untransposed `a` folds the batch into `m`.
    ///
    /// # Errors
    /// When the shapes do not fit each other.
    pub fn sizes(&self, a: &Shape, b: &Shape) -> Result<MatMulSizes, OpError> {
        if a.ndim() < 2 || b.ndim() < 2 {
            return invalid("needs matrices: at least two dims on each side");
        }
        let last_two = |shape: &Shape, swapped: bool| {
            let (rows, columns) = (shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
            if swapped {
                (columns, rows)
            } else {
                (rows, columns)
            }
        };
        let ((m, k), (k_b, n)) = (last_two(a, self.trans_a), last_two(b, self.trans_b));
        if k != k_b {
            return invalid(format!(
                "sums over {k} elements on the left and {k_b} on the right"
            ));
        }
        let batch_a = &a[..a.ndim() - 2];
        let batch: usize = batch_a.iter().product();
        let shared_b = b.ndim() == 2;
        if !shared_b && batch_a != &b[..b.ndim() - 2] {
            return invalid("needs equal batch dims, or a right side without any");
        }
        if shared_b && !self.trans_a {
            return Ok(MatMulSizes {
                batch: 1,
                m: batch * m,
                n,
                k,
                shared_b,
            });
        }
        Ok(MatMulSizes {
            batch,
            m,
            n,
            k,
            shared_b,
        })
    }
}

impl Op for MatMul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn infer(&self, inputs: &[&TensorType]) -> Result<Vec<TensorType>, OpError> {
        if inputs.len() != 2 && inputs.len() != 3 {
            return Err(OpError::Arity {
                expected: "2 or 3".to_owned(),
                got: inputs.len(),
            });
        }
        float(inputs[0], "left side")?;
        if inputs[0].dtype != inputs[1].dtype {
            return invalid("needs both sides in one dtype; cast one of them");
        }
        if !self.out_dtype.is_float() {
            return invalid(format!("cannot give {}", self.out_dtype));
        }
        let (a, b) = (&inputs[0].shape, &inputs[1].shape);
        let sizes = self.sizes(a, b)?;
        let mut dims = a[..a.ndim() - 2].to_vec();
        dims.push(if self.trans_a {
            a.last()
        } else {
            a[a.ndim() - 2]
        });
        dims.push(sizes.n);
        let out = TensorType::new(self.out_dtype, dims);
        if inputs.get(2).is_some_and(|c| **c != out) {
            return invalid(format!(
                "adds to a tensor of type {}, needs {out}",
                inputs[2]
            ));
        }
        Ok(vec![out])
    }

    fn grad(&self, cx: &mut GradCx<'_>) -> Result<InputGrads, GraphError> {
        let Some(dc) = cx.grads[0] else {
            return Ok(vec![None; cx.inputs.len()]);
        };
        let (a, b) = (cx.inputs[0], cx.inputs[1]);
        let dtype = cx.input_type(0).dtype;
        // The gradient enters the products in the operands' dtype.
        let dc_in = cx.graph.cast(dc, dtype)?;
        let da = if cx.needs[0] {
            Some(self.grad_a(cx, dc_in, b)?)
        } else {
            None
        };
        let db = if cx.needs[1] {
            Some(self.grad_b(cx, dc_in, a)?)
        } else {
            None
        };
        let mut grads = vec![da, db];
        if cx.inputs.len() == 3 {
            grads.push(Some(dc));
        }
        Ok(grads)
    }

    fn cost(&self, inputs: &[&TensorType], outputs: &[&TensorType]) -> Cost {
        let k = self
            .sizes(&inputs[0].shape, &inputs[1].shape)
            .map_or(0, |sizes| sizes.k);
        Cost::new(
            2 * (outputs[0].shape.num_elements() * k) as u64,
            inputs,
            outputs,
        )
    }

    fn shard(&self, inputs: &[&TensorType], _: &[&TensorType]) -> ShardRule {
        let batch = letters(inputs[0].shape.ndim() - 2);
        let swap = |text: &str, swapped: bool| {
            if swapped {
                text.chars().rev().collect()
            } else {
                text.to_owned()
            }
        };
        let a = format!("{batch}{}", swap("xz", self.trans_a));
        let b_batch = if inputs[1].shape.ndim() == 2 {
            ""
        } else {
            &batch
        };
        let b = format!("{b_batch}{}", swap("zy", self.trans_b));
        let c = if inputs.len() == 3 {
            format!(",{batch}xy")
        } else {
            String::new()
        };
        ShardRule::einsum(&format!("{a},{b}{c}->{batch}xy"), "z")
    }

    fn aliases(&self) -> Vec<Alias> {
        // Only present with a third input; backends accumulate into it.
        vec![Alias::may(0, 2)]
    }
}

impl MatMul {
    fn grad_a(&self, cx: &mut GradCx<'_>, dc: ValueId, b: ValueId) -> Result<ValueId, GraphError> {
        let out_dtype = cx.grad_dtypes[0];
        // a = [m,k]: dc b^T.  a = [k,m]: b dc^T.
        if self.trans_a {
            if cx.graph.ty(b).shape.ndim() != cx.graph.ty(dc).shape.ndim() {
                let shape = batched(&cx.graph.ty(dc).shape, &cx.graph.ty(b).shape);
                let b = cx.graph.broadcast(b, shape)?;
                return cx.graph.add1(
                    Self {
                        trans_a: self.trans_b,
                        trans_b: true,
                        out_dtype,
                    },
                    &[b, dc],
                );
            }
            cx.graph.add1(
                Self {
                    trans_a: self.trans_b,
                    trans_b: true,
                    out_dtype,
                },
                &[b, dc],
            )
        } else {
            cx.graph.add1(
                Self {
                    trans_a: false,
                    trans_b: !self.trans_b,
                    out_dtype,
                },
                &[dc, b],
            )
        }
    }

    fn grad_b(&self, cx: &mut GradCx<'_>, dc: ValueId, a: ValueId) -> Result<ValueId, GraphError> {
        let out_dtype = cx.grad_dtypes[1];
        let shape_b = cx.input_type(1).shape;
        let (mut a, mut dc) = (a, dc);
        let shape_a = cx.graph.ty(a).shape.clone();
        let batched = shape_a.ndim() > 2;
        let shared = shape_b.ndim() == 2 && batched;
        if shared && !self.trans_a {
            // All rows of all batches contribute: fold them into one sum.
            let rows = |shape: &Shape| Shape::from([shape.rows(), shape.last()]);
            let (flat_a, flat_dc) = (rows(&shape_a), rows(&cx.graph.ty(dc).shape.clone()));
            a = cx.graph.reshape(a, flat_a)?;
            dc = cx.graph.reshape(dc, flat_dc)?;
        }
        // b = [k,n]: a^T dc.  b = [n,k]: dc^T a.
        let db = if self.trans_b {
            cx.graph.add1(
                Self {
                    trans_a: true,
                    trans_b: self.trans_a,
                    out_dtype,
                },
                &[dc, a],
            )?
        } else {
            cx.graph.add1(
                Self {
                    trans_a: !self.trans_a,
                    trans_b: false,
                    out_dtype,
                },
                &[a, dc],
            )?
        };
        cx.graph.sum_to(db, &shape_b)
    }
}

fn batched(like: &Shape, matrix: &Shape) -> Shape {
    let mut dims = like[..like.ndim() - 2].to_vec();
    dims.extend_from_slice(matrix);
    dims.into()
}

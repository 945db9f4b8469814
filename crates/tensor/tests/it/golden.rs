//! The reference against results of PyTorch in f64 (`tests/golden/ops`).

use std::collections::BTreeMap;
use std::path::Path;

use cairn_graph::Op;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{
    AdamW, Attention, AttentionGrad, CrossEntropy, CrossEntropyWithGrad, Glu, GluGrad, GluKind,
    LayerNorm, LayerNormGrad, RmsNorm, RmsNormGrad, Rope, RopeScaling, RopeTable, SumSquares,
};
use cairn_tensor::reference::evaluate;
use cairn_tensor::{DType, HostTensor, TensorType};
use safetensors::SafeTensors;

use crate::support::assert_close;

/// A golden file: tensors as f64, and facts.
struct Golden {
    tensors: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
    facts: BTreeMap<String, String>,
}

impl Golden {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/ops");
        let bytes = std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let facts = metadata.metadata().clone().unwrap_or_default();
        let mut tensors = BTreeMap::new();
        for (name, view) in SafeTensors::deserialize(&bytes).unwrap().tensors() {
            let words = view
                .data()
                .chunks_exact(8)
                .map(|word| word.try_into().unwrap());
            let values = match view.dtype() {
                safetensors::Dtype::F64 => words.map(f64::from_le_bytes).collect(),
                safetensors::Dtype::I64 => {
                    words.map(|word| i64::from_le_bytes(word) as f64).collect()
                }
                other => panic!("{name} has dtype {other:?}"),
            };
            tensors.insert(name, (view.shape().to_vec(), values));
        }
        Self {
            tensors,
            facts: facts.into_iter().collect(),
        }
    }

    fn fact(&self, name: &str) -> f64 {
        self.facts[name].parse().unwrap()
    }

    fn tensor(&self, name: &str) -> HostTensor {
        self.typed(name, DType::F64)
    }

    fn typed(&self, name: &str, dtype: DType) -> HostTensor {
        let (shape, values) = &self.tensors[name];
        HostTensor::from_f64(TensorType::new(dtype, shape.clone()), values).unwrap()
    }

    /// `[b, h, s, d]` in the file, `[b, s, h, d]` for the operator.
    fn heads(&self, name: &str) -> HostTensor {
        let (shape, values) = &self.tensors[name];
        let [b, h, s, d] = shape[..] else {
            panic!("{name}")
        };
        HostTensor::from_f64(
            TensorType::new(DType::F64, [b, s, h, d]),
            &swap(values, b, h, s, d),
        )
        .unwrap()
    }

    #[track_caller]
    fn check(&self, name: &str, found: &[f64]) {
        assert_close(name, found, &self.tensors[name].1, 1e-12);
    }

    #[track_caller]
    fn check_heads(&self, name: &str, found: &[f64]) {
        let [b, h, s, d] = self.tensors[name].0[..] else {
            panic!("{name}")
        };
        assert_close(name, &swap(found, b, s, h, d), &self.tensors[name].1, 1e-11);
    }
}

fn swap(values: &[f64], b: usize, x: usize, y: usize, d: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(values.len());
    for batch in 0..b {
        for j in 0..y {
            for i in 0..x {
                let at = ((batch * x + i) * y + j) * d;
                out.extend_from_slice(&values[at..at + d]);
            }
        }
    }
    out
}

fn call(op: &dyn Op, inputs: &[HostTensor]) -> Vec<Vec<f64>> {
    evaluate(op, inputs).unwrap()
}

fn host(like: &HostTensor, values: &[f64]) -> HostTensor {
    HostTensor::from_f64(like.ty().clone(), values).unwrap()
}

#[test]
fn attention() {
    for name in ["attention_small", "attention_long"] {
        let golden = Golden::read(name);
        let scale = golden.fact("scale");
        let causal = golden.facts["causal"] == "true";
        let mut inputs = ["q", "k", "v"].map(|name| golden.heads(name)).to_vec();
        let made = call(&Attention { scale, causal }, &inputs);
        golden.check_heads("out", &made[0]);
        golden.check("lse", &made[1]);
        let dout = golden.heads("dout");
        inputs.push(host(&dout, &made[0]));
        inputs.push(golden.tensor("lse"));
        inputs.push(dout);
        let grads = call(&AttentionGrad { scale, causal }, &inputs);
        for (name, grad) in ["dq", "dk", "dv"].into_iter().zip(&grads) {
            golden.check_heads(name, grad);
        }
    }
}

#[test]
fn cross_entropy() {
    let golden = Golden::read("cross_entropy");
    let mut inputs = vec![
        golden.tensor("x"),
        golden.tensor("w"),
        golden.typed("targets", DType::I32),
    ];
    let config = CrossEntropyConfig {
        z_loss: 0.0,
        chunk: 4,
    };
    let made = call(&CrossEntropy { config }, &inputs);
    golden.check("loss_sum", &made[0]);
    golden.check("count", &made[1]);
    golden.check("loss_mean", &[made[0][0] / made[1][0]]);
    inputs.push(HostTensor::scalar(1.0 / made[1][0]).unwrap());
    let op = |z_loss| CrossEntropyWithGrad {
        config: CrossEntropyConfig { z_loss, chunk: 4 },
        weight_dtype: DType::F64,
    };
    let plain = call(&op(0.0), &inputs);
    golden.check("dx", &plain[2]);
    golden.check("dw", &plain[3]);
    // The z-loss is what a coefficient of 1 adds.
    let with = call(&op(1.0), &inputs);
    let added = |index: usize| -> Vec<f64> {
        with[index]
            .iter()
            .zip(&plain[index])
            .map(|(with, plain)| with - plain)
            .collect()
    };
    assert_close(
        "z_loss_mean",
        &[added(0)[0] / made[1][0]],
        &golden.tensors["z_loss_mean"].1,
        1e-12,
    );
    golden.check("dx_z", &added(2));
    golden.check("dw_z", &added(3));
}

#[test]
fn norms() {
    let golden = Golden::read("rmsnorm");
    let (x, w, dout) = (
        golden.tensor("x"),
        golden.tensor("w"),
        golden.tensor("dout"),
    );
    let made = call(
        &RmsNorm {
            eps: golden.fact("eps"),
        },
        &[x.clone(), w.clone()],
    );
    golden.check("out", &made[0]);
    let rstd = HostTensor::new([made[1].len()], &made[1]).unwrap();
    let grads = call(
        &RmsNormGrad {
            weight_dtype: DType::F64,
        },
        &[x, w, rstd, dout],
    );
    golden.check("dx", &grads[0]);
    golden.check("dw", &grads[1]);

    let golden = Golden::read("layernorm");
    let (x, w, dout) = (
        golden.tensor("x"),
        golden.tensor("w"),
        golden.tensor("dout"),
    );
    let op = LayerNorm {
        eps: golden.fact("eps"),
    };
    let made = call(&op, &[x.clone(), w.clone(), golden.tensor("b")]);
    golden.check("out", &made[0]);
    let rows = |values: &[f64]| HostTensor::new([values.len()], values).unwrap();
    let inputs = [x, w, rows(&made[1]), rows(&made[2]), dout];
    let grads = call(
        &LayerNormGrad {
            weight_dtype: DType::F64,
        },
        &inputs,
    );
    for (name, grad) in ["dx", "dw", "db"].into_iter().zip(&grads) {
        golden.check(name, grad);
    }
}

#[test]
fn gated_units() {
    for (name, kind) in [("swiglu", GluKind::Swiglu), ("geglu_tanh", GluKind::Geglu)] {
        let golden = Golden::read(name);
        let inputs = ["gate", "up", "dout"].map(|name| golden.tensor(name));
        golden.check("out", &call(&Glu { kind }, &inputs[..2])[0]);
        let grads = call(&GluGrad { kind }, &inputs);
        golden.check("dgate", &grads[0]);
        golden.check("dup", &grads[1]);
    }
}

#[test]
fn rotary_positions() {
    for name in ["rope_plain", "rope_llama31", "rope_llama32"] {
        let golden = Golden::read(name);
        let scaling = golden.facts.contains_key("factor").then(|| RopeScaling {
            factor: golden.fact("factor"),
            low_freq_factor: golden.fact("low_freq_factor"),
            high_freq_factor: golden.fact("high_freq_factor"),
            original_max_position_embeddings: golden.fact("original_max_position_embeddings")
                as usize,
        });
        let op = RopeTable {
            head_dim: golden.fact("head_dim") as usize,
            base: golden.fact("theta"),
            scaling,
        };
        golden.check("inv_freq", &op.frequencies());
        let table = &call(&op, &[golden.typed("positions", DType::I32)])[0];
        let half = op.head_dim / 2;
        let columns = |from: usize| -> Vec<f64> {
            table
                .chunks_exact(2 * half)
                .flat_map(|row| &row[from..from + half])
                .copied()
                .collect()
        };
        golden.check("cos", &columns(0));
        golden.check("sin", &columns(half));
        // The table an operator reads is f32: so exact is the rotation.
        let rows = table.len() / op.head_dim;
        let rounded =
            HostTensor::from_f64(TensorType::new(DType::F32, [rows, op.head_dim]), table).unwrap();
        for (input, output, inverse) in [("x", "out", false), ("dout", "dx", true)] {
            let made = call(&Rope { inverse }, &[golden.heads(input), rounded.clone()]);
            let [b, h, s, d] = golden.tensors[output].0[..] else {
                panic!("{output}")
            };
            assert_close(
                output,
                &swap(&made[0], b, s, h, d),
                &golden.tensors[output].1,
                1e-7,
            );
        }
    }
}

#[test]
fn adamw() {
    let golden = Golden::read("adamw");
    let (beta1, beta2) = (golden.fact("beta1"), golden.fact("beta2"));
    for (which, weight_decay) in [("wd", golden.fact("weight_decay")), ("nd", 0.0)] {
        let op = AdamW {
            beta1,
            beta2,
            eps: golden.fact("eps"),
            weight_decay,
            copy: false,
        };
        let mut param = golden.tensor(&format!("p0_{which}"));
        let zeros = HostTensor::zeros(param.ty().clone()).unwrap();
        let (mut m, mut v) = (zeros.clone(), zeros);
        for (step, lr) in (1..).zip(golden.facts["lr"].split(',')) {
            let grad = golden.tensor(&format!("g{step}_{which}"));
            let lr: f64 = lr.parse().unwrap();
            let schedule = [lr, 1.0 - beta1.powi(step), 1.0 - beta2.powi(step)];
            let inputs = [
                param.clone(),
                grad,
                m.clone(),
                v.clone(),
                HostTensor::new([3], &schedule).unwrap(),
                HostTensor::scalar(1.0).unwrap(),
                HostTensor::scalar(1.0).unwrap(),
            ];
            let made = call(&op, &inputs);
            golden.check(&format!("p{step}_{which}"), &made[0]);
            (param, m, v) = (
                host(&param, &made[0]),
                host(&m, &made[1]),
                host(&v, &made[2]),
            );
        }
        golden.check(&format!("m3_{which}"), &m.to_f64().unwrap());
        golden.check(&format!("v3_{which}"), &v.to_f64().unwrap());
    }
}

#[test]
fn gradient_norm() {
    let golden = Golden::read("clip");
    let inputs = [golden.tensor("a"), golden.tensor("b")];
    let norm = call(&SumSquares {}, &inputs)[0][0].sqrt();
    golden.check("norm", &[norm]);
    let factor = (golden.fact("max_norm") / (norm + golden.fact("eps"))).min(1.0);
    for (name, input) in ["a_clipped", "b_clipped"].into_iter().zip(&inputs) {
        let scaled: Vec<f64> = input.to_f64().unwrap().iter().map(|x| x * factor).collect();
        golden.check(name, &scaled);
    }
}

//! Small models that several tests look at.

use cairn_formats::DType;
use cairn_graph::ops::{
    AdamW, Assign, CrossEntropy, RmsNorm, UnaryKind, cross_entropy::CrossEntropyConfig,
};
use cairn_graph::{Graph, Stage, TensorType, ValueId, gradients};

pub(crate) fn ty(shape: &[usize]) -> TensorType {
    TensorType::new(DType::F32, shape)
}

/// A classifier with a norm and two layers, its loss, gradients summed into
/// states, and an update of the first weight.
pub(crate) fn mlp() -> Graph {
    let mut g = Graph::new();
    let x = g.add_input("x", ty(&[4, 8])).unwrap();
    let targets = g
        .add_input("targets", TensorType::new(DType::I32, [4]))
        .unwrap();
    let weights = [("norm", vec![8]), ("w1", vec![16, 8]), ("w2", vec![3, 16])];
    let weights = weights.map(|(name, shape)| g.add_parameter(name, ty(&shape)).unwrap());
    let [norm, w1, w2] = weights;
    let hidden = g
        .scoped("layers", |g| {
            g.scoped("0", |g| {
                let y = g.add(RmsNorm { eps: 1e-5 }, &[x, norm])?[0];
                let h = g.matmul(y, w1, true)?;
                g.unary(UnaryKind::Silu, h)
            })
        })
        .unwrap();
    let config = CrossEntropyConfig {
        z_loss: 0.0,
        chunk: 2,
    };
    let loss = g
        .scoped("loss", |g| {
            g.add(CrossEntropy { config }, &[hidden, w2, targets])
        })
        .unwrap();
    let grads = gradients(&mut g, loss[0], None, &weights, None).unwrap();
    g.set_output("loss", loss[0]);
    let root = g.intern_scope("");
    g.located(
        root,
        Stage::Update,
        |g| -> Result<(), cairn_graph::GraphError> {
            for (index, weight) in weights.iter().enumerate() {
                let state = g.add_state(&format!("sum{index}"), g.ty(*weight).clone())?;
                let sum = g.add_(state, grads.get(index).unwrap())?;
                let sum = g.add1(Assign {}, &[state, sum])?;
                if index == 1 {
                    update(g, *weight, sum)?;
                }
            }
            Ok(())
        },
    )
    .unwrap();
    g
}

fn update(g: &mut Graph, weight: ValueId, grad: ValueId) -> Result<(), cairn_graph::GraphError> {
    let shape = g.ty(weight).clone();
    let m = g.add_state("m", shape.clone())?;
    let v = g.add_state("v", shape)?;
    let schedule = g.add_input("schedule", ty(&[3]))?;
    let scale = g.add_input("scale", ty(&[]))?;
    let apply = g.add_input("apply", ty(&[]))?;
    let op = AdamW {
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weight_decay: 0.1,
        copy: false,
    };
    g.add(op, &[weight, grad, m, v, schedule, scale, apply])?;
    Ok(())
}

/// Operator names in order.
pub(crate) fn names(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|node| node.op.name()).collect()
}

pub(crate) fn count(graph: &Graph, name: &str) -> usize {
    names(graph).into_iter().filter(|own| *own == name).count()
}

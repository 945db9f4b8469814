//! Two spirals, a network of three layers, and Adam, all in lazy tensors.

use cairn_formats::Philox;
use cairn_tensor::{Context, Tensor, TensorError};

/// What goes wrong goes wrong in a tensor.
pub(crate) type TrainerError = TensorError;

const POINTS: usize = 400;
const HIDDEN: usize = 32;
const LEARNING_RATE: f64 = 0.01;
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.99;

/// A parameter with the moving averages of its gradient and of its square.
struct Learned {
    value: Tensor,
    mean: Tensor,
    square: Tensor,
}

/// Data, network and optimizer.
pub(crate) struct Trainer {
    context: Context,
    /// `[points, 2]`
    x: Tensor,
    /// One column a spiral: `[points, 2]`, 1 where the point is on it.
    target: Tensor,
    /// Weights `[in, out]` and biases `[out]`, layer by layer.
    parameters: Vec<Learned>,
    step: i32,
}

impl Trainer {
    pub(crate) fn new(context: &Context, seed: u64) -> Result<Self, TrainerError> {
        let (mut points, mut target) = (Vec::new(), Vec::new());
        for index in 0..POINTS {
            let spiral = index % 2;
            let t = index as f32 / POINTS as f32;
            let angle = 3.0 * std::f32::consts::PI * t + std::f32::consts::PI * spiral as f32;
            points.extend([t * angle.cos(), t * angle.sin()]);
            target.extend([(1 - spiral) as f32, spiral as f32]);
        }
        let mut parameters = Vec::new();
        for (layer, (from, to)) in [(2, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2)]
            .into_iter()
            .enumerate()
        {
            let mut weight = vec![0.0; from * to];
            let stream = Philox::new(seed).stream(0, layer as u64);
            stream.fill_normal(0, &mut weight, 0.0, (2.0 / from as f32).sqrt());
            for (shape, data) in [(vec![from, to], weight), (vec![to], vec![0.0; to])] {
                let zeros = vec![0.0_f32; data.len()];
                parameters.push(Learned {
                    value: context.parameter(shape.clone(), &data)?,
                    mean: context.tensor(shape.clone(), &zeros)?,
                    square: context.tensor(shape, &zeros)?,
                });
            }
        }
        Ok(Self {
            context: context.clone(),
            x: context.tensor([POINTS, 2], &points)?,
            target: context.tensor([POINTS, 2], &target)?,
            parameters,
            step: 0,
        })
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Scores of each spiral: `[points, 2]`.
    fn scores(&self) -> Result<Tensor, TrainerError> {
        let mut hidden = self.x.clone();
        for (layer, pair) in self.parameters.chunks(2).enumerate() {
            if layer > 0 {
                hidden = hidden.relu()?;
            }
            if let [weight, bias] = pair {
                hidden = hidden.matmul(&weight.value)?.add(&bias.value)?;
            }
        }
        Ok(hidden)
    }

    /// One step on all points; gives the loss before it.
    pub(crate) fn step(&mut self) -> Result<f32, TrainerError> {
        let logarithms = self.scores()?.log_softmax()?;
        let loss = logarithms.mul(&self.target)?.sum(&[1])?.mean_all()?.neg()?;
        let wanted: Vec<&Tensor> = self.parameters.iter().map(|p| &p.value).collect();
        let grads = loss.grad(&wanted)?;
        self.step += 1;
        let unbias1 = 1.0 / (1.0 - BETA1.powi(self.step));
        let unbias2 = 1.0 / (1.0 - BETA2.powi(self.step));
        let mut updates = Vec::new();
        for (parameter, grad) in self.parameters.iter().zip(&grads) {
            let mean = parameter
                .mean
                .scale(BETA1)?
                .add(&grad.scale(1.0 - BETA1)?)?;
            let square = parameter
                .square
                .scale(BETA2)?
                .add(&grad.square()?.scale(1.0 - BETA2)?)?;
            let root = square.scale(unbias2)?.sqrt()?.offset(1e-8)?;
            let change = mean.scale(LEARNING_RATE * unbias1)?.div(&root)?;
            let value = parameter.value.sub(&change)?;
            updates.push((value, mean, square));
        }
        // One program computes the loss and everything that follows from it.
        let mut all = vec![&loss];
        all.extend(
            updates
                .iter()
                .flat_map(|(value, mean, square)| [value, mean, square]),
        );
        self.context.evaluate(&all)?;
        for (parameter, (value, mean, square)) in self.parameters.iter_mut().zip(&updates) {
            parameter.value.set(value)?;
            parameter.mean = mean.detach();
            parameter.square = square.detach();
        }
        loss.to_scalar()
    }

    /// Share of points whose own spiral has the higher score.
    pub(crate) fn accuracy(&self) -> Result<f32, TrainerError> {
        let scores = self.scores()?;
        let best = scores.reduce(cairn_graph::ops::ReduceKind::Max, &[1], true)?;
        let right = scores.greater_equal(&best)?.mul(&self.target)?;
        right.sum(&[1])?.mean_all()?.to_scalar()
    }
}

//! What a row of the table consists of, and how operands get their content.

use std::fmt;
use std::sync::Arc;

use cairn_formats::{DType, Philox};
use cairn_graph::{Op, Shape, TensorType};

use crate::error::{KernelError, TensorError};
use crate::host::HostTensor;
use crate::reference;

/// What an operand holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Standard normal numbers times this factor.
    Normal(f64),
    /// Uniform numbers from here to there.
    Uniform(f64, f64),
    /// Uniform integers from here (included) to there (excluded).
    Integers(i64, i64),
    /// These numbers, in row-major order, repeated as often as needed.
    Values(Vec<f64>),
}

/// How an operand lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row-major.
    Contiguous,
    /// The last two dims lie swapped.
    Transposed,
    /// A box inside a tensor larger by one on each side of every dim.
    Sliced,
    /// The outermost dim repeats one element of storage.
    Broadcast,
}

/// One operand of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleInput {
    /// dtype and dims as the operator sees them.
    pub ty: TensorType,
    /// What it holds.
    pub content: Content,
    /// How it lies in memory.
    pub order: Order,
}

impl SampleInput {
    /// A contiguous operand.
    #[must_use]
    pub fn new(dtype: DType, shape: impl Into<Shape>, content: Content) -> Self {
        Self {
            ty: TensorType::new(dtype, shape),
            content,
            order: Order::Contiguous,
        }
    }

    /// A contiguous operand of standard normal numbers.
    #[must_use]
    pub fn normal(dtype: DType, shape: impl Into<Shape>) -> Self {
        Self::new(dtype, shape, Content::Normal(1.0))
    }

    /// The same operand in another memory order; orders that need more dims
    /// than there are leave it contiguous.
    #[must_use]
    pub fn ordered(mut self, order: Order) -> Self {
        let needed = match order {
            Order::Contiguous => 0,
            Order::Sliced | Order::Broadcast => 1,
            Order::Transposed => 2,
        };
        if self.ty.shape.ndim() >= needed {
            self.order = order;
        }
        self
    }
}

/// One operator on operands of a certain kind.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Shown in reports: sizes and what is special.
    pub name: String,
    /// The operator.
    pub op: Arc<dyn Op>,
    /// Its operands.
    pub inputs: Vec<SampleInput>,
}

impl Sample {
    /// A sample.
    #[must_use]
    pub fn new(name: impl Into<String>, op: impl Op + 'static, inputs: Vec<SampleInput>) -> Self {
        Self {
            name: name.into(),
            op: Arc::new(op),
            inputs,
        }
    }

    /// The same sample with every input in another memory order.
    #[must_use]
    pub fn ordered(&self, order: Order) -> Self {
        let inputs = self.inputs.iter().cloned();
        Self {
            name: format!("{} {order:?}", self.name).to_lowercase(),
            op: self.op.clone(),
            inputs: inputs.map(|input| input.ordered(order)).collect(),
        }
    }
}

/// Gives the samples of an operator for one dtype.
pub type Samples = Box<dyn Fn(DType) -> Vec<Sample> + Send + Sync>;

/// Computes an operator on contiguous operands in f64, unrounded.
pub type Oracle =
    Box<dyn Fn(&dyn Op, &[HostTensor]) -> Result<Vec<Vec<f64>>, KernelError> + Send + Sync>;

/// One operator of the table.
pub struct Row {
    /// Operator name.
    pub op: &'static str,
    /// dtypes it is tried in.
    pub dtypes: Vec<DType>,
    /// Samples for one of these dtypes.
    pub samples: Samples,
    /// Inputs whose gradient is checked by finite differences of output 0;
    /// empty for operators without gradient.
    pub gradient_inputs: Vec<usize>,
    /// The operator rounds values in between to its operands' dtype, so that
    /// outputs of a wider dtype are judged by the narrower one.
    pub rounds_inside: bool,
    /// What is right.
    pub oracle: Oracle,
}

impl Row {
    /// A row for float dtypes, judged by the reference backend.
    pub fn new(
        op: &'static str,
        samples: impl Fn(DType) -> Vec<Sample> + Send + Sync + 'static,
    ) -> Self {
        Self {
            op,
            dtypes: vec![DType::F64, DType::F32, DType::BF16, DType::F16],
            samples: Box::new(samples),
            gradient_inputs: Vec::new(),
            rounds_inside: false,
            oracle: Box::new(reference::evaluate),
        }
    }

    /// The same row with these dtypes.
    #[must_use]
    pub fn dtypes(mut self, dtypes: &[DType]) -> Self {
        self.dtypes = dtypes.to_vec();
        self
    }

    /// The same row with a gradient check of these inputs.
    #[must_use]
    pub fn gradient(mut self, inputs: &[usize]) -> Self {
        self.gradient_inputs = inputs.to_vec();
        self
    }

    /// The same row for an operator that rounds values in between.
    #[must_use]
    pub fn rounds_inside(mut self) -> Self {
        self.rounds_inside = true;
        self
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("op", &self.op)
            .field("dtypes", &self.dtypes)
            .field("gradient_inputs", &self.gradient_inputs)
            .finish_non_exhaustive()
    }
}

/// Dims in a table of samples.
pub(super) type Dims = &'static [usize];

/// The cases of a table, with the type of a case said once.
pub(super) fn table<T, const N: usize>(cases: [T; N]) -> [T; N] {
    cases
}

/// An operand filled: what the operator sees, and the storage it sees it in.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// Row-major, as seen.
    pub(super) seen: HostTensor,
    /// As it lies.
    pub(super) storage: HostTensor,
    /// Strides in elements, unless contiguous.
    pub(super) strides: Option<Vec<usize>>,
    /// First element.
    pub(super) offset: usize,
}

/// Fills an operand; `seed` tells operands apart.
pub(super) fn fill(input: &SampleInput, seed: u64) -> Result<Operand, TensorError> {
    let shape = &input.ty.shape;
    let ndim = shape.ndim();
    let mut dims = shape.to_vec();
    let (mut order, mut offset) = ((0..ndim).collect::<Vec<_>>(), 0);
    match input.order {
        Order::Contiguous => {}
        Order::Transposed => {
            dims.swap(ndim - 2, ndim - 1);
            order.swap(ndim - 2, ndim - 1);
        }
        Order::Sliced => dims.iter_mut().for_each(|dim| *dim += 2),
        Order::Broadcast => dims[0] = dims[0].min(1),
    }
    let stored = Shape::from(dims);
    let own = stored.strides();
    let mut strides: Vec<usize> = order.iter().map(|dim| own[*dim]).collect();
    match input.order {
        Order::Sliced => offset = own.iter().sum(),
        Order::Broadcast if shape[0] > 1 => strides[0] = 0,
        _ => {}
    }
    // Around a box lies what would spoil any result that reads it.
    let around = if input.ty.dtype.is_float() {
        f64::NAN
    } else {
        7e7
    };
    let mut values = vec![around; stored.num_elements()];
    let mut seen = Vec::with_capacity(shape.num_elements());
    for (element, index) in reference::indices(shape).enumerate() {
        let at = offset
            + index
                .iter()
                .zip(&strides)
                .map(|(i, s)| i * s)
                .sum::<usize>();
        // Repeated storage holds one value, the first.
        if input.order != Order::Broadcast || index.first() == Some(&0) {
            values[at] = value(&input.content, seed, element);
        }
        seen.push(values[at]);
    }
    let ty = TensorType::new(input.ty.dtype, stored);
    Ok(Operand {
        seen: HostTensor::from_f64(input.ty.clone(), &seen)?,
        storage: HostTensor::from_f64(ty, &values)?,
        strides: (input.order != Order::Contiguous).then_some(strides),
        offset,
    })
}

fn value(content: &Content, seed: u64, element: usize) -> f64 {
    let stream = Philox::new(0x5eed).stream(0, seed);
    let at = element as u64;
    match content {
        Content::Normal(factor) => factor * f64::from(stream.normal(at)),
        Content::Uniform(from, to) => from + (to - from) * f64::from(stream.uniform(at)),
        Content::Integers(from, to) => {
            let span = (to - from) as f64;
            (*from as f64 + (span * f64::from(stream.uniform(at))).floor()).min((to - 1) as f64)
        }
        Content::Values(values) => values
            .get(element % values.len().max(1))
            .copied()
            .unwrap_or(0.0),
    }
}

//! The reference backend: plain loops in f64 over any element type and any
//! strides. The oracle of every other backend, and never fast.

mod attention;
mod cross_entropy;
mod elementwise;
mod movement;
mod normalise;
mod reduce;
mod update;

use cairn_formats::DType;
use cairn_graph::{AliasKind, Op, Shape, TensorType};

use crate::backend::{Args, Backend, Kernel, Signature, View};
use crate::element::Element;
use crate::error::KernelError;
use crate::host::HostTensor;

/// The reference backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

/// A tensor as the reference sees it: row-major f64.
#[derive(Clone, Debug)]
struct Values {
    shape: Shape,
    data: Vec<f64>,
}

impl Values {
    /// Slices along the innermost dim; empty ones where that dim is 0.
    fn rows(&self) -> impl Iterator<Item = &[f64]> + '_ {
        let d = self.shape.last();
        (0..self.shape.rows()).map(move |row| &self.data[row * d..(row + 1) * d])
    }

    fn scalar(&self) -> f64 {
        self.data.first().copied().unwrap_or(0.0)
    }
}

type Results = Result<Vec<Vec<f64>>, KernelError>;

/// Computes all outputs from all inputs. `shapes` are those of the outputs.
type Compute =
    fn(op: &dyn Op, inputs: &[Values], shapes: &[Shape], dtypes: &[DType]) -> Option<Results>;

/// Operators by name.
const TABLE: &[(&str, Compute)] = &[
    ("adamw", update::adamw),
    ("assign", update::assign),
    ("attention", attention::forward),
    ("attention_grad", attention::backward),
    ("binary", elementwise::binary),
    ("broadcast", movement::broadcast),
    ("cache_write", update::cache_write),
    ("cast", elementwise::cast),
    ("concat", movement::concat),
    ("cross_entropy", cross_entropy::forward),
    ("cross_entropy_grad", cross_entropy::backward),
    ("cross_entropy_with_grad", cross_entropy::both),
    ("dropout", elementwise::dropout),
    ("embedding", movement::embedding),
    ("embedding_grad", movement::embedding_grad),
    ("fill", movement::fill),
    ("fused_matmul", reduce::fused_matmul),
    ("glu", elementwise::glu),
    ("glu_grad", elementwise::glu_grad),
    ("iota", movement::iota),
    ("layernorm", normalise::layernorm),
    ("layernorm_grad", normalise::layernorm_grad),
    ("matmul", reduce::matmul),
    ("pad", movement::pad),
    ("reduce", reduce::reduce),
    ("reshape", movement::reshape),
    ("rmsnorm", normalise::rmsnorm),
    ("rmsnorm_grad", normalise::rmsnorm_grad),
    ("rope", movement::rope),
    ("rope_table", movement::rope_table),
    ("select", elementwise::select),
    ("slice", movement::slice),
    ("softmax", normalise::softmax),
    ("softmax_grad", normalise::softmax_grad),
    ("sum_squares", reduce::sum_squares),
    ("transpose", movement::transpose),
    ("unary", elementwise::unary),
];

/// Attributes of `op`, if it is a `T`.
fn attributes<T: 'static>(op: &dyn Op) -> Option<&T> {
    op.as_any().downcast_ref()
}

/// The outputs of a shipped operator on contiguous operands in f64, unrounded.
///
/// # Errors
/// When the operator is unknown here, refuses the operands or their values.
pub fn evaluate(op: &dyn Op, inputs: &[HostTensor]) -> Result<Vec<Vec<f64>>, KernelError> {
    let unknown = || KernelError(format!("the reference has no `{}`", op.name()));
    let (_, compute) = TABLE
        .iter()
        .find(|(name, _)| *name == op.name())
        .ok_or_else(unknown)?;
    let types: Vec<&TensorType> = inputs.iter().map(HostTensor::ty).collect();
    let outputs = op
        .infer(&types)
        .map_err(|error| KernelError(error.to_string()))?;
    let values = inputs.iter().map(|input| {
        let data = input
            .to_f64()
            .map_err(|error| KernelError(error.to_string()))?;
        let shape = input.shape().clone();
        Ok(Values { shape, data })
    });
    let values = values.collect::<Result<Vec<_>, KernelError>>()?;
    let shapes: Vec<Shape> = outputs.iter().map(|ty| ty.shape.clone()).collect();
    let dtypes: Vec<DType> = outputs.iter().map(|ty| ty.dtype).collect();
    compute(op, &values, &shapes, &dtypes).ok_or_else(unknown)?
}

impl Backend for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn kernel(&self, op: &dyn Op, signature: &Signature) -> Option<Box<dyn Kernel>> {
        let (name, compute) = TABLE.iter().find(|(name, _)| *name == op.name())?;
        let readable = |dtype: DType| with_element!(dtype, _T => true, false);
        let mut dtypes = signature
            .inputs
            .iter()
            .map(|input| input.ty.dtype)
            .chain(signature.outputs.iter().map(|ty| ty.dtype));
        if !dtypes.all(readable) {
            return None;
        }
        // The operator is kept as its stored form: kernels own what they need.
        let op = cairn_graph::ops::registry()
            .load(name, op.attributes())
            .ok()?;
        let mut in_place = Vec::new();
        for alias in op.aliases() {
            if alias.kind != AliasKind::View && alias.input < signature.inputs.len() {
                in_place.push((alias.output, alias.input));
            }
        }
        Some(Box::new(ReferenceKernel {
            name: format!("{name}.reference"),
            op,
            compute: *compute,
            in_place,
        }))
    }
}

#[derive(Debug)]
struct ReferenceKernel {
    name: String,
    op: std::sync::Arc<dyn Op>,
    compute: Compute,
    in_place: Vec<(usize, usize)>,
}

impl Kernel for ReferenceKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn in_place(&self) -> Vec<(usize, usize)> {
        self.in_place.clone()
    }

    fn run(&self, args: &mut Args<'_>) -> Result<(), KernelError> {
        let mut inputs = Vec::with_capacity(args.inputs.len());
        for (index, input) in args.inputs.iter().enumerate() {
            inputs.push(match input {
                Some(view) => read(view)?,
                None => {
                    let output = self
                        .in_place
                        .iter()
                        .find(|(_, input)| *input == index)
                        .map(|(output, _)| *output);
                    let output = output.and_then(|output| args.outputs.get(output));
                    let output = output
                        .ok_or_else(|| KernelError(format!("input {index} has no storage")))?;
                    let (dtype, shape) = (output.dtype, output.shape);
                    read(&View {
                        dtype,
                        shape,
                        strides: None,
                        data: &*output.data,
                    })?
                }
            });
        }
        let shapes: Vec<Shape> = args
            .outputs
            .iter()
            .map(|output| output.shape.clone())
            .collect();
        let dtypes: Vec<DType> = args.outputs.iter().map(|output| output.dtype).collect();
        let results = (self.compute)(self.op.as_ref(), &inputs, &shapes, &dtypes);
        let results = results
            .ok_or_else(|| KernelError(format!("`{}` is another operator", self.op.name())))??;
        for (output, values) in args.outputs.iter_mut().zip(results) {
            with_element!(output.dtype, T => {
                for (slot, value) in output.slice::<T>()?.iter_mut().zip(values) {
                    *slot = T::rounded(value);
                }
            }, return Err(KernelError(format!("cannot write {}", output.dtype))));
        }
        Ok(())
    }
}

/// All elements of a view in row-major order.
fn read(view: &View<'_>) -> Result<Values, KernelError> {
    let shape = view.shape.clone();
    let count = shape.num_elements();
    let data = with_element!(view.dtype, T => {
        let data = view.slice::<T>()?;
        match view.strides {
            None => data.iter().take(count).map(|x| x.to_f64()).collect(),
            Some(strides) => indices(&shape).map(|index| {
                let at: usize = index.iter().zip(strides).map(|(i, stride)| i * stride).sum();
                data[at].to_f64()
            }).collect(),
        }
    }, return Err(KernelError(format!("cannot read {}", view.dtype))));
    Ok(Values { shape, data })
}

/// Every index of a shape in row-major order.
pub(crate) fn indices(shape: &Shape) -> impl Iterator<Item = Vec<usize>> + use<> {
    let shape = shape.clone();
    (0..shape.num_elements()).map(move |flat| unravel(flat, &shape))
}

/// The index of a row-major position.
fn unravel(mut flat: usize, shape: &Shape) -> Vec<usize> {
    let mut index = vec![0; shape.ndim()];
    for dim in (0..shape.ndim()).rev() {
        index[dim] = flat % shape[dim];
        flat /= shape[dim];
    }
    index
}

/// The row-major position of an index.
fn ravel(index: &[usize], shape: &Shape) -> usize {
    index
        .iter()
        .zip(shape.iter())
        .fold(0, |flat, (i, size)| flat * size + i)
}

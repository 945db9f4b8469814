//! Cross entropy fused with the output projection: the logits of one chunk of tokens
//! exist at a time.

use cairn_formats::DType;
use cairn_graph::Op;
use cairn_graph::ops::cross_entropy::CrossEntropyConfig;
use cairn_graph::ops::{CrossEntropy, CrossEntropyGrad, CrossEntropyWithGrad};
use cairn_tensor::{Address, DeviceArgs, KernelError, Signature};

use super::matmul::{Gemm, Layout};
use super::{BLOCKS, address, attributes, operand, result, size, suffix};
use crate::args::Arg;
use crate::backend::Plan;
use crate::module::Kernels;

/// What is wanted: the index of `loss_sum` among the outputs, and of `dh`.
#[derive(Clone, Copy)]
struct Form {
    loss: Option<usize>,
    gradient: Option<usize>,
    weight_dtype: DType,
}

pub(super) fn find(op: &dyn Op, signature: &Signature) -> Option<Plan> {
    let form = |loss, gradient, weight_dtype| Form {
        loss,
        gradient,
        weight_dtype,
    };
    let (config, form) = if let Some(op) = attributes::<CrossEntropy>(op) {
        (op.config, form(Some(0), None, DType::F32))
    } else if let Some(op) = attributes::<CrossEntropyGrad>(op) {
        (op.config, form(None, Some(0), op.weight_dtype))
    } else {
        let op = attributes::<CrossEntropyWithGrad>(op)?;
        (op.config, form(Some(0), Some(2), op.weight_dtype))
    };
    Some(Chunks::new(config, form, signature)?.plan())
}

/// The products of a chunk.
#[derive(Clone)]
struct Products {
    tokens: usize,
    logits: Gemm,
    /// Of the state, and of the weight: the first chunk's and that of later ones.
    gradients: Option<(Gemm, Gemm, Gemm)>,
}

struct Chunks {
    form: Form,
    dtype: DType,
    z_loss: f32,
    tokens: usize,
    d: usize,
    v: usize,
    chunk: usize,
    whole: Products,
    last: Products,
    row_kernel: String,
    /// Where the parts of the working space begin, and its end.
    of_logits: usize,
    losses: usize,
    of_weight: usize,
    scratch_bytes: usize,
}

impl Chunks {
    fn new(config: CrossEntropyConfig, form: Form, signature: &Signature) -> Option<Self> {
        let (h, w) = (&signature.inputs.first()?.ty, &signature.inputs.get(1)?.ty);
        let (dtype, own) = (h.dtype, suffix(h.dtype)?);
        let weight = [dtype, DType::F32].contains(&form.weight_dtype);
        if !signature.is_contiguous() || !weight {
            return None;
        }
        let (v, d) = (w.shape[0], w.shape[1]);
        let tokens = signature.inputs.get(2)?.ty.shape.num_elements();
        let chunk = config.chunk_tokens().min(tokens.max(1));
        let products = |tokens: usize| {
            let gradients = || {
                let of_state = Gemm::new((dtype, dtype), Layout::Nn, [tokens, d, v], false)?;
                let first = Gemm::new((dtype, DType::F32), Layout::Tn, [v, d, tokens], false)?;
                let more = Gemm::new((dtype, DType::F32), Layout::Tn, [v, d, tokens], true)?;
                Some((of_state, first, more))
            };
            Some(Products {
                tokens,
                logits: Gemm::new((dtype, DType::F32), Layout::Nt, [tokens, v, d], false)?,
                gradients: match form.gradient {
                    Some(_) => Some(gradients()?),
                    None => None,
                },
            })
        };
        let align = |bytes: usize| bytes.next_multiple_of(256);
        let logits = align(chunk * v * 4);
        // The gradient in f32 takes the logits' place.
        let apart = form.gradient.is_some() && dtype != DType::F32;
        let of_logits = if apart { logits } else { 0 };
        let losses = logits + if apart { align(chunk * v * 2) } else { 0 };
        let of_weight = losses + align(tokens * 4);
        let wide = form.gradient.is_some() && form.weight_dtype != DType::F32;
        let rest = tokens - tokens / chunk * chunk;
        Some(Self {
            form,
            dtype,
            z_loss: config.z_loss as f32,
            tokens,
            d,
            v,
            chunk,
            whole: products(chunk)?,
            last: products(rest)?,
            row_kernel: match form.gradient {
                Some(_) => format!("cross_entropy_gradient_{own}"),
                None => "cross_entropy_loss".to_owned(),
            },
            of_logits,
            losses,
            of_weight,
            scratch_bytes: of_weight + if wide { v * d * 4 } else { 0 },
        })
        .filter(|chunks| size(chunks.v).is_some() && size(chunks.tokens).is_some())
    }

    fn plan(self) -> Plan {
        let mut names = vec![self.whole.logits.kernel(), self.row_kernel.clone()];
        if let Some((of_state, first, more)) = &self.whole.gradients {
            names.extend([of_state.kernel(), first.kernel()]);
            if more.kernel() != first.kernel() {
                names.push(more.kernel());
            }
            if self.form.weight_dtype == DType::BF16 {
                names.push("cast_f32_bf16".to_owned());
            }
        }
        if self.form.loss.is_some() {
            names.push("cross_entropy_sum".to_owned());
        }
        let bytes = self.scratch_bytes;
        Plan::new(names, move |kernels, args| self.launch(kernels, args)).scratch(bytes)
    }

    fn launch(&self, kernels: &Kernels, args: &DeviceArgs<'_>) -> Result<(), KernelError> {
        let mut first = 0;
        // Without a token one empty chunk still makes the weight's gradient zeros.
        while first < self.tokens || first == 0 {
            let products = if self.tokens - first >= self.chunk {
                &self.whole
            } else {
                &self.last
            };
            self.launch_chunk(kernels, args, products, first)?;
            first += products.tokens.max(1);
        }
        let losses = args.scratch.offset(self.losses);
        if let Some(gradient) = self.form.gradient
            && self.form.weight_dtype == DType::BF16
        {
            let count = self.v * self.d;
            let given = [
                Arg::Buffer(args.scratch.offset(self.of_weight)),
                result(args, gradient + 1)?,
                Arg::U64(count as u64),
            ];
            kernels.launch("cast_f32_bf16", count.div_ceil(BLOCKS) as u64, &given)?;
        }
        if let Some(loss) = self.form.loss {
            let given = [
                Arg::Buffer(losses),
                operand(args, 2)?,
                result(args, loss)?,
                result(args, loss + 1)?,
                Arg::U32(self.tokens as u32),
            ];
            kernels.launch("cross_entropy_sum", 1, &given)?;
        }
        Ok(())
    }

    fn launch_chunk(
        &self,
        kernels: &Kernels,
        args: &DeviceArgs<'_>,
        products: &Products,
        first: usize,
    ) -> Result<(), KernelError> {
        let at = |index: usize, elements: usize, dtype: DType| -> Result<Address, KernelError> {
            Ok(address(operand(args, index)?)?.offset(dtype.bytes(elements)))
        };
        let state = at(0, first * self.d, self.dtype)?;
        let weight = at(1, 0, self.dtype)?;
        let logits = args.scratch;
        products
            .logits
            .launch(kernels, state, weight, None, logits)?;
        let targets = Arg::Buffer(at(2, first, DType::I32)?);
        let losses = Arg::Buffer(args.scratch.offset(self.losses + first * 4));
        let of_logits = args.scratch.offset(self.of_logits);
        let mut given = vec![Arg::Buffer(logits), targets];
        if self.form.gradient.is_some() {
            given.extend([operand(args, 3)?, Arg::Buffer(of_logits)]);
        }
        given.extend([losses, Arg::U32(self.v as u32), Arg::F32(self.z_loss)]);
        kernels.launch(&self.row_kernel, products.tokens as u64, &given)?;
        let (Some(gradient), Some((of_state, once, more))) =
            (self.form.gradient, &products.gradients)
        else {
            return Ok(());
        };
        let out = address(result(args, gradient)?)?.offset(self.dtype.bytes(first * self.d));
        of_state.launch(kernels, of_logits, weight, None, out)?;
        let sums = if self.form.weight_dtype == DType::F32 {
            address(result(args, gradient + 1)?)?
        } else {
            args.scratch.offset(self.of_weight)
        };
        if first == 0 {
            once.launch(kernels, of_logits, state, None, sums)
        } else {
            more.launch(kernels, of_logits, state, Some(sums), sums)
        }
    }
}

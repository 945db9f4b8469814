//! Blocks of elements on their way between storage and arithmetic, by run-time dtype.
//!
//! Elementwise kernels are compiled for the two arithmetic types and read and write any
//! dtype through the functions of an [`Io`]; where storage already has the arithmetic
//! type it is used as it is.

use cairn_formats::{DType, bf16, f16};

use super::gather::{BLOCK, Gather};
use super::num::{Acc, Num};
use super::simd::{Level, simd};
use crate::backend::{Args, Operand};
use crate::element::Element;
use crate::error::KernelError;

/// Reads and writes elements of one dtype as `A`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Io<A> {
    /// Elements from an index on, in the order of a [`Gather`].
    load: fn(Level, &Gather, &[u8], usize, &mut [A]),
    /// Rounded once.
    store: fn(Level, &[A], &mut [u8]),
    /// Bytes of an element.
    pub(super) size: usize,
    /// Elements are `A`.
    direct: bool,
}

/// An arithmetic type with its dtypes.
pub(super) trait Wide: Acc {
    /// How to read and write `dtype`, if this is a type to compute it in.
    fn io(dtype: DType) -> Option<Io<Self>>;
}

impl Wide for f32 {
    fn io(dtype: DType) -> Option<Io<Self>> {
        Some(match dtype {
            DType::F32 => vector::<f32>(true),
            DType::BF16 => vector::<bf16>(false),
            DType::F16 => vector::<f16>(false),
            _ => return None,
        })
    }
}

impl Wide for f64 {
    fn io(dtype: DType) -> Option<Io<Self>> {
        if dtype == DType::F64 {
            return Some(vector::<f64>(true));
        }
        with_element!(dtype, T => Some(Io {
            load: load_plain::<T>,
            store: store_plain::<T>,
            size: size_of::<T>(),
            direct: false,
        }), None)
    }
}

/// Runs `$body` with `$A` bound to the type that elements of `$dtype` are computed in.
macro_rules! with_wide {
    ($dtype:expr, $A:ident => $body:expr) => {
        match $dtype {
            cairn_formats::DType::F32 | cairn_formats::DType::BF16 | cairn_formats::DType::F16 => {
                type $A = f32;
                $body
            }
            _ => {
                type $A = f64;
                $body
            }
        }
    };
}

pub(super) use with_wide;

fn vector<T: Num>(direct: bool) -> Io<T::Acc> {
    Io {
        load: |level, order, from, start, to| {
            load(level, order, bytemuck::cast_slice::<u8, T>(from), start, to);
        },
        store: |level, from, to| store(level, from, bytemuck::cast_slice_mut::<u8, T>(to)),
        size: size_of::<T>(),
        direct,
    }
}

simd! {
    fn load [T: Num] (order: &Gather, from: &[T], start: usize, to: &mut [T::Acc]) {
        order.load(from, start, to);
    }
}

simd! {
    fn store [T: Num] (from: &[T::Acc], to: &mut [T]) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = T::down(*from);
        }
    }
}

fn load_plain<T: Element>(_: Level, order: &Gather, from: &[u8], start: usize, to: &mut [f64]) {
    let from: &[T] = bytemuck::cast_slice(from);
    order.runs(start, to.len(), |done, at, stride, len| {
        for (i, to) in to[done..done + len].iter_mut().enumerate() {
            *to = from[at + i * stride].to_f64();
        }
    });
}

fn store_plain<T: Element>(_: Level, from: &[f64], to: &mut [u8]) {
    for (to, from) in bytemuck::cast_slice_mut::<u8, T>(to).iter_mut().zip(from) {
        *to = T::rounded(*from);
    }
}

impl<A: Wide> Io<A> {
    /// Contiguous elements from `start` on, borrowed where they can be.
    pub(super) fn read<'a>(
        &self,
        level: Level,
        from: &'a [u8],
        start: usize,
        buffer: &'a mut [A],
    ) -> &'a [A] {
        let end = start + buffer.len();
        if self.direct {
            return bytemuck::cast_slice(&from[start * self.size..end * self.size]);
        }
        (self.load)(level, &Gather::CONTIGUOUS, from, start, buffer);
        buffer
    }

    /// Rounds into contiguous storage.
    pub(super) fn write(&self, level: Level, from: &[A], to: &mut [u8]) {
        (self.store)(level, from, to);
    }

    /// Runs `compute` on a block of results and brings them to `out`.
    pub(super) fn compute(
        &self,
        level: Level,
        out: &mut [u8],
        buffer: &mut [A; BLOCK],
        compute: impl FnOnce(&mut [A]),
    ) {
        if self.direct {
            compute(bytemuck::cast_slice_mut(out));
        } else {
            let buffer = &mut buffer[..out.len() / self.size];
            compute(buffer);
            (self.store)(level, buffer, out);
        }
    }
}

impl<A: Wide> Io<A> {
    /// Runs `change` on a block of elements in place.
    pub(super) fn update(
        &self,
        level: Level,
        data: &mut [u8],
        buffer: &mut [A; BLOCK],
        change: impl FnOnce(&mut [A]),
    ) {
        if self.direct {
            change(bytemuck::cast_slice_mut(data));
        } else {
            let buffer = &mut buffer[..data.len() / self.size];
            (self.load)(level, &Gather::CONTIGUOUS, data, 0, buffer);
            change(buffer);
            (self.store)(level, buffer, data);
        }
    }
}

/// An operand that is read in the order of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<A> {
    io: Io<A>,
    order: Gather,
}

/// A [`Reader`] with its data: `None` where the elements are in the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a, A> {
    reader: Reader<A>,
    data: Option<&'a [u8]>,
}

impl<A: Wide> Reader<A> {
    pub(super) fn new(operand: &Operand, out: &[usize]) -> Option<Self> {
        Some(Self {
            io: A::io(operand.ty.dtype)?,
            order: Gather::broadcast(operand, out)?,
        })
    }

    /// Input `index` of a call.
    pub(super) fn source<'a>(&self, args: &Args<'a>, index: usize) -> Source<'a, A> {
        Source {
            reader: *self,
            data: args
                .inputs
                .get(index)
                .copied()
                .flatten()
                .map(|view| view.data),
        }
    }

    /// Input `index` of a call, which is never in place.
    pub(super) fn input<'a>(
        &self,
        args: &Args<'a>,
        index: usize,
    ) -> Result<Source<'a, A>, KernelError> {
        args.input(index)?;
        Ok(self.source(args, index))
    }
}

impl<A: Wide> Source<'_, A> {
    /// Elements from `start` on, as many as `buffer` has; `out` holds the same elements
    /// of the output.
    pub(super) fn read<'a>(
        &'a self,
        level: Level,
        start: usize,
        out: &[u8],
        buffer: &'a mut [A],
    ) -> &'a [A] {
        let Reader { io, order } = &self.reader;
        match self.data {
            Some(data) if order.is_contiguous() => return io.read(level, data, start, buffer),
            Some(data) => (io.load)(level, order, data, start, buffer),
            None => (io.load)(level, &Gather::CONTIGUOUS, out, 0, buffer),
        }
        buffer
    }
}

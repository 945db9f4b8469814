//! A contiguous tensor in host memory: what goes in and out of programs.

use cairn_formats::DType;
use cairn_graph::{Shape, TensorType};

use crate::buffer::Buffer;
use crate::element::Element;
use crate::error::TensorError;

/// dtype, shape and row-major bytes.
#[derive(Debug)]
pub struct HostTensor {
    ty: TensorType,
    buffer: Buffer,
}

impl HostTensor {
    /// All zero bits.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn zeros(ty: TensorType) -> Result<Self, TensorError> {
        let bytes = ty.bytes();
        let buffer = Buffer::zeroed(bytes).ok_or(TensorError::OutOfMemory { bytes })?;
        Ok(Self { ty, buffer })
    }

    /// A copy of these elements.
    ///
    /// # Errors
    /// When their number does not fit the shape, or memory runs out.
    pub fn new<T: Element>(shape: impl Into<Shape>, data: &[T]) -> Result<Self, TensorError> {
        let ty = TensorType::new(T::DTYPE, shape);
        Self::from_bytes(ty, bytemuck::cast_slice(data))
    }

    /// A copy of these bytes.
    ///
    /// # Errors
    /// When their number does not fit the type, or memory runs out.
    pub fn from_bytes(ty: TensorType, bytes: &[u8]) -> Result<Self, TensorError> {
        if bytes.len() != ty.bytes() {
            return Err(TensorError::Length {
                ty,
                bytes: bytes.len(),
            });
        }
        let mut tensor = Self::zeros(ty)?;
        tensor.buffer.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A scalar.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn scalar<T: Element>(value: T) -> Result<Self, TensorError> {
        Self::new([], &[value])
    }

    /// Elements rounded from f64, in any of the element dtypes.
    ///
    /// # Errors
    /// When their number does not fit, the dtype has no element type, or memory runs out.
    pub fn from_f64(ty: TensorType, values: &[f64]) -> Result<Self, TensorError> {
        if values.len() != ty.shape.num_elements() {
            return Err(TensorError::Length {
                bytes: ty.dtype.bytes(values.len()),
                ty,
            });
        }
        let dtype = ty.dtype;
        let mut tensor = Self::zeros(ty)?;
        with_element!(dtype, T => {
            for (slot, value) in tensor.as_mut_slice::<T>()?.iter_mut().zip(values) {
                *slot = T::rounded(*value);
            }
        }, return Err(TensorError::Unsupported { dtype }));
        Ok(tensor)
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// The dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.ty.dtype
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.ty.shape
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }

    /// The bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.buffer.bytes_mut()
    }

    /// The elements.
    ///
    /// # Errors
    /// When `T` is not the element type.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], TensorError> {
        self.check::<T>()?;
        Ok(bytemuck::cast_slice(self.buffer.bytes()))
    }

    /// The elements, to write.
    ///
    /// # Errors
    /// When `T` is not the element type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Result<&mut [T], TensorError> {
        self.check::<T>()?;
        Ok(bytemuck::cast_slice_mut(self.buffer.bytes_mut()))
    }

    /// Every element as f64.
    ///
    /// # Errors
    /// When the dtype has no element type.
    pub fn to_f64(&self) -> Result<Vec<f64>, TensorError> {
        let dtype = self.dtype();
        with_element!(dtype, T => Ok(self.as_slice::<T>()?.iter().map(|x| x.to_f64()).collect()),
            Err(TensorError::Unsupported { dtype }))
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.buffer.as_ptr()
    }

    fn check<T: Element>(&self) -> Result<(), TensorError> {
        if self.ty.dtype == T::DTYPE {
            return Ok(());
        }
        Err(TensorError::WrongDType {
            expected: T::DTYPE,
            ty: self.ty.clone(),
        })
    }
}

impl Clone for HostTensor {
    /// # Panics
    /// When memory runs out, as `Vec` does.
    fn clone(&self) -> Self {
        match Self::from_bytes(self.ty.clone(), self.bytes()) {
            Ok(copy) => copy,
            Err(error) => std::panic::panic_any(error.to_string()),
        }
    }
}

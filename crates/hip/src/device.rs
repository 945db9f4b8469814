//! One GPU: its memory, and the order in which it works.

#![expect(unsafe_code, reason = "calls of HIP")]

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cairn_codeobj::Arch;
use cairn_hip_sys::{Hip, HipError, memcpy};
use cairn_tensor::{Address, DeviceMemory, TensorError};

use crate::error::GpuError;
use crate::pool::{Pool, PoolStats, piece};

/// One GPU. What is launched on it runs in the order of the launches.
#[derive(Debug)]
pub struct Device {
    hip: Hip,
    ordinal: c_int,
    arch: Arch,
    name: String,
    pool: Mutex<Pool>,
}

impl Device {
    /// Opens the device of this number, with HIP from these folders or else from where
    /// the loader finds it.
    ///
    /// # Errors
    /// When there is no HIP, no such device, or none that kernels are written for.
    pub fn open(folders: &[PathBuf], ordinal: i32) -> Result<Self, GpuError> {
        let hip = Hip::open(folders)?;
        let no_device = |error: HipError| GpuError::NoDevice {
            ordinal,
            reason: hip.describe(error),
        };
        let count = hip.device_count().map_err(no_device)?;
        if !(0..count).contains(&ordinal) {
            let reason = format!("it has {count}, numbered from 0");
            return Err(GpuError::NoDevice { ordinal, reason });
        }
        let facts = hip.device(ordinal).map_err(no_device)?;
        let bare = facts.arch.split(':').next().unwrap_or_default();
        let arch = Arch::from_name(bare).ok_or_else(|| GpuError::UnknownArch {
            ordinal,
            name: facts.arch.clone(),
        })?;
        Ok(Self {
            hip,
            ordinal,
            arch,
            name: facts.name,
            pool: Mutex::default(),
        })
    }

    /// Its architecture.
    #[must_use]
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// The product's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the simulator's.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.name.ends_with("(simulated)")
    }

    /// How much of its memory is held.
    #[must_use]
    pub fn memory_stats(&self) -> PoolStats {
        self.pool().stats()
    }

    /// HIP, with this device as the calling thread's current one.
    pub(crate) fn hip(&self) -> Result<&Hip, TensorError> {
        // SAFETY: takes a number.
        let code = unsafe { (self.hip.functions.hipSetDevice)(self.ordinal) };
        self.check("hipSetDevice", code)?;
        Ok(&self.hip)
    }

    /// An error of a call, with HIP's own text.
    pub(crate) fn check(&self, call: &str, code: c_int) -> Result<(), TensorError> {
        HipError::check(code).map_err(|error| TensorError::Device {
            message: format!(
                "{call} failed on device {}: {}",
                self.ordinal,
                self.hip.describe(error)
            ),
        })
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // The account is whole between any two calls.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory from HIP; `None` when there is not that much.
    fn ask(&self, bytes: usize) -> Result<Option<u64>, TensorError> {
        let hip = self.hip()?;
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: writes one address.
        let code = unsafe { (hip.functions.hipMalloc)(&raw mut address, bytes) };
        if code == HipError::OUT_OF_MEMORY.code() {
            return Ok(None);
        }
        self.check("hipMalloc", code)?;
        Ok(Some(address as u64))
    }

    /// Gives all free pieces back to HIP.
    fn release(&self) {
        let free = self.pool().drain();
        let Ok(hip) = self.hip() else { return };
        for address in free {
            // SAFETY: `hipMalloc` gave the address, and nobody holds the piece.
            unsafe { (hip.functions.hipFree)(address as *mut c_void) };
        }
    }
}

impl DeviceMemory for Device {
    fn alloc(&self, bytes: usize) -> Result<Address, TensorError> {
        let piece = piece(bytes);
        if let Some(address) = self.pool().take(piece) {
            return Ok(Address(address));
        }
        let address = match self.ask(piece)? {
            Some(address) => address,
            None => {
                self.release();
                self.ask(piece)?.ok_or(TensorError::OutOfMemory { bytes })?
            }
        };
        self.pool().took(piece);
        Ok(Address(address))
    }

    fn free(&self, address: Address, bytes: usize) {
        self.pool().give(piece(bytes), address.0);
    }

    fn copy_in(&self, to: Address, from: &[u8]) -> Result<(), TensorError> {
        if from.is_empty() {
            return Ok(());
        }
        let hip = self.hip()?;
        // SAFETY: the caller owns the piece of device memory; the host's bytes are
        // borrowed, and the call returns when they have been read.
        let code = unsafe {
            (hip.functions.hipMemcpy)(
                to.0 as *mut c_void,
                from.as_ptr().cast(),
                from.len(),
                memcpy::HOST_TO_DEVICE,
            )
        };
        self.check("hipMemcpy to the device", code)
    }

    fn copy_out(&self, from: Address, to: &mut [u8]) -> Result<(), TensorError> {
        if to.is_empty() {
            return Ok(());
        }
        let hip = self.hip()?;
        // SAFETY: as above, and the call returns when the bytes have been written.
        let code = unsafe {
            (hip.functions.hipMemcpy)(
                to.as_mut_ptr().cast(),
                from.0 as *const c_void,
                to.len(),
                memcpy::DEVICE_TO_HOST,
            )
        };
        self.check("hipMemcpy to the host", code)
    }

    fn synchronize(&self) -> Result<(), TensorError> {
        let hip = self.hip()?;
        // SAFETY: takes nothing.
        let code = unsafe { (hip.functions.hipDeviceSynchronize)() };
        self.check("hipDeviceSynchronize", code)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.release();
    }
}

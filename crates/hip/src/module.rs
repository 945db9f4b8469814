//! The kernels built for a device, loaded when they are first launched.

#![expect(unsafe_code, reason = "loads and launches code")]

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

use cairn_hip_sys::{hipFunction_t, hipModule_t};
use cairn_kernels::Manifest;
use cairn_kernels::manifest::Entry;
use cairn_tensor::{KernelError, TensorError};

use crate::args::{Arg, pack};
use crate::device::Device;
use crate::error::GpuError;
use crate::tiles::Tiles;

/// In `extra` of a launch: the packed arguments follow.
const PARAM_BUFFER_POINTER: *mut c_void = std::ptr::without_provenance_mut(1);
/// Their size follows.
const PARAM_BUFFER_SIZE: *mut c_void = std::ptr::without_provenance_mut(2);
/// The end.
const PARAM_END: *mut c_void = std::ptr::without_provenance_mut(3);
/// Most workgroups of a launch.
const MAX_WORKGROUPS: u64 = (1 << 31) - 1;

/// What was built for a device's architecture.
#[derive(Debug)]
pub struct Kernels {
    device: Arc<Device>,
    out: PathBuf,
    manifest: Manifest,
    tiles: Tiles,
    loaded: Mutex<Loaded>,
}

/// Modules by code object, and functions by kernel.
#[derive(Debug, Default)]
struct Loaded {
    modules: BTreeMap<String, Handle>,
    functions: BTreeMap<String, Handle>,
}

/// A handle of HIP, which any thread may use.
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: HIP's handles are names; its functions may be called from any thread.
unsafe impl Send for Handle {}

impl Kernels {
    /// Reads the manifest for the device's architecture in the folder of built kernels.
    ///
    /// # Errors
    /// When nothing was built for it, or the manifest is damaged.
    pub fn open(device: Arc<Device>, out: &Path) -> Result<Self, GpuError> {
        let manifest = Manifest::load(out, device.arch())?;
        let tiles = Tiles::of(device.arch())?;
        Ok(Self {
            tiles,
            device,
            out: out.to_path_buf(),
            manifest,
            loaded: Mutex::default(),
        })
    }

    /// The device they run on.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The tiles for products on it.
    #[must_use]
    pub fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    /// What the manifest says of a kernel.
    #[must_use]
    pub fn entry(&self, kernel: &str) -> Option<&Entry> {
        self.manifest.kernels.get(kernel)
    }

    /// How often each kernel was launched on the device.
    #[must_use]
    pub fn launches(&self) -> BTreeMap<String, u64> {
        self.device.launches()
    }

    /// Starts `workgroups` workgroups of a kernel, after what was started before. None is
    /// no launch.
    ///
    /// # Errors
    /// When the arguments are not what the code object says, the code object cannot be
    /// loaded, or HIP refuses.
    pub fn launch(&self, kernel: &str, workgroups: u64, args: &[Arg]) -> Result<(), KernelError> {
        let failed = |error: TensorError| KernelError(format!("`{kernel}`: {error}"));
        let entry = self
            .entry(kernel)
            .ok_or_else(|| KernelError(format!("the manifest has no kernel `{kernel}`")))?;
        let mut packed = pack(kernel, entry, args)?;
        if workgroups == 0 {
            return Ok(());
        }
        if workgroups > MAX_WORKGROUPS {
            return Err(KernelError(format!(
                "`{kernel}`: {workgroups} workgroups are more than {MAX_WORKGROUPS}"
            )));
        }
        self.device.may_launch().map_err(failed)?;
        let function = self.function(kernel, entry).map_err(failed)?;
        let functions = self.device.functions().map_err(failed)?;
        let mut size = packed.len();
        let mut extra = [
            PARAM_BUFFER_POINTER,
            packed.as_mut_ptr().cast(),
            PARAM_BUFFER_SIZE,
            (&raw mut size).cast(),
            PARAM_END,
        ];
        // SAFETY: the function is of a module that stays loaded; the arguments have the
        // size and order that its code object says and are read before the call returns.
        let code = unsafe {
            (functions.hipModuleLaunchKernel)(
                function,
                workgroups as u32,
                1,
                1,
                entry.needs.workgroup,
                1,
                1,
                0,
                self.device.stream().handle(),
                null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.device
            .check("hipModuleLaunchKernel", code)
            .map_err(failed)?;
        self.device.launched(kernel);
        Ok(())
    }

    fn function(&self, kernel: &str, entry: &Entry) -> Result<hipFunction_t, TensorError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(kernel) {
            return Ok(function.0);
        }
        let module = match loaded.modules.get(&entry.object) {
            Some(module) => module.0,
            None => {
                let module = self.load(kernel)?;
                loaded.modules.insert(entry.object.clone(), Handle(module));
                module
            }
        };
        let name = CString::new(kernel).map_err(|error| TensorError::Device {
            message: format!("`{kernel}` is no name of a kernel: {error}"),
        })?;
        let functions = self.device.functions()?;
        let mut function: hipFunction_t = null_mut();
        // SAFETY: the module is loaded, the name ends with a zero, one handle is written.
        let code =
            unsafe { (functions.hipModuleGetFunction)(&raw mut function, module, name.as_ptr()) };
        self.device.check("hipModuleGetFunction", code)?;
        loaded.functions.insert(kernel.to_owned(), Handle(function));
        Ok(function)
    }

    fn load(&self, kernel: &str) -> Result<hipModule_t, TensorError> {
        let arch = self.device.arch();
        let object = self.manifest.object_of(&self.out, arch, kernel);
        let object = object.map_err(|error| TensorError::Device {
            message: error.to_string(),
        })?;
        let functions = self.device.functions()?;
        let mut module: hipModule_t = null_mut();
        // SAFETY: HIP copies the code object, which says its own size; one handle is written.
        let code = unsafe {
            (functions.hipModuleLoadData)(&raw mut module, object.bytes().as_ptr().cast())
        };
        self.device.check("hipModuleLoadData", code)?;
        Ok(module)
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        let loaded = self
            .loaded
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // What was launched may still run.
        let _ = self.device.stream().synchronize();
        let Ok(functions) = self.device.functions() else {
            return;
        };
        for module in loaded.modules.values() {
            // SAFETY: loaded once, and no function of it is launched any more.
            unsafe { (functions.hipModuleUnload)(module.0) };
        }
    }
}

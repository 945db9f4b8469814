//! Modules: code objects in the memory of a device, and their kernels.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Arc, Mutex};

use cairn_cdna::{LoadError, Loaded, Program};
use cairn_codeobj::{Arch, Kernel};

use crate::error::{Code, Result, refuse};
use crate::handles::lock;
use crate::image;
use crate::memory::no_memory;
use crate::runtime::{self, Runtime};

/// A code object in the memory of a device.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) device: usize,
    pub(crate) loaded: Loaded,
    programs: Mutex<BTreeMap<String, Arc<Program>>>,
}

/// A kernel of a module.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) module: Arc<Module>,
    pub(crate) program: Arc<Program>,
}

impl Module {
    /// Loads an image for this thread's device; `name` is what to call it in an error.
    pub(crate) fn load(
        runtime: &Runtime,
        image: &(impl image::Source + ?Sized),
        name: &str,
    ) -> Result<Arc<Self>> {
        let device = runtime.current()?;
        let arch = runtime.settings.arch;
        let bytes = image::object(image, name, arch)?;
        image::check(&bytes, name, arch)?;
        let mut memory = lock(&device.memory);
        let before = memory.used();
        let loaded = match Loaded::new(&bytes, &mut memory) {
            Ok(loaded) => loaded,
            Err(LoadError::Memory(error)) => {
                drop(memory);
                return no_memory(device, &error);
            }
            Err(error) => {
                let at = memory.allocations().last().map(|last| last.base);
                if let Some(at) = at.filter(|_| memory.used() > before) {
                    // It is there, as it was just seen.
                    drop(memory.free(at));
                }
                let code = match error {
                    LoadError::Undefined(_) => Code::NOT_FOUND,
                    _ => Code::INVALID_IMAGE,
                };
                return refuse(
                    code,
                    format_args!("{name}: {error}; link it with what it refers to"),
                );
            }
        };
        Ok(Arc::new(Self {
            device: device.number,
            loaded,
            programs: Mutex::default(),
        }))
    }

    /// A kernel of it, decoded once.
    pub(crate) fn program(&self, name: &str) -> Result<Arc<Program>> {
        let mut programs = lock(&self.programs);
        if let Some(program) = programs.get(name) {
            return Ok(Arc::clone(program));
        }
        let program = match Program::new(&self.loaded.object, name) {
            Ok(program) => Arc::new(program),
            Err(error) => {
                let kernels = &self.loaded.object.kernels;
                let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
                let has = names.join(", ");
                return refuse(Code::NOT_FOUND, format_args!("{error}; its kernels: {has}"));
            }
        };
        programs.insert(name.to_owned(), Arc::clone(&program));
        Ok(program)
    }

    /// Address and size of a variable.
    pub(crate) fn variable(&self, name: &str) -> Result<(u64, u64)> {
        let mut symbols = self.loaded.object.symbols.iter();
        let is_it = |symbol: &&cairn_codeobj::Symbol| {
            symbol.defined
                && symbol.name == name
                && symbol.kind == cairn_codeobj::SymbolKind::Object
        };
        let symbol = symbols.find(is_it).ok_or(Code::NOT_FOUND)?;
        Ok((self.loaded.base.wrapping_add(symbol.address), symbol.size))
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if let Some(device) = runtime::existing().and_then(|all| all.devices.get(self.device)) {
            // A device that was reset has forgotten it.
            drop(lock(&device.memory).free(self.loaded.allocation));
        }
    }
}

/// What `hipFuncGetAttribute` tells.
pub(crate) fn attribute(kernel: &Kernel, arch: Arch, which: c_int) -> Result<u32> {
    let metadata = &kernel.metadata;
    Ok(match which {
        0 => match metadata.max_workgroup {
            0 => Arch::MAX_WORKGROUP,
            limit => limit.min(Arch::MAX_WORKGROUP),
        },
        1 => kernel.descriptor.group_segment_bytes,
        2 => 0,
        3 => kernel.descriptor.private_segment_bytes,
        4 => metadata.vgpr_count,
        5 | 6 => version(arch) * 10,
        7 | 9 => 0,
        8 => arch
            .lds_bytes()
            .saturating_sub(kernel.descriptor.group_segment_bytes),
        _ => return Err(Code::INVALID_VALUE),
    })
}

/// Major and minor version in one number.
pub(crate) const fn version(arch: Arch) -> u32 {
    match arch {
        Arch::Gfx950 => 95,
        _ => 94,
    }
}

/// Workgroups of a kernel that a compute unit holds at once.
pub(crate) fn resident_workgroups(
    program: &Program,
    workgroup: c_int,
    dynamic_lds: u64,
) -> Result<c_int> {
    let workgroup = u32::try_from(workgroup).unwrap_or(0);
    let kernel = &program.kernel;
    if workgroup == 0 || workgroup > attribute(kernel, program.arch, 0)? {
        return Err(Code::INVALID_VALUE);
    }
    let lds = dynamic_lds.saturating_add(kernel.descriptor.group_segment_bytes.into());
    let Ok(lds) = u32::try_from(lds) else {
        return Ok(0);
    };
    let occupancy = program
        .arch
        .occupancy(kernel.descriptor.rsrc1.vgprs(), lds, workgroup);
    if lds > program.arch.lds_bytes() {
        return Ok(0);
    }
    let waves = occupancy.waves() * Arch::SIMDS;
    Ok((waves / workgroup.div_ceil(Arch::WAVE_LANES)) as c_int)
}

//! Launches: checks, arguments, and what comes of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cairn_cdna::{Finding, FindingKind, Launch, LaunchError, Program, model};
use cairn_codeobj::Argument;

use crate::c::{RawImage, argument_bytes};
use crate::device::Device;
use crate::error::{Code, Result, refuse, tell};
use crate::handles::lock;
use crate::memory::no_memory;
use crate::module::{Function, Module};
use crate::runtime::Runtime;

/// Findings of a launch that are printed.
const MAX_TOLD: usize = 10;

/// A launch that was checked.
#[derive(Clone, Debug)]
pub(crate) struct KernelLaunch {
    module: Arc<Module>,
    program: Arc<Program>,
    grid: [u32; 3],
    workgroup: [u32; 3],
    dynamic_lds: u32,
    arguments: Vec<u8>,
}

/// Arguments as a program gives them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arguments<'a> {
    /// The address of each, one after the other.
    Each(usize),
    /// All of them, laid out.
    Buffer(&'a [u8]),
    None,
}

impl KernelLaunch {
    /// Checks a launch and takes its arguments.
    pub(crate) fn new(
        function: &Function,
        grid: [u32; 3],
        workgroup: [u32; 3],
        dynamic_lds: u32,
        arguments: Arguments<'_>,
    ) -> Result<Self> {
        let launch = Self {
            module: Arc::clone(&function.module),
            program: Arc::clone(&function.program),
            grid,
            workgroup,
            dynamic_lds,
            arguments: collect(&function.program, arguments)?,
        };
        match launch.of_simulator().check() {
            Ok(()) => Ok(launch),
            Err(error) => launch.refused(&error),
        }
    }

    /// The number of its device.
    pub(crate) fn device(&self) -> usize {
        self.module.device
    }

    fn of_simulator(&self) -> Launch<'_> {
        Launch {
            loaded: &self.module.loaded,
            program: &self.program,
            grid: self.grid,
            workgroup: self.workgroup,
            dynamic_lds: self.dynamic_lds,
            arguments: &self.arguments,
        }
    }

    fn refused<T>(&self, error: &LaunchError) -> Result<T> {
        let kernel = &self.program.kernel.name;
        let (code, hint) = match error {
            LaunchError::Size { .. } => (Code::INVALID_CONFIGURATION, "launch it with other sizes"),
            LaunchError::Needs { .. } => {
                (Code::LAUNCH_OUT_OF_RESOURCES, "build the code object anew")
            }
            LaunchError::Lds { .. } => (Code::INVALID_VALUE, "ask for less dynamic shared memory"),
            LaunchError::Arguments { .. } => (
                Code::INVALID_VALUE,
                "build program and kernel from the same sources",
            ),
            LaunchError::Memory(_) => (
                Code::OUT_OF_MEMORY,
                "give the device more with CAIRN_SIM_MEMORY",
            ),
        };
        refuse(code, format_args!("kernel {kernel}: {error}; {hint}"))
    }

    /// Runs the kernel. What it does wrong is printed, and is the device's fault.
    pub(crate) fn run(&self, runtime: &Runtime, device: &Device) {
        let reach = device.reach(runtime);
        let mut memory = lock(&device.memory).view(reach);
        let done = {
            let _one = lock(&device.busy);
            self.of_simulator()
                .run(&mut memory, &runtime.settings.options)
        };
        match done {
            Ok(report) if report.findings.is_empty() => {
                let estimate = model::estimate(&self.of_simulator(), &report.counters);
                device.spend(estimate.seconds);
            }
            Ok(report) => device.fail(told(device, &report.findings)),
            Err(LaunchError::Memory(error)) => {
                let _ = no_memory::<()>(device, &error);
                device.fail(Code::LAUNCH_OUT_OF_RESOURCES);
            }
            Err(error) => {
                let _ = self.refused::<()>(&error);
                device.fail(Code::LAUNCH_FAILURE);
            }
        }
    }
}

/// Prints findings and gives the code of the worst.
fn told(device: &Device, findings: &[Finding]) -> Code {
    for finding in findings.iter().take(MAX_TOLD) {
        tell(format_args!("device {}: {finding}", device.number));
    }
    if let Some(more) = findings
        .len()
        .checked_sub(MAX_TOLD)
        .filter(|more| *more > 0)
    {
        tell(format_args!(
            "device {}: and {more} more findings",
            device.number
        ));
    }
    let found = |kind| findings.iter().any(|finding| finding.kind == kind);
    if found(FindingKind::OutOfBounds) {
        Code::ILLEGAL_ADDRESS
    } else if found(FindingKind::EndlessLoop) {
        Code::LAUNCH_TIME_OUT
    } else {
        Code::LAUNCH_FAILURE
    }
}

fn explicit(program: &Program) -> impl Iterator<Item = &Argument> {
    let all = program.kernel.metadata.args.iter();
    all.filter(|argument| !argument.kind.is_hidden())
}

/// The explicit arguments, laid out as the kernel's metadata say.
fn collect(program: &Program, given: Arguments<'_>) -> Result<Vec<u8>> {
    let end = explicit(program).map(|argument| argument.offset as usize + argument.size as usize);
    let size = end.max().unwrap_or(0);
    match given {
        // The structure a program passes may end with padding.
        Arguments::Buffer(bytes)
            if bytes.len() >= size && bytes.len() <= size.next_multiple_of(16) =>
        {
            Ok(bytes[..size].to_vec())
        }
        Arguments::None if size == 0 => Ok(Vec::new()),
        Arguments::Each(pointers) => {
            let mut bytes = vec![0; size];
            for (number, argument) in explicit(program).enumerate() {
                let place = argument.offset as usize..(argument.offset + argument.size) as usize;
                let value = argument_bytes(pointers, number, argument.size as usize);
                let Some(value) = value else {
                    let name = argument.name.as_deref().unwrap_or("without a name");
                    let kernel = &program.kernel.name;
                    let message = format_args!(
                        "kernel {kernel}: the address of argument {number} ({name}) is null"
                    );
                    return refuse(Code::INVALID_VALUE, message);
                };
                bytes[place].copy_from_slice(value);
            }
            Ok(bytes)
        }
        Arguments::Buffer(_) | Arguments::None => {
            let given = match given {
                Arguments::Buffer(bytes) => bytes.len(),
                _ => 0,
            };
            let kernel = &program.kernel.name;
            let message = format_args!(
                "kernel {kernel}: {given} bytes of arguments, and it takes {size}; build program and kernel from the same sources"
            );
            refuse(Code::INVALID_VALUE, message)
        }
    }
}

/// What compiled programs register before `main`: images, kernels and variables by the
/// addresses that stand for them on the host.
#[derive(Debug)]
pub(crate) struct Registered {
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    images: BTreeMap<usize, Image>,
    next: usize,
    /// Image and name.
    kernels: BTreeMap<usize, (usize, String)>,
    variables: BTreeMap<usize, (usize, String)>,
}

#[derive(Debug)]
struct Image {
    bytes: RawImage,
    /// By device.
    modules: BTreeMap<usize, Arc<Module>>,
}

impl Registered {
    pub(crate) const fn new() -> Self {
        Self {
            known: Mutex::new(Known {
                images: BTreeMap::new(),
                next: 0,
                kernels: BTreeMap::new(),
                variables: BTreeMap::new(),
            }),
        }
    }

    /// Registers an image and gives its handle.
    pub(crate) fn image(&self, bytes: RawImage) -> usize {
        let mut known = lock(&self.known);
        known.next += 16;
        let handle = (0xc7 << 56) + known.next;
        let modules = BTreeMap::new();
        known.images.insert(handle, Image { bytes, modules });
        handle
    }

    pub(crate) fn forget(&self, image: usize) {
        let mut known = lock(&self.known);
        known.kernels.retain(|_, (of, _)| *of != image);
        known.variables.retain(|_, (of, _)| *of != image);
        let gone = known.images.remove(&image);
        drop(known);
        drop(gone);
    }

    pub(crate) fn kernel(&self, image: usize, host: usize, name: &str) {
        lock(&self.known)
            .kernels
            .insert(host, (image, name.to_owned()));
    }

    pub(crate) fn variable(&self, image: usize, host: usize, name: &str) {
        lock(&self.known)
            .variables
            .insert(host, (image, name.to_owned()));
    }

    /// The kernel that an address stands for, on this thread's device.
    pub(crate) fn function(&self, runtime: &Runtime, host: usize) -> Result<Function> {
        let mut known = lock(&self.known);
        let found = known.kernels.get(&host).cloned();
        let (image, name) = found.ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        let module = known.module(runtime, image)?;
        let program = module.program(&name)?;
        Ok(Function { module, program })
    }

    /// Address and size of the variable that an address stands for.
    pub(crate) fn address(&self, runtime: &Runtime, host: usize) -> Result<(u64, u64)> {
        let mut known = lock(&self.known);
        let found = known.variables.get(&host).cloned();
        let (image, name) = found.ok_or(Code::INVALID_SYMBOL)?;
        known.module(runtime, image)?.variable(&name)
    }

    /// Forgets what was loaded for a device.
    pub(crate) fn reset(&self, device: usize) {
        let mut known = lock(&self.known);
        let gone: Vec<_> = known
            .images
            .values_mut()
            .filter_map(|image| image.modules.remove(&device))
            .collect();
        drop(known);
        drop(gone);
    }
}

impl Known {
    fn module(&mut self, runtime: &Runtime, image: usize) -> Result<Arc<Module>> {
        let device = runtime.current()?.number;
        let image = self
            .images
            .get_mut(&image)
            .ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        if let Some(module) = image.modules.get(&device) {
            return Ok(Arc::clone(module));
        }
        let module = Module::load(runtime, &image.bytes, "the program")?;
        image.modules.insert(device, Arc::clone(&module));
        Ok(module)
    }
}

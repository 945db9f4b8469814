//! C functions of modules, kernels and launches.

use std::ffi::{c_int, c_uint};
use std::path::Path;
use std::sync::Arc;

use super::{Out, RawImage, Text, functions, number, words};
use crate::error::{Code, Result, refuse};
use crate::graph::refuse_captures;
use crate::launch::{Arguments, KernelLaunch};
use crate::module::{self, Function, Module};
use crate::runtime::{self, Runtime};
use crate::stream::{Stream, Work};

/// Keys of `extra`.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 3;

/// Loads the image at an address.
fn load(out: &Out<usize>, image: usize) -> Result {
    out.check()?;
    let runtime = runtime::get()?;
    refuse_captures(runtime)?;
    let module = Module::load(
        runtime,
        &RawImage::at(image)?,
        &format!("the image at {image:#x}"),
    )?;
    out.set(runtime.modules.insert(module))
}

/// The arguments of `kernelParams` or `extra`.
fn arguments<'a>(parameters: usize, extra: usize) -> Result<Arguments<'a>> {
    if parameters != 0 && extra != 0 {
        return Err(Code::INVALID_VALUE);
    }
    if parameters != 0 {
        return Ok(Arguments::Each(parameters));
    }
    if extra == 0 {
        return Ok(Arguments::None);
    }
    let pairs = words(extra, 16, END).ok_or(Code::INVALID_VALUE)?;
    let value = |key| {
        let mut pairs = pairs.chunks_exact(2);
        pairs.find(|pair| pair[0] == key).map(|pair| pair[1])
    };
    let size = value(BUFFER_SIZE)
        .and_then(number)
        .ok_or(Code::INVALID_VALUE)?;
    let buffer = value(BUFFER_POINTER).ok_or(Code::INVALID_VALUE)?;
    if size == 0 {
        return Ok(Arguments::None);
    }
    if buffer == 0 {
        return Err(Code::INVALID_VALUE);
    }
    Ok(Arguments::Buffer(super::host_bytes(
        buffer as u64,
        size as u64,
    )))
}

/// Launches a kernel in a stream.
pub(super) fn launch(
    runtime: &Runtime,
    function: &Function,
    [grid, workgroup]: [[u32; 3]; 2],
    dynamic_lds: u32,
    stream: usize,
    arguments: Arguments<'_>,
) -> Result {
    let stream = Stream::of(runtime, stream)?;
    stream.device(runtime)?;
    if stream.device != function.module.device {
        let kernel = &function.program.kernel.name;
        let (own, other) = (function.module.device, stream.device);
        let message = format_args!(
            "kernel {kernel} was loaded for device {own}, and the stream is of device {other}; load the module after hipSetDevice({other})"
        );
        return refuse(Code::INVALID_HANDLE, message);
    }
    let launch = KernelLaunch::new(function, grid, workgroup, dynamic_lds, arguments)?;
    stream.submit(runtime, Work::Kernel(launch))
}

functions! {
    fn hipModuleLoad(out: Out<usize>, path: Text) {
        out.check()?;
        let (runtime, path) = (runtime::get()?, path.get()?);
        refuse_captures(runtime)?;
        let bytes = match std::fs::read(Path::new(path)) {
            Ok(bytes) => bytes,
            Err(error) => return refuse(Code::FILE_NOT_FOUND, format_args!("{path}: {error}")),
        };
        let module = Module::load(runtime, bytes.as_slice(), path)?;
        out.set(runtime.modules.insert(module))
    }

    fn hipModuleLoadData(out: Out<usize>, image: usize) {
        load(&out, image)
    }

    fn hipModuleLoadDataEx(out: Out<usize>, image: usize, _count: c_uint, _options: usize, _values: usize) {
        load(&out, image)
    }

    fn hipModuleUnload(module: usize) {
        let runtime = runtime::get()?;
        let module = runtime.modules.remove(module)?;
        runtime.functions.remove_all(|function| Arc::ptr_eq(&function.module, &module));
        Ok(())
    }

    fn hipModuleGetFunction(out: Out<usize>, module: usize, name: Text) {
        out.check()?;
        let runtime = runtime::get()?;
        let module = runtime.modules.get(module)?;
        let program = module.program(name.get()?)?;
        let known = runtime.functions.find(|known| Arc::ptr_eq(&known.program, &program));
        let handle = known.unwrap_or_else(|| {
            runtime.functions.insert(Arc::new(Function { module, program }))
        });
        out.set(handle)
    }

    fn hipModuleGetGlobal(address: Out<usize>, bytes: Out<usize>, module: usize, name: Text) {
        let module = runtime::get()?.modules.get(module)?;
        let (start, size) = module.variable(name.get()?)?;
        address.set_if_wanted(start as usize);
        bytes.set_if_wanted(size as usize);
        Ok(())
    }

    fn hipFuncGetAttribute(value: Out<c_int>, which: c_int, function: usize) {
        value.check()?;
        let runtime = runtime::get()?;
        let function = runtime.functions.get(function)?;
        let arch = runtime.settings.arch;
        value.set(module::attribute(&function.program.kernel, arch, which)? as c_int)
    }

    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(count: Out<c_int>, function: usize, workgroup: c_int, lds: usize) {
        count.check()?;
        let function = runtime::get()?.functions.get(function)?;
        count.set(module::resident_workgroups(&function.program, workgroup, lds as u64)?)
    }

    fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count: Out<c_int>, function: usize, workgroup: c_int, lds: usize, _flags: c_uint) {
        count.check()?;
        let function = runtime::get()?.functions.get(function)?;
        count.set(module::resident_workgroups(&function.program, workgroup, lds as u64)?)
    }

    fn hipModuleLaunchKernel(
        function: usize,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        lds: c_uint,
        stream: usize,
        parameters: usize,
        extra: usize,
    ) {
        let runtime = runtime::get()?;
        let function = runtime.functions.get(function)?;
        let sizes = [[grid_x, grid_y, grid_z], [block_x, block_y, block_z]];
        launch(runtime, &function, sizes, lds, stream, arguments(parameters, extra)?)
    }
}

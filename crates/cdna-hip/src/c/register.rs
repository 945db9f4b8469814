//! C functions that compilers call: what a program registers before `main`, and launches
//! by the address that stands for a kernel.

use std::cell::RefCell;
use std::ffi::c_int;

use super::{Out, RawImage, Text, functions, module::launch};
use crate::error::{Code, guarded};
use crate::launch::Arguments;
use crate::module;
use crate::runtime::{self, REGISTERED};

/// How a wrapper of images begins: its name and its version.
const WRAPPER: u64 = 0x1_4849_5046;

/// Sizes in three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim3 {
    x: u32,
    y: u32,
    z: u32,
}

impl Dim3 {
    const fn sizes(self) -> [u32; 3] {
        [self.x, self.y, self.z]
    }
}

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy, Debug)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    lds: usize,
    stream: usize,
}

thread_local! {
    static CONFIGURATIONS: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// The image of a wrapper that a compiler has made.
fn wrapped(wrapper: usize) -> Option<RawImage> {
    (super::number(wrapper)? as u64 == WRAPPER).then_some(())?;
    RawImage::at(super::number(wrapper + 8)?).ok()
}

// SAFETY: compilers call a function of this name and type.
#[unsafe(no_mangle)]
extern "C" fn __hipRegisterFatBinary(wrapper: usize) -> usize {
    let mut handle = 0;
    guarded("__hipRegisterFatBinary", || {
        handle = REGISTERED.image(wrapped(wrapper).ok_or(Code::INVALID_IMAGE)?);
        Ok(())
    });
    handle
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __hipUnregisterFatBinary(image: usize) {
    guarded("__hipUnregisterFatBinary", || {
        REGISTERED.forget(image);
        Ok(())
    });
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __hipRegisterFunction(
    image: usize,
    host: usize,
    _device_name: usize,
    name: Text,
    _limit: u32,
    _thread: usize,
    _block: usize,
    _block_dim: usize,
    _grid_dim: usize,
    _waves: usize,
) {
    guarded("__hipRegisterFunction", || {
        REGISTERED.kernel(image, host, name.get()?);
        Ok(())
    });
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn __hipRegisterVar(
    image: usize,
    host: usize,
    _host_name: usize,
    name: Text,
    _is_extern: c_int,
    _bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    guarded("__hipRegisterVar", || {
        REGISTERED.variable(image, host, name.get()?);
        Ok(())
    });
}

/// As C lays it out.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct FunctionAttributes {
    binary_version: c_int,
    cache_mode: c_int,
    constant_bytes: usize,
    local_bytes: usize,
    max_dynamic_lds: c_int,
    max_threads: c_int,
    registers: c_int,
    preferred_carveout: c_int,
    ptx_version: c_int,
    lds_bytes: usize,
}

functions! {
    fn __hipPushCallConfiguration(grid: Dim3, block: Dim3, lds: usize, stream: usize) {
        let configuration = Configuration { grid, block, lds, stream };
        CONFIGURATIONS.with_borrow_mut(|all| all.push(configuration));
        Ok(())
    }

    fn __hipPopCallConfiguration(grid: Out<Dim3>, block: Out<Dim3>, lds: Out<usize>, stream: Out<usize>) {
        let last = CONFIGURATIONS.with_borrow_mut(Vec::pop);
        let last = last.ok_or(Code::MISSING_CONFIGURATION)?;
        grid.set(last.grid)?;
        block.set(last.block)?;
        lds.set(last.lds)?;
        stream.set(last.stream)
    }

    fn hipLaunchKernel(host: usize, grid: Dim3, block: Dim3, arguments: usize, lds: usize, stream: usize) {
        let runtime = runtime::get()?;
        let function = REGISTERED.function(runtime, host)?;
        let arguments = if arguments == 0 { Arguments::None } else { Arguments::Each(arguments) };
        let lds = u32::try_from(lds).map_err(|_| Code::INVALID_VALUE)?;
        launch(runtime, &function, [grid.sizes(), block.sizes()], lds, stream, arguments)
    }

    fn hipFuncGetAttributes(out: Out<FunctionAttributes>, host: usize) {
        out.check()?;
        let runtime = runtime::get()?;
        let function = REGISTERED.function(runtime, host)?;
        let (kernel, arch) = (&function.program.kernel, runtime.settings.arch);
        let value = |which| module::attribute(kernel, arch, which);
        out.set(FunctionAttributes {
            binary_version: value(6)? as c_int,
            cache_mode: 0,
            constant_bytes: 0,
            local_bytes: value(3)? as usize,
            max_dynamic_lds: value(8)? as c_int,
            max_threads: value(0)? as c_int,
            registers: value(4)? as c_int,
            preferred_carveout: 0,
            ptx_version: value(5)? as c_int,
            lds_bytes: value(1)? as usize,
        })
    }

    /// There is room for what a kernel asks, and nothing to set.
    fn hipFuncSetAttribute(host: usize, _which: c_int, _value: c_int) {
        REGISTERED.function(runtime::get()?, host).map(drop)
    }

    fn hipOccupancyMaxActiveBlocksPerMultiprocessor(count: Out<c_int>, host: usize, workgroup: c_int, lds: usize) {
        count.check()?;
        let function = REGISTERED.function(runtime::get()?, host)?;
        count.set(module::resident_workgroups(&function.program, workgroup, lds as u64)?)
    }
}

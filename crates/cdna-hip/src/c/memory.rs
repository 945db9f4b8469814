//! C functions of memory.

use std::ffi::{c_int, c_uint};

use super::{Out, functions};
use crate::error::{Code, Result};
use crate::graph::refuse_captures;
use crate::handles::lock;
use crate::memory::{self, Copy, Fill, Kind};
use crate::runtime::{self, REGISTERED};
use crate::stream::{Stream, Work};

/// A handle or address, as the number that it is.
type Address = usize;

/// Copies in a stream.
fn copy(to: u64, from: u64, bytes: usize, kind: Kind, stream: Address) -> Result {
    let runtime = runtime::get()?;
    let stream = Stream::of(runtime, stream)?;
    stream.device(runtime)?;
    match Copy::new(runtime, to, from, bytes as u64, kind)? {
        Some(copy) => stream.submit(runtime, Work::Copy(copy)),
        None => Ok(()),
    }
}

/// Copies and waits.
fn copy_now(to: u64, from: u64, bytes: usize, kind: Kind) -> Result {
    let runtime = runtime::get()?;
    refuse_captures(runtime)?;
    runtime.chosen().wait()?;
    copy(to, from, bytes, kind, 0)?;
    runtime.chosen().wait()
}

/// Copies between devices that are named.
fn copy_peer(
    to: u64,
    to_device: c_int,
    from: u64,
    from_device: c_int,
    bytes: usize,
    stream: Address,
) -> Result {
    let runtime = runtime::get()?;
    let (to_device, from_device) = (runtime.device(to_device)?, runtime.device(from_device)?);
    let stream = Stream::of(runtime, stream)?;
    stream.device(runtime)?;
    let Some(copy) = Copy::new(runtime, to, from, bytes as u64, Kind::DeviceToDevice)? else {
        return Ok(());
    };
    if !copy.is_between(to_device.number, from_device.number) {
        return Err(Code::INVALID_VALUE);
    }
    stream.submit(runtime, Work::Copy(copy))
}

/// Fills in a stream.
fn fill(to: Address, value: u32, width: u64, count: usize, stream: Address) -> Result {
    let runtime = runtime::get()?;
    let stream = Stream::of(runtime, stream)?;
    stream.device(runtime)?;
    match Fill::new(runtime, to as u64, value, width, count as u64)? {
        Some(fill) => stream.submit(runtime, Work::Fill(fill)),
        None => Ok(()),
    }
}

/// Allocates memory of this thread's device.
fn malloc(out: &Out<Address>, bytes: usize) -> Result {
    out.check()?;
    let runtime = runtime::get()?;
    let device = runtime.current()?;
    out.set(memory::allocate(device, bytes as u64)? as Address)
}

/// Allocates memory of the host.
fn host_malloc(out: &Out<Address>, bytes: usize, name: &str) -> Result {
    out.check()?;
    let runtime = runtime::get()?;
    runtime.current()?;
    refuse_captures(runtime)?;
    out.set(memory::allocate_host(runtime, bytes as u64, name)? as Address)
}

fn host_free(address: Address) -> Result {
    let runtime = runtime::get()?;
    if address == 0 {
        return Ok(());
    }
    memory::free_host(runtime, address as u64, "hipHostMalloc")
}

/// Copies to or from a variable of the program.
fn symbol_copy(
    symbol: Address,
    host: Address,
    bytes: usize,
    offset: usize,
    kind: c_int,
    to_symbol: bool,
) -> Result {
    let runtime = runtime::get()?;
    let (address, size) = REGISTERED.address(runtime, symbol)?;
    let end = offset.checked_add(bytes).ok_or(Code::INVALID_VALUE)?;
    if end as u64 > size {
        return Err(Code::INVALID_VALUE);
    }
    let (place, host, kind) = (
        address + offset as u64,
        host as u64,
        Kind::from_number(kind)?,
    );
    if to_symbol {
        copy_now(place, host, bytes, kind)
    } else {
        copy_now(host, place, bytes, kind)
    }
}

functions! {
    fn hipMalloc(address: Out<Address>, bytes: usize) {
        refuse_captures(runtime::get()?)?;
        malloc(&address, bytes)
    }

    fn hipMallocAsync(address: Out<Address>, bytes: usize, stream: Address) {
        let runtime = runtime::get()?;
        let stream = Stream::of(runtime, stream)?;
        if lock(&stream.joined).is_some() {
            return Err(Code::NOT_SUPPORTED);
        }
        address.check()?;
        let device = stream.device(runtime)?;
        address.set(memory::allocate(device, bytes as u64)? as Address)
    }

    fn hipFree(address: Address) {
        let runtime = runtime::get()?;
        refuse_captures(runtime)?;
        // Memory is given back also after a fault, which is returned then.
        memory::free(runtime, address as u64)?;
        runtime.current().map(drop)
    }

    fn hipFreeAsync(address: Address, stream: Address) {
        let runtime = runtime::get()?;
        let stream = Stream::of(runtime, stream)?;
        if lock(&stream.joined).is_some() {
            return Err(Code::NOT_SUPPORTED);
        }
        if address == 0 {
            return Err(Code::INVALID_VALUE);
        }
        memory::free(runtime, address as u64)
    }

    fn hipMallocManaged(address: Out<Address>, bytes: usize, flags: c_uint) {
        if !(1..=2).contains(&flags) {
            return Err(Code::INVALID_VALUE);
        }
        host_malloc(&address, bytes, "hipMallocManaged")
    }

    fn hipHostMalloc(address: Out<Address>, bytes: usize, _flags: c_uint) {
        host_malloc(&address, bytes, "hipHostMalloc")
    }

    fn hipMallocHost(address: Out<Address>, bytes: usize) {
        host_malloc(&address, bytes, "hipHostMalloc")
    }

    fn hipHostFree(address: Address) {
        host_free(address)
    }

    fn hipFreeHost(address: Address) {
        host_free(address)
    }

    fn hipHostGetDevicePointer(device: Out<Address>, host: Address, _flags: c_uint) {
        let runtime = runtime::get()?;
        match memory::place(runtime, host as u64, 1)? {
            memory::Place::Pinned(address) => device.set(address as Address),
            _ => Err(Code::INVALID_VALUE),
        }
    }

    fn hipMemGetInfo(free: Out<usize>, total: Out<usize>) {
        let device = runtime::get()?.current()?;
        let memory = lock(&device.memory);
        free.set_if_wanted((memory.limit() - memory.used()) as usize);
        total.set_if_wanted(memory.limit() as usize);
        Ok(())
    }

    fn hipMemcpy(to: Address, from: Address, bytes: usize, kind: c_int) {
        copy_now(to as u64, from as u64, bytes, Kind::from_number(kind)?)
    }

    fn hipMemcpyAsync(to: Address, from: Address, bytes: usize, kind: c_int, stream: Address) {
        copy(to as u64, from as u64, bytes, Kind::from_number(kind)?, stream)
    }

    fn hipMemcpyWithStream(to: Address, from: Address, bytes: usize, kind: c_int, stream: Address) {
        copy(to as u64, from as u64, bytes, Kind::from_number(kind)?, stream)?;
        let runtime = runtime::get()?;
        Stream::of(runtime, stream)?.wait(runtime)
    }

    fn hipMemcpyHtoD(to: Address, from: Address, bytes: usize) {
        copy_now(to as u64, from as u64, bytes, Kind::HostToDevice)
    }

    fn hipMemcpyDtoH(to: Address, from: Address, bytes: usize) {
        copy_now(to as u64, from as u64, bytes, Kind::DeviceToHost)
    }

    fn hipMemcpyDtoD(to: Address, from: Address, bytes: usize) {
        copy_now(to as u64, from as u64, bytes, Kind::DeviceToDevice)
    }

    fn hipMemcpyHtoDAsync(to: Address, from: Address, bytes: usize, stream: Address) {
        copy(to as u64, from as u64, bytes, Kind::HostToDevice, stream)
    }

    fn hipMemcpyDtoHAsync(to: Address, from: Address, bytes: usize, stream: Address) {
        copy(to as u64, from as u64, bytes, Kind::DeviceToHost, stream)
    }

    fn hipMemcpyDtoDAsync(to: Address, from: Address, bytes: usize, stream: Address) {
        copy(to as u64, from as u64, bytes, Kind::DeviceToDevice, stream)
    }

    fn hipMemcpyPeer(to: Address, to_device: c_int, from: Address, from_device: c_int, bytes: usize) {
        let runtime = runtime::get()?;
        refuse_captures(runtime)?;
        runtime.chosen().wait()?;
        copy_peer(to as u64, to_device, from as u64, from_device, bytes, 0)
    }

    fn hipMemcpyPeerAsync(to: Address, to_device: c_int, from: Address, from_device: c_int, bytes: usize, stream: Address) {
        copy_peer(to as u64, to_device, from as u64, from_device, bytes, stream)
    }

    fn hipMemcpyToSymbol(symbol: Address, from: Address, bytes: usize, offset: usize, kind: c_int) {
        symbol_copy(symbol, from, bytes, offset, kind, true)
    }

    fn hipMemcpyFromSymbol(to: Address, symbol: Address, bytes: usize, offset: usize, kind: c_int) {
        symbol_copy(symbol, to, bytes, offset, kind, false)
    }

    fn hipGetSymbolAddress(address: Out<Address>, symbol: Address) {
        address.check()?;
        address.set(REGISTERED.address(runtime::get()?, symbol)?.0 as Address)
    }

    fn hipGetSymbolSize(bytes: Out<usize>, symbol: Address) {
        bytes.check()?;
        bytes.set(REGISTERED.address(runtime::get()?, symbol)?.1 as usize)
    }

    fn hipMemset(to: Address, value: c_int, bytes: usize) {
        fill(to, value as u32 & 0xff, 1, bytes, 0)
    }

    fn hipMemsetAsync(to: Address, value: c_int, bytes: usize, stream: Address) {
        fill(to, value as u32 & 0xff, 1, bytes, stream)
    }

    fn hipMemsetD8(to: Address, value: u8, count: usize) {
        fill(to, value.into(), 1, count, 0)
    }

    fn hipMemsetD8Async(to: Address, value: u8, count: usize, stream: Address) {
        fill(to, value.into(), 1, count, stream)
    }

    fn hipMemsetD16(to: Address, value: u16, count: usize) {
        fill(to, value.into(), 2, count, 0)
    }

    fn hipMemsetD16Async(to: Address, value: u16, count: usize, stream: Address) {
        fill(to, value.into(), 2, count, stream)
    }

    fn hipMemsetD32(to: Address, value: c_int, count: usize) {
        fill(to, value as u32, 4, count, 0)
    }

    fn hipMemsetD32Async(to: Address, value: c_int, count: usize, stream: Address) {
        fill(to, value as u32, 4, count, stream)
    }

    fn hipIpcGetMemHandle(_handle: Address, _address: Address) {
        Err(Code::NOT_SUPPORTED)
    }

    fn hipIpcOpenMemHandle(_address: Address, _handle: IpcHandle, _flags: c_uint) {
        Err(Code::NOT_SUPPORTED)
    }

    fn hipIpcCloseMemHandle(_address: Address) {
        Err(Code::NOT_SUPPORTED)
    }
}

/// A handle for another process, of which there are none: devices live in one process.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct IpcHandle([u8; 64]);

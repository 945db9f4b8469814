//! C functions of devices and errors.

use std::ffi::{c_char, c_int, c_uint};

use super::{Out, Text, functions};
use crate::error::{self, Code, Result};
use crate::graph::refuse_captures;
use crate::properties::{self, BEFORE_6, SINCE_6, VERSION};
use crate::runtime::{self, REGISTERED, Runtime};

/// What `hipGetDeviceProperties` fills.
fn properties(out: &Out<u8>, number: c_int, bytes: usize) -> Result {
    out.check()?;
    let runtime = runtime::get()?;
    let device = runtime.device(number)?;
    out.set_all(&properties::structure(
        &runtime.settings,
        device.number,
        bytes,
    ))
}

/// A device and its peer.
fn peer(
    runtime: &Runtime,
    number: c_int,
) -> Result<(&crate::device::Device, &crate::device::Device)> {
    Ok((runtime.current()?, runtime.device(number)?))
}

functions! {
    fn hipInit(flags: c_uint) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        runtime::get().map(drop)
    }

    fn hipRuntimeGetVersion(version: Out<c_int>) {
        version.set(VERSION)
    }

    fn hipDriverGetVersion(version: Out<c_int>) {
        version.set(VERSION)
    }

    fn hipGetDeviceCount(count: Out<c_int>) {
        count.check()?;
        match runtime::get() {
            Ok(runtime) => count.set(runtime.devices.len() as c_int),
            Err(code) => {
                count.set(0)?;
                Err(code)
            }
        }
    }

    fn hipGetDevice(device: Out<c_int>) {
        device.check()?;
        device.set(runtime::get()?.chosen().number as c_int)
    }

    fn hipSetDevice(device: c_int) {
        runtime::get()?.choose(device)
    }

    fn hipDeviceGet(device: Out<c_int>, number: c_int) {
        device.check()?;
        device.set(runtime::get()?.device(number)?.number as c_int)
    }

    fn hipDeviceGetName(name: Out<u8>, room: c_int, device: c_int) {
        name.check()?;
        let runtime = runtime::get()?;
        runtime.device(device)?;
        name.set_text(properties::name(runtime.settings.arch), room)
    }

    fn hipDeviceTotalMem(bytes: Out<usize>, device: c_int) {
        bytes.check()?;
        let runtime = runtime::get()?;
        runtime.device(device)?;
        bytes.set(runtime.settings.memory as usize)
    }

    fn hipDeviceGetAttribute(value: Out<c_int>, which: c_int, device: c_int) {
        value.check()?;
        let runtime = runtime::get()?;
        let number = runtime.device(device)?.number;
        let found = properties::attribute(&runtime.settings, number, which);
        value.set(found.ok_or(Code::INVALID_VALUE)?)
    }

    fn hipDeviceGetPCIBusId(id: Out<u8>, room: c_int, device: c_int) {
        id.check()?;
        id.set_text(&properties::bus_id(runtime::get()?.device(device)?.number), room)
    }

    fn hipDeviceGetByPCIBusId(device: Out<c_int>, id: Text) {
        device.check()?;
        let (runtime, id) = (runtime::get()?, id.get()?);
        let mut devices = runtime.devices.iter();
        let found = devices.find(|device| properties::bus_id(device.number) == id);
        device.set(found.ok_or(Code::INVALID_DEVICE)?.number as c_int)
    }

    fn hipDeviceComputeCapability(major: Out<c_int>, minor: Out<c_int>, device: c_int) {
        major.check()?;
        minor.check()?;
        let runtime = runtime::get()?;
        runtime.device(device)?;
        let version = crate::module::version(runtime.settings.arch) as c_int;
        major.set(version / 10)?;
        minor.set(version % 10)
    }

    fn hipGetDeviceProperties(out: Out<u8>, device: c_int) {
        properties(&out, device, BEFORE_6)
    }

    fn hipGetDevicePropertiesR0000(out: Out<u8>, device: c_int) {
        properties(&out, device, BEFORE_6)
    }

    fn hipGetDevicePropertiesR0600(out: Out<u8>, device: c_int) {
        properties(&out, device, SINCE_6)
    }

    fn hipDeviceSynchronize() {
        let runtime = runtime::get()?;
        refuse_captures(runtime)?;
        runtime.chosen().wait()
    }

    fn hipDeviceReset() {
        let runtime = runtime::get()?;
        let device = runtime.chosen();
        REGISTERED.reset(device.number);
        device.reset(runtime);
        Ok(())
    }

    fn hipDeviceCanAccessPeer(can: Out<c_int>, device: c_int, peer: c_int) {
        can.check()?;
        let runtime = runtime::get()?;
        let (device, peer) = (runtime.device(device)?, runtime.device(peer)?);
        can.set(c_int::from(device.number != peer.number))
    }

    fn hipDeviceEnablePeerAccess(number: c_int, flags: c_uint) {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (device, peer) = peer(runtime::get()?, number)?;
        device.enable_peer(peer)
    }

    fn hipDeviceDisablePeerAccess(number: c_int) {
        let (device, peer) = peer(runtime::get()?, number)?;
        device.disable_peer(peer)
    }

    fn hipDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        let [high, low] = crate::stream::PRIORITIES;
        runtime::get()?;
        least.set_if_wanted(low);
        greatest.set_if_wanted(high);
        Ok(())
    }

    fn hipDrvGetErrorName(code: c_int, name: Out<*const c_char>) {
        name.set(error::name(code).as_ptr())
    }

    fn hipDrvGetErrorString(code: c_int, text: Out<*const c_char>) {
        text.set(error::meaning(code).as_ptr())
    }
}

/// The error of a device that cannot be used any more counts more than the last call's.
fn sticky() -> Option<c_int> {
    let code = runtime::existing()?.chosen().usable().err()?;
    Some(code.number())
}

// SAFETY: HIP has no other function of this name, and this is its type.
#[unsafe(no_mangle)]
extern "C" fn hipGetLastError() -> c_int {
    let last = error::take_last();
    sticky().unwrap_or(last)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn hipPeekAtLastError() -> c_int {
    sticky().unwrap_or_else(error::last)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn hipGetErrorName(code: c_int) -> *const c_char {
    error::name(code).as_ptr()
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    error::meaning(code).as_ptr()
}

//! The C functions, and all that touches a program's memory.

#![expect(unsafe_code, reason = "a C interface")]

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr;

use crate::error::{Code, Result};
use crate::image::Source;

mod device;
mod graph;
mod memory;
mod module;
mod order;
mod register;

/// Defines C functions: each body gives a result, and no panic leaves it.
macro_rules! functions {
    ($($(#[$about:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$about])*
        // SAFETY: HIP has no other function of this name, and this is its type.
        #[unsafe(no_mangle)]
        extern "C" fn $name($($arg: $type),*) -> std::ffi::c_int {
            crate::error::guarded(stringify!($name), || $body)
        }
    )*};
}
pub(crate) use functions;

/// Where a function writes a value: an address that its caller answers for.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Refuses null.
    pub(crate) const fn check(&self) -> Result {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        Ok(())
    }

    /// Writes the value; null is refused.
    pub(crate) fn set(&self, value: T) -> Result {
        self.check()?;
        // SAFETY: the caller of a C function gives the address of a value of this type.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Writes the value where there is an address.
    pub(crate) fn set_if_wanted(&self, value: T) {
        // Nothing is wanted at null.
        let _ = self.set(value);
    }
}

impl Out<u8> {
    /// Writes bytes.
    pub(crate) fn set_all(&self, bytes: &[u8]) -> Result {
        self.check()?;
        // SAFETY: the caller gives the address of so many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.0, bytes.len()) };
        Ok(())
    }

    /// Writes a text and a zero in at most so many bytes.
    pub(crate) fn set_text(&self, text: &str, room: i32) -> Result {
        let room = usize::try_from(room)
            .ok()
            .filter(|room| *room > 0)
            .ok_or(Code::INVALID_VALUE)?;
        let mut bytes = text.as_bytes()[..text.len().min(room - 1)].to_vec();
        bytes.push(0);
        self.set_all(&bytes)
    }
}

/// A text that a program gives.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// Its characters; null and what is not UTF-8 is refused.
    pub(crate) fn get(&self) -> Result<&str> {
        if self.0.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: the caller of a C function gives the address of a text that ends with zero.
        let text = unsafe { CStr::from_ptr(self.0) };
        text.to_str().map_err(|_| Code::INVALID_VALUE)
    }
}

/// A code object in a program's memory, whose end is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawImage(usize);

impl RawImage {
    /// The image at an address.
    pub(crate) const fn at(address: usize) -> Result<Self> {
        if address == 0 {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self(address))
    }
}

impl Source for RawImage {
    /// A damaged image tells of bytes that are not there. The kernel knows which are, and
    /// reads from this process what a pointer could not.
    fn bytes(&self, offset: u64, count: u64) -> Option<Cow<'_, [u8]>> {
        let start = (self.0 as u64).checked_add(offset)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(count).ok()?).ok()?;
        bytes.resize(count as usize, 0);
        let memory = File::open("/proc/self/mem").ok()?;
        memory.read_exact_at(&mut bytes, start).ok()?;
        Some(Cow::Owned(bytes))
    }
}

/// Bytes of a program's memory, to read.
pub(crate) fn host_bytes<'a>(address: u64, count: u64) -> &'a [u8] {
    let start = ptr::with_exposed_provenance(address as usize);
    // SAFETY: the caller of a copy gives the address of so many bytes, and leaves them
    // alone until it is done.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}

/// Bytes of a program's memory, to write.
pub(crate) fn host_bytes_mut<'a>(address: u64, count: u64) -> &'a mut [u8] {
    let start = ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: as `host_bytes`.
    unsafe { std::slice::from_raw_parts_mut(start, count as usize) }
}

/// Copies bytes inside of a program's memory, which may overlap.
pub(crate) fn move_host_bytes(to: u64, from: u64, count: u64) {
    let from = ptr::with_exposed_provenance::<u8>(from as usize);
    let to = ptr::with_exposed_provenance_mut(to as usize);
    // SAFETY: as `host_bytes`.
    unsafe { ptr::copy(from, to, count as usize) };
}

/// The value of an argument: `pointers` is the address of the arguments' addresses. `None`
/// where that is null.
pub(crate) fn argument_bytes<'a>(pointers: usize, number: usize, size: usize) -> Option<&'a [u8]> {
    let pointers = ptr::with_exposed_provenance::<*const u8>(pointers);
    // SAFETY: the caller of a launch gives as many addresses as the kernel has arguments.
    let value = unsafe { pointers.add(number).read() };
    if value.is_null() {
        return None;
    }
    // SAFETY: each is that of a value of the argument's size.
    Some(unsafe { std::slice::from_raw_parts(value, size) })
}

/// The entries of `extra`, up to its end.
pub(crate) fn words(address: usize, most: usize, end: usize) -> Option<Vec<usize>> {
    let start = ptr::with_exposed_provenance::<usize>(address);
    let mut words = Vec::new();
    while words.len() < most {
        // SAFETY: the caller of a launch ends the list as HIP says.
        let word = unsafe { start.add(words.len()).read() };
        if word == end {
            return Some(words);
        }
        words.push(word);
    }
    None
}

/// A number in a program's memory.
pub(crate) fn number(address: usize) -> Option<usize> {
    if address == 0 {
        return None;
    }
    // SAFETY: the caller gives the address of a number.
    Some(unsafe { ptr::with_exposed_provenance::<usize>(address).read() })
}

//! Memory: what is allocated, and copies between host and devices.

use std::ffi::c_int;
use std::sync::Arc;

use cairn_cdna::MemoryError;
use cairn_cdna::memory::Allocation;
use cairn_codeobj::Product;

use crate::device::{self, Device};
use crate::error::{Code, Result, refuse};
use crate::handles::lock;
use crate::runtime::Runtime;

/// A kind of copy (`hipMemcpyKind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// As the addresses say.
    Default,
}

impl Kind {
    pub(crate) fn from_number(number: c_int) -> Result<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 | 1024 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Code::INVALID_MEMCPY_DIRECTION),
        })
    }
}

/// What an address is of.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Memory of a device, and where in it.
    Device(Arc<Allocation>, u64),
    /// Memory of the host that devices reach too.
    Pinned(u64),
    /// Memory of the host, or no memory.
    Host(u64),
}

/// A copy that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    to: Place,
    from: Place,
    bytes: u64,
}

/// A fill that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    to: Place,
    /// Repeated.
    pattern: [u8; 4],
    bytes: u64,
}

/// Allocates memory of a device; nothing for 0 bytes.
pub(crate) fn allocate(device: &Device, bytes: u64) -> Result<u64> {
    if bytes == 0 {
        return Ok(0);
    }
    let allocated = lock(&device.memory).allocate(bytes, "hipMalloc");
    allocated.or_else(|error| no_memory(device, &error))
}

/// Tells that there is no memory, and what to do.
pub(crate) fn no_memory<T>(device: &Device, error: &MemoryError) -> Result<T> {
    let hint = match error {
        MemoryError::Machine { .. } => "use fewer devices, or smaller sizes",
        _ => "give each device more with CAIRN_SIM_MEMORY, such as CAIRN_SIM_MEMORY=16G",
    };
    let message = format_args!("device {}: {error}; {hint}", device.number);
    refuse(Code::OUT_OF_MEMORY, message)
}

/// Frees memory of any device, or of the host that `hipMallocManaged` gave.
pub(crate) fn free(runtime: &Runtime, address: u64) -> Result {
    if address == 0 {
        return Ok(());
    }
    let owner = device::owner(address).and_then(|at| runtime.devices.get(at));
    let freed = owner.is_some_and(|device| {
        let mut memory = lock(&device.memory);
        let name = memory.find(address, 1).map(|found| found.name.clone());
        name.as_deref() == Some("hipMalloc") && memory.free(address).is_ok()
    });
    if freed || free_host(runtime, address, "hipMallocManaged").is_ok() {
        return Ok(());
    }
    let message = format_args!("{address:#x} is not what hipMalloc gave, or was freed before");
    refuse(Code::INVALID_DEVICE_POINTER, message)
}

/// Memory of the host that every device reaches at the same address.
pub(crate) fn allocate_host(runtime: &Runtime, bytes: u64, name: &str) -> Result<u64> {
    if bytes == 0 {
        return Ok(0);
    }
    let Some(allocation) = Allocation::of_host(bytes, name) else {
        let error = MemoryError::Machine { asked: bytes };
        return refuse(Code::OUT_OF_MEMORY, error);
    };
    let address = allocation.base;
    lock(&runtime.host).insert(address, Arc::new(allocation));
    Ok(address)
}

/// Frees what [`allocate_host`] gave under this name.
pub(crate) fn free_host(runtime: &Runtime, address: u64, name: &str) -> Result {
    let mut host = lock(&runtime.host);
    if host.get(&address).is_some_and(|found| found.name == name) {
        host.remove(&address);
        return Ok(());
    }
    Err(Code::INVALID_VALUE)
}

/// What so many bytes at an address are of.
pub(crate) fn place(runtime: &Runtime, address: u64, bytes: u64) -> Result<Place> {
    if let Some(owner) = device::owner(address) {
        let owner = runtime.devices.get(owner).ok_or(Code::INVALID_VALUE)?;
        let memory = lock(&owner.memory);
        if let Some(found) = memory.find(address, bytes) {
            return Ok(Place::Device(Arc::clone(found), address - found.base));
        }
        let message = match memory.nearest(address) {
            Some(near) => format!(
                "{bytes} bytes at {address:#x} are not in one allocation of device {}; the nearest has {} bytes at {:#x}",
                owner.number, near.bytes, near.base
            ),
            None => format!(
                "nothing is allocated on device {}, where {address:#x} would be",
                owner.number
            ),
        };
        return refuse(Code::INVALID_VALUE, message);
    }
    let host = lock(&runtime.host);
    let before = host.range(..=address).next_back();
    match before.filter(|(_, found)| found.contains(address, 1)) {
        Some((_, found)) if found.contains(address, bytes) => Ok(Place::Pinned(address)),
        Some((base, found)) => {
            let message = format!(
                "{bytes} bytes at {address:#x} go beyond the {} bytes at {base:#x} that {} gave",
                found.bytes, found.name
            );
            refuse(Code::INVALID_VALUE, message)
        }
        None => Ok(Place::Host(address)),
    }
}

impl Place {
    const fn is_device(&self) -> bool {
        matches!(self, Self::Device(..))
    }

    /// True for what a kernel could touch.
    const fn is_reached(&self) -> bool {
        matches!(self, Self::Device(..) | Self::Pinned(_))
    }

    /// The number of the device.
    pub(crate) fn device(&self) -> Option<usize> {
        match self {
            Self::Device(allocation, _) => device::owner(allocation.base),
            Self::Pinned(_) | Self::Host(_) => None,
        }
    }
}

impl Copy {
    /// Checks a copy; `None` where there is nothing to copy.
    pub(crate) fn new(
        runtime: &Runtime,
        to: u64,
        from: u64,
        bytes: u64,
        kind: Kind,
    ) -> Result<Option<Self>> {
        if bytes == 0 {
            return Ok(None);
        }
        if to == 0 || from == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let (to, from) = (place(runtime, to, bytes)?, place(runtime, from, bytes)?);
        let fits = match kind {
            Kind::HostToHost => !to.is_device() && !from.is_device(),
            Kind::HostToDevice => to.is_reached() && !from.is_device(),
            Kind::DeviceToHost => !to.is_device() && from.is_reached(),
            Kind::DeviceToDevice => to.is_reached() && from.is_reached(),
            Kind::Default => true,
        };
        if !fits {
            let message = format_args!("a copy of kind {kind:?} to {to} from {from}");
            return refuse(Code::INVALID_VALUE, message);
        }
        Ok(Some(Self { to, from, bytes }))
    }

    /// Checks that source and destination are memory of these devices.
    pub(crate) fn is_between(&self, to: usize, from: usize) -> bool {
        let of = |place: &Place, number| place.device().is_none_or(|device| device == number);
        of(&self.to, to) && of(&self.from, from)
    }

    /// How long it takes a device, by the figures of its model.
    pub(crate) fn seconds(&self, device: usize, model: &Product) -> f64 {
        let own = |place: &Place| place.device() == Some(device);
        let bytes = self.bytes as f64;
        match (own(&self.to), own(&self.from)) {
            (true, true) => 2.0 * bytes / model.bandwidth,
            _ if self.to.is_device() && self.from.is_device() => bytes / model.peer_link,
            _ => bytes / model.host_link,
        }
    }

    /// Copies.
    pub(crate) fn run(&self) {
        match (&self.to, &self.from) {
            (Place::Device(to, start), Place::Device(from, first)) => {
                to.copy(*start, from, *first, self.bytes);
            }
            (Place::Device(to, start), Place::Pinned(from) | Place::Host(from)) => {
                to.write(*start, crate::c::host_bytes(*from, self.bytes));
            }
            (Place::Pinned(to) | Place::Host(to), Place::Device(from, first)) => {
                from.read(*first, crate::c::host_bytes_mut(*to, self.bytes));
            }
            (Place::Pinned(to) | Place::Host(to), Place::Pinned(from) | Place::Host(from)) => {
                crate::c::move_host_bytes(*to, *from, self.bytes);
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Device(allocation, start) => {
                write!(f, "memory of a device ({:#x})", allocation.base + start)
            }
            Self::Pinned(address) => write!(f, "pinned memory ({address:#x})"),
            Self::Host(address) => write!(f, "memory of the host ({address:#x})"),
        }
    }
}

impl Fill {
    /// Checks a fill of `count` values of `width` bytes; `None` where there is nothing to fill.
    pub(crate) fn new(
        runtime: &Runtime,
        to: u64,
        value: u32,
        width: u64,
        count: u64,
    ) -> Result<Option<Self>> {
        let bytes = count.checked_mul(width).ok_or(Code::INVALID_VALUE)?;
        if bytes == 0 {
            return Ok(None);
        }
        if to == 0 || !to.is_multiple_of(width) {
            return Err(Code::INVALID_VALUE);
        }
        let to = place(runtime, to, bytes)?;
        if !to.is_reached() {
            let message = format_args!("a fill of {to}, which is no memory of a device");
            return refuse(Code::INVALID_VALUE, message);
        }
        let value = value.to_le_bytes();
        let pattern = std::array::from_fn(|at| value[at % width as usize]);
        Ok(Some(Self { to, pattern, bytes }))
    }

    /// How long it takes a device, by the figures of its model.
    pub(crate) fn seconds(&self, model: &Product) -> f64 {
        let rate = if self.to.is_device() {
            model.bandwidth
        } else {
            model.host_link
        };
        self.bytes as f64 / rate
    }

    /// Fills.
    pub(crate) fn run(&self) {
        const PART: u64 = 1 << 16;
        let part: Vec<u8> = self
            .pattern
            .repeat(self.bytes.min(PART).div_ceil(4) as usize);
        let mut at = 0;
        while at < self.bytes {
            let count = (self.bytes - at).min(PART);
            let bytes = &part[..count as usize];
            match &self.to {
                Place::Device(to, start) => to.write(start + at, bytes),
                Place::Pinned(to) | Place::Host(to) => {
                    crate::c::host_bytes_mut(to + at, count).copy_from_slice(bytes);
                }
            }
            at += count;
        }
    }
}

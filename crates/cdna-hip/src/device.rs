//! Devices: their memory, peers, and the fault that ended their use.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use cairn_cdna::Memory;
use cairn_cdna::memory::Allocation;

use crate::error::{Code, Result};
use crate::graph;
use crate::handles::lock;
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::stream::Stream;

/// Where the memory of devices begins: no address of the host.
pub(crate) const FIRST: u64 = 0x8000_0000_0000;
/// Addresses of each device.
const SPAN: u64 = 1 << 41;

/// A device.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) number: usize,
    pub(crate) memory: Mutex<Memory>,
    /// The devices whose memory its kernels may touch.
    pub(crate) peers: Mutex<BTreeSet<usize>>,
    /// The stream that is there without being made.
    pub(crate) default: Arc<Stream>,
    fault: Mutex<Fault>,
    /// Held while a kernel runs: a device has one at a time.
    pub(crate) busy: Mutex<()>,
    /// Seconds that its work would have taken by the cycle model.
    clock: Mutex<f64>,
}

/// What a kernel did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Nobody has waited since.
    Pending(Code),
    /// It was returned; every call returns it from then on.
    Raised(Code),
}

impl Device {
    pub(crate) fn new(number: usize, settings: &Settings) -> Self {
        let first = FIRST + number as u64 * SPAN;
        Self {
            number,
            memory: Mutex::new(Memory::at(first, settings.memory, settings.options.seed)),
            peers: Mutex::default(),
            default: Arc::new(Stream::of_device(number)),
            fault: Mutex::new(Fault::None),
            busy: Mutex::default(),
            clock: Mutex::default(),
        }
    }

    /// Adds the time of a piece of work.
    pub(crate) fn spend(&self, seconds: f64) {
        *lock(&self.clock) += seconds;
    }

    /// The time until now.
    pub(crate) fn now(&self) -> f64 {
        *lock(&self.clock)
    }

    /// Notes a fault. Work after it is not done.
    pub(crate) fn fail(&self, code: Code) {
        let mut fault = lock(&self.fault);
        if *fault == Fault::None {
            *fault = Fault::Pending(code);
        }
    }

    /// True when work is not done any more.
    pub(crate) fn failed(&self) -> bool {
        *lock(&self.fault) != Fault::None
    }

    /// The fault, if it was returned already.
    pub(crate) fn usable(&self) -> Result {
        match *lock(&self.fault) {
            Fault::Raised(code) => Err(code),
            Fault::None | Fault::Pending(_) => Ok(()),
        }
    }

    /// Waits, which is when a fault is returned.
    pub(crate) fn wait(&self) -> Result {
        let mut fault = lock(&self.fault);
        match *fault {
            Fault::None => Ok(()),
            Fault::Pending(code) | Fault::Raised(code) => {
                *fault = Fault::Raised(code);
                Err(code)
            }
        }
    }

    /// Forgets memory, streams, events, modules and the fault of this device.
    pub(crate) fn reset(&self, runtime: &Runtime) {
        let number = self.number;
        runtime
            .functions
            .remove_all(|function| function.module.device == number);
        runtime.modules.remove_all(|module| module.device == number);
        runtime.streams.remove_all(|stream| stream.device == number);
        runtime.events.remove_all(|event| event.device == number);
        let captures = lock(&runtime.captures).clone();
        for capture in captures.iter().filter(|capture| capture.device == number) {
            graph::release(runtime, capture);
        }
        lock(&self.memory).clear();
        lock(&self.peers).clear();
        *lock(&self.fault) = Fault::None;
    }

    /// What its kernels can reach beside its own memory.
    pub(crate) fn reach(&self, runtime: &Runtime) -> Vec<Arc<Allocation>> {
        let mut all: Vec<_> = lock(&runtime.host).values().cloned().collect();
        let peers = lock(&self.peers).clone();
        for peer in peers {
            all.extend(
                lock(&runtime.devices[peer].memory)
                    .allocations()
                    .iter()
                    .cloned(),
            );
        }
        all
    }

    /// Lets its kernels touch the memory of another device.
    pub(crate) fn enable_peer(&self, peer: &Self) -> Result {
        if peer.number == self.number {
            return Err(Code::INVALID_DEVICE);
        }
        if lock(&self.peers).insert(peer.number) {
            Ok(())
        } else {
            Err(Code::PEER_ACCESS_ALREADY_ENABLED)
        }
    }

    /// The opposite.
    pub(crate) fn disable_peer(&self, peer: &Self) -> Result {
        if lock(&self.peers).remove(&peer.number) {
            Ok(())
        } else {
            Err(Code::PEER_ACCESS_NOT_ENABLED)
        }
    }
}

/// The number of the device whose memory has this address, as far as there can be one.
pub(crate) fn owner(address: u64) -> Option<usize> {
    usize::try_from(address.checked_sub(FIRST)? / SPAN).ok()
}

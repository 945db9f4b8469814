//! Streams: order of work, and being captured.
//!
//! Work is done when it is given, so a stream holds nothing but what it is captured into.

use std::ffi::{c_int, c_uint};
use std::sync::{Arc, Mutex};

use crate::device::Device;
use crate::error::{Code, Result};
use crate::event::Event;
use crate::graph::{self, Capture, Node};
use crate::handles::lock;
use crate::launch::KernelLaunch;
use crate::memory::{Copy, Fill};
use crate::runtime::Runtime;

/// The flag of a stream that does not wait for the default one.
pub(crate) const NON_BLOCKING: c_uint = 1;
/// Handles of the default stream: none, legacy, per thread.
const DEFAULTS: usize = 2;
/// The priorities there are, highest first.
pub(crate) const PRIORITIES: [c_int; 2] = [-1, 1];

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) device: usize,
    pub(crate) flags: c_uint,
    pub(crate) priority: c_int,
    is_default: bool,
    /// The capture it takes part in.
    pub(crate) joined: Mutex<Option<Joined>>,
}

/// A stream's part of a capture.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub(crate) capture: Arc<Capture>,
    /// The nodes that come before what is captured next.
    pub(crate) last: Vec<usize>,
}

/// Something a stream does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel(KernelLaunch),
    Copy(Copy),
    Fill(Fill),
}

impl Stream {
    pub(crate) fn of_device(device: usize) -> Self {
        Self {
            device,
            flags: 0,
            priority: 0,
            is_default: true,
            joined: Mutex::default(),
        }
    }

    /// A new stream of this thread's device.
    pub(crate) fn create(runtime: &Runtime, flags: c_uint, priority: c_int) -> Result<usize> {
        let device = runtime.current()?;
        if flags > NON_BLOCKING {
            return Err(Code::INVALID_VALUE);
        }
        let stream = Self {
            flags,
            priority: priority.clamp(PRIORITIES[0], PRIORITIES[1]),
            is_default: false,
            ..Self::of_device(device.number)
        };
        Ok(runtime.streams.insert(Arc::new(stream)))
    }

    /// The stream of a handle.
    pub(crate) fn of(runtime: &Runtime, handle: usize) -> Result<Arc<Self>> {
        if handle <= DEFAULTS {
            return Ok(Arc::clone(&runtime.chosen().default));
        }
        runtime.streams.get(handle)
    }

    pub(crate) fn destroy(runtime: &Runtime, handle: usize) -> Result {
        let stream = runtime.streams.remove(handle)?;
        let joined = lock(&stream.joined).take();
        if let Some(joined) = joined {
            joined.capture.invalidate();
            if joined.capture.began_on(&stream) {
                graph::release(runtime, &joined.capture);
            }
        }
        Ok(())
    }

    /// Its device, unless a fault has ended its use.
    pub(crate) fn device<'a>(&self, runtime: &'a Runtime) -> Result<&'a Device> {
        let device = &runtime.devices[self.device];
        device.usable()?;
        Ok(device)
    }

    /// Does something, or captures it.
    pub(crate) fn submit(&self, runtime: &Runtime, work: Work) -> Result {
        let device = self.device(runtime)?;
        let mut joined = lock(&self.joined);
        if let Some(joined) = joined.as_mut() {
            let node = Node {
                work,
                after: joined.last.clone(),
            };
            joined.last = vec![joined.capture.add(node)?];
            return Ok(());
        }
        drop(joined);
        self.check_implicit(runtime)?;
        run(runtime, device, &work);
        Ok(())
    }

    /// The default stream waits for blocking ones, which one that is captured cannot be.
    fn check_implicit(&self, runtime: &Runtime) -> Result {
        if !self.is_default {
            return Ok(());
        }
        let captures = lock(&runtime.captures);
        let waits = |capture: &&Arc<Capture>| capture.device == self.device && capture.blocking;
        match captures.iter().find(waits) {
            Some(capture) => {
                capture.invalidate();
                Err(Code::STREAM_CAPTURE_IMPLICIT)
            }
            None => Ok(()),
        }
    }

    /// Waits until all is done.
    pub(crate) fn wait(&self, runtime: &Runtime) -> Result {
        if let Some(joined) = lock(&self.joined).as_ref() {
            joined.capture.invalidate();
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        self.check_implicit(runtime)?;
        runtime.devices[self.device].wait()
    }

    /// Records an event after all that was given.
    pub(crate) fn record(&self, runtime: &Runtime, event: &Event) -> Result {
        let device = self.device(runtime)?;
        if event.device != device.number {
            return Err(Code::INVALID_HANDLE);
        }
        match lock(&self.joined).as_ref() {
            Some(joined) => event.capture(joined.clone()),
            None => event.record(device.now()),
        }
        Ok(())
    }

    /// Lets what is given next wait for an event.
    pub(crate) fn wait_for(&self, runtime: &Runtime, event: &Event) -> Result {
        self.device(runtime)?;
        let mut own = lock(&self.joined);
        let Some(theirs) = event.captured() else {
            // Work before the event is done; a capture cannot depend on it.
            return match own.as_ref().filter(|_| event.is_recorded()) {
                Some(joined) => {
                    joined.capture.invalidate();
                    Err(Code::STREAM_CAPTURE_ISOLATION)
                }
                None => Ok(()),
            };
        };
        if !theirs.capture.goes_on(runtime) {
            return Err(Code::CAPTURED_EVENT);
        }
        match own.as_mut() {
            Some(joined) if Arc::ptr_eq(&joined.capture, &theirs.capture) => {
                for node in theirs.last {
                    if !joined.last.contains(&node) {
                        joined.last.push(node);
                    }
                }
            }
            Some(joined) => {
                joined.capture.invalidate();
                theirs.capture.invalidate();
                return Err(Code::STREAM_CAPTURE_MERGE);
            }
            None if self.is_default => return Err(Code::STREAM_CAPTURE_IMPLICIT),
            None => *own = Some(theirs),
        }
        Ok(())
    }

    pub(crate) fn begin_capture(&self, runtime: &Runtime, mode: c_int) -> Result {
        self.device(runtime)?;
        let mode = graph::Mode::from_number(mode)?;
        if self.is_default {
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        let mut joined = lock(&self.joined);
        if joined.is_some() {
            return Err(Code::ILLEGAL_STATE);
        }
        let capture = Arc::new(Capture::new(self, mode));
        lock(&runtime.captures).push(Arc::clone(&capture));
        *joined = Some(Joined {
            capture,
            last: Vec::new(),
        });
        Ok(())
    }
}

/// Does work on a device; nothing after a fault.
pub(crate) fn run(runtime: &Runtime, device: &Device, work: &Work) {
    if device.failed() {
        return;
    }
    match work {
        Work::Kernel(launch) => launch.run(runtime, device),
        Work::Copy(copy) => {
            copy.run();
            device.spend(copy.seconds(device.number, &runtime.settings.model()));
        }
        Work::Fill(fill) => {
            fill.run();
            device.spend(fill.seconds(&runtime.settings.model()));
        }
    }
}

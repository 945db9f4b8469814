//! Events: points in a stream.

use std::ffi::c_uint;
use std::sync::{Arc, Mutex};

use crate::error::{Code, Result};
use crate::handles::lock;
use crate::runtime::Runtime;
use crate::stream::Joined;

/// The flag of an event that takes no time.
const DISABLE_TIMING: c_uint = 2;
/// All flags there are.
const FLAGS: c_uint = 0xe000_0007;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) device: usize,
    flags: c_uint,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Fresh,
    /// All before it was done at this time of the device, in seconds.
    Done(f64),
    Captured(Joined),
}

impl Event {
    /// A new event of this thread's device.
    pub(crate) fn create(runtime: &Runtime, flags: c_uint) -> Result<usize> {
        let device = runtime.current()?.number;
        if flags & !FLAGS != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let event = Self {
            device,
            flags,
            state: Mutex::new(State::Fresh),
        };
        Ok(runtime.events.insert(Arc::new(event)))
    }

    pub(crate) fn record(&self, now: f64) {
        *lock(&self.state) = State::Done(now);
    }

    pub(crate) fn capture(&self, joined: Joined) {
        *lock(&self.state) = State::Captured(joined);
    }

    /// The capture it was recorded in.
    pub(crate) fn captured(&self) -> Option<Joined> {
        match &*lock(&self.state) {
            State::Captured(joined) => Some(joined.clone()),
            State::Fresh | State::Done(_) => None,
        }
    }

    pub(crate) fn is_recorded(&self) -> bool {
        matches!(*lock(&self.state), State::Done(_))
    }

    /// Waits until all before it is done.
    pub(crate) fn wait(&self, runtime: &Runtime) -> Result {
        if let Some(joined) = self.captured() {
            joined.capture.invalidate();
            return Err(Code::CAPTURED_EVENT);
        }
        runtime.devices[self.device].wait()
    }

    /// Milliseconds since `start`, by the cycle model. Clocks of two devices are not compared.
    pub(crate) fn since(&self, start: &Self) -> Result<f32> {
        let time = |event: &Self| match &*lock(&event.state) {
            State::Done(time) if event.flags & DISABLE_TIMING == 0 => Ok(*time),
            State::Captured(_) => Err(Code::CAPTURED_EVENT),
            State::Fresh | State::Done(_) => Err(Code::INVALID_HANDLE),
        };
        let (first, last) = (time(start)?, time(self)?);
        if self.device != start.device {
            return Err(Code::INVALID_HANDLE);
        }
        Ok(((last - first) * 1e3) as f32)
    }
}

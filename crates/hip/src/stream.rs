//! Streams, events, and graphs of work that was captured.

#![expect(unsafe_code, reason = "calls of HIP")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use cairn_hip_sys::{
    HipError, capture, event, hipEvent_t, hipGraph_t, hipGraphExec_t, hipStream_t, stream,
};
use cairn_tensor::TensorError;

use crate::api::Api;
use crate::device::Device;

/// Work of a device that is done in the order in which it is given. It does not wait for
/// the device's default stream, nor that for it.
#[derive(Debug)]
pub struct Stream {
    api: Arc<Api>,
    handle: hipStream_t,
}

// SAFETY: HIP's handles are names; its functions may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Another stream of this device.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn new(device: &Device) -> Result<Self, TensorError> {
        Self::of(device.api())
    }

    pub(crate) fn of(api: &Arc<Api>) -> Result<Self, TensorError> {
        let mut handle: hipStream_t = null_mut();
        // SAFETY: writes one handle.
        let code = unsafe {
            (api.functions()?.hipStreamCreateWithFlags)(&raw mut handle, stream::NON_BLOCKING)
        };
        api.check("hipStreamCreateWithFlags", code)?;
        let api = api.clone();
        Ok(Self { api, handle })
    }

    pub(crate) fn handle(&self) -> hipStream_t {
        self.handle
    }

    /// Lets an event of the same device happen when all that was given is done.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn record(&self, event: &Event) -> Result<(), TensorError> {
        // SAFETY: both handles live.
        let code = unsafe { (self.api.functions()?.hipEventRecord)(event.handle, self.handle) };
        self.api.check("hipEventRecord", code)
    }

    /// Lets what is given from now on wait for an event, of any device.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn wait_for(&self, event: &Event) -> Result<(), TensorError> {
        // SAFETY: both handles live.
        let code =
            unsafe { (self.api.functions()?.hipStreamWaitEvent)(self.handle, event.handle, 0) };
        self.api.check("hipStreamWaitEvent", code)
    }

    /// Waits until all that was given is done.
    ///
    /// # Errors
    /// What HIP reports, of earlier work too.
    pub fn synchronize(&self) -> Result<(), TensorError> {
        // SAFETY: the handle lives.
        let code = unsafe { (self.api.functions()?.hipStreamSynchronize)(self.handle) };
        self.api.check("hipStreamSynchronize", code)
    }

    /// Starts a copy.
    ///
    /// # Safety
    /// Both must be memory of at least so many bytes, of the host or of the device as
    /// `kind` says, and neither may be freed, nor the host's be touched, before an event
    /// recorded after this has happened.
    pub(crate) unsafe fn copy(
        &self,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
        kind: c_int,
    ) -> Result<(), TensorError> {
        // SAFETY: the caller answers for the memory.
        let code =
            unsafe { (self.api.functions()?.hipMemcpyAsync)(to, from, bytes, kind, self.handle) };
        self.api.check("hipMemcpyAsync", code)
    }

    /// Starts a copy from the memory of `source` to that of this stream's device.
    ///
    /// # Safety
    /// As [`Stream::copy`].
    pub(crate) unsafe fn copy_peer(
        &self,
        to: *mut c_void,
        source: &Api,
        from: *const c_void,
        bytes: usize,
    ) -> Result<(), TensorError> {
        // SAFETY: the caller answers for the memory.
        let code = unsafe {
            (self.api.functions()?.hipMemcpyPeerAsync)(
                to,
                self.api.ordinal(),
                from,
                source.ordinal(),
                bytes,
                self.handle,
            )
        };
        self.api.check("hipMemcpyPeerAsync", code)
    }

    /// What `start` gives the stream, as a graph; it is not done now. What the device
    /// refuses meanwhile, such as taking memory, is an error.
    ///
    /// # Errors
    /// That of `start`, or what HIP reports.
    pub(crate) fn capture(
        &self,
        start: &mut dyn FnMut() -> Result<(), TensorError>,
    ) -> Result<Graph, TensorError> {
        let functions = self.api.functions()?;
        // SAFETY: the handle lives.
        let code = unsafe { (functions.hipStreamBeginCapture)(self.handle, capture::THREAD_LOCAL) };
        self.api.check("hipStreamBeginCapture", code)?;
        let started = start();
        let mut graph: hipGraph_t = null_mut();
        // SAFETY: as above; writes one handle.
        let code = unsafe { (functions.hipStreamEndCapture)(self.handle, &raw mut graph) };
        let ended = self.api.check("hipStreamEndCapture", code);
        let mut handle: hipGraphExec_t = null_mut();
        let made = started.and(ended).and_then(|()| {
            // SAFETY: the graph lives; writes one handle, and no log as it has no room.
            let code = unsafe {
                (functions.hipGraphInstantiate)(&raw mut handle, graph, null_mut(), null_mut(), 0)
            };
            self.api.check("hipGraphInstantiate", code)
        });
        if !graph.is_null() {
            // SAFETY: made above; what was made of it does not need it.
            unsafe { (functions.hipGraphDestroy)(graph) };
        }
        let api = self.api.clone();
        made.map(|()| Graph { api, handle })
    }

    /// Starts all work of a graph that was captured from a stream of the same device.
    ///
    /// # Errors
    /// What HIP reports.
    pub(crate) fn launch(&self, graph: &Graph) -> Result<(), TensorError> {
        // SAFETY: both handles live.
        let code = unsafe { (self.api.functions()?.hipGraphLaunch)(graph.handle, self.handle) };
        self.api.check("hipGraphLaunch", code)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(functions) = self.api.functions() else {
            return;
        };
        // SAFETY: made by `of`, and HIP ends it when its work is done.
        unsafe { (functions.hipStreamDestroy)(self.handle) };
    }
}

/// A point in the work of a device.
#[derive(Debug)]
pub struct Event {
    api: Arc<Api>,
    handle: hipEvent_t,
}

// SAFETY: HIP's handles are names; its functions may be called from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// An event of this device that keeps the time at which it happens.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn new(device: &Device) -> Result<Self, TensorError> {
        Self::of(device.api(), event::DEFAULT)
    }

    /// One that keeps no time and so costs less.
    pub(crate) fn untimed(api: &Arc<Api>) -> Result<Self, TensorError> {
        Self::of(api, event::DISABLE_TIMING)
    }

    fn of(api: &Arc<Api>, flags: u32) -> Result<Self, TensorError> {
        let mut handle: hipEvent_t = null_mut();
        // SAFETY: writes one handle.
        let code = unsafe { (api.functions()?.hipEventCreateWithFlags)(&raw mut handle, flags) };
        api.check("hipEventCreateWithFlags", code)?;
        let api = api.clone();
        Ok(Self { api, handle })
    }

    /// Whether it has happened.
    ///
    /// # Errors
    /// What HIP reports, of earlier work too.
    pub fn is_done(&self) -> Result<bool, TensorError> {
        // SAFETY: the handle lives.
        let code = unsafe { (self.api.functions()?.hipEventQuery)(self.handle) };
        if code == HipError::NOT_READY.code() {
            return Ok(false);
        }
        self.api.check("hipEventQuery", code).map(|()| true)
    }

    /// Waits until it has happened.
    ///
    /// # Errors
    /// What HIP reports, of earlier work too.
    pub fn wait(&self) -> Result<(), TensorError> {
        // SAFETY: the handle lives.
        let code = unsafe { (self.api.functions()?.hipEventSynchronize)(self.handle) };
        self.api.check("hipEventSynchronize", code)
    }

    /// Microseconds from `earlier` to this, when both have happened.
    ///
    /// # Errors
    /// When one has not, or was not recorded.
    pub fn micros_since(&self, earlier: &Self) -> Result<f64, TensorError> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: both handles live; writes one number.
        let code = unsafe {
            (self.api.functions()?.hipEventElapsedTime)(
                &raw mut milliseconds,
                earlier.handle,
                self.handle,
            )
        };
        self.api.check("hipEventElapsedTime", code)?;
        Ok(f64::from(milliseconds) * 1e3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let Ok(functions) = self.api.functions() else {
            return;
        };
        // SAFETY: made by `of`; HIP keeps it for as long as work waits for it.
        unsafe { (functions.hipEventDestroy)(self.handle) };
    }
}

/// Captured work, ready to be started as a whole.
#[derive(Debug)]
pub(crate) struct Graph {
    api: Arc<Api>,
    handle: hipGraphExec_t,
}

// SAFETY: HIP's handles are names; its functions may be called from any thread.
unsafe impl Send for Graph {}
// SAFETY: as above; a launch changes nothing of it.
unsafe impl Sync for Graph {}

impl Drop for Graph {
    fn drop(&mut self) {
        let Ok(functions) = self.api.functions() else {
            return;
        };
        // SAFETY: made by `capture`.
        unsafe { (functions.hipGraphExecDestroy)(self.handle) };
    }
}

//! One GPU: its memory, and the order in which it works.

#![expect(unsafe_code, reason = "calls of HIP")]

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use cairn_codeobj::Arch;
use cairn_hip_sys::{Functions, Hip, HipError, memcpy};
use cairn_tensor::{Address, Captured, DeviceMemory, Mark, TensorError};

use crate::api::Api;
use crate::error::GpuError;
use crate::host::{self, HostBuffer, HostStats, MAX_STAGED, Staging};
use crate::pool::{Pool, PoolStats, piece};
use crate::stream::{Event, Graph, Stream};

/// One GPU. What is launched on it runs in the order of the launches, in one stream.
#[derive(Debug)]
pub struct Device {
    arch: Arch,
    name: String,
    pool: Mutex<Pool>,
    staging: Mutex<Staging<HostBuffer>>,
    launches: Mutex<Launches>,
    started: Mutex<Started>,
    stream: Stream,
    api: Arc<Api>,
}

/// How often each kernel was launched.
#[derive(Debug, Default)]
struct Launches {
    counts: BTreeMap<String, u64>,
    /// Those that are captured now, and by which thread.
    captured: Option<(ThreadId, BTreeMap<String, u64>)>,
    replays: u64,
}

/// What was started since it was last known that all is well.
#[derive(Debug, Default)]
struct Started {
    operators: usize,
    /// The first of them.
    first: Option<String>,
}

/// Captured work, and the kernels that it launches.
#[derive(Debug)]
struct Replayed {
    graph: Graph,
    kernels: BTreeMap<String, u64>,
}

impl Device {
    /// Opens the device of this number, with HIP from these folders or else from where
    /// the loader finds it.
    ///
    /// # Errors
    /// When there is no HIP, no such device, or none that kernels are written for.
    pub fn open(folders: &[PathBuf], ordinal: i32) -> Result<Self, GpuError> {
        let hip = Hip::open(folders)?;
        let no_device = |error: HipError| GpuError::NoDevice {
            ordinal,
            reason: hip.describe(error),
        };
        let count = hip.device_count().map_err(no_device)?;
        if !(0..count).contains(&ordinal) {
            let reason = format!("it has {count}, numbered from 0");
            return Err(GpuError::NoDevice { ordinal, reason });
        }
        let facts = hip.device(ordinal).map_err(no_device)?;
        let bare = facts.arch.split(':').next().unwrap_or_default();
        let arch = Arch::from_name(bare).ok_or_else(|| GpuError::UnknownArch {
            ordinal,
            name: facts.arch.clone(),
        })?;
        let api = Arc::new(Api::new(hip, ordinal));
        let stream = Stream::of(&api).map_err(|error| GpuError::NoDevice {
            ordinal,
            reason: error.to_string(),
        })?;
        Ok(Self {
            arch,
            name: facts.name,
            pool: Mutex::default(),
            staging: Mutex::default(),
            launches: Mutex::default(),
            started: Mutex::default(),
            stream,
            api,
        })
    }

    /// Its number.
    #[must_use]
    pub fn ordinal(&self) -> i32 {
        self.api.ordinal()
    }

    /// Its architecture.
    #[must_use]
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// The product's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the simulator's.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.name.ends_with("(simulated)")
    }

    /// How much of its memory is held.
    #[must_use]
    pub fn memory_stats(&self) -> PoolStats {
        self.pool().stats()
    }

    /// How much pinned memory of the host is held for copies.
    #[must_use]
    pub fn host_stats(&self) -> HostStats {
        lock(&self.staging).stats()
    }

    /// How often each kernel was launched, alone or with others that were captured.
    #[must_use]
    pub fn launches(&self) -> BTreeMap<String, u64> {
        lock(&self.launches).counts.clone()
    }

    /// How often captured work was started.
    #[must_use]
    pub fn replays(&self) -> u64 {
        lock(&self.launches).replays
    }

    /// The stream of its kernels and copies.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Starts a copy from the memory of another device, which comes after what was started
    /// there; what is started on either device from now on comes after it.
    ///
    /// # Errors
    /// What HIP reports.
    pub fn copy_from(
        &self,
        to: Address,
        source: &Self,
        from: Address,
        bytes: usize,
    ) -> Result<(), TensorError> {
        if bytes == 0 {
            return Ok(());
        }
        let ready = Event::untimed(&source.api)?;
        source.stream.record(&ready)?;
        self.stream.wait_for(&ready)?;
        // SAFETY: HIP refuses addresses that are not of these devices. Either's memory is
        // used again only by work that is started later, which the events hold back.
        unsafe {
            let (to, from) = (to.0 as *mut c_void, from.0 as *const c_void);
            self.stream.copy_peer(to, &source.api, from, bytes)?;
        }
        let done = Event::untimed(&self.api)?;
        self.stream.record(&done)?;
        source.stream.wait_for(&done)
    }

    pub(crate) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// HIP, with this device as the calling thread's current one.
    pub(crate) fn functions(&self) -> Result<&Functions, TensorError> {
        self.api.functions()
    }

    /// An error of a call, with HIP's own text.
    pub(crate) fn check(&self, call: &str, code: c_int) -> Result<(), TensorError> {
        self.api.check(call, code)
    }

    /// Refuses a launch that would become part of what another thread captures.
    pub(crate) fn may_launch(&self) -> Result<(), TensorError> {
        let own = std::thread::current().id();
        match &lock(&self.launches).captured {
            Some((thread, _)) if *thread != own => Err(TensorError::Device {
                message: format!("another thread captures work of device {}", self.ordinal()),
            }),
            _ => Ok(()),
        }
    }

    /// A kernel was launched, or captured.
    pub(crate) fn launched(&self, kernel: &str) {
        let mut launches = lock(&self.launches);
        let launches = &mut *launches;
        let counts = match &mut launches.captured {
            Some((_, counts)) => counts,
            None => &mut launches.counts,
        };
        match counts.get_mut(kernel) {
            Some(count) => *count += 1,
            None => {
                counts.insert(kernel.to_owned(), 1);
            }
        }
    }

    /// What a call found that waited for all work.
    fn waited(&self, found: Result<(), TensorError>) -> Result<(), TensorError> {
        found.map_err(|error| self.blame(error))?;
        *lock(&self.started) = Started::default();
        Ok(())
    }

    /// An error that may be of any work since the last time that all was well.
    fn blame(&self, error: TensorError) -> TensorError {
        let TensorError::Device { message } = error else {
            return error;
        };
        let started = lock(&self.started);
        let of = match (started.operators, &started.first) {
            (0, _) => String::new(),
            (1, Some(first)) => format!("; only this was started since all was well: {first}"),
            (operators, _) => format!(
                "; {operators} operators were started since all was well, and waiting for each \
                 (`detect_anomaly`) tells which one it was"
            ),
        };
        TensorError::Device {
            message: message + &of,
        }
    }

    /// A piece of pinned memory that no copy uses.
    fn staged(&self, bytes: usize) -> Result<HostBuffer, TensorError> {
        let piece = host::piece(bytes);
        let mut staging = lock(&self.staging);
        staging.reclaim(|buffer, must| match must {
            true => buffer.read.wait().map(|()| true),
            false => buffer.read.is_done(),
        })?;
        if let Some(buffer) = staging.take(piece) {
            return Ok(buffer);
        }
        let buffer = HostBuffer::new(&self.api, piece)?;
        staging.took(piece);
        Ok(buffer)
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        lock(&self.pool)
    }

    /// Memory from HIP; `None` when there is not that much.
    fn ask(&self, bytes: usize) -> Result<Option<u64>, TensorError> {
        let functions = self.functions()?;
        let mut address: *mut c_void = std::ptr::null_mut();
        // SAFETY: writes one address.
        let code = unsafe { (functions.hipMalloc)(&raw mut address, bytes) };
        if code == HipError::OUT_OF_MEMORY.code() {
            return Ok(None);
        }
        self.check("hipMalloc", code)?;
        Ok(Some(address as u64))
    }

    /// Gives all free pieces back to HIP.
    fn release(&self) {
        let free = self.pool().drain();
        let Ok(functions) = self.functions() else {
            return;
        };
        for address in free {
            // SAFETY: `hipMalloc` gave the address, and nobody holds the piece; HIP waits
            // for work that still uses it.
            unsafe { (functions.hipFree)(address as *mut c_void) };
        }
    }

    /// Copies to the host what each address has, to where the pointer beside it points,
    /// and waits.
    ///
    /// # Safety
    /// The pointers must be of as much memory of the host as is copied to each.
    unsafe fn read(&self, pieces: &[(Address, *mut u8, usize)]) -> Result<(), TensorError> {
        let mut started = Ok(());
        for (from, to, bytes) in pieces.iter().filter(|(_, _, bytes)| *bytes > 0) {
            let from = from.0 as *const c_void;
            // SAFETY: the caller answers for the memory, and all is waited for below.
            started = unsafe {
                self.stream
                    .copy(to.cast(), from, *bytes, memcpy::DEVICE_TO_HOST)
            };
            if started.is_err() {
                break;
            }
        }
        // In any case: what was started writes to the caller's memory.
        let done = self.stream.synchronize();
        self.waited(started.and(done))
    }
}

impl DeviceMemory for Device {
    fn alloc(&self, bytes: usize) -> Result<Address, TensorError> {
        let piece = piece(bytes);
        if let Some(address) = self.pool().take(piece) {
            return Ok(Address(address));
        }
        let address = match self.ask(piece)? {
            Some(address) => address,
            None => {
                self.release();
                self.ask(piece)?.ok_or(TensorError::OutOfMemory { bytes })?
            }
        };
        self.pool().took(piece);
        Ok(Address(address))
    }

    fn free(&self, address: Address, bytes: usize) {
        // What is started later on the piece comes after what still uses it.
        self.pool().give(piece(bytes), address.0);
    }

    fn copy_in(&self, to: Address, from: &[u8]) -> Result<(), TensorError> {
        if from.is_empty() {
            return Ok(());
        }
        let target = to.0 as *mut c_void;
        if from.len() > MAX_STAGED {
            let source = from.as_ptr().cast();
            // SAFETY: the caller owns the piece of device memory; the host's bytes are
            // borrowed until the copy was waited for.
            let started = unsafe {
                self.stream
                    .copy(target, source, from.len(), memcpy::HOST_TO_DEVICE)
            };
            let done = self.stream.synchronize();
            return self.waited(started.and(done));
        }
        let mut buffer = self.staged(from.len()).map_err(|error| self.blame(error))?;
        let bytes = &mut buffer.bytes_mut()[..from.len()];
        bytes.copy_from_slice(from);
        let source = bytes.as_ptr().cast();
        // SAFETY: the caller owns the piece of device memory; the buffer is lent until the
        // event that is recorded next has happened, or freed, for which HIP waits.
        unsafe {
            self.stream
                .copy(target, source, from.len(), memcpy::HOST_TO_DEVICE)?;
        }
        self.stream.record(&buffer.read)?;
        lock(&self.staging).lend(buffer.len(), buffer);
        Ok(())
    }

    fn copy_out(&self, from: Address, to: &mut [u8]) -> Result<(), TensorError> {
        self.copy_out_all(&mut [(from, to)])
    }

    fn copy_out_all(&self, pieces: &mut [(Address, &mut [u8])]) -> Result<(), TensorError> {
        let total: usize = pieces.iter().map(|(_, to)| to.len()).sum();
        if total == 0 {
            return Ok(());
        }
        if total > MAX_STAGED {
            let targets: Vec<_> = pieces
                .iter_mut()
                .map(|(from, to)| (*from, to.as_mut_ptr(), to.len()))
                .collect();
            // SAFETY: the slices are borrowed for longer than this call.
            return unsafe { self.read(&targets) };
        }
        let mut buffer = self.staged(total).map_err(|error| self.blame(error))?;
        let mut rest = buffer.bytes_mut();
        let mut targets = Vec::with_capacity(pieces.len());
        for (from, to) in &*pieces {
            let (part, more) = rest.split_at_mut(to.len());
            targets.push((*from, part.as_mut_ptr(), part.len()));
            rest = more;
        }
        // SAFETY: the parts lie in the buffer, which outlives this call.
        unsafe { self.read(&targets)? };
        let mut at = 0;
        for (_, to) in pieces {
            to.copy_from_slice(&buffer.bytes_mut()[at..at + to.len()]);
            at += to.len();
        }
        lock(&self.staging).give(buffer.len(), buffer);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), TensorError> {
        self.waited(self.stream.synchronize())
    }

    fn starting(&self, operators: usize, first: &dyn Fn() -> String) {
        let mut started = lock(&self.started);
        if started.operators == 0 {
            started.first = Some(first());
        }
        started.operators += operators;
    }

    fn mark(&self) -> Result<Option<Mark>, TensorError> {
        let event = Event::new(self)?;
        self.stream.record(&event)?;
        Ok(Some(Mark(Arc::new(event))))
    }

    fn elapsed(&self, from: &Mark, to: &Mark) -> Result<f64, TensorError> {
        let (from, to) = (from.0.downcast_ref::<Event>(), to.0.downcast_ref::<Event>());
        let (Some(from), Some(to)) = (from, to) else {
            return Err(foreign());
        };
        to.micros_since(from)
    }

    fn clock(&self) -> &'static str {
        if self.is_simulated() {
            "cycle model"
        } else {
            "events"
        }
    }

    fn capture(
        &self,
        start: &mut dyn FnMut() -> Result<(), TensorError>,
    ) -> Result<Option<Captured>, TensorError> {
        self.may_launch()?;
        lock(&self.launches).captured = Some((std::thread::current().id(), BTreeMap::new()));
        let graph = self.stream.capture(start);
        let captured = lock(&self.launches).captured.take();
        let kernels = captured.map(|(_, kernels)| kernels).unwrap_or_default();
        let graph = graph?;
        Ok(Some(Captured(Arc::new(Replayed { graph, kernels }))))
    }

    fn replay(&self, work: &Captured) -> Result<(), TensorError> {
        let Some(work) = work.0.downcast_ref::<Replayed>() else {
            return Err(foreign());
        };
        self.may_launch()?;
        self.stream.launch(&work.graph)?;
        let mut launches = lock(&self.launches);
        launches.replays += 1;
        for (kernel, count) in &work.kernels {
            *launches.counts.entry(kernel.clone()).or_default() += count;
        }
        Ok(())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.release();
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whole between any two calls.
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn foreign() -> TensorError {
    TensorError::Device {
        message: "what was made by another backend is of no use to this device".to_owned(),
    }
}

//! Graphs: work that was captured, to be done again and again.

use std::ffi::c_int;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use crate::error::{Code, Result};
use crate::handles::lock;
use crate::runtime::Runtime;
use crate::stream::{self, NON_BLOCKING, Stream, Work};

/// Which calls break a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Those of any thread.
    Global,
    /// Those of the thread that captures.
    ThreadLocal,
    /// None.
    Relaxed,
}

impl Mode {
    pub(crate) fn from_number(number: c_int) -> Result<Self> {
        match number {
            0 => Ok(Self::Global),
            1 => Ok(Self::ThreadLocal),
            2 => Ok(Self::Relaxed),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// A capture that goes on.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) device: usize,
    /// The default stream would wait for the stream it began on.
    pub(crate) blocking: bool,
    mode: Mode,
    thread: ThreadId,
    /// The stream it began on: an address, to compare.
    origin: usize,
    /// The nodes; `None` when a call has broken it.
    nodes: Mutex<Option<Vec<Node>>>,
}

/// A piece of work of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) work: Work,
    /// The nodes before it, by number; all are smaller than its own.
    pub(crate) after: Vec<usize>,
}

/// A graph.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
}

/// A graph that was checked and can be launched.
#[derive(Debug)]
pub(crate) struct Executable {
    work: Vec<Work>,
}

impl Capture {
    pub(crate) fn new(stream: &Stream, mode: Mode) -> Self {
        Self {
            device: stream.device,
            blocking: stream.flags & NON_BLOCKING == 0,
            mode,
            thread: std::thread::current().id(),
            origin: (&raw const *stream).addr(),
            nodes: Mutex::new(Some(Vec::new())),
        }
    }

    pub(crate) fn invalidate(&self) {
        *lock(&self.nodes) = None;
    }

    pub(crate) fn is_valid(&self) -> bool {
        lock(&self.nodes).is_some()
    }

    /// A number that no other capture has while it goes on.
    pub(crate) fn id(&self) -> u64 {
        (&raw const *self).addr() as u64
    }

    /// True for the stream on which it has to end.
    pub(crate) fn began_on(&self, stream: &Stream) -> bool {
        self.origin == (&raw const *stream).addr()
    }

    /// True until it is ended.
    pub(crate) fn goes_on(&self, runtime: &Runtime) -> bool {
        let captures = lock(&runtime.captures);
        captures
            .iter()
            .any(|capture| std::ptr::eq(&raw const **capture, self))
    }

    /// Adds a node and gives its number.
    pub(crate) fn add(&self, node: Node) -> Result<usize> {
        let mut nodes = lock(&self.nodes);
        let nodes = nodes.as_mut().ok_or(Code::STREAM_CAPTURE_INVALIDATED)?;
        nodes.push(node);
        Ok(nodes.len() - 1)
    }
}

/// Refuses a call that breaks captures of this thread, and others that say so.
pub(crate) fn refuse_captures(runtime: &Runtime) -> Result {
    let captures = lock(&runtime.captures);
    let thread = std::thread::current().id();
    let mut broken = captures.iter().filter(|capture| match capture.mode {
        Mode::Global => true,
        Mode::ThreadLocal => capture.thread == thread,
        Mode::Relaxed => false,
    });
    let Some(first) = broken.next() else {
        return Ok(());
    };
    first.invalidate();
    broken.for_each(|capture| capture.invalidate());
    Err(Code::STREAM_CAPTURE_UNSUPPORTED)
}

/// Ends a capture: streams that took part go on as if nothing was captured. Gives the nodes
/// that were last in them.
pub(crate) fn release(runtime: &Runtime, capture: &Arc<Capture>) -> Vec<usize> {
    lock(&runtime.captures).retain(|other| !Arc::ptr_eq(other, capture));
    let mut ends = Vec::new();
    for part in runtime.streams.all() {
        let mut own = lock(&part.joined);
        if own
            .as_ref()
            .is_some_and(|own| Arc::ptr_eq(&own.capture, capture))
        {
            ends.extend(own.take().into_iter().flat_map(|own| own.last));
        }
    }
    ends
}

/// Ends the capture that began on this stream.
pub(crate) fn end_capture(runtime: &Runtime, stream: &Arc<Stream>) -> Result<usize> {
    let joined = lock(&stream.joined).clone().ok_or(Code::ILLEGAL_STATE)?;
    let capture = joined.capture;
    if !capture.began_on(stream) {
        return Err(Code::STREAM_CAPTURE_UNMATCHED);
    }
    if capture.mode != Mode::Relaxed && capture.thread != std::thread::current().id() {
        return Err(Code::STREAM_CAPTURE_WRONG_THREAD);
    }
    let ends = release(runtime, &capture);
    let nodes = lock(&capture.nodes).take();
    let nodes = nodes.ok_or(Code::STREAM_CAPTURE_INVALIDATED)?;
    let before = reached(&nodes, &joined.last);
    if ends.iter().any(|end| !before[*end]) {
        return Err(Code::STREAM_CAPTURE_UNJOINED);
    }
    Ok(runtime.graphs.insert(Arc::new(Graph { nodes })))
}

/// Which nodes are among these or before them.
fn reached(nodes: &[Node], from: &[usize]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    for at in from {
        reached[*at] = true;
    }
    for at in (0..nodes.len()).rev() {
        if reached[at] {
            for before in &nodes[at].after {
                reached[*before] = true;
            }
        }
    }
    reached
}

impl Executable {
    pub(crate) fn new(graph: &Graph) -> Self {
        // Nodes are captured in an order that they can be done in.
        let work = graph.nodes.iter().map(|node| node.work.clone()).collect();
        Self { work }
    }

    /// Does all of it, in the stream.
    pub(crate) fn launch(&self, runtime: &Runtime, stream: &Stream) -> Result {
        if lock(&stream.joined).is_some() {
            return Err(Code::NOT_SUPPORTED);
        }
        let device = stream.device(runtime)?;
        for work in &self.work {
            let device = match work {
                Work::Kernel(launch) => &runtime.devices[launch.device()],
                Work::Copy(_) | Work::Fill(_) => device,
            };
            stream::run(runtime, device, work);
        }
        Ok(())
    }
}

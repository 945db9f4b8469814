//! C functions of captures and graphs.

use std::ffi::c_int;
use std::sync::Arc;

use super::{Out, functions};
use crate::error::{Code, Result};
use crate::graph::{self, Executable};
use crate::handles::lock;
use crate::runtime::{self, Runtime};
use crate::stream::Stream;

/// Nothing is captured, something is, or was until a call broke it.
const NONE: c_int = 0;
const ACTIVE: c_int = 1;
const INVALIDATED: c_int = 2;

fn status(runtime: &Runtime, stream: usize) -> Result<c_int> {
    let stream = Stream::of(runtime, stream)?;
    let joined = lock(&stream.joined);
    Ok(match joined.as_ref() {
        None => NONE,
        Some(joined) if joined.capture.is_valid() => ACTIVE,
        Some(_) => INVALIDATED,
    })
}

functions! {
    fn hipStreamBeginCapture(stream: usize, mode: c_int) {
        let runtime = runtime::get()?;
        Stream::of(runtime, stream)?.begin_capture(runtime, mode)
    }

    fn hipStreamEndCapture(stream: usize, graph: Out<usize>) {
        graph.check()?;
        let runtime = runtime::get()?;
        graph.set_if_wanted(0);
        let stream = Stream::of(runtime, stream)?;
        graph.set(graph::end_capture(runtime, &stream)?)
    }

    fn hipStreamIsCapturing(stream: usize, out: Out<c_int>) {
        out.check()?;
        out.set(status(runtime::get()?, stream)?)
    }

    fn hipStreamGetCaptureInfo(stream: usize, out: Out<c_int>, id: Out<u64>) {
        out.check()?;
        let runtime = runtime::get()?;
        out.set(status(runtime, stream)?)?;
        let stream = Stream::of(runtime, stream)?;
        let joined = lock(&stream.joined);
        id.set_if_wanted(joined.as_ref().map_or(0, |joined| joined.capture.id()));
        Ok(())
    }

    fn hipGraphInstantiate(executable: Out<usize>, graph: usize, _node: usize, _log: usize, _bytes: usize) {
        executable.check()?;
        let runtime = runtime::get()?;
        let graph = runtime.graphs.get(graph).map_err(|_| Code::INVALID_VALUE)?;
        executable.set(runtime.executables.insert(Arc::new(Executable::new(&graph))))
    }

    fn hipGraphInstantiateWithFlags(executable: Out<usize>, graph: usize, _flags: u64) {
        executable.check()?;
        let runtime = runtime::get()?;
        let graph = runtime.graphs.get(graph).map_err(|_| Code::INVALID_VALUE)?;
        executable.set(runtime.executables.insert(Arc::new(Executable::new(&graph))))
    }

    fn hipGraphLaunch(executable: usize, stream: usize) {
        let runtime = runtime::get()?;
        let executable = runtime.executables.get(executable).map_err(|_| Code::INVALID_VALUE)?;
        executable.launch(runtime, &*Stream::of(runtime, stream)?)
    }

    fn hipGraphDestroy(graph: usize) {
        let removed = runtime::get()?.graphs.remove(graph);
        removed.map(drop).map_err(|_| Code::INVALID_VALUE)
    }

    fn hipGraphExecDestroy(executable: usize) {
        let removed = runtime::get()?.executables.remove(executable);
        removed.map(drop).map_err(|_| Code::INVALID_VALUE)
    }

    /// Only how many there are: a node by itself is of no use here.
    fn hipGraphGetNodes(graph: usize, nodes: usize, count: Out<usize>) {
        count.check()?;
        let graph = runtime::get()?.graphs.get(graph).map_err(|_| Code::INVALID_VALUE)?;
        if nodes != 0 {
            return Err(Code::NOT_SUPPORTED);
        }
        count.set(graph.nodes.len())
    }
}

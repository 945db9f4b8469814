//! C functions of streams and events.

use std::ffi::{c_int, c_uint};

use super::{Out, functions};
use crate::error::Code;
use crate::event::Event;
use crate::runtime;
use crate::stream::Stream;

functions! {
    fn hipStreamCreate(stream: Out<usize>) {
        stream.check()?;
        stream.set(Stream::create(runtime::get()?, 0, 0)?)
    }

    fn hipStreamCreateWithFlags(stream: Out<usize>, flags: c_uint) {
        stream.check()?;
        stream.set(Stream::create(runtime::get()?, flags, 0)?)
    }

    fn hipStreamCreateWithPriority(stream: Out<usize>, flags: c_uint, priority: c_int) {
        stream.check()?;
        stream.set(Stream::create(runtime::get()?, flags, priority)?)
    }

    fn hipStreamDestroy(stream: usize) {
        Stream::destroy(runtime::get()?, stream)
    }

    fn hipStreamSynchronize(stream: usize) {
        let runtime = runtime::get()?;
        Stream::of(runtime, stream)?.wait(runtime)
    }

    fn hipStreamQuery(stream: usize) {
        let runtime = runtime::get()?;
        Stream::of(runtime, stream)?.wait(runtime)
    }

    fn hipStreamWaitEvent(stream: usize, event: usize, flags: c_uint) {
        let runtime = runtime::get()?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        let event = runtime.events.get(event)?;
        Stream::of(runtime, stream)?.wait_for(runtime, &event)
    }

    fn hipStreamGetFlags(stream: usize, flags: Out<c_uint>) {
        let stream = Stream::of(runtime::get()?, stream)?;
        flags.set(stream.flags)
    }

    fn hipStreamGetPriority(stream: usize, priority: Out<c_int>) {
        let stream = Stream::of(runtime::get()?, stream)?;
        priority.set(stream.priority)
    }

    fn hipStreamGetDevice(stream: usize, device: Out<c_int>) {
        let stream = Stream::of(runtime::get()?, stream)?;
        device.set(stream.device as c_int)
    }

    fn hipEventCreate(event: Out<usize>) {
        event.check()?;
        event.set(Event::create(runtime::get()?, 0)?)
    }

    fn hipEventCreateWithFlags(event: Out<usize>, flags: c_uint) {
        event.check()?;
        event.set(Event::create(runtime::get()?, flags)?)
    }

    fn hipEventDestroy(event: usize) {
        runtime::get()?.events.remove(event).map(drop)
    }

    fn hipEventRecord(event: usize, stream: usize) {
        let runtime = runtime::get()?;
        let event = runtime.events.get(event)?;
        Stream::of(runtime, stream)?.record(runtime, &event)
    }

    fn hipEventRecordWithFlags(event: usize, stream: usize, _flags: c_uint) {
        let runtime = runtime::get()?;
        let event = runtime.events.get(event)?;
        Stream::of(runtime, stream)?.record(runtime, &event)
    }

    fn hipEventSynchronize(event: usize) {
        let runtime = runtime::get()?;
        runtime.events.get(event)?.wait(runtime)
    }

    fn hipEventQuery(event: usize) {
        let runtime = runtime::get()?;
        runtime.events.get(event)?.wait(runtime)
    }

    fn hipEventElapsedTime(milliseconds: Out<f32>, start: usize, stop: usize) {
        milliseconds.check()?;
        let runtime = runtime::get()?;
        let (start, stop) = (runtime.events.get(start)?, runtime.events.get(stop)?);
        milliseconds.set(stop.since(&start)?)
    }
}

//! Traces in the Chrome event format, which Perfetto and `chrome://tracing`
//! open: a JSON object with complete events (`"ph": "X"`), times in microseconds.

use std::io::Write;
use std::path::Path;

use cairn_base::{FileError, files};
use serde_json::{Map, Value, json};

/// Events of one process, collected in memory and written once.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    process: String,
    threads: Vec<String>,
    events: Vec<Event>,
}

#[derive(Clone, Debug)]
struct Event {
    thread: usize,
    name: String,
    category: String,
    start_us: f64,
    dur_us: f64,
    args: Map<String, Value>,
}

impl Trace {
    /// An empty trace; `process` heads its tracks.
    #[must_use]
    pub fn new(process: impl Into<String>) -> Self {
        Self {
            process: process.into(),
            threads: vec!["main".into()],
            events: Vec::new(),
        }
    }

    /// Adds a track and gives its number for [`Trace::event_on`]. Track 0,
    /// `main`, is there from the start.
    pub fn thread(&mut self, name: impl Into<String>) -> usize {
        self.threads.push(name.into());
        self.threads.len() - 1
    }

    /// Adds a span to track 0. Spans of one track nest or follow each other.
    /// Times are microseconds since any fixed moment; `args` is shown when the
    /// span is selected (`flops`, `bytes`, shapes), and may be empty.
    pub fn event(
        &mut self,
        name: impl Into<String>,
        category: impl Into<String>,
        start_us: f64,
        dur_us: f64,
        args: Map<String, Value>,
    ) {
        self.event_on(0, name, category, start_us, dur_us, args);
    }

    /// As [`Trace::event`], on a track of [`Trace::thread`].
    pub fn event_on(
        &mut self,
        thread: usize,
        name: impl Into<String>,
        category: impl Into<String>,
        start_us: f64,
        dur_us: f64,
        args: Map<String, Value>,
    ) {
        let (name, category) = (name.into(), category.into());
        self.events.push(Event {
            thread,
            name,
            category,
            start_us,
            dur_us,
            args,
        });
    }

    /// Number of spans so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// True without spans.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Writes the trace to `path`, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        files::write_atomic_with(path, |out| {
            writeln!(out, "{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [")?;
            let name = json!({"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": {"name": self.process}});
            write!(out, "{name}")?;
            for (thread, name) in self.threads.iter().enumerate() {
                let args = json!({"name": name});
                let name = json!({"name": "thread_name", "ph": "M", "pid": 1, "tid": thread, "args": args});
                write!(out, ",\n{name}")?;
            }
            for event in &self.events {
                let line = json!({
                    "name": event.name, "cat": event.category, "ph": "X", "pid": 1, "tid": event.thread,
                    "ts": event.start_us, "dur": event.dur_us, "args": event.args,
                });
                write!(out, ",\n{line}")?;
            }
            writeln!(out, "\n]}}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_one_json_object_with_named_tracks_and_spans() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        let mut trace = Trace::new("rank 0");
        assert!(trace.is_empty());
        let worker = trace.thread("checkpoint \"writer\"");
        let args = Map::from_iter([("flops".to_owned(), json!(1_000_000))]);
        trace.event("matmul", "forward", 10.5, 2.25, args);
        trace.event_on(worker, "save", "io", 11.0, 100.0, Map::new());
        assert_eq!(trace.len(), 2);
        trace.write(&path).unwrap();

        let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let events = value["traceEvents"].as_array().unwrap();
        let of = |ph: &str| events.iter().filter(|e| e["ph"] == ph).collect::<Vec<_>>();
        assert_eq!(of("M").len(), 3);
        assert_eq!(of("M")[2]["args"]["name"], "checkpoint \"writer\"");
        let spans = of("X");
        assert_eq!(spans.len(), 2);
        assert_eq!(spans[0]["name"], "matmul");
        assert_eq!(
            (spans[0]["ts"].as_f64(), spans[0]["dur"].as_f64()),
            (Some(10.5), Some(2.25))
        );
        assert_eq!(spans[0]["args"]["flops"], 1_000_000);
        assert_eq!(spans[1]["tid"], of("M")[2]["tid"]);
    }

    #[test]
    fn an_empty_trace_is_valid_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("trace.json");
        Trace::new("p").write(&path).unwrap();
        let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(value["traceEvents"].as_array().unwrap().len(), 2);
    }
}

//! A Prometheus endpoint: one thread that answers `GET /metrics` over HTTP 1.1,
//! one connection at a time. Off unless an address is given; it never holds up
//! or ends a run.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cairn_base::Diagnostic;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::{EvalMetrics, StepMetrics};

/// A client gets this long for its request, and as long to take the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// A request line and headers longer than this are refused.
const MAX_REQUEST_BYTES: u64 = 16 * 1024;

type FloatGauge = Gauge<f64, AtomicU64>;

/// The numbers being served.
#[derive(Clone, Debug, Default)]
struct Numbers {
    step: Gauge<i64>,
    loss: FloatGauge,
    lr: FloatGauge,
    grad_norm: FloatGauge,
    tokens: Counter,
    tokens_per_s: FloatGauge,
    step_seconds: FloatGauge,
    mem_bytes: FloatGauge,
    val_loss: FloatGauge,
    val_bits_per_char: FloatGauge,
}

impl Numbers {
    fn registry(&self, run_name: &str) -> Registry {
        let label = ("run".into(), run_name.to_owned().into());
        let mut registry = Registry::with_prefix_and_labels("cairn", std::iter::once(label));
        registry.register("step", "Completed optimizer steps", self.step.clone());
        registry.register("loss", "Training loss in nats per token", self.loss.clone());
        registry.register("learning_rate", "Learning rate", self.lr.clone());
        registry.register(
            "grad_norm",
            "Gradient norm before clipping",
            self.grad_norm.clone(),
        );
        registry.register("tokens", "Tokens trained on", self.tokens.clone());
        registry.register(
            "tokens_per_second",
            "Tokens trained on per second",
            self.tokens_per_s.clone(),
        );
        registry.register(
            "step_seconds",
            "Time of the last step",
            self.step_seconds.clone(),
        );
        registry.register("memory_bytes", "Peak memory", self.mem_bytes.clone());
        registry.register(
            "validation_loss",
            "Held-out loss in nats per token",
            self.val_loss.clone(),
        );
        registry.register(
            "validation_bits_per_char",
            "Held-out loss in bits per character",
            self.val_bits_per_char.clone(),
        );
        registry
    }
}

/// A running endpoint. It stops when dropped.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    numbers: Numbers,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Listens on `address`; port 0 lets the system choose.
    ///
    /// # Errors
    /// A warning when the address cannot be had; the run goes on without.
    pub fn start(address: SocketAddr, run_name: &str) -> Result<Self, Diagnostic> {
        let refused = |error: io::Error| {
            Diagnostic::warning(
                "metrics::prometheus",
                format!("cannot serve Prometheus metrics on {address}: {error}"),
            )
            .hint("training goes on without them; choose another `prometheus_port`")
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let numbers = Numbers::default();
        let registry = numbers.registry(run_name);
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::Builder::new()
            .name("prometheus".into())
            .spawn({
                let stop = Arc::clone(&stop);
                move || serve(&listener, &registry, &stop)
            })
            .map_err(refused)?;
        Ok(Self {
            address,
            numbers,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes over the numbers of a step.
    pub fn step(&self, metrics: &StepMetrics) {
        self.numbers
            .step
            .set(i64::try_from(metrics.step).unwrap_or(i64::MAX));
        self.numbers.loss.set(f64::from(metrics.loss));
        self.numbers.lr.set(metrics.lr);
        self.numbers.grad_norm.set(f64::from(metrics.grad_norm));
        // The count is kept over restarts by the trainer, so it is set, not added to.
        self.numbers
            .tokens
            .inner()
            .store(metrics.tokens, Ordering::Relaxed);
        self.numbers.tokens_per_s.set(metrics.tokens_per_s);
        self.numbers.step_seconds.set(metrics.step_ms / 1e3);
        self.numbers.mem_bytes.set(metrics.mem_bytes as f64);
    }

    /// Takes over the numbers of an evaluation.
    pub fn eval(&self, metrics: &EvalMetrics) {
        self.numbers.val_loss.set(metrics.val_loss);
        self.numbers
            .val_bits_per_char
            .set(metrics.val_bits_per_char);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // A connection of our own wakes the thread; without one it would wait
        // for the next scrape, so it is left to end with the process then.
        let mut wake = self.address;
        if wake.ip().is_unspecified() {
            wake.set_ip(if wake.is_ipv4() {
                std::net::Ipv4Addr::LOCALHOST.into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            });
        }
        if TcpStream::connect_timeout(&wake, PATIENCE).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, registry: &Registry, stop: &AtomicBool) {
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        match stream {
            // A client that goes away in between is no concern of the run.
            Ok(stream) => drop(answer(stream, registry)),
            // Out of descriptors, for instance: do not spin while that lasts.
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// Reads until a moment, however slowly the bytes come.
struct Until<'a> {
    stream: &'a TcpStream,
    end: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

fn answer(stream: TcpStream, registry: &Registry) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let until = Until {
        stream: &stream,
        end: Instant::now() + PATIENCE,
    };
    let mut reader = BufReader::new(until.take(MAX_REQUEST_BYTES));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    // The headers are read so that closing does not reset the connection.
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let mut words = request.split_whitespace();
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let path = path.split('?').next().unwrap_or_default();
    let plain = "text/plain; charset=utf-8";
    let (status, kind, body) = match (method, path) {
        ("GET" | "HEAD", "/metrics") => {
            let mut body = String::new();
            match encode(&mut body, registry) {
                Ok(()) => (
                    "200 OK",
                    "application/openmetrics-text; version=1.0.0; charset=utf-8",
                    body,
                ),
                Err(error) => ("500 Internal Server Error", plain, format!("{error}\n")),
            }
        }
        ("GET" | "HEAD", _) => (
            "404 Not Found",
            plain,
            "the metrics are at /metrics\n".to_owned(),
        ),
        _ => (
            "405 Method Not Allowed",
            plain,
            "only GET is answered\n".to_owned(),
        ),
    };
    let length = body.len();
    let body = if method == "HEAD" { "" } else { body.as_str() };
    let mut stream = &stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    stream.flush()
}

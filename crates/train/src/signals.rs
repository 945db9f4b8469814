//! SIGINT, SIGTERM and SIGUSR1, as flags that the loop looks at between steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cairn_base::Diagnostic;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::flag;

/// What signals have asked for.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    stop: Arc<AtomicBool>,
    save: Arc<AtomicBool>,
}

impl Signals {
    /// Catches SIGINT and SIGTERM (checkpoint and stop) and SIGUSR1 (checkpoint
    /// and go on). A second SIGINT or SIGTERM ends the process at once, with
    /// the exit code 1.
    ///
    /// # Errors
    /// When the system refuses a handler.
    pub fn install() -> Result<Self, Box<Diagnostic>> {
        let signals = Self::default();
        let refused = |error: std::io::Error| {
            Box::new(Diagnostic::error(
                "train::signals",
                format!("cannot catch signals: {error}"),
            ))
        };
        for signal in [SIGINT, SIGTERM] {
            // Order matters: the first signal finds `stop` unset, the second set.
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&signals.stop))
                .map_err(refused)?;
            flag::register(signal, Arc::clone(&signals.stop)).map_err(refused)?;
        }
        flag::register(SIGUSR1, Arc::clone(&signals.save)).map_err(refused)?;
        Ok(signals)
    }

    /// Whether the run should end.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a checkpoint was asked for since the last call.
    #[must_use]
    pub fn take_save(&self) -> bool {
        self.save.swap(false, Ordering::Relaxed)
    }
}

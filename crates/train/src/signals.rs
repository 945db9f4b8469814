//! SIGINT, SIGTERM and SIGUSR1. A thread waits for them, says at once what will
//! be done, and sets flags that the work looks at between steps and between
//! pieces of data.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cairn_base::Diagnostic;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals as Incoming;

use crate::{checkpoint, console};

/// A signal this long after the first one means "at once": two that come
/// together, from a terminal and a supervisor say, are one wish.
pub const IMPATIENCE: Duration = Duration::from_secs(5);

/// Exit code of a process that was told to end at once.
const ENDED_AT_ONCE: i32 = 1;

/// What signals have asked for.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    save: AtomicBool,
    standing: Mutex<Option<Standing>>,
}

/// How far the training is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    checkpoints: PathBuf,
    step: u64,
}

/// What a SIGINT or SIGTERM means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// The first one: finish what is begun.
    Stop,
    /// The same wish again.
    Again,
    /// At once.
    Now,
}

/// Tells the first signal from those that follow.
#[derive(Debug, Default)]
struct Patience {
    first: Option<Instant>,
}

impl Patience {
    fn signal(&mut self, now: Instant) -> Wish {
        match self.first {
            None => {
                self.first = Some(now);
                Wish::Stop
            }
            Some(first) if now.saturating_duration_since(first) < IMPATIENCE => Wish::Again,
            Some(_) => Wish::Now,
        }
    }
}

impl Signals {
    /// Catches SIGINT and SIGTERM (checkpoint and stop) and SIGUSR1 (checkpoint
    /// and go on). A further SIGINT or SIGTERM ends the process at once, with
    /// the exit code 1, when [`IMPATIENCE`] has passed since the first.
    ///
    /// # Errors
    /// When the system refuses a handler or a thread.
    pub fn install() -> Result<Self, Box<Diagnostic>> {
        let signals = Self::default();
        let refused = |error: std::io::Error| {
            Box::new(Diagnostic::error(
                "train::signals",
                format!("cannot catch signals: {error}"),
            ))
        };
        let mut incoming = Incoming::new([SIGINT, SIGTERM, SIGUSR1]).map_err(refused)?;
        let shared = Arc::clone(&signals.shared);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let mut patience = Patience::default();
                for signal in incoming.forever() {
                    shared.take(signal, &mut patience);
                }
            })
            .map_err(refused)?;
        Ok(signals)
    }

    /// Whether the run should end.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Whether a checkpoint was asked for since the last call.
    #[must_use]
    pub fn take_save(&self) -> bool {
        self.shared.save.swap(false, Ordering::Relaxed)
    }

    /// Notes that training is under way and `step` steps are done, for what is
    /// said when a signal comes.
    pub fn at(&self, checkpoints: &Path, step: u64) {
        let mut standing = self.shared.standing();
        match &mut *standing {
            Some(standing) => standing.step = step,
            None => {
                *standing = Some(Standing {
                    checkpoints: checkpoints.to_path_buf(),
                    step,
                });
            }
        }
    }
}

impl Shared {
    fn standing(&self) -> std::sync::MutexGuard<'_, Option<Standing>> {
        // A number is whole whatever its writer's fate.
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, signal: i32, patience: &mut Patience) {
        let standing = self.standing().clone();
        if signal == SIGUSR1 {
            self.save.store(true, Ordering::Relaxed);
            return console::line(match standing {
                Some(_) => "SIGUSR1: a checkpoint is written after this step",
                None => "SIGUSR1: a checkpoint is written after the first step",
            });
        }
        let name = if signal == SIGINT {
            "SIGINT"
        } else {
            "SIGTERM"
        };
        match patience.signal(Instant::now()) {
            Wish::Stop => {
                console::line(&stopping(name, standing.is_some()));
                self.stop.store(true, Ordering::Relaxed);
            }
            Wish::Again => console::line(&format!(
                "{name}: stopping already; {} s after the first signal another one ends the process at once",
                IMPATIENCE.as_secs()
            )),
            Wish::Now => {
                let newest = standing.as_ref().and_then(|standing| {
                    let found = checkpoint::step_dirs(&standing.checkpoints).ok()?;
                    found.into_keys().next_back()
                });
                let step = standing.map(|standing| standing.step);
                console::line(&format!("{name}: ended at once: {}", lost(step, newest)));
                std::process::exit(ENDED_AT_ONCE);
            }
        }
    }
}

/// What the first signal is answered with.
fn stopping(name: &str, training: bool) -> String {
    let what = match training {
        true => "stopping after this step; a checkpoint is written",
        false => "stopping; no step is done yet",
    };
    format!(
        "{name}: {what} (once more after {} s: end at once)",
        IMPATIENCE.as_secs()
    )
}

/// What is lost when the process ends at once after `step` steps, with `newest`
/// the newest checkpoint.
fn lost(step: Option<u64>, newest: Option<u64>) -> String {
    match (step, newest) {
        (None, _) => "no step was done, nothing is lost".to_owned(),
        (Some(step), None) => {
            format!("there is no checkpoint, so all of the {step} steps done are lost")
        }
        (Some(step), Some(newest)) if newest >= step => {
            format!("`--resume` goes on after step {newest}")
        }
        (Some(step), Some(newest)) => format!(
            "what was done after step {newest} is lost, up to step {step}; `--resume` goes on after step {newest}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_wish() {
        let start = Instant::now();
        let mut patience = Patience::default();
        let short = IMPATIENCE - Duration::from_millis(1);
        assert_eq!(patience.signal(start), Wish::Stop);
        assert_eq!(patience.signal(start), Wish::Again);
        assert_eq!(patience.signal(start + short), Wish::Again);
        // Counted from the first: who keeps asking is heard.
        assert_eq!(patience.signal(start + IMPATIENCE), Wish::Now);
    }

    #[test]
    fn what_is_lost_is_named() {
        let cases = [
            (None, None, "nothing is lost"),
            (Some(7), None, "all of the 7 steps"),
            (Some(7), Some(5), "after step 5 is lost, up to step 7"),
            (Some(7), Some(7), "`--resume` goes on after step 7"),
        ];
        for (step, newest, text) in cases {
            assert!(lost(step, newest).contains(text), "{}", lost(step, newest));
        }
    }
}

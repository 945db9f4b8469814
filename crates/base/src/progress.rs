//! Progress for people: a bar on a terminal, and where stderr is no terminal
//! one plain line every few seconds, so that logs stay readable.

use std::fmt;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Least time between two plain lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// What the counted things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Things counted one by one: files, steps.
    Items,
    /// Bytes, shown in KiB, MiB and so on.
    Bytes,
}

/// Several counts at once, one line each.
#[derive(Debug, Default)]
pub struct Group(MultiProgress);

impl Group {
    /// A group on stderr.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A further line.
    #[must_use]
    pub fn add(&self, label: impl Into<String>, total: u64) -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let hidden = ProgressDrawTarget::hidden();
        let mut progress = Progress::on(label.into(), total, Unit::Items, hidden, !terminal);
        if terminal {
            progress.bar = self.0.add(progress.bar.clone());
        }
        progress
    }
}

/// A running count towards a total. May be shared between threads.
pub struct Progress {
    bar: ProgressBar,
    label: String,
    unit: Unit,
    plain: Option<Mutex<Plain>>,
}

struct Plain {
    last: Instant,
    lines: usize,
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("label", &self.label)
            .field("position", &self.bar.position())
            .finish()
    }
}

impl Progress {
    /// A count of things up to `total`, named by `label`.
    #[must_use]
    pub fn new(label: impl Into<String>, total: u64) -> Self {
        Self::with_unit(label, total, Unit::Items)
    }

    /// As [`Progress::new`], counting in `unit`.
    #[must_use]
    pub fn with_unit(label: impl Into<String>, total: u64, unit: Unit) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self::on(label.into(), total, unit, target, !terminal)
    }

    /// A count that shows nothing: for tests and callers that were asked to be quiet.
    #[must_use]
    pub fn hidden() -> Self {
        Self::on(
            String::new(),
            0,
            Unit::Items,
            ProgressDrawTarget::hidden(),
            false,
        )
    }

    fn on(label: String, total: u64, unit: Unit, target: ProgressDrawTarget, plain: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), target);
        if let Ok(style) = style(unit) {
            bar.set_style(style);
        }
        bar.set_prefix(label.clone());
        let plain = plain.then(|| {
            Mutex::new(Plain {
                last: Instant::now(),
                lines: 0,
            })
        });
        Self {
            bar,
            label,
            unit,
            plain,
        }
    }

    /// Sets the total, once it is known.
    pub fn set_total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Sets the count, for instance where a resumed run starts.
    pub fn set(&self, position: u64) {
        self.bar.set_position(position);
        self.plain_line(false);
    }

    /// Adds to the count.
    pub fn inc(&self, delta: u64) {
        self.bar.inc(delta);
        self.plain_line(false);
    }

    /// Sets the text behind the counts.
    pub fn message(&self, text: impl Into<String>) {
        self.bar.set_message(text.into());
    }

    /// Writes a line for people to stderr without tearing the bar.
    pub fn println(&self, line: impl AsRef<str>) {
        if self.plain.is_some() || self.bar.is_hidden() {
            eprintln!("{}", line.as_ref());
        } else {
            self.bar.println(line.as_ref());
        }
    }

    /// Ends the count and removes the bar. Where plain lines were shown, the
    /// last one shows the end.
    pub fn finish(&self) {
        self.plain_line(true);
        self.bar.finish_and_clear();
    }

    /// Writes the plain line when it is due. A count that ended before the
    /// first line was due says nothing.
    fn plain_line(&self, last: bool) {
        let Some(plain) = &self.plain else { return };
        let Ok(mut plain) = plain.lock() else { return };
        let due = if last {
            plain.lines > 0
        } else {
            plain.last.elapsed() >= PLAIN_INTERVAL
        };
        if due {
            plain.last = Instant::now();
            plain.lines += 1;
            eprintln!("{}", self.text());
        }
    }

    fn text(&self) -> String {
        let total = self.bar.length().unwrap_or(0);
        let position = self.bar.position();
        let counts = match self.unit {
            Unit::Items => format!("{position}/{total}"),
            Unit::Bytes => {
                format!(
                    "{}/{}",
                    indicatif::BinaryBytes(position),
                    indicatif::BinaryBytes(total)
                )
            }
        };
        let message = self.bar.message();
        let gap = if message.is_empty() { "" } else { "  " };
        format!("{}: {counts}{gap}{message}", self.label)
    }
}

fn style(unit: Unit) -> Result<ProgressStyle, indicatif::style::TemplateError> {
    let counts = match unit {
        Unit::Items => "{human_pos}/{human_len}",
        Unit::Bytes => "{binary_bytes}/{binary_total_bytes}",
    };
    let template = format!("{{prefix}} [{{bar:24}}] {counts} {{eta}} left  {{wide_msg}}");
    Ok(ProgressStyle::with_template(&template)?.progress_chars("=> "))
}

impl Drop for Progress {
    fn drop(&mut self) {
        if !self.bar.is_finished() {
            self.bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bars_are_well_formed() {
        assert!(style(Unit::Items).is_ok());
        assert!(style(Unit::Bytes).is_ok());
    }

    #[test]
    fn the_plain_line_has_the_same_facts() {
        let progress = Progress::on(
            "reading".to_owned(),
            4 << 20,
            Unit::Bytes,
            ProgressDrawTarget::hidden(),
            false,
        );
        progress.inc(1 << 20);
        assert_eq!(progress.text(), "reading: 1.00 MiB/4.00 MiB");
        progress.message("a.rs");
        assert_eq!(progress.text(), "reading: 1.00 MiB/4.00 MiB  a.rs");
    }

    #[test]
    fn a_short_count_writes_no_plain_line() {
        let progress = Progress::on(
            "x".to_owned(),
            2,
            Unit::Items,
            ProgressDrawTarget::hidden(),
            true,
        );
        progress.inc(2);
        progress.finish();
        assert_eq!(progress.plain.as_ref().unwrap().lock().unwrap().lines, 0);
    }
}

//! What people see while the engine works: everything goes to stderr.

use std::io::Write;

use cairn_base::{Diagnostic, env};

/// One line. A closed stderr is no reason to stop training.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// One message, in colour on a terminal that wants it.
pub fn diagnostic(diagnostic: &Diagnostic) {
    line(&diagnostic.render(env::color_on_stderr()));
}

/// An answer, to stdout. A reader that closed its end has seen enough.
pub fn answer(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

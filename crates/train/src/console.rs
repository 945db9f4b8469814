//! What people see while the engine works: everything goes to stderr.

use std::io::{IsTerminal, Write};

use cairn_base::Diagnostic;

/// One line. A closed stderr is no reason to stop training.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// One message, in colour on a terminal that wants it.
pub fn diagnostic(diagnostic: &Diagnostic) {
    let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    line(&diagnostic.render(color));
}

/// An answer, to stdout. A reader that closed its end has seen enough.
pub fn answer(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

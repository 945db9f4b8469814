//! `cairn-sim`: does one request that `cargo xtask` has checked.
//!
//! `cairn-sim --request PATH`: the file holds a
//! [`cairn_launch::request::Request`] and is deleted once read. Answers go to
//! stdout, messages to stderr. Exit codes: 0 done, 1 something was found or
//! failed, 2 wrong input.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use cairn_base::{Diagnostic, env};
use cairn_cdna::command;
use cairn_launch::request::{Format, Request};

fn tell(diagnostic: &Diagnostic, format: Format) {
    let text = match format {
        Format::Text => diagnostic.render(env::color_on_stderr()),
        Format::Json => diagnostic.to_json().to_string(),
    };
    // A closed stderr is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let path = match (args.next(), args.next(), args.next()) {
        (Some(flag), Some(path), None) if flag == "--request" => PathBuf::from(path),
        _ => {
            let diagnostic =
                Diagnostic::error("sim::usage", "cairn-sim is started by `cargo xtask`")
                    .hint("try `cargo xtask sim run --help`");
            tell(&diagnostic, Format::Text);
            return ExitCode::from(2);
        }
    };
    let request = match Request::take(&path) {
        Ok(request) => request,
        Err(error) => {
            let diagnostic = Diagnostic::error("sim::request", error.to_string())
                .hint("build both sides from one checkout: `cargo xtask` does so by itself");
            tell(&diagnostic, Format::Text);
            return ExitCode::from(2);
        }
    };
    let format = request.format;
    match command::run(request) {
        Ok(answer) => {
            let text = match format {
                Format::Text => answer.text,
                Format::Json => answer.json.to_string(),
            };
            // A reader that closed its end has seen enough.
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::from(answer.code)
        }
        Err(failed) => {
            tell(&failed.diagnostic, format);
            ExitCode::from(failed.code)
        }
    }
}

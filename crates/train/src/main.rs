//! `cairn-train`: does one request that `cargo xtask` has checked.
//!
//! `cairn-train --request PATH`: the file holds a
//! [`cairn_launch::request::Request`] and is deleted once read. Answers go to
//! stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 wrong
//! input, 3 stopped early by a signal with a checkpoint written.

use std::path::PathBuf;
use std::process::ExitCode;

use cairn_base::Diagnostic;
use cairn_launch::request::{Format, Request};
use cairn_train::{commands, console};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let path = match (args.next(), args.next(), args.next()) {
        (Some(flag), Some(path), None) if flag == "--request" => PathBuf::from(path),
        _ => {
            let diagnostic =
                Diagnostic::error("train::usage", "cairn-train is started by `cargo xtask`")
                    .hint("try `cargo xtask train --exp configs/experiments/quickstart.yaml`");
            console::diagnostic(&diagnostic);
            return ExitCode::from(2);
        }
    };
    let request = match Request::take(&path) {
        Ok(request) => request,
        Err(error) => {
            let diagnostic = Diagnostic::error("train::request", error.to_string())
                .hint("build both sides from one checkout: `cargo xtask` does so by itself");
            console::diagnostic(&diagnostic);
            return ExitCode::from(2);
        }
    };
    let format = request.format;
    match commands::run(request) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let diagnostic = error.diagnostic();
            match format {
                Format::Text => console::diagnostic(&diagnostic),
                Format::Json => console::line(&diagnostic.to_json().to_string()),
            }
            ExitCode::from(error.exit_code())
        }
    }
}

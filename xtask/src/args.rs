//! Separates override tokens from the flags of a command. Overrides may look
//! like flags (`--lr 1e-3`) and may stand anywhere, so whatever the command
//! does not know is one; they are moved behind `--`, where clap leaves them alone.

use std::ffi::OsString;

use cairn_base::Diagnostic;
use clap::Command;

use crate::context::Failure;

/// The id of the argument that takes a command's overrides.
const OVERRIDES: &str = "overrides";

/// The arguments as text; anything else is wrong use.
pub(crate) fn utf8(args: impl Iterator<Item = OsString>) -> Result<Vec<String>, Failure> {
    let mut args = args.peekable();
    let program = args.next();
    // Cargo names the subcommand again when it starts a program called `cargo-xtask`.
    args.next_if(|arg| arg == "xtask");
    program
        .into_iter()
        .chain(args)
        .map(|arg| {
            arg.into_string().map_err(|arg| {
                let message = format!("the argument {} is not UTF-8", arg.display());
                Failure::wrong(Diagnostic::error("xtask::utf8", message))
            })
        })
        .collect()
}

/// The same command line with the overrides last, behind `--`. Unchanged for
/// commands that take none.
pub(crate) fn separate_overrides(definition: &Command, tokens: Vec<String>) -> Vec<String> {
    let mut command = definition;
    let mut known = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    known.extend(rest.next());
    while command.has_subcommands() {
        let Some(token) = rest.next() else { break };
        if let Some(sub) = command.find_subcommand(&token) {
            command = sub;
            known.push(token);
        } else {
            let wants_value = flag(command, &token).is_some_and(|flag| flag.wants_value);
            known.push(token);
            if wants_value {
                known.extend(rest.next());
            }
        }
    }
    if !command.get_arguments().any(|arg| arg.get_id() == OVERRIDES) {
        known.extend(rest);
        return known;
    }
    let mut overrides = Vec::new();
    let mut positionals: Vec<_> = command
        .get_positionals()
        .filter(|arg| arg.get_id() != OVERRIDES)
        .collect();
    while let Some(token) = rest.next() {
        if token == "--" {
            overrides.extend(rest);
            break;
        } else if let Some(flag) = flag(command, &token) {
            known.push(token);
            if flag.wants_value {
                known.extend(rest.next());
            }
        } else if token.starts_with('-') {
            let takes_next = token.starts_with("--") && !token.contains('=');
            overrides.push(token);
            if takes_next && rest.peek().is_some_and(|next| !next.starts_with("--")) {
                overrides.extend(rest.next());
            }
        } else if let Some(at) = positionals.iter().position(|arg| fits(arg, &token)) {
            positionals.remove(at);
            known.push(token);
        } else {
            overrides.push(token);
        }
    }
    if !overrides.is_empty() {
        known.push("--".to_owned());
        known.extend(overrides);
    }
    known
}

/// Overrides in a separated command line that look like mistyped flags of the
/// command: to be told when the command is refused.
pub(crate) fn likely_flags(definition: &Command, tokens: &[String]) -> Vec<Diagnostic> {
    let mut command = definition;
    for token in tokens {
        command = command.find_subcommand(token).unwrap_or(command);
    }
    let flags: Vec<&str> = command
        .get_arguments()
        .filter_map(clap::Arg::get_long)
        .collect();
    let overrides = tokens.iter().skip_while(|token| *token != "--").skip(1);
    overrides
        .filter_map(|token| {
            let typed = token.strip_prefix("--")?.split('=').next()?;
            let flag = cairn_base::nearest(typed, flags.iter().copied())?;
            let message = format!("`--{typed}` was read as a change to the experiment");
            Some(
                Diagnostic::note("xtask::flag", message)
                    .hint(format!("did you mean the flag `--{flag}`?")),
            )
        })
        .collect()
}

/// A count of at least one.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) | Err(_) => Err("a whole number of at least 1 is needed".to_owned()),
        Ok(count) => Ok(count),
    }
}

struct Flag {
    wants_value: bool,
}

/// The flag of `command` that `token` names, if it is one.
fn flag(command: &Command, token: &str) -> Option<Flag> {
    let long = token
        .strip_prefix("--")
        .map(|rest| rest.split('=').next().unwrap_or(rest));
    let found = command.get_arguments().find(|arg| match long {
        Some(name) => {
            arg.get_long() == Some(name)
                || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
        }
        None => {
            let short = token.strip_prefix('-').and_then(|rest| rest.chars().next());
            short.is_some() && arg.get_short() == short
        }
    })?;
    let attached = if long.is_some() {
        token.contains('=')
    } else {
        token.chars().count() > 2
    };
    Some(Flag {
        wants_value: found.get_action().takes_values() && !attached,
    })
}

/// True when a bare token is meant for this positional argument: one of its
/// words, or for free text anything that is no assignment.
fn fits(arg: &clap::Arg, token: &str) -> bool {
    let words = arg.get_possible_values();
    if words.is_empty() {
        !token.contains('=')
    } else {
        words.iter().any(|word| word.matches(token, false))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn overrides_go_last_whatever_they_look_like() {
        let mut definition = crate::Cli::command();
        definition.build();
        let table = [
            ("train --exp E", "train --exp E"),
            ("train --exp E lr=1", "train --exp E -- lr=1"),
            (
                "train lr=1 --exp E --resume",
                "train --exp E --resume -- lr=1",
            ),
            ("train --lr 1 --config E", "train --config E -- --lr 1"),
            (
                "train --lr -5 --exp=E --flag --resume",
                "train --exp=E --resume -- --lr -5 --flag",
            ),
            (
                "train pretrain --exp E a.b=2",
                "train pretrain --exp E -- a.b=2",
            ),
            ("train --exp E -- --resume", "train --exp E -- --resume"),
            (
                "train pretrain --exp E loose",
                "train pretrain --exp E -- loose",
            ),
            (
                "--format json train --exp E x=1",
                "--format json train --exp E -- x=1",
            ),
            ("train --help", "train --help"),
            ("train -h", "train -h"),
            (
                "config show --exp E --origin lr=2",
                "config show --exp E --origin -- lr=2",
            ),
            ("config diff A B", "config diff A B"),
            ("report RUN --nonsense", "report RUN --nonsense"),
            ("", ""),
            ("train --exp", "train --exp"),
        ];
        for (typed, expected) in table {
            let tokens = ["xtask"]
                .into_iter()
                .chain(typed.split_whitespace())
                .map(str::to_owned)
                .collect();
            let separated = separate_overrides(&definition, tokens)[1..].join(" ");
            assert_eq!(separated, expected, "{typed}");
        }
    }

    #[test]
    fn a_mistyped_flag_is_suspected_and_a_parameter_is_not() {
        let mut definition = crate::Cli::command();
        definition.build();
        let suspected = |typed: &str| {
            let tokens: Vec<_> = typed.split_whitespace().map(str::to_owned).collect();
            likely_flags(&definition, &tokens).len()
        };
        assert_eq!(suspected("xtask train --exp E -- --resum"), 1);
        assert_eq!(suspected("xtask train --exp E -- --lr 1 resum=1"), 0);
        assert_eq!(suspected("xtask train --resume --exp E"), 0);
    }
}

//! A launch plan: the processes of a run as plain data, before any is started.
//! It can be printed as JSON or as a shell script that does the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use cairn_base::exec::shell_quote;
use cairn_base::{Diagnostic, Exec};
use serde::Serialize;

use crate::request::{Request, RequestError};

/// How the processes are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// On this machine, by this process.
    Direct,
}

/// What will be started.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchPlan {
    /// How.
    pub mode: Mode,
    /// The processes, in the order of their ranks.
    pub processes: Vec<Process>,
    /// What each of them is asked to do.
    pub request: Request,
}

/// One process of a plan. It gets the request's file as `--request FILE`
/// behind its other arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its rank in the run.
    pub rank: usize,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set on top of the inherited ones.
    pub env: BTreeMap<String, String>,
    /// The folder it starts in.
    pub cwd: PathBuf,
}

impl LaunchPlan {
    /// One process on this machine: `engine` in the folder `cwd`, with the
    /// variables of the experiment's `env` section set.
    #[must_use]
    pub fn direct(
        engine: &Path,
        cwd: &Path,
        env: BTreeMap<String, String>,
        request: Request,
    ) -> Self {
        let process = Process {
            rank: 0,
            program: engine.to_path_buf(),
            args: Vec::new(),
            env,
            cwd: cwd.to_path_buf(),
        };
        Self {
            mode: Mode::Direct,
            processes: vec![process],
            request,
        }
    }

    /// The plan as JSON for programs.
    ///
    /// # Errors
    /// When a number in the request has no JSON form.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }

    /// The plan as a POSIX shell script that starts the same processes.
    ///
    /// # Errors
    /// When a number in the request has no JSON form.
    pub fn to_shell(&self) -> Result<String, serde_json::Error> {
        let mut script = String::from("#!/bin/sh\nset -eu\n");
        for process in &self.processes {
            script.push_str(&format!("cd {}\n", quote_path(&process.cwd)));
            for (name, value) in &process.env {
                script.push_str(&format!("export {name}={}\n", shell_quote(value)));
            }
        }
        // The quoted delimiter keeps the shell from expanding anything; JSON on
        // one line cannot hold the delimiter on a line of its own.
        let request = serde_json::to_string(&self.request)?;
        script.push_str(&format!(
            "request=$(mktemp)\ncat >\"$request\" <<'REQUEST'\n{request}\nREQUEST\n"
        ));
        for process in &self.processes {
            let words: Vec<_> = std::iter::once(quote_path(&process.program))
                .chain(process.args.iter().map(|arg| shell_quote(arg)))
                .collect();
            script.push_str(&format!(
                "exec {} --request \"$request\"\n",
                words.join(" ")
            ));
        }
        Ok(script)
    }

    /// Becomes the plan's process. Returns only when that fails.
    #[must_use]
    pub fn run(&self) -> RunError {
        let (exec, path) = match self.exec() {
            Ok(ready) => ready,
            Err(error) => return error,
        };
        let error = exec.replace();
        // Nobody is left to read it.
        drop(std::fs::remove_file(&path));
        error.into()
    }

    /// Runs the plan's process and gives what it answers; its messages are shown.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn answer(&self) -> Result<(ExitStatus, String), RunError> {
        let (exec, path) = self.exec()?;
        let mut answer = String::new();
        let status = exec.lines(|line| {
            answer.push_str(line);
            answer.push('\n');
        });
        // It is there only where the process ended before it read it.
        drop(std::fs::remove_file(&path));
        Ok((status?, answer))
    }

    /// The process, and the file of its request.
    fn exec(&self) -> Result<(Exec, PathBuf), RunError> {
        let process = self.processes.first().ok_or(RunError::Empty)?;
        let path = self.request.write_temporary()?;
        let mut exec = Exec::new(&process.program)
            .args(&process.args)
            .arg("--request")
            .arg(&path)
            .cwd(&process.cwd);
        for (name, value) in &process.env {
            exec = exec.env(name, value);
        }
        Ok((exec, path))
    }
}

/// Why a plan could not be started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The plan has no process.
    #[error("the launch plan has no process")]
    Empty,
    /// The request could not be written.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The process could not be started.
    #[error(transparent)]
    Exec(#[from] cairn_base::ExecError),
}

impl RunError {
    /// The form a user is shown.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        match self {
            Self::Request(RequestError::File(error)) => error.diagnostic(),
            Self::Exec(error) => error.diagnostic(),
            Self::Empty | Self::Request(_) => Diagnostic::error("launch::run", self.to_string()),
        }
    }
}

fn quote_path(path: &Path) -> String {
    shell_quote(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{CkptList, Command, Format};

    fn plan(program: &Path, cwd: &Path) -> LaunchPlan {
        let command = Command::CkptList(CkptList {
            run_dir: "it's $HOME".into(),
        });
        let env = BTreeMap::from([("GREETING".to_owned(), "a b".to_owned())]);
        LaunchPlan::direct(program, cwd, env, Request::new(None, Format::Text, command))
    }

    #[test]
    fn the_script_does_what_the_plan_says() {
        let dir = tempfile::tempdir().unwrap();
        let engine = dir.path().join("the engine");
        std::fs::write(
            &engine,
            "#!/bin/sh\npwd\necho \"$GREETING $1\"\ncat \"$2\"\nrm \"$2\"\n",
        )
        .unwrap();
        Exec::new("chmod").arg("+x").arg(&engine).run().unwrap();
        let plan = plan(&engine, dir.path());
        let output = Exec::new("sh")
            .stdin(plan.to_shell().unwrap())
            .output()
            .unwrap()
            .text();
        let lines: Vec<_> = output.lines().collect();
        assert_eq!(Path::new(lines[0]), dir.path().canonicalize().unwrap());
        assert_eq!(lines[1], "a b --request");
        let request: Request = serde_json::from_str(lines[2]).unwrap();
        assert_eq!(request, plan.request);
    }

    #[test]
    fn the_plan_reads_as_json() {
        let plan = plan(Path::new("/bin/engine"), Path::new("/runs"));
        let json: serde_json::Value = serde_json::from_str(&plan.to_json().unwrap()).unwrap();
        assert_eq!(json["mode"], "direct");
        assert_eq!(json["processes"][0]["program"], "/bin/engine");
        assert_eq!(json["processes"][0]["env"]["GREETING"], "a b");
        assert_eq!(json["request"]["command"]["name"], "ckpt_list");
    }

    #[test]
    fn a_missing_engine_is_an_error_and_leaves_no_request() {
        let plan = plan(Path::new("/no/such/engine"), Path::new("/"));
        let RunError::Exec(error) = plan.run() else {
            panic!("started nothing")
        };
        assert!(error.is_missing_program());
        let command = error.to_string();
        let path = command
            .split_whitespace()
            .find(|word| word.contains("cairn-request-"))
            .unwrap();
        assert!(
            !Path::new(path.trim_end_matches("`:")).exists(),
            "{command}"
        );
    }
}

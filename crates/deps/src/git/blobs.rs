//! Reading many objects from a store in one go, in the order asked for.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};
use std::thread::JoinHandle;

use cairn_base::ExecError;

use super::{Git, Store};
use crate::error::DepsError;

/// A stream of objects.
#[derive(Debug)]
pub(crate) struct Blobs {
    child: Child,
    /// Objects come in the order in which a thread asks for them.
    feeder: Option<JoinHandle<()>>,
    stream: BufReader<ChildStdout>,
    store: std::path::PathBuf,
}

impl Blobs {
    /// Starts reading these objects.
    pub(crate) fn start<'a>(
        git: &Git,
        store: &Store,
        oids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, DepsError> {
        let exec = store.local(git).args(["cat-file", "--batch", "--buffer"]);
        let failed = |source| {
            super::missing(ExecError::Start {
                command: exec.command_line(),
                source,
            })
        };
        let mut child = exec
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(std::io::Error::other("it has no pipes")));
        };
        let mut request = Vec::new();
        for oid in oids {
            request.extend_from_slice(oid.as_bytes());
            request.push(b'\n');
        }
        // When git ends early, its answers end early too, and that is told.
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&request)));
        Ok(Self {
            child,
            feeder: Some(feeder),
            stream: BufReader::with_capacity(1 << 18, stdout),
            store: store.path().to_path_buf(),
        })
    }

    /// The size of the next object, which must be `oid`.
    pub(crate) fn next(&mut self, oid: &str) -> Result<u64, DepsError> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        let mut words = line.split_whitespace();
        let (found, kind, size) = (words.next(), words.next(), words.next());
        match (read, found == Some(oid), kind, size.map(str::parse)) {
            (Ok(_), true, Some("blob"), Some(Ok(size))) => Ok(size),
            (Ok(_), true, Some("missing"), None) => Err(self.damaged(format!("it has no {oid}"))),
            _ => Err(self.damaged(format!("{oid} cannot be read"))),
        }
    }

    /// The next bytes of the object.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> Result<(), DepsError> {
        self.stream
            .read_exact(buffer)
            .map_err(|error| self.damaged(error.to_string()))
    }

    /// Ends an object after all its bytes.
    pub(crate) fn end(&mut self) -> Result<(), DepsError> {
        let mut end = [0];
        self.read(&mut end)
    }

    /// The whole of the next object, which must be `oid`.
    pub(crate) fn whole(&mut self, oid: &str) -> Result<Vec<u8>, DepsError> {
        let size = self.next(oid)?;
        let size = usize::try_from(size).map_err(|error| self.damaged(error.to_string()))?;
        let mut content = vec![0; size];
        self.read(&mut content)?;
        self.end()?;
        Ok(content)
    }

    fn damaged(&self, reason: String) -> DepsError {
        DepsError::Store {
            path: self.store.clone(),
            reason,
        }
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // After the last object there is nothing to lose; before it, somebody gave up.
        drop(self.child.kill());
        drop(self.child.wait());
        if let Some(feeder) = self.feeder.take() {
            drop(feeder.join());
        }
    }
}

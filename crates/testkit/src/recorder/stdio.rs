//! The recorder as a wrapper around a stdio server, whose command follows on the command line.
//!
//! Bytes are forwarded as they are read, even without a line end. A line is in the log before its
//! last byte is forwarded. The server's stderr is not touched. The recorder exits with the server's
//! status.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

use super::log::{MessageDirection, RecordedTransportKind, RecordingEntry, RecordingWriter};

/// Runs the server until it ends.
pub(super) async fn wrap(log: &Arc<RecordingWriter>, command: &[OsString]) -> io::Result<ExitCode> {
    let [program, arguments @ ..] = command else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program to run"));
    };
    #[expect(clippy::disallowed_methods, reason = "the kit starts the server under test itself")]
    let mut command = Command::new(program);
    let mut server = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (Some(input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let connection = log.connection();
    let inward = LineRecorder::new(log, MessageDirection::ToServer, &connection);
    let outward = LineRecorder::new(log, MessageDirection::ToClient, &connection);
    // Ends by dropping the server's stdin, which is how a client says that it is done.
    tokio::spawn(pass(tokio::io::stdin(), input, inward));
    let passed = pass(output, tokio::io::stdout(), outward);
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::pin!(passed);
    loop {
        tokio::select! {
            ended = &mut passed => { ended?; break }
            _ = terminated.recv() => terminate(server.id()),
        }
    }
    server.wait().await.map(code)
}

/// What we are told to do, the server is told.
fn terminate(server: Option<u32>) {
    let pid = server.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended just now.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// The server's own code, or the shell's number for the signal that ended it.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut lines: LineRecorder,
) -> io::Result<()> {
    let mut chunk = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut chunk).await?;
        if read == 0 {
            lines.end();
            return to.shutdown().await;
        }
        lines.hear(&chunk[..read]);
        to.write_all(&chunk[..read]).await?;
        to.flush().await?;
    }
}

/// Records the lines of one direction.
struct LineRecorder {
    log: Arc<RecordingWriter>,
    entry: RecordingEntry,
    line: Vec<u8>,
}

impl LineRecorder {
    fn new(log: &Arc<RecordingWriter>, direction: MessageDirection, connection: &str) -> Self {
        let entry = RecordingEntry {
            direction,
            carrier: RecordedTransportKind::Stdio,
            connection: connection.to_owned(),
            exchange: None,
            http: None,
            event: None,
            message: None,
            text: None,
        };
        LineRecorder { log: Arc::clone(log), entry, line: Vec::new() }
    }

    fn hear(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.log.append(&self.entry.clone().with_content(&line));
        }
    }
}

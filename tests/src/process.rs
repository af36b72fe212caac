//! A program that a test started, with its output at hand.
//!
//! It ends with the value that holds it, by its own process id; nothing is ever killed by name.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{broken, within};

/// Starts its arguments as a process that this one is no ancestor of, and waits until that is so.
/// The end of both outputs is its end; its exit code is then in the named file.
const OUTSIDE: &str = r#"
sh -c '
    parent=$1 code=$2; shift 2
    while grep -q "^PPid:[[:space:]]*$parent\$" /proc/$$/status; do :; done
    "$@" < "$OUTSIDE_INPUT"
    echo $? > "$code"
' outside $$ "$@" &
"#;

/// Runs a command to its end outside the process tree of this test, as an operator does in a
/// separate terminal: a test that is a client cannot approve its own calls. The command reads
/// `input`.
pub fn run_outside(command: &Command, input: &str) -> io::Result<Output> {
    let folder = TempDir::new()?;
    let (code, typed) = (folder.path().join("code"), folder.path().join("input"));
    std::fs::write(&typed, input)?;
    let mut outside = Command::new("sh");
    outside.args(["-c", OUTSIDE, "outside"]).arg(&code);
    outside.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outside.env(name, value),
            None => outside.env_remove(name),
        };
    }
    outside.env("OUTSIDE_INPUT", &typed).stdin(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        outside.current_dir(folder);
    }
    let output = outside.output()?;
    let code = std::fs::read_to_string(code)?;
    let code: i32 = code.trim().parse().map_err(|_| broken(format!("no exit code: {code}")))?;
    Ok(Output { status: ExitStatus::from_raw(code << 8), ..output })
}

/// A running program.
pub struct TestProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
}

impl TestProcess {
    /// Starts a command with all three streams connected to us.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = streams.spawn()?;
        let stderr = Arc::default();
        let lines = follow_lines(child.stdout.take());
        collect(child.stderr.take(), &stderr);
        Ok(Self { stdin: child.stdin.take(), child, lines, stderr })
    }

    /// The next line of stdout.
    pub fn line(&self, limit: Duration) -> io::Result<String> {
        self.lines.recv_timeout(limit).map_err(|_| {
            broken(format!("no line on stdout within {limit:?}; stderr:\n{}", self.stderr()))
        })
    }

    /// Writes one line to stdin.
    pub fn send(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| broken("stdin is closed"))?;
        stdin.write_all(line.as_bytes())?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// Closes stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// What it has written to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How much memory it holds, in bytes.
    pub fn resident(&self) -> io::Result<u64> {
        self.memory("VmRSS:")
    }

    /// The most memory it ever held, in bytes.
    pub fn peak(&self) -> io::Result<u64> {
        self.memory("VmHWM:")
    }

    fn memory(&self, kind: &str) -> io::Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(kind));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(|| broken("no memory is told"))
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        signal_pid(self.pid(), signal)
    }

    /// Waits for its end.
    pub fn wait(&mut self, limit: Duration) -> io::Result<ExitStatus> {
        let mut status = None;
        within(limit, || {
            status = self.child.try_wait().transpose();
            status.is_some()
        });
        status.unwrap_or_else(|| Err(broken(format!("still running after {limit:?}"))))
    }
}

impl Drop for TestProcess {
    fn drop(&mut self) {
        self.stdin = None;
        if matches!(self.child.try_wait(), Ok(None)) {
            _ = self.signal(Signal::TERM);
            if self.wait(Duration::from_secs(5)).is_err() {
                _ = self.child.kill();
            }
        }
        _ = self.child.wait();
    }
}

/// Sends a signal to a process that a test started, directly or through the gateway.
pub fn signal_pid(pid: u32, signal: Signal) -> io::Result<()> {
    let raw = i32::try_from(pid).map_err(|_| broken("no process id"))?;
    let pid = Pid::from_raw(raw).ok_or_else(|| broken("no process id"))?;
    kill_process(pid, signal).map_err(io::Error::from)
}

fn follow_lines(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in
            stream.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok)
        {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

fn collect(stream: Option<impl Read + Send + 'static>, into: &Arc<Mutex<String>>) {
    let into = Arc::clone(into);
    std::thread::spawn(move || {
        for line in
            stream.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok)
        {
            let mut text = into.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&line);
            text.push('\n');
        }
    });
}

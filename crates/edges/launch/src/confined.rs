//! Runs a task of this program in a separate process with limits, for work on untrusted data.
//!
//! The task is this binary, run again: it reads one file as its standard input, writes its answer
//! and exits. A task that exceeds its limits or crashes does not affect this process. On systems
//! without process limits, only time and output are limited.
//!
//! This does NOT prevent the task from reading other files. It is not a sandbox for foreign code.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LaunchError;
use crate::helper::LaunchHelperProgram;

/// How many bytes of a task's stderr are kept.
const LAST_WORDS: u64 = 4096;

/// The limits of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfinedLimits {
    /// Address space in bytes.
    pub memory: u64,
    /// CPU time.
    pub cpu: Duration,
    /// Wall-clock time.
    pub time: Duration,
    /// The length of the answer in bytes.
    pub output: u64,
}

/// How a task ended.
#[derive(Debug)]
pub enum ConfinedOutcome {
    /// The task succeeded with this answer.
    Answered(Vec<u8>),
    /// The task exited without success.
    Died {
        /// The exit status.
        status: ExitStatus,
        /// The beginning of its stderr.
        stderr: String,
    },
    /// The task exceeded its time limit.
    TimedOut,
    /// The answer exceeds the length limit.
    OutputTooLong,
}

/// Runs `helper` with these arguments on a file, and waits for its answer. Blocks.
///
/// The helper's `main` must handle the arguments. Otherwise the program would simply run a second
/// time.
pub fn run_confined(
    helper: &LaunchHelperProgram,
    args: &[&str],
    input: File,
    bounds: &ConfinedLimits,
) -> Result<ConfinedOutcome, LaunchError> {
    let mut child = start(helper, args, input, bounds)?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(LaunchError::Spawn(io::ErrorKind::BrokenPipe.into()));
    };
    let deadline = Instant::now() + bounds.time;
    let answer = read_on_thread(stdout, bounds.output.saturating_add(1));
    let errors = read_on_thread(stderr, LAST_WORDS);
    let answer = answer.recv_timeout(bounds.time);
    // A task that has closed its output may still run. One that writes too much must be killed.
    let ended = match &answer {
        Ok(answer) if answer.len() as u64 <= bounds.output => wait_until(&mut child, deadline),
        _ => None,
    };
    let Some(status) = ended else {
        let _ = child.kill();
        let _ = child.wait();
        return Ok(if answer.is_ok_and(|answer| answer.len() as u64 > bounds.output) {
            ConfinedOutcome::OutputTooLong
        } else {
            ConfinedOutcome::TimedOut
        });
    };
    let out_of_cpu = used_up_its_cpu(status);
    Ok(match answer {
        Ok(answer) if status.success() => ConfinedOutcome::Answered(answer),
        _ if out_of_cpu => ConfinedOutcome::TimedOut,
        _ => {
            let stderr = errors.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            ConfinedOutcome::Died { status, stderr: String::from_utf8_lossy(&stderr).into_owned() }
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn start(
    helper: &LaunchHelperProgram,
    args: &[&str],
    input: File,
    bounds: &ConfinedLimits,
) -> Result<Child, LaunchError> {
    let missing = || {
        let source = io::ErrorKind::NotFound.into();
        LaunchError::Helper { step: "finding its program", source }
    };
    let program = helper.path().ok_or_else(missing)?;
    let mut command = Command::new(program);
    command
        .args(args.iter().map(OsStr::new))
        .env_clear()
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    crate::sys::confine(&mut command, bounds);
    #[cfg(not(unix))]
    let _ = bounds;
    command.spawn().map_err(|source| LaunchError::Helper { step: "starting", source })
}

/// Reads at most `most` bytes of a pipe on another thread.
fn read_on_thread(pipe: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // Bytes read before an error are kept; the exit status shows the failure.
        let _ = pipe.take(most).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Returns the exit status, or `None` if the task still runs at the deadline. The task has closed
/// its pipes, so this normally takes little time.
fn wait_until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < deadline => thread::sleep(pause),
            _ => return None,
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Returns true if a signal of the kernel ended the task for exceeding its CPU time.
#[cfg(unix)]
fn used_up_its_cpu(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    let by = |signal: rustix::process::Signal| status.signal() == Some(signal.as_raw());
    by(rustix::process::Signal::XCPU) || by(rustix::process::Signal::KILL)
}

#[cfg(not(unix))]
fn used_up_its_cpu(_status: ExitStatus) -> bool {
    false
}

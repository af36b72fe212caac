//! A task of our own in a process of its own, within bounds: for work on data that may be made to
//! break whoever works on it.
//!
//! The task is our own binary run again: it reads one file as its standard input, writes its answer,
//! and ends. The bounds hold for it alone, so whatever becomes of it, we go on. On systems without
//! limits on a process only time and output are bounded.
//!
//! What this does NOT do: keep the task from reading other files. It runs our code, on data; it is no
//! sandbox for code of others.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::LaunchError;
use crate::helper::Helper;

/// How much of a task's last words is kept.
const LAST_WORDS: u64 = 4096;

/// What a task may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of address space.
    pub memory: u64,
    /// Time of a processor.
    pub cpu: Duration,
    /// Time by the clock.
    pub time: Duration,
    /// Bytes of its answer.
    pub output: u64,
}

/// How a task ended.
#[derive(Debug)]
pub enum Ending {
    /// It answered.
    Answered(Vec<u8>),
    /// It ended without success.
    Died {
        /// How.
        status: ExitStatus,
        /// What it wrote to stderr, the beginning.
        said: String,
    },
    /// It used up its time.
    Overtime,
    /// Its answer is longer than it may be.
    Overlong,
}

/// Runs `helper` with these arguments on a file, and waits for its answer. Blocks.
///
/// The helper's `main` must answer to the arguments; anything else would run that program a second
/// time.
pub fn confined(
    helper: &Helper,
    args: &[&str],
    input: File,
    bounds: &Bounds,
) -> Result<Ending, LaunchError> {
    let mut child = start(helper, args, input, bounds)?;
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(LaunchError::Spawn(io::ErrorKind::BrokenPipe.into()));
    };
    let deadline = Instant::now() + bounds.time;
    let answer = on_a_thread(stdout, bounds.output.saturating_add(1));
    let words = on_a_thread(stderr, LAST_WORDS);
    let answer = answer.recv_timeout(bounds.time);
    // Whoever closed its answer may still run, and whoever still answers must not.
    let ended = match &answer {
        Ok(answer) if answer.len() as u64 <= bounds.output => until(&mut child, deadline),
        _ => None,
    };
    let Some(status) = ended else {
        let _ = child.kill();
        let _ = child.wait();
        return Ok(if answer.is_ok_and(|answer| answer.len() as u64 > bounds.output) {
            Ending::Overlong
        } else {
            Ending::Overtime
        });
    };
    let out_of_cpu = used_up_its_cpu(status);
    Ok(match answer {
        Ok(answer) if status.success() => Ending::Answered(answer),
        _ if out_of_cpu => Ending::Overtime,
        _ => {
            let said = words.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            Ending::Died { status, said: String::from_utf8_lossy(&said).into_owned() }
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn start(
    helper: &Helper,
    args: &[&str],
    input: File,
    bounds: &Bounds,
) -> Result<Child, LaunchError> {
    let missing =
        || LaunchError::Helper { step: "find the helper", source: io::ErrorKind::NotFound.into() };
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
    command.spawn().map_err(|source| LaunchError::Helper { step: "start", source })
}

/// The first bytes of a pipe, once there are so many or it ends.
fn on_a_thread(pipe: impl Read + Send + 'static, most: u64) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before an error counts; the status tells the rest.
        let _ = pipe.take(most).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Its status, unless it still runs at the deadline. It has closed its pipes, so this is short.
fn until(child: &mut Child, deadline: Instant) -> Option<ExitStatus> {
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

/// The kernel says so with a signal.
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

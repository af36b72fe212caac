//! A tree held by a guard: the gateway's side of the leash.
//!
//! The pipes of the server are made here and handed down, so the helpers never touch their content.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tracing::warn;

use crate::command::Prepared;
use crate::error::LaunchError;
use crate::guarantee::TreeGuarantee;
use crate::guard::message::{self, REPORT_SIZE, Report, Request, Step};
use crate::helper::VERB;
use crate::tree::{Started, Tree, killed};

/// A helper that has not answered by then is none of ours.
const PROBE_PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A tree on its leash. Dropping it lets go of the leash, which ends the tree.
pub(crate) struct Guarded {
    guard: tokio::process::Child,
    leash: UnixStream,
}

impl Guarded {
    pub(crate) fn terminate(&mut self) {
        // A broken leash means that the tree has ended already.
        let _ = self.leash.try_write(&[message::TERMINATE]);
    }

    pub(crate) fn kill(&mut self) {
        // Only our direction ends: the guard still tells us the status.
        let _ = rustix::net::shutdown(&self.leash, rustix::net::Shutdown::Write);
    }

    /// Kills the guard; the kernel then kills the reaper, and with it a namespace.
    pub(crate) fn kill_guard(&mut self) {
        let _ = self.guard.start_kill();
    }

    /// The guard goes last: once it is gone, so is the tree.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let _ = self.guard.wait().await;
        match read_report(&mut self.leash).await {
            Ok(Report::Exited(status)) => ExitStatus::from_raw(status),
            _ => killed(),
        }
    }
}

/// Starts `command` under a guard.
pub(crate) async fn start(
    helper: &Path,
    guarantee: TreeGuarantee,
    command: &Prepared,
) -> Result<Started, LaunchError> {
    let (leash, theirs) = StdUnixStream::pair().map_err(LaunchError::Spawn)?;
    let guard = spawn_guard(helper, guarantee, &command.label, theirs.into())?;
    let (stdin, stdout, stderr) = hand_down_pipes(&leash).map_err(LaunchError::Spawn)?;
    leash.set_nonblocking(true).map_err(LaunchError::Spawn)?;
    let mut leash = UnixStream::from_std(leash).map_err(LaunchError::Spawn)?;

    let lost = |source| LaunchError::Helper { step: "talking to the helper", source };
    leash.write_all(&Request::encode(command)).await.map_err(lost)?;
    match read_report(&mut leash).await.map_err(lost)? {
        Report::Started(pid) => {
            let pid = u32::try_from(pid).unwrap_or_default();
            Ok(Started {
                tree: Tree::Guarded(Guarded { guard, leash }),
                pid,
                stdin,
                stdout,
                stderr,
            })
        }
        Report::Failed(failure) => {
            let source = io::Error::from_raw_os_error(failure.errno);
            Err(match failure.step {
                Step::Exec => LaunchError::Exec { program: command.program.clone(), source },
                step => LaunchError::Helper { step: step.words(), source },
            })
        }
        Report::Exited(_) => Err(lost(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// What this machine allows, tried out by the helper itself.
pub(crate) fn probe(helper: &Path) -> TreeGuarantee {
    match ask(helper) {
        Ok(answer) if answer == message::NAMESPACE => TreeGuarantee::Namespace,
        Ok(answer) if answer == message::SUBREAPER => TreeGuarantee::Subreaper,
        // Not a helper: better a weak guarantee than a program run for a purpose not its own.
        other => {
            let helper = helper.display();
            warn!(target: "launch", "`{helper}` does not work as a helper: {other:?}");
            TreeGuarantee::ProcessGroup
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn ask(helper: &Path) -> io::Result<String> {
    let mut child = std::process::Command::new(helper)
        .args([VERB, message::PROBE])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let answered =
        child.stdout.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into()).and_then(read_answer);
    // It has answered or never will; either way it is not needed any more.
    let _ = child.kill();
    child.wait()?;
    answered
}

fn read_answer(pipe: std::process::ChildStdout) -> io::Result<String> {
    // Other children of this process may end meanwhile, and their signal must not end the wait.
    retry_on_intr(|| poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&PROBE_PATIENCE)))?;
    rustix::io::ioctl_fionbio(&pipe, true)?;
    let mut answer = [0; 16];
    let count = rustix::io::read(&pipe, &mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..count]).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn spawn_guard(
    helper: &Path,
    guarantee: TreeGuarantee,
    label: &str,
    leash: OwnedFd,
) -> Result<tokio::process::Child, LaunchError> {
    let mode = match guarantee {
        TreeGuarantee::Namespace => message::NAMESPACE,
        TreeGuarantee::Subreaper | TreeGuarantee::ProcessGroup => message::SUBREAPER,
    };
    tokio::process::Command::new(helper)
        .arg0("toolgate")
        // The label is for people who read `ps`.
        .args([VERB, mode, &label.replace('\0', "")])
        .env_clear()
        .current_dir("/")
        .stdin(leash)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| LaunchError::Helper { step: "starting the helper", source })
}

fn hand_down_pipes(leash: &StdUnixStream) -> io::Result<(ChildStdin, ChildStdout, ChildStderr)> {
    let (their_stdin, stdin) = io::pipe()?;
    let (stdout, their_stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    Request::send_pipes(leash, &[their_stdin.as_fd(), their_stdout.as_fd(), their_stderr.as_fd()])?;
    Ok((
        ChildStdin::from_std(OwnedFd::from(stdin).into())?,
        ChildStdout::from_std(OwnedFd::from(stdout).into())?,
        ChildStderr::from_std(OwnedFd::from(stderr).into())?,
    ))
}

async fn read_report(leash: &mut UnixStream) -> io::Result<Report> {
    let mut bytes = [0; REPORT_SIZE];
    leash.read_exact(&mut bytes).await?;
    Report::decode(bytes)
}

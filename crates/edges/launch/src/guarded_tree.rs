//! The gateway's side of a process tree that a guard controls.
//!
//! The gateway creates the server's pipes and passes them to the helpers, which never read them.
//! The leash is the socket between the gateway and the guard.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tracing::warn;

use crate::command::PreparedLaunch;
use crate::error::LaunchError;
use crate::guarantee::TreeGuarantee;
use crate::guard::message::{
    self, LaunchHelperReport, LaunchHelperStep, REPORT_SIZE, SpawnRequest,
};
use crate::helper::VERB;
use crate::process_tree::{ProcessTree, StartedProcess, killed_status};

/// The time limit for the helper's answer to a probe.
const PROBE_PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// The time limit for the guard's report that the process has started. A server can stop its guard
/// before the guard reports.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A process tree with a guard. Dropping it closes the leash, which ends the tree.
pub(crate) struct GuardedProcessTree {
    guard: tokio::process::Child,
    leash: UnixStream,
}

impl GuardedProcessTree {
    pub(crate) fn terminate(&mut self) {
        // A closed leash means that the tree has already ended.
        let _ = self.leash.try_write(&[message::TERMINATE]);
    }

    pub(crate) fn kill(&mut self) {
        // Close only the write direction, because the guard still sends the status.
        let _ = rustix::net::shutdown(&self.leash, rustix::net::Shutdown::Write);
    }

    /// Kills the guard. The kernel then kills the reaper, and with it the namespace.
    pub(crate) fn kill_guard(&mut self) {
        let _ = self.guard.start_kill();
    }

    /// Waits for the end of the guard, which ends after the whole tree.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        let _ = self.guard.wait().await;
        match read_report(&mut self.leash).await {
            Ok(LaunchHelperReport::Exited(status)) => ExitStatus::from_raw(status),
            _ => killed_status(),
        }
    }
}

/// Starts `command` under a guard.
pub(crate) async fn start(
    helper: &Path,
    guarantee: TreeGuarantee,
    label: &str,
    command: &PreparedLaunch,
) -> Result<StartedProcess, LaunchError> {
    let (leash, theirs) = StdUnixStream::pair().map_err(LaunchError::Spawn)?;
    let guard = spawn_guard(helper, guarantee, label, theirs.into())?;
    let (stdin, stdout, stderr) = hand_down_pipes(&leash).map_err(LaunchError::Spawn)?;
    leash.set_nonblocking(true).map_err(LaunchError::Spawn)?;
    let mut leash = UnixStream::from_std(leash).map_err(LaunchError::Spawn)?;

    let lost = |source| LaunchError::Helper { step: "communicating with the gateway", source };
    leash.write_all(&command.encode()).await.map_err(lost)?;
    let report = tokio::time::timeout(START_LIMIT, read_report(&mut leash)).await;
    let mut tree = GuardedProcessTree { guard, leash };
    let Ok(report) = report else {
        tree.kill_guard();
        return Err(lost(io::ErrorKind::TimedOut.into()));
    };
    match report.map_err(lost)? {
        LaunchHelperReport::Started(pid) => {
            let pid = u32::try_from(pid).unwrap_or_default();
            Ok(StartedProcess { tree: ProcessTree::Guarded(tree), pid, stdin, stdout, stderr })
        }
        LaunchHelperReport::Failed(failure) => {
            let source = io::Error::from_raw_os_error(failure.errno);
            Err(match failure.step {
                LaunchHelperStep::Exec => {
                    LaunchError::Exec { program: command.program.clone(), source }
                }
                step => LaunchError::Helper { step: step.description(), source },
            })
        }
        LaunchHelperReport::Exited(_) => Err(lost(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Runs the helper to find out which guarantee this machine supports.
pub(crate) fn probe(helper: &Path) -> TreeGuarantee {
    match run_probe(helper) {
        Ok(answer) if answer == message::NAMESPACE => TreeGuarantee::Namespace,
        Ok(answer) if answer == message::SUBREAPER => TreeGuarantee::Subreaper,
        // The program is not a helper, so it must not be run as one.
        other => {
            let helper = helper.display();
            warn!(target: "launch", "cannot use `{helper}` as a helper: {other:?}");
            TreeGuarantee::ProcessGroup
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn run_probe(helper: &Path) -> io::Result<String> {
    let mut child = std::process::Command::new(helper)
        .args([VERB, message::PROBE])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let answered =
        child.stdout.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into()).and_then(read_answer);
    // The probe has answered or will not answer; it is no longer needed.
    let _ = child.kill();
    child.wait()?;
    answered
}

fn read_answer(pipe: std::process::ChildStdout) -> io::Result<String> {
    // Other children of this process may end meanwhile. Their signal must not end the wait.
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
        // The label is only for the output of `ps`.
        .args([VERB, mode, &label.replace('\0', "")])
        .env_clear()
        .current_dir("/")
        .stdin(leash)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|source| LaunchError::Helper { step: "starting", source })
}

fn hand_down_pipes(leash: &StdUnixStream) -> io::Result<(ChildStdin, ChildStdout, ChildStderr)> {
    let (their_stdin, stdin) = io::pipe()?;
    let (stdout, their_stdout) = io::pipe()?;
    let (stderr, their_stderr) = io::pipe()?;
    SpawnRequest::send_pipes(
        leash,
        &[their_stdin.as_fd(), their_stdout.as_fd(), their_stderr.as_fd()],
    )?;
    Ok((
        ChildStdin::from_std(OwnedFd::from(stdin).into())?,
        ChildStdout::from_std(OwnedFd::from(stdout).into())?,
        ChildStderr::from_std(OwnedFd::from(stderr).into())?,
    ))
}

async fn read_report(leash: &mut UnixStream) -> io::Result<LaunchHelperReport> {
    let mut bytes = [0; REPORT_SIZE];
    leash.read_exact(&mut bytes).await?;
    LaunchHelperReport::decode(bytes)
}

//! The guard: the helper process outside the tree, which ends it.
//!
//! The guard waits only for the leash and the reaper. When the leash closes (the gateway closed it,
//! or has ended) or the reaper ends (because the server has ended), the guard kills every process
//! below it. The guard ends last, so no process of the tree outlives it.
//!
//! The guard is single-threaded and has no async code, because it forks and must stay small.

mod descendants;
pub(crate) mod message;
mod namespace;
mod reaper;

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, waitpid};

use crate::sys::{self, ProcessForkSide};
use message::{LaunchHelperFailure, LaunchHelperReport, LaunchHelperStep, SpawnRequest};

/// Runs the helper. `mode` is the second argument of a helper call.
pub(crate) fn main(mode: Option<&OsStr>) -> ExitCode {
    let done = match mode.and_then(OsStr::to_str) {
        Some(message::PROBE) => probe(),
        Some(message::NAMESPACE) => run_guard(true),
        Some(message::SUBREAPER) => run_guard(false),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tries to enter a namespace, and writes the supported mode to stdout.
fn probe() -> io::Result<()> {
    let answer = if namespace::enter().and_then(|()| check_namespace_fork()).is_ok() {
        message::NAMESPACE
    } else {
        message::SUBREAPER
    };
    io::stdout().write_all(answer.as_bytes())
}

/// Checks that a process can be started in the namespace, which some systems refuse, and that it
/// has a pidfd (Linux 5.3), without which its outer process id is unknown.
fn check_namespace_fork() -> io::Result<()> {
    match sys::fork()? {
        ProcessForkSide::Child => std::process::exit(0),
        ProcessForkSide::Parent(child) => {
            pidfd_open(child, PidfdFlags::empty())?;
            retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
            Ok(())
        }
    }
}

fn run_guard(in_namespace: bool) -> io::Result<()> {
    sys::close_inherited()?;
    let _ = rustix::thread::set_name(c"toolgate-guard");
    // Without a namespace, a server can stop the guard. When the gateway ends, this signal makes
    // the guard continue, and it sees that the leash is closed. A running process ignores the
    // signal.
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?;
    match fork_reaper(in_namespace) {
        Ok(HelperRole::Guard { reaper, reports }) => watch(reaper, reports),
        Ok(HelperRole::Reaper { request, reports }) => reaper::run(request, reports, in_namespace),
        Err(failure) => {
            send_report(LaunchHelperReport::Failed(failure));
            Ok(())
        }
    }
}

/// The helper that this process is after the fork.
enum HelperRole {
    Guard { reaper: Pid, reports: io::PipeReader },
    Reaper { request: SpawnRequest, reports: io::PipeWriter },
}

fn fork_reaper(in_namespace: bool) -> Result<HelperRole, LaunchHelperFailure> {
    let leash = io::stdin();
    let request =
        SpawnRequest::receive(leash.as_fd()).map_err(LaunchHelperStep::Request.failed())?;
    rustix::process::setsid().map_err(LaunchHelperStep::Session.failed())?;
    // Processes that outlive the reaper become children of the guard.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(LaunchHelperStep::Session.failed())?;
    if in_namespace {
        namespace::enter().map_err(LaunchHelperStep::Namespace.failed())?;
    }
    let (ours, theirs) = io::pipe().map_err(LaunchHelperStep::Fork.failed())?;
    // Each side drops its copy of the other's pipe end here. The guard also drops the server's
    // pipes.
    Ok(match sys::fork().map_err(LaunchHelperStep::Fork.failed())? {
        ProcessForkSide::Parent(reaper) => HelperRole::Guard { reaper, reports: ours },
        ProcessForkSide::Child => HelperRole::Reaper { request, reports: theirs },
    })
}

fn watch(reaper: Pid, mut reports: io::PipeReader) -> io::Result<()> {
    let mut status = LaunchHelperReport::Exited(KILLED);
    loop {
        match next_event(&reports) {
            ProcessGuardEvent::LeashEnded => break,
            ProcessGuardEvent::Terminate => descendants::signal(reaper, Signal::TERM),
            ProcessGuardEvent::Reported => match LaunchHelperReport::read(&mut reports) {
                // Sent last, so that its reader can rely on the end of the tree.
                Ok(report @ LaunchHelperReport::Exited(_)) => status = report,
                Ok(report) => send_report(report),
                Err(_) => break,
            },
        }
    }
    // Kill the reaper by its id first, which needs no `/proc`. In a namespace this ends everything.
    let _ = kill_process(reaper, Signal::KILL);
    descendants::kill_all()?;
    send_report(status);
    Ok(())
}

/// The wait status of a process that SIGKILL has ended.
const KILLED: i32 = 9;

/// An event that the guard waits for.
enum ProcessGuardEvent {
    LeashEnded,
    Terminate,
    Reported,
}

/// Waits for the next event. Treats an error as the end of the leash, which can no longer be
/// watched.
fn next_event(reports: &io::PipeReader) -> ProcessGuardEvent {
    let leash = io::stdin();
    let mut awaited = [PollFd::new(&leash, PollFlags::IN), PollFd::new(reports, PollFlags::IN)];
    if retry_on_intr(|| poll(&mut awaited, None)).is_err() {
        return ProcessGuardEvent::LeashEnded;
    }
    // Reports come first, so that the status of an ended server arrives even if the leash is
    // closed.
    if !awaited[1].revents().is_empty() {
        return ProcessGuardEvent::Reported;
    }
    let mut command = [0];
    match retry_on_intr(|| rustix::io::read(&leash, &mut command)) {
        Ok(1) if command[0] == message::TERMINATE => ProcessGuardEvent::Terminate,
        _ => ProcessGuardEvent::LeashEnded,
    }
}

fn send_report(report: LaunchHelperReport) {
    // If the gateway has ended, the report is not needed.
    let _ = rustix::net::send(io::stdin(), &report.encode(), rustix::net::SendFlags::NOSIGNAL);
}

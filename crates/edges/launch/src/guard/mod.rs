//! The guard: the helper process outside the tree, which ends it.
//!
//! It waits for two things, the leash and the reaper, and for nothing else. The end of the leash
//! (the gateway let go, or is no more) and the end of the reaper (the server has ended) are both the
//! end of everything below it. When the guard itself is gone, nothing of the tree is left.
//!
//! Single-threaded, no async: it must stay small, and it forks.

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

use crate::sys::{self, Fork};
use message::{Failure, Report, Request, Step};

/// The helper's whole life. `mode` is the second word of a helper call.
pub(crate) fn main(mode: Option<&OsStr>) -> ExitCode {
    let done = match mode.and_then(OsStr::to_str) {
        Some(message::PROBE) => probe(),
        Some(message::NAMESPACE) => guard(true),
        Some(message::SUBREAPER) => guard(false),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Tries the namespace out, and answers on stdout with what holds here.
fn probe() -> io::Result<()> {
    let answer = if namespace::enter().and_then(|()| first_child_lives()).is_ok() {
        message::NAMESPACE
    } else {
        message::SUBREAPER
    };
    io::stdout().write_all(answer.as_bytes())
}

/// Some systems let a namespace be made and then no process be started in it; and without a pidfd
/// (Linux 5.3) its numbers cannot be told from outside.
fn first_child_lives() -> io::Result<()> {
    match sys::fork()? {
        Fork::Child => std::process::exit(0),
        Fork::Parent(child) => {
            pidfd_open(child, PidfdFlags::empty())?;
            retry_on_intr(|| waitpid(Some(child), WaitOptions::empty()))?;
            Ok(())
        }
    }
}

fn guard(in_namespace: bool) -> io::Result<()> {
    sys::close_inherited()?;
    let _ = rustix::thread::set_name(c"toolgate-guard");
    // A server that shares our process numbers can stop us. When the gateway ends we go on, and see
    // that the leash has ended. The signal does nothing to whoever was not stopped.
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?;
    match begin(in_namespace) {
        Ok(Begun::Guard { reaper, reports }) => watch(reaper, reports),
        Ok(Begun::Reaper { request, reports }) => reaper::run(request, reports, in_namespace),
        Err(failure) => {
            send(Report::Failed(failure));
            Ok(())
        }
    }
}

/// Which of the two helpers this process is after the fork.
enum Begun {
    Guard { reaper: Pid, reports: io::PipeReader },
    Reaper { request: Request, reports: io::PipeWriter },
}

fn begin(in_namespace: bool) -> Result<Begun, Failure> {
    let leash = io::stdin();
    let request = Request::receive(leash.as_fd()).map_err(Step::Request.failed())?;
    rustix::process::setsid().map_err(Step::Session.failed())?;
    // Whatever the reaper leaves behind comes to us.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(Step::Session.failed())?;
    if in_namespace {
        namespace::enter().map_err(Step::Namespace.failed())?;
    }
    let (ours, theirs) = io::pipe().map_err(Step::Fork.failed())?;
    // Each side's copy of the other's end, and the guard's of the server's pipes, close here.
    Ok(match sys::fork().map_err(Step::Fork.failed())? {
        Fork::Parent(reaper) => Begun::Guard { reaper, reports: ours },
        Fork::Child => Begun::Reaper { request, reports: theirs },
    })
}

fn watch(reaper: Pid, mut reports: io::PipeReader) -> io::Result<()> {
    let mut status = Report::Exited(KILLED);
    loop {
        match next_event(&reports) {
            Event::LeashEnded => break,
            Event::Terminate => descendants::signal(reaper, Signal::TERM),
            Event::Reported => match Report::read(&mut reports) {
                // Told last: who reads it may rely on the tree being gone.
                Ok(report @ Report::Exited(_)) => status = report,
                Ok(report) => send(report),
                Err(_) => break,
            },
        }
    }
    // First by number, which needs no `/proc`: in a namespace this alone ends everything.
    let _ = kill_process(reaper, Signal::KILL);
    descendants::end_all()?;
    send(status);
    Ok(())
}

/// The wait status of a process that SIGKILL has ended.
const KILLED: i32 = 9;

enum Event {
    LeashEnded,
    Terminate,
    Reported,
}

/// An error can only mean that the leash cannot be watched any more, which is its end.
fn next_event(reports: &io::PipeReader) -> Event {
    let leash = io::stdin();
    let mut awaited = [PollFd::new(&leash, PollFlags::IN), PollFd::new(reports, PollFlags::IN)];
    if retry_on_intr(|| poll(&mut awaited, None)).is_err() {
        return Event::LeashEnded;
    }
    // Reports first: a server that has ended by itself tells its status even if the leash ended too.
    if !awaited[1].revents().is_empty() {
        return Event::Reported;
    }
    let mut order = [0];
    match retry_on_intr(|| rustix::io::read(&leash, &mut order)) {
        Ok(1) if order[0] == message::TERMINATE => Event::Terminate,
        _ => Event::LeashEnded,
    }
}

fn send(report: Report) {
    // If nobody is left to read it, the report has no purpose.
    let _ = rustix::net::send(io::stdin(), &report.encode(), rustix::net::SendFlags::NOSIGNAL);
}

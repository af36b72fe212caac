//! The reaper: the first process of the tree, which starts the server and reaps what it orphans.
//!
//! In a PID namespace it is process 1, and its end is the kernel's order to end all others. It has
//! no signal handlers and no timers: it sleeps in `wait`.

use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, set_child_subreaper,
};

use super::message::{Report, Request, Step};
use super::namespace;
use crate::sys;

pub(super) fn run(request: Request, mut reports: PipeWriter, in_namespace: bool) -> io::Result<()> {
    die_with_the_guard(&reports)?;
    let _ = rustix::thread::set_name(c"toolgate-reaper");
    rustix::process::setsid()?;
    let outside = if in_namespace {
        let outside = File::open("/proc")?;
        // Best effort, for the reasons given there.
        let _ = namespace::private_proc();
        Some(outside)
    } else {
        set_child_subreaper(Some(getpid()))?;
        None
    };
    let started = start(request).and_then(|server| Ok((server, number_of(server, outside)?)));
    match started {
        Ok((server, number)) => {
            reports.write_all(&Report::Started(number).encode())?;
            let status = reap_until_ended(server)?;
            reports.write_all(&Report::Exited(status).encode())
        }
        Err(error) => reports.write_all(&Report::Failed(Step::Exec.failed()(error)).encode()),
    }
}

/// The server's process number as the gateway sees it: in a namespace, ours is another.
///
/// A `/proc` that was mounted outside shows a pidfd's number as it is there.
fn number_of(server: Pid, outside: Option<File>) -> io::Result<i32> {
    let Some(outside) = outside else { return Ok(server.as_raw_nonzero().get()) };
    let handle = pidfd_open(server, PidfdFlags::empty())?;
    let path = format!("self/fdinfo/{}", handle.as_raw_fd());
    let info = openat(outside, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::read_to_string(File::from(info))?
        .lines()
        .find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The kernel kills us when the guard ends; if it ended before it could be asked to, the pipe tells.
fn die_with_the_guard(reports: &PipeWriter) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut guard = [PollFd::new(reports, PollFlags::empty())];
    poll(&mut guard, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    if guard[0].revents().contains(PollFlags::ERR) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn start(request: Request) -> io::Result<Pid> {
    let [stdin, stdout, stderr] = request.pipes;
    let mut command = Command::new(request.program);
    command
        .arg0(request.arg0)
        .args(request.args)
        .env_clear()
        .envs(request.env)
        .current_dir(request.cwd)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        // A group of its own: servers that signal "my group" on their way out must not hit us.
        .process_group(0);
    // Outside a namespace it could end the guard, and us with it: then it ends, too.
    sys::end_with(getpid(), &mut command);
    Ok(Pid::from_child(&command.spawn()?))
}

fn reap_until_ended(server: Pid) -> io::Result<i32> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == server => return Ok(status.as_raw()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

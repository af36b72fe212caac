//! The reaper: the first process of the tree, which starts the server and reaps its orphans.
//!
//! In a PID namespace it is process 1: when it ends, the kernel kills all others. It has no signal
//! handlers and no timers: it sleeps in `wait`.

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

use super::message::{LaunchHelperReport, LaunchHelperStep, SpawnRequest};
use super::namespace;
use crate::sys;

pub(super) fn run(
    request: SpawnRequest,
    mut reports: PipeWriter,
    in_namespace: bool,
) -> io::Result<()> {
    die_with_the_guard(&reports)?;
    let _ = rustix::thread::set_name(c"toolgate-reaper");
    rustix::process::setsid()?;
    let outside = if in_namespace {
        let outside = File::open("/proc")?;
        // Best effort: some systems refuse it.
        let _ = namespace::mount_private_proc();
        Some(outside)
    } else {
        set_child_subreaper(Some(getpid()))?;
        None
    };
    let started = start(request).and_then(|server| Ok((server, outer_pid(server, outside)?)));
    match started {
        Ok((server, number)) => {
            reports.write_all(&LaunchHelperReport::Started(number).encode())?;
            let status = reap_until_ended(server)?;
            reports.write_all(&LaunchHelperReport::Exited(status).encode())
        }
        Err(error) => reports.write_all(
            &LaunchHelperReport::Failed(LaunchHelperStep::Exec.failed()(error)).encode(),
        ),
    }
}

/// Returns the server's process id as the gateway sees it, which differs inside a namespace.
///
/// The `/proc` mounted outside the namespace shows the outer process id of a pidfd.
fn outer_pid(server: Pid, outside: Option<File>) -> io::Result<i32> {
    let Some(outside) = outside else { return Ok(server.as_raw_nonzero().get()) };
    let handle = pidfd_open(server, PidfdFlags::empty())?;
    let path = format!("self/fdinfo/{}", handle.as_raw_fd());
    let info = openat(outside, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    io::read_to_string(File::from(info))?
        .lines()
        .find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Makes the kernel kill this process when the guard ends. Returns an error if the guard has ended
/// before, which closes the pipe.
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
fn start(request: SpawnRequest) -> io::Result<Pid> {
    let SpawnRequest { command: wanted, pipes: [stdin, stdout, stderr] } = request;
    let mut command = Command::new(wanted.program);
    command
        .arg0(wanted.arg0)
        .args(wanted.args)
        .env_clear()
        .envs(wanted.env)
        .current_dir(wanted.cwd)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        // The server gets its own group, because some servers signal their whole group at exit.
        .process_group(0);
    // Without a namespace the server can kill the guard, and so the reaper. Then the server ends
    // too.
    sys::kill_with_parent(getpid(), &mut command);
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

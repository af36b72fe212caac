//! The unsafe system calls of this crate, for which neither the standard library nor rustix has a
//! safe form.
#![allow(unsafe_code, reason = "fork, unshare and closing foreign descriptors have no safe form")]

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::process::Command;

use crate::confined::ConfinedLimits;

/// Gives the command its own session and no descriptors except 0, 1 and 2.
pub(crate) fn isolate(command: &mut Command) {
    // SAFETY: runs between fork and exec, and makes async-signal-safe system calls only; nothing
    // allocates, and descriptors are marked rather than closed, so none is taken from its owner.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            mark_close_on_exec();
            Ok(())
        });
    }
}

/// Makes the kernel kill the command when `parent`, the process that starts it, ends. This applies
/// to the process even after `exec`, but not to its children.
#[cfg(target_os = "linux")]
pub(crate) fn kill_with_parent(parent: rustix::process::Pid, command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: runs between fork and exec, and makes async-signal-safe system calls only; nothing
    // allocates.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            // The parent may have ended before the call above.
            match rustix::process::getppid() == Some(parent) {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
}

/// Limits the resources of the command. On Linux it also ends with the thread that starts it.
pub(crate) fn confine(command: &mut std::process::Command, bounds: &ConfinedLimits) {
    use std::os::unix::process::CommandExt as _;
    let bounds = *bounds;
    // SAFETY: runs between fork and exec, and makes async-signal-safe system calls only; nothing
    // allocates.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            mark_close_on_exec();
            #[cfg(target_os = "linux")]
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            set_limits(&bounds)
        });
    }
}

/// Sets the limits of this process.
fn set_limits(bounds: &ConfinedLimits) -> io::Result<()> {
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // Enough to start; the task reads only its standard input.
    const DESCRIPTORS: u64 = 16;
    setrlimit(Resource::Cpu, at_most(bounds.cpu.as_secs().max(1)))?;
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::Fsize, at_most(0))?;
    setrlimit(Resource::Nofile, at_most(DESCRIPTORS))?;
    let memory = setrlimit(Resource::As, at_most(bounds.memory));
    // Some systems define this limit but do not enforce it.
    if cfg!(target_os = "linux") { Ok(memory?) } else { Ok(()) }
}

#[cfg(target_os = "linux")]
fn mark_close_on_exec() {
    // SAFETY: a system call on plain numbers. Kernels before 5.11 refuse it. The descriptors that
    // this program opened are marked in any case.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}

#[cfg(not(target_os = "linux"))]
fn mark_close_on_exec() {
    const MOST: libc::c_int = 1024;
    for descriptor in 3..MOST {
        // SAFETY: setting a flag on a descriptor number; one that is not open is refused.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// The side of a fork that this process is.
#[cfg(target_os = "linux")]
pub(crate) enum ProcessForkSide {
    Parent(rustix::process::Pid),
    Child,
}

/// Forks this process, which must have a single thread.
#[cfg(target_os = "linux")]
pub(crate) fn fork() -> io::Result<ProcessForkSide> {
    // SAFETY: the helper calls this before it ever starts a thread, so no lock can be held by a
    // thread that the child does not have.
    match unsafe { libc::fork() } {
        0 => Ok(ProcessForkSide::Child),
        number => rustix::process::Pid::from_raw(number)
            .filter(|_| number > 0)
            .map(ProcessForkSide::Parent)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Moves this process, or its future children, into new namespaces.
#[cfg(target_os = "linux")]
pub(crate) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: the descriptor table is not among the things unshared here.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Closes every inherited descriptor above 2.
#[cfg(target_os = "linux")]
pub(crate) fn close_inherited() -> io::Result<()> {
    let inherited: Vec<libc::c_int> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in inherited {
        // SAFETY: called first thing in `main`: no value of this program owns a descriptor above 2
        // yet, and the one of the listing above is already closed.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}

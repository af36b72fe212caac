//! Enters a PID namespace, as root or as an ordinary user, and mounts a `/proc` for it.

use std::fs;
use std::io;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

use crate::sys::unshare;

/// Creates a PID namespace for the future children of this process.
///
/// Without the privilege, this also creates a user namespace, which maps only the current user and
/// group.
pub(crate) fn enter() -> io::Result<()> {
    if unshare(UnshareFlags::NEWPID).is_ok() {
        return Ok(());
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID)?;
    // The kernel requires this before an ordinary user may map a group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1", user = user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1", group = group.as_raw()))
}

/// Mounts a `/proc` of this namespace, visible only to this process and its children.
///
/// Some systems refuse this (containers that mask parts of `/proc`). Then the old `/proc` stays, in
/// which `/proc/self` works, but a process cannot find itself by its own id.
pub(crate) fn mount_private_proc() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    // Later mounts of the user must appear here, but the mount below must not appear outside.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)?;
    Ok(())
}

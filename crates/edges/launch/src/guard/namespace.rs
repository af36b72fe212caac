//! Entering a PID namespace, as root or as an ordinary user, and giving it a `/proc`.

use std::fs;
use std::io;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

use crate::sys::unshare;

/// From here on, the children of this process live in a PID namespace of their own.
///
/// Without the privilege, a user namespace provides it, in which we stay who we are.
pub(crate) fn enter() -> io::Result<()> {
    if unshare(UnshareFlags::NEWPID).is_ok() {
        return Ok(());
    }
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID)?;
    // The kernel demands this before an ordinary user may map a group.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1", user = user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1", group = group.as_raw()))
}

/// Mounts a `/proc` that shows this namespace, seen by this process and its children only.
///
/// Where it is refused (containers that mask parts of `/proc`) the old one stays: `/proc/self` still
/// works there, only looking oneself up by number does not.
pub(crate) fn private_proc() -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    // What the user mounts later must still appear here; what we mount must not appear there.
    mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)?;
    Ok(())
}

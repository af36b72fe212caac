//! Finds and signals the descendants of a process, using `/proc`.
//!
//! This includes orphans: the kernel reparents them to the reaper, and after it to the guard.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};

/// Signals every descendant of `root`, but not `root` itself.
pub(super) fn signal(root: Pid, signal: Signal) {
    for process in descendants_of(root) {
        // An error means that the process has already ended.
        let _ = kill_process(process, signal);
    }
}

/// Kills descendants of this process until none is left. A process that forks during one round is
/// found in the next.
pub(super) fn kill_all() -> io::Result<()> {
    loop {
        signal(getpid(), Signal::KILL);
        match wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CHILD) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn descendants_of(root: Pid) -> Vec<Pid> {
    let children = children_by_parent();
    let mut found = Vec::new();
    let mut parents = vec![root.as_raw_nonzero().get()];
    while let Some(parent) = parents.pop() {
        let list = children.get(&parent).map_or(&[][..], Vec::as_slice);
        parents.extend(list);
        found.extend(list.iter().copied().filter_map(Pid::from_raw));
    }
    found
}

fn children_by_parent() -> BTreeMap<i32, Vec<i32>> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    // Without `/proc` the map is empty, and only the namespace ends the tree.
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let process = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(process) = process else { continue };
        let stat = fs::read(entry.path().join("stat")).unwrap_or_default();
        if let Some(parent) = parent_in(&stat) {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

/// Parses the parent's id. The fields follow the last `)`, because a process chooses its own name,
/// which can contain any character.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?;
    fields.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_cannot_lie_about_its_parent_through_its_name() {
        assert_eq!(parent_in(b"12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (x) S 1 (y) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in(b"12 (\xff\n) Z 7 12"), Some(7));
        assert_eq!(parent_in(b""), None);
    }
}

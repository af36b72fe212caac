//! Which processes a gateway's servers are, found by a mark in their environment.
//!
//! A process that daemonizes leaves its parent, its group and its session, but keeps the
//! environment it was born with; so the mark finds what a process tree would miss.

use std::io;

use crate::process::signal_pid;

/// The name of the variable; a server's entry sets it in `env`.
pub const VARIABLE: &str = "TOOLGATE_E2E_MARK";

/// A mark no other test has.
pub fn new_mark() -> String {
    let tick = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!("{}-{}", std::process::id(), tick.map_or(0, |tick| tick.as_nanos()))
}

/// The living processes that carry the mark.
pub fn find_marked(mark: &str) -> io::Result<Vec<u32>> {
    let wanted = format!("{VARIABLE}={mark}");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // A process may end while we look at it, and one that has ended has no environment.
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|pair| pair == wanted.as_bytes()) {
            found.push(pid);
        }
    }
    Ok(found)
}

/// Ends whatever still carries the mark, so that a failed test leaves nothing behind.
pub struct MarkedProcessGuard(pub String);

impl Drop for MarkedProcessGuard {
    fn drop(&mut self) {
        for pid in find_marked(&self.0).unwrap_or_default() {
            _ = signal_pid(pid, rustix::process::Signal::KILL);
        }
    }
}

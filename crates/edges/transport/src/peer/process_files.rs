//! Reads process information from `/proc`. Only Linux has it.

use std::fs;

use super::PeerProcess;

/// One process as `/proc` shows it.
pub(super) struct ProcessInfo {
    pub(super) process: PeerProcess,
    parent: u32,
}

pub(super) fn read(pid: u32) -> Option<ProcessInfo> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let (parent, started) = parse_stat(&stat)?;
    let uid = parse_uid(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)?;
    Some(ProcessInfo { process: PeerProcess { pid, uid, started }, parent })
}

/// Returns true if a process is a zombie. A process whose first thread has ended looks like one,
/// but may have other threads.
pub(super) fn has_ended(pid: u32) -> bool {
    let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat_fields(&stat).and_then(|mut fields| fields.next());
    matches!(state, Some("Z" | "X"))
        && fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count) <= 1
}

pub(super) fn program(pid: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim().to_owned())
}

/// Returns the parent of a process: `Some(None)` if it has no visible parent, `None` if the process
/// has ended.
pub(super) fn parent(process: &PeerProcess) -> Option<Option<PeerProcess>> {
    // A parent may end during this function. The process then gets another one.
    const TRIES: usize = 8;
    let of = |process: &PeerProcess| {
        read(process.pid).filter(|entry| entry.process == *process).map(|entry| entry.parent)
    };
    let mut pid = of(process)?;
    for _ in 0..TRIES {
        if pid == 0 {
            return Some(None);
        }
        let parent = PeerProcess::with_pid(pid);
        let now = of(process)?;
        if now == pid {
            return Some(parent);
        }
        pid = now;
    }
    None
}

/// Returns the standard input of a process if it is a pipe or a socket.
pub(super) fn piped_input(pid: u32) -> Option<String> {
    let target = fs::read_link(format!("/proc/{pid}/fd/0")).ok()?;
    let target = target.to_str()?;
    let piped = target.starts_with("pipe:[") || target.starts_with("socket:[");
    piped.then(|| target.to_owned())
}

pub(super) fn holders(uid: u32, inode: u32, known: &[PeerProcess]) -> Vec<PeerProcess> {
    let link = format!("socket:[{inode}]");
    let known = known.iter().filter(|process| holds(process.pid, &link) && process.is_alive());
    let known: Vec<_> = known.copied().collect();
    if !known.is_empty() {
        return known;
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holding = pids.filter(|pid| holds(*pid, &link));
    holding.filter_map(PeerProcess::with_pid).filter(|process| process.uid == uid).collect()
}

/// Returns true if a process has `link` open. Descriptors of other users' processes are unreadable.
fn holds(pid: u32, link: &str) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
        .any(|target| target.as_os_str() == link)
}

/// Returns the fields after the name: the state, the parent and so on. They follow the last `)`,
/// because the process chooses its own name, which can contain any character.
fn stat_fields(stat: &[u8]) -> Option<impl Iterator<Item = &str>> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    Some(std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace())
}

/// Parses the parent's id and the start time.
fn parse_stat(stat: &[u8]) -> Option<(u32, u64)> {
    let mut fields = stat_fields(stat)?;
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.parse().ok()?))
}

fn parse_uid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_cannot_lie_about_its_parent_or_age_through_its_name() {
        let fields = "S 7 12 12 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4242 1 1";
        for name in ["sh", "x) S 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 (y", "\n"] {
            let stat = format!("12 ({name}) {fields}");
            assert_eq!(parse_stat(stat.as_bytes()), Some((7, 4242)), "{name}");
        }
        assert_eq!(parse_stat(b""), None);
    }
}

//! What the tests share: a launcher with the probe as its helper, markers, and looks into `/proc`.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use toolgate_launch::{ChildProcess, LaunchHelperProgram, LaunchSpec, Launcher, TreeGuarantee};

/// A program that is its own helper.
pub const PROBE: &str = env!("CARGO_BIN_EXE_launch-probe");

/// The two guarantees that hold when we are killed.
pub const GUARDED: [TreeGuarantee; 2] = [TreeGuarantee::Namespace, TreeGuarantee::Subreaper];

/// All that can be asked for.
pub const ALL: [TreeGuarantee; 3] =
    [TreeGuarantee::Namespace, TreeGuarantee::Subreaper, TreeGuarantee::ProcessGroup];

/// A launcher of exactly this strength.
pub fn launcher(guarantee: TreeGuarantee) -> Launcher {
    let launcher = Launcher::new(LaunchHelperProgram::at_path(PROBE)).with_ceiling(guarantee);
    assert_eq!(launcher.guarantee(), guarantee, "these tests need PID namespaces");
    launcher
}

/// A word no other process has in its environment or arguments.
pub fn marker(test: &str) -> String {
    format!("launch-test-{test}-{}", std::process::id())
}

/// A copy of the probe that an ordinary user can run, and the way to run it as one. Needs root.
pub struct OrdinaryUser {
    folder: tempfile::TempDir,
}

impl OrdinaryUser {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(PROBE, folder.path().join("probe")).unwrap();
        Self { folder }
    }

    #[expect(clippy::disallowed_methods, reason = "another user's gateway is another process")]
    pub fn probe(&self) -> std::process::Command {
        const NOBODY: u32 = 65534;
        let mut command = std::process::Command::new(self.folder.path().join("probe"));
        command.uid(NOBODY).gid(NOBODY).current_dir("/").env("HOME", "/nonexistent");
        command
    }
}

/// `sh -c script`, marked.
pub fn shell(marker: &str, script: &str) -> LaunchSpec {
    LaunchSpec::new("sh").args(["-c", script]).env("MARKER", marker).label(marker)
}

/// The next line of the child's stdout.
pub async fn line(child: &mut ChildProcess) -> String {
    let mut line = String::new();
    BufReader::with_capacity(1, &mut child.stdout).read_line(&mut line).await.unwrap();
    line.trim_end().to_owned()
}

/// All of the child's stdout.
pub async fn output(child: &mut ChildProcess) -> String {
    let mut text = String::new();
    child.stdout.read_to_string(&mut text).await.unwrap();
    text
}

/// Living processes that have `marker` in their environment or arguments.
pub fn marked(marker: &str) -> Vec<u32> {
    let has = |process: &Path, file: &str| {
        let bytes = fs::read(process.join(file)).unwrap_or_default();
        bytes.windows(marker.len()).any(|window| window == marker.as_bytes())
    };
    let own = std::process::id();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| *pid != own)
        .filter(|pid| {
            let process = Path::new("/proc").join(pid.to_string());
            has(&process, "environ") || has(&process, "cmdline")
        })
        .collect()
}

/// Waits until no marked process is left; false if some are after `limit`.
///
/// Processes that are not our children have no event to wait for.
pub async fn gone(marker: &str, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if marked(marker).is_empty() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// A field of `/proc/<pid>/stat`, counted from the state after the name.
pub fn stat_field(pid: u32, index: usize) -> String {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    let fields = stat.unwrap().rsplit_once(')').unwrap().1.to_owned();
    fields.split_ascii_whitespace().nth(index).unwrap().to_owned()
}

/// The session of a process; `0` where its leader is outside our PID namespace, as in a
/// container that was entered from outside, which `getsid` of `rustix` cannot express.
pub fn session_of(pid: u32) -> String {
    stat_field(pid, 3)
}

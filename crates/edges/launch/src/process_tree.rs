//! A running process tree for its supervisor: terminate it, kill it, wait for its end.

use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

#[cfg(target_os = "linux")]
use crate::guarded_tree::GuardedProcessTree;
use crate::process_group::ProcessGroup;

/// A started program that has no supervisor yet.
pub(crate) struct StartedProcess {
    pub(crate) tree: ProcessTree,
    pub(crate) pid: u32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// A running process tree. Dropping it ends the tree.
pub(crate) enum ProcessTree {
    #[cfg(target_os = "linux")]
    Guarded(GuardedProcessTree),
    Group(ProcessGroup),
}

impl ProcessTree {
    /// Sends SIGTERM to every process of the tree.
    pub(crate) fn terminate(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.terminate(),
            Self::Group(tree) => tree.terminate(),
        }
    }

    /// Sends SIGKILL to every process of the tree.
    pub(crate) fn kill(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.kill(),
            Self::Group(tree) => tree.kill(),
        }
    }

    /// Kills the tree if [`ProcessTree::kill`] has had no effect in time.
    pub(crate) fn kill_by_force(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.kill_guard(),
            Self::Group(tree) => tree.kill(),
        }
    }

    /// Waits until the program has ended and the rest of its tree was killed. Cancel-safe.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.wait().await,
            Self::Group(tree) => tree.wait().await,
        }
    }
}

/// Returns the exit status for a killed program whose own status is unknown.
pub(crate) fn killed_status() -> ExitStatus {
    #[cfg(unix)]
    {
        std::os::unix::process::ExitStatusExt::from_raw(9)
    }
    #[cfg(windows)]
    {
        std::os::windows::process::ExitStatusExt::from_raw(1)
    }
}

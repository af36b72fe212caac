//! A running process tree as its supervisor sees it: ask it to end, make it end, see it end.

use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::group::Group;
#[cfg(target_os = "linux")]
use crate::guarded::Guarded;

/// A program that runs, before anyone supervises it.
pub(crate) struct Started {
    pub(crate) tree: Tree,
    pub(crate) pid: u32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Dropping it ends the tree.
pub(crate) enum Tree {
    #[cfg(target_os = "linux")]
    Guarded(Guarded),
    Group(Group),
}

impl Tree {
    /// SIGTERM to every process of the tree.
    pub(crate) fn terminate(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.terminate(),
            Self::Group(tree) => tree.terminate(),
        }
    }

    /// SIGKILL to every process of the tree.
    pub(crate) fn kill(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.kill(),
            Self::Group(tree) => tree.kill(),
        }
    }

    /// For when [`Tree::kill`] has had no effect in time.
    pub(crate) fn kill_by_force(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.kill_guard(),
            Self::Group(tree) => tree.kill(),
        }
    }

    /// Resolves when the program has ended and what it left has been ended. Cancel-safe.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        match self {
            #[cfg(target_os = "linux")]
            Self::Guarded(tree) => tree.ended().await,
            Self::Group(tree) => tree.ended().await,
        }
    }
}

/// The status of a program that was killed and whose own status nobody saw.
pub(crate) fn killed() -> ExitStatus {
    #[cfg(unix)]
    {
        std::os::unix::process::ExitStatusExt::from_raw(9)
    }
    #[cfg(windows)]
    {
        std::os::windows::process::ExitStatusExt::from_raw(1)
    }
}

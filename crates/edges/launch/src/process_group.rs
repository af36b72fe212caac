//! The weakest way to control a process tree: its own process group.
//!
//! It is used where there is no helper. It cannot end a daemon, and the group survives if this
//! process is killed (see [`crate::TreeGuarantee::ProcessGroup`]).

use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

use crate::command::PreparedLaunch;
use crate::error::LaunchError;
use crate::process_tree::{ProcessTree, StartedProcess, killed_status};

/// A child that leads its own process group.
pub(crate) struct ProcessGroup {
    leader: tokio::process::Child,
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
pub(crate) fn start(prepared: &PreparedLaunch) -> Result<StartedProcess, LaunchError> {
    let mut command = Command::new(&prepared.program);
    #[cfg(unix)]
    {
        command.arg0(&prepared.arg0);
        crate::sys::isolate(&mut command);
    }
    command
        .args(&prepared.args)
        .current_dir(&prepared.cwd)
        .env_clear()
        .envs(&prepared.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let refused = |source| LaunchError::Exec { program: prepared.program.clone(), source };
    let mut leader = command.spawn().map_err(refused)?;
    let (Some(stdin), Some(stdout), Some(stderr), Some(pid)) =
        (leader.stdin.take(), leader.stdout.take(), leader.stderr.take(), leader.id())
    else {
        return Err(LaunchError::Spawn(std::io::ErrorKind::BrokenPipe.into()));
    };
    Ok(StartedProcess {
        tree: ProcessTree::Group(ProcessGroup { leader }),
        pid,
        stdin,
        stdout,
        stderr,
    })
}

impl ProcessGroup {
    pub(crate) fn terminate(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::TERM);
        #[cfg(not(unix))]
        self.kill();
    }

    pub(crate) fn kill(&mut self) {
        #[cfg(unix)]
        self.signal(rustix::process::Signal::KILL);
        #[cfg(not(unix))]
        let _ = self.leader.start_kill();
    }

    pub(crate) async fn wait(&mut self) -> ExitStatus {
        #[cfg(unix)]
        let group = self.group();
        let status = self.leader.wait().await.unwrap_or_else(|_| killed_status());
        #[cfg(unix)]
        if let Some(group) = group {
            // While a member of the group lives, the kernel does not reuse its number. If none
            // does, a reuse this early is unlikely.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        status
    }

    /// Returns the group's id, or `None` once the leader has been waited for: from then on the
    /// kernel may reuse the number.
    #[cfg(unix)]
    fn group(&self) -> Option<rustix::process::Pid> {
        let leader = i32::try_from(self.leader.id()?).ok()?;
        rustix::process::Pid::from_raw(leader)
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.group() {
            // An error means that the group is already empty.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

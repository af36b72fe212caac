//! The weakest way to hold a tree: a process group of its own.
//!
//! Used where there is no helper. It cannot catch a daemon, and nothing ends the group if we are
//! killed outright; [`crate::TreeGuarantee::ProcessGroup`] says so.

use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

use crate::command::Prepared;
use crate::error::LaunchError;
use crate::tree::{Started, Tree, killed};

/// A child that leads its own process group.
pub(crate) struct Group {
    leader: tokio::process::Child,
}

pub(crate) fn start(prepared: &Prepared) -> Result<Started, LaunchError> {
    let mut command = own_session(prepared);
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
    Ok(Started { tree: Tree::Group(Group { leader }), pid, stdin, stdout, stderr })
}

#[expect(clippy::disallowed_methods, reason = "this crate is where processes are started")]
fn own_session(prepared: &Prepared) -> Command {
    let mut command = Command::new(&prepared.program);
    #[cfg(unix)]
    {
        command.arg0(&prepared.arg0);
        crate::sys::isolate(&mut command);
    }
    command
}

impl Group {
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

    pub(crate) async fn ended(&mut self) -> ExitStatus {
        #[cfg(unix)]
        let group = self.group();
        let status = self.leader.wait().await.unwrap_or_else(|_| killed());
        #[cfg(unix)]
        if let Some(group) = group {
            // While a member of the group lives its number cannot be given to another; if none does,
            // this comes before the number is likely to be used again.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        status
    }

    /// None once the leader has been waited for: from then on its number may be another's.
    #[cfg(unix)]
    fn group(&self) -> Option<rustix::process::Pid> {
        let leader = i32::try_from(self.leader.id()?).ok()?;
        rustix::process::Pid::from_raw(leader)
    }

    #[cfg(unix)]
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.group() {
            // An error means that the group is empty, which is what was wanted.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

//! A running child: its pipes, and a handle that watches and stops it.
//!
//! One task supervises each child. Only this task signals and waits, so no signal can reach a
//! process id that was reused.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::guarantee::TreeGuarantee;
use crate::process_tree::{ProcessTree, StartedProcess, killed_status};
use crate::stderr::{self, ServerStderrLogOptions, StderrRing};

/// How long a process tree may take to shut down before it is killed.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

/// How long a child may take to exit after its stdin was closed, before SIGTERM. Many servers clean
/// up at the end of stdin and ignore SIGTERM.
const END_OF_STDIN_PATIENCE: Duration = Duration::from_millis(500);

/// How long a killed tree may take to end. It normally ends at once, unless its guard is stopped.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait for the end of stderr after the tree has ended. A process outside the tree may
/// hold the pipe open.
const LAST_WORDS_PATIENCE: Duration = Duration::from_millis(250);

/// A started child process. Dropping it kills its process tree.
#[derive(Debug)]
pub struct ChildProcess {
    /// Its standard input; dropping it closes the pipe.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// The handle that watches and stops it.
    pub handle: ChildHandle,
}

impl ChildProcess {
    pub(crate) fn start_supervised(
        started: StartedProcess,
        log_options: ServerStderrLogOptions,
        guarantee: TreeGuarantee,
    ) -> Self {
        let StartedProcess { tree, pid, stdin, stdout, stderr: pipe } = started;
        let ring = Arc::new(StderrRing::default());
        let drained = tokio::spawn(stderr::drain(pipe, Arc::clone(&ring), log_options));
        let (orders, received) = mpsc::unbounded_channel();
        let (publish, exit) = watch::channel(None);
        tokio::spawn(supervise(tree, received, drained, publish));
        let handle = ChildHandle { pid, guarantee, stop_requests: orders, exit, stderr: ring };
        Self { stdin, stdout, handle }
    }
}

/// A handle that watches and stops a child. Dropping it kills the child's process tree.
#[derive(Debug)]
pub struct ChildHandle {
    pid: u32,
    guarantee: TreeGuarantee,
    stop_requests: mpsc::UnboundedSender<StopRequest>,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: Arc<StderrRing>,
}

/// A request to the supervising task to stop the process tree.
#[derive(Debug)]
enum StopRequest {
    Terminate,
    Kill,
}

impl ChildHandle {
    /// Returns the process id of the program, as this process sees it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns how reliably the child's tree ends with this process.
    pub fn guarantee(&self) -> TreeGuarantee {
        self.guarantee
    }

    /// Returns the recent stderr output. It is complete once [`ChildHandle::wait`] has returned.
    pub fn stderr(&self) -> &Arc<StderrRing> {
        &self.stderr
    }

    /// Returns the exit status if the child has ended.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Waits until the child has ended and no process of its tree is left, within the limits of
    /// [`ChildHandle::guarantee`]. Cancel-safe; any number of tasks may wait.
    pub async fn wait(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or_else(killed_status),
            // The supervising runtime has ended, and the tree with it.
            Err(_) => killed_status(),
        }
    }

    /// Shuts the child down gracefully. The caller must have dropped stdin. If the child does not
    /// exit, this sends SIGTERM to the tree, and SIGKILL after `grace`.
    pub async fn shutdown(&self, grace: Duration) -> ExitStatus {
        let patience = END_OF_STDIN_PATIENCE.min(grace / 2);
        if let Ok(status) = timeout(patience, self.wait()).await {
            return status;
        }
        self.request_stop(StopRequest::Terminate);
        if let Ok(status) = timeout(grace - patience, self.wait()).await {
            return status;
        }
        self.kill();
        self.wait().await
    }

    /// Kills the whole tree now.
    pub fn kill(&self) {
        self.request_stop(StopRequest::Kill);
    }

    fn request_stop(&self, request: StopRequest) {
        // A closed channel means that the child has ended.
        let _ = self.stop_requests.send(request);
    }
}

async fn supervise(
    mut tree: ProcessTree,
    mut orders: mpsc::UnboundedReceiver<StopRequest>,
    drained: JoinHandle<()>,
    exit: watch::Sender<Option<ExitStatus>>,
) {
    let status = loop {
        tokio::select! {
            status = tree.wait() => break status,
            order = orders.recv() => match order {
                Some(StopRequest::Terminate) => tree.terminate(),
                // `None` means that the handle was dropped.
                Some(StopRequest::Kill) | None => break kill_and_wait(&mut tree).await,
            },
        }
    };
    let _ = timeout(LAST_WORDS_PATIENCE, drained).await;
    exit.send_replace(Some(status));
}

async fn kill_and_wait(tree: &mut ProcessTree) -> ExitStatus {
    tree.kill();
    match timeout(KILL_PATIENCE, tree.wait()).await {
        Ok(status) => status,
        Err(_) => {
            tree.kill_by_force();
            tree.wait().await
        }
    }
}

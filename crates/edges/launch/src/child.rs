//! A running child: its pipes, and a handle that watches and ends it.
//!
//! One task supervises each child. It alone signals and waits, so no order can reach a process
//! number that was already reused.

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::guarantee::TreeGuarantee;
use crate::stderr::{self, Spoken, StderrRing};
use crate::tree::{Started, Tree, killed};

/// How long a tree may take to end after it was asked to, before it is killed.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(3);

/// The part of the grace in which the end of stdin alone may do: many servers clean up on it and
/// do nothing on SIGTERM.
const END_OF_STDIN_PATIENCE: Duration = Duration::from_millis(500);

/// A killed tree is gone at once; this is for a guard that someone has stopped.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// The last words are in the pipe when the tree ends; this bounds waiting for a holder of the pipe
/// outside it.
const LAST_WORDS_PATIENCE: Duration = Duration::from_millis(250);

/// A started child. Dropping it kills its tree.
#[derive(Debug)]
pub struct Child {
    /// Its standard input; dropping it closes the pipe.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Watches and ends it.
    pub handle: ChildHandle,
}

/// The two pipes of a child's data path.
#[derive(Debug)]
pub struct ChildIo {
    /// Its standard input; dropping it closes the pipe.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
}

impl Child {
    pub(crate) fn supervised(started: Started, spoken: Spoken, guarantee: TreeGuarantee) -> Self {
        let Started { tree, pid, stdin, stdout, stderr: pipe } = started;
        let ring = Arc::new(StderrRing::default());
        let drained = tokio::spawn(stderr::drain(pipe, Arc::clone(&ring), spoken));
        let (orders, received) = mpsc::unbounded_channel();
        let (publish, exit) = watch::channel(None);
        tokio::spawn(supervise(tree, received, drained, publish));
        let handle = ChildHandle { pid, guarantee, orders, exit, stderr: ring };
        Self { stdin, stdout, handle }
    }

    /// The data path and the handle, for owners that are not the same.
    pub fn split(self) -> (ChildIo, ChildHandle) {
        (ChildIo { stdin: self.stdin, stdout: self.stdout }, self.handle)
    }
}

/// Watches and ends a child. Dropping it kills the child's tree.
#[derive(Debug)]
pub struct ChildHandle {
    pid: u32,
    guarantee: TreeGuarantee,
    orders: mpsc::UnboundedSender<Order>,
    exit: watch::Receiver<Option<ExitStatus>>,
    stderr: Arc<StderrRing>,
}

#[derive(Debug)]
enum Order {
    Terminate,
    Kill,
}

impl ChildHandle {
    /// The process number of the program itself, as this process sees it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// How surely its tree ends with us.
    pub fn guarantee(&self) -> TreeGuarantee {
        self.guarantee
    }

    /// What it wrote to stderr lately. Complete once [`ChildHandle::wait`] has returned.
    pub fn stderr(&self) -> &Arc<StderrRing> {
        &self.stderr
    }

    /// Its status if it has ended.
    pub fn exited(&self) -> Option<ExitStatus> {
        *self.exit.borrow()
    }

    /// Resolves when it has ended and nothing of its tree is left (as far as
    /// [`ChildHandle::guarantee`] reaches). Cancel-safe; any number may wait.
    pub async fn wait(&self) -> ExitStatus {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(status) => status.unwrap_or_else(killed),
            // The runtime that supervised it is gone, and the tree with it.
            Err(_) => killed(),
        }
    }

    /// Ends it in good manners: the owner has dropped stdin; SIGTERM to the tree follows if that
    /// was not enough, and SIGKILL when `grace` is over.
    pub async fn shutdown(&self, grace: Duration) -> ExitStatus {
        let patience = END_OF_STDIN_PATIENCE.min(grace / 2);
        if let Ok(status) = timeout(patience, self.wait()).await {
            return status;
        }
        self.order(Order::Terminate);
        if let Ok(status) = timeout(grace - patience, self.wait()).await {
            return status;
        }
        self.kill();
        self.wait().await
    }

    /// Kills the whole tree now.
    pub fn kill(&self) {
        self.order(Order::Kill);
    }

    fn order(&self, order: Order) {
        // A closed channel means that the child has ended: there is nobody left to order.
        let _ = self.orders.send(order);
    }
}

async fn supervise(
    mut tree: Tree,
    mut orders: mpsc::UnboundedReceiver<Order>,
    drained: JoinHandle<()>,
    exit: watch::Sender<Option<ExitStatus>>,
) {
    let status = loop {
        tokio::select! {
            status = tree.ended() => break status,
            order = orders.recv() => match order {
                Some(Order::Terminate) => tree.terminate(),
                // No more orders: the handle was dropped.
                Some(Order::Kill) | None => break end(&mut tree).await,
            },
        }
    };
    let _ = timeout(LAST_WORDS_PATIENCE, drained).await;
    exit.send_replace(Some(status));
}

async fn end(tree: &mut Tree) -> ExitStatus {
    tree.kill();
    match timeout(KILL_PATIENCE, tree.ended()).await {
        Ok(status) => status,
        Err(_) => {
            tree.kill_by_force();
            tree.ended().await
        }
    }
}

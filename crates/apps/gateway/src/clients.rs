//! The processes of connected clients, for whoever must tell them from the operator.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_transport::peer::{PeerProcess, PeerSocket};

/// How many living processes are remembered. More clients than this do not run on one machine.
const MOST: usize = 4096;

/// The client processes that a gateway has seen and that still run.
#[derive(Debug, Clone, Default)]
pub struct ClientProcesses(Arc<Mutex<Vec<PeerProcess>>>);

impl ClientProcesses {
    fn list(&self) -> MutexGuard<'_, Vec<PeerProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them.
    pub fn all(&self) -> Vec<PeerProcess> {
        let mut list = self.list();
        list.retain(PeerProcess::is_alive);
        list.clone()
    }

    /// Remembers one until it ends.
    pub fn record(&self, process: PeerProcess) {
        // Every orphan becomes a child of the first process: it says nothing of who started it.
        if process.pid == 1 {
            return;
        }
        let mut list = self.list();
        if list.contains(&process) {
            return;
        }
        if list.len() >= MOST {
            list.retain(PeerProcess::is_alive);
        }
        if list.len() < MOST {
            list.push(process);
        }
    }

    /// Remembers whoever is at the other end of a loopback connection.
    pub(crate) async fn record_connection(&self, ours: SocketAddr, peer: SocketAddr) {
        let Ok(Some(socket)) = PeerSocket::find(ours, peer) else { return };
        let known = self.list().clone();
        let found = tokio::task::spawn_blocking(move || socket.processes(&known));
        for process in found.await.unwrap_or_default() {
            self.record(process);
        }
    }
}

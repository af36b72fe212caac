//! Systems that do not report peers: every function returns nothing.

use std::io;
use std::net::SocketAddr;

use super::{PeerProcess, PeerSocket};

/// One process. It never exists on these systems.
pub(super) struct ProcessInfo {
    pub(super) process: PeerProcess,
}

pub(super) fn read(_pid: u32) -> Option<ProcessInfo> {
    None
}

pub(super) fn has_ended(_pid: u32) -> bool {
    false
}

pub(super) fn program(_pid: u32) -> Option<String> {
    None
}

pub(super) fn parent(_process: &PeerProcess) -> Option<Option<PeerProcess>> {
    None
}

pub(super) fn piped_input(_pid: u32) -> Option<String> {
    None
}

pub(super) fn socket(_ours: SocketAddr, _peer: SocketAddr) -> io::Result<Option<PeerSocket>> {
    Ok(None)
}

pub(super) fn holders(_uid: u32, _inode: u32, _known: &[PeerProcess]) -> Vec<PeerProcess> {
    Vec::new()
}

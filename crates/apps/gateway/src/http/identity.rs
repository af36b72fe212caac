//! Identifies the sender of a request: the user who runs this gateway, or the holder of one of its
//! keys.
//!
//! The operating system tells which user owns the other end of a loopback connection; the gateway
//! asks once per connection. An `Authorization` header without one of the gateway's keys does not
//! identify its sender, because anyone can write one.

use std::net::SocketAddr;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpStream;
use toolgate_host::keys::{AccessKeyError, KEY_PREFIX};
use toolgate_transport::peer::{PeerProcess, PeerSocket, SUPPORTED};

use super::clock::HttpConnectionState;
use super::headers::{is_repeated, single_value};
use super::server::HttpServer;
use crate::peer::{ConnectionPeer, RecentPeerProcesses};
use crate::principal::{ClientIdentity, ClientPrincipal, RequestedProfile};
use crate::rejection::Rejection;

const ROOT: u32 = 0;

/// The user who runs this gateway.
#[derive(Debug)]
pub(crate) struct GatewayUser {
    /// `None` if the system does not tell which user connects. Then all users of this machine are
    /// served.
    uid: Option<u32>,
    recent: RecentPeerProcesses,
}

/// Returns true if the system tells which user connects to this address.
pub fn can_identify_peer(address: SocketAddr) -> bool {
    // No connection has this address at both ends, so the lookup fails only if it is unsupported.
    SUPPORTED && address.ip().is_loopback() && PeerSocket::find(address, address).is_ok()
}

impl GatewayUser {
    /// Returns the owner of a gateway that listens on `address`.
    pub(crate) fn for_address(address: SocketAddr) -> Self {
        let current = PeerProcess::current().filter(|_| can_identify_peer(address));
        Self { uid: current.map(|process| process.uid), recent: RecentPeerProcesses::default() }
    }

    /// Identifies the peer of a connection.
    pub(crate) fn identify_peer(&self, stream: &TcpStream) -> ConnectionPeer {
        let addresses = stream.local_addr().ok().zip(stream.peer_addr().ok());
        let find = |(ours, peer)| PeerSocket::find(ours, peer).ok().flatten();
        let socket = addresses.filter(|_| self.uid.is_some()).and_then(find);
        // A peer that closed its socket before this lookup is not identified.
        let is_own = self
            .uid
            .is_none_or(|own| socket.is_some_and(|socket| socket.uid == own || socket.uid == ROOT));
        ConnectionPeer::new(is_own, socket, self.recent.clone())
    }
}

impl HttpServer {
    /// Returns the identity of the client that sends these headers and requests this profile.
    pub(crate) fn client_identity(
        &self,
        headers: &HeaderMap,
        profile: RequestedProfile,
        connection: &HttpConnectionState,
    ) -> Result<ClientIdentity, Rejection> {
        if is_repeated(headers, &AUTHORIZATION) {
            let error = "the request has more than one Authorization header";
            return Err(Rejection::new(StatusCode::BAD_REQUEST, error));
        }
        let gate = &self.gateway.gate;
        let principal = if let Some(presented) = presented_key(headers) {
            let found =
                gate.keys().map_or(Err(AccessKeyError::Unknown), |keys| keys.find(presented));
            ClientPrincipal::Key(found.map_err(|why| unauthorized(why.to_string()))?)
        } else if gate.requires_key() {
            return Err(unauthorized(format!("this gateway requires a key; {KEY_HINT}")));
        } else if connection.peer.may_omit_key {
            ClientPrincipal::Local
        } else {
            let error = "this gateway belongs to another user and requires a key";
            return Err(unauthorized(format!("{error}; {KEY_HINT}")));
        };
        Ok(ClientIdentity { principal, profile, peer: connection.peer.clone() })
    }

    /// Returns true if a principal that was served before may not be served any more.
    pub(crate) fn is_revoked(&self, principal: &ClientPrincipal) -> bool {
        let gate = &self.gateway.gate;
        match principal {
            ClientPrincipal::Local => gate.requires_key(),
            ClientPrincipal::Key(key) => !gate.keys().is_some_and(|keys| keys.is_valid(key)),
            ClientPrincipal::Connection(_) | ClientPrincipal::Operator(_) => false,
        }
    }
}

const KEY_HINT: &str = "send it as `Authorization: Bearer KEY`";

/// Returns the Toolgate key that a request presents.
fn presented_key(headers: &HeaderMap) -> Option<&str> {
    let value = single_value(headers, &AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && key.starts_with(KEY_PREFIX)).then_some(key)
}

fn unauthorized(message: String) -> Rejection {
    Rejection::new(StatusCode::UNAUTHORIZED, message)
}

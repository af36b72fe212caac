//! Who sends a request: the user who runs this gateway, or the holder of one of its keys.
//!
//! Nothing else is an identity. The system tells which user owns the other end of a loopback
//! connection; that is asked once per connection. An `Authorization` that is none of our keys says
//! nothing about its sender, since anybody can write one.

use std::net::SocketAddr;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use tokio::net::TcpStream;
use toolgate_host::keys::{KEY_PREFIX, KeyError};
use toolgate_transport::peer::{PeerProcess, PeerSocket, SUPPORTED};

use super::answer::Refused;
use super::clock::Pulse;
use super::headers::{named_twice, only};
use super::server::Server;
use crate::peer::{Known, Peer};
use crate::principal::{Comer, Place, Principal};

const ROOT: u32 = 0;

/// The user who runs this gateway.
#[derive(Debug)]
pub(crate) struct Owner {
    /// None where the system does not tell who connects: then everybody on this machine is served.
    uid: Option<u32>,
    known: Known,
}

/// Whether the system tells which user connects to this address.
pub fn tells_who_connects(address: SocketAddr) -> bool {
    // Nobody is connected from there, and a system that tells says so.
    SUPPORTED && address.ip().is_loopback() && PeerSocket::find(address, address).is_ok()
}

impl Owner {
    /// The owner of a gateway that listens at `address`.
    pub(crate) fn at(address: SocketAddr) -> Self {
        let current = PeerProcess::current().filter(|_| tells_who_connects(address));
        Self { uid: current.map(|process| process.uid), known: Known::default() }
    }

    /// Looks who is at the other end.
    pub(crate) fn look_at(&self, stream: &TcpStream) -> Peer {
        let addresses = stream.local_addr().ok().zip(stream.peer_addr().ok());
        let find = |(ours, peer)| PeerSocket::find(ours, peer).ok().flatten();
        let socket = addresses.filter(|_| self.uid.is_some()).and_then(find);
        // Whoever closed the socket before we looked is nobody we know.
        let is_own = self
            .uid
            .is_none_or(|own| socket.is_some_and(|socket| socket.uid == own || socket.uid == ROOT));
        Peer::new(is_own, socket, self.known.clone())
    }
}

impl Server {
    /// Whoever comes to a place with these headers.
    pub(crate) fn comer(
        &self,
        headers: &HeaderMap,
        place: Place,
        pulse: &Pulse,
    ) -> Result<Comer, Refused> {
        let principal = self.identify(headers, pulse)?;
        Ok(Comer { principal, place, peer: pulse.peer.clone() })
    }

    /// Whoever sends these headers on this connection.
    pub(crate) fn identify(
        &self,
        headers: &HeaderMap,
        pulse: &Pulse,
    ) -> Result<Principal, Refused> {
        if named_twice(headers, &AUTHORIZATION) {
            let error = "the request has two Authorization headers";
            return Err(Refused::new(StatusCode::BAD_REQUEST, error));
        }
        let upstreams = self.hub.upstreams();
        if let Some(presented) = presented_key(headers) {
            let found =
                upstreams.keys().map_or(Err(KeyError::Unknown), |keys| keys.find(presented));
            return found.map(Principal::Key).map_err(|why| unauthorized(why.to_string()));
        }
        if upstreams.requires_key() {
            return Err(unauthorized(format!("this gateway requires a key; {HOW}")));
        }
        match pulse.peer.is_own {
            true => Ok(Principal::Local),
            false => Err(unauthorized(format!(
                "another user runs this gateway, and it serves others by key only; {HOW}"
            ))),
        }
    }

    /// Whether whoever was served before may not be any more.
    pub(crate) fn is_barred(&self, principal: &Principal) -> bool {
        let upstreams = self.hub.upstreams();
        match principal {
            Principal::Local => upstreams.requires_key(),
            Principal::Key(key) => !upstreams.keys().is_some_and(|keys| keys.holds(key)),
            Principal::Connection(_) | Principal::Operator(_) => false,
        }
    }
}

const HOW: &str = "send it as `Authorization: Bearer KEY`";

/// The key of ours that a request brings.
fn presented_key(headers: &HeaderMap) -> Option<&str> {
    let value = only(headers, &AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && key.starts_with(KEY_PREFIX)).then_some(key)
}

fn unauthorized(message: String) -> Refused {
    Refused::new(StatusCode::UNAUTHORIZED, message)
}

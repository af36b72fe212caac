//! The principal behind a request, as far as the transport shows it.
//!
//! Everything that outlives a request (sessions, modern clients, parked calls) belongs to one
//! principal and is not found by others. The name that a client gives itself plays no role.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_host::keys::AccessKey;

use crate::peer::{ConnectionPeer, PeerId};

/// The principal behind a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum ClientPrincipal {
    /// The user who runs this gateway, over HTTP.
    Local,
    /// The holder of a key, over HTTP.
    Key(Arc<AccessKey>),
    /// The client of one line connection.
    Connection(u64),
    /// The operator at Toolgate's own command line, on one line connection.
    Operator(u64),
}

/// The profile that a client requested by its path or connection, if any.
pub(crate) type RequestedProfile = Option<Arc<str>>;

/// The identity of a client: its principal and the profile it requested. State that was created
/// under one identity is not found under another.
#[derive(Debug, Clone)]
pub(crate) struct ClientIdentity {
    pub(crate) principal: ClientPrincipal,
    pub(crate) profile: RequestedProfile,
    /// The peer of the connection. Limits count it, but it is not part of the identity: a client
    /// may use several processes.
    pub(crate) peer: Arc<ConnectionPeer>,
}

impl PartialEq for ClientIdentity {
    fn eq(&self, other: &Self) -> bool {
        (&self.principal, &self.profile) == (&other.principal, &other.profile)
    }
}

impl Eq for ClientIdentity {}

impl Hash for ClientIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.principal, &self.profile).hash(state);
    }
}

impl ClientIdentity {
    /// Returns the peer whose quota this client uses.
    pub(crate) fn peer_id(&self) -> PeerId {
        self.principal.peer_id(&self.peer)
    }
}

impl ClientPrincipal {
    /// Creates the principal of a new line connection. Returns it with the number of the connection.
    pub(crate) fn new_connection(is_operator: bool) -> (Self, u64) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let kind = if is_operator { Self::Operator } else { Self::Connection };
        (kind(number), number)
    }

    /// Returns the gate's principal, which is derived from the name only.
    pub(crate) fn to_gate_principal(&self) -> toolgate_host::Principal {
        toolgate_host::Principal::from_name(self.name().as_bytes())
    }

    /// Returns a name that no other principal of this process has. Digests depend on it, so each
    /// form is written out here, independent of the names of types.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Local => "local".to_owned(),
            Self::Key(key) => format!("key:{}", key.id),
            Self::Connection(number) => format!("connection:{number}"),
            Self::Operator(number) => format!("operator:{number}"),
        }
    }

    /// Returns the name that approvals are bound to. It is the same for later connections.
    pub(crate) fn approval_name(&self) -> Arc<str> {
        match self {
            Self::Local | Self::Connection(_) => "local".into(),
            Self::Operator(_) => toolgate_host::OPERATOR.into(),
            Self::Key(key) => format!("{}{}", toolgate_host::KEY_CALLER, key.name).into(),
        }
    }

    /// Returns the peer whose quota this principal uses on a connection.
    pub(crate) fn peer_id(&self, peer: &ConnectionPeer) -> PeerId {
        let key = match self {
            Self::Key(key) => Some(key.clone()),
            Self::Local | Self::Connection(_) | Self::Operator(_) => None,
        };
        PeerId { holder: peer.holder(), key }
    }

    /// Returns true if it is a client over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Self::Local | Self::Key(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_named_by_what_it_is_and_not_by_how_it_is_printed() {
        let named = |name: &str| toolgate_host::Principal::from_name(name.as_bytes());
        assert_eq!(ClientPrincipal::Local.to_gate_principal(), named("local"));
        assert_eq!(ClientPrincipal::Connection(7).to_gate_principal(), named("connection:7"));
        assert_eq!(ClientPrincipal::Operator(7).to_gate_principal(), named("operator:7"));
    }
}

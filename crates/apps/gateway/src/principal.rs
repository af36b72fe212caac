//! Whoever stands behind a request, as far as its carrier shows it.
//!
//! Everything that outlives a request (sessions, visitors, parked calls) belongs to one of these
//! and is found by no other. What a client calls itself plays no part in it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_host::keys::AccessKey;

use crate::peer::{Peer, PeerId};

/// Whoever stands behind a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// The user who runs this gateway, over HTTP.
    Local,
    /// The caller a key stands for, over HTTP.
    Key(Arc<AccessKey>),
    /// Whoever is at the other end of one connection of lines.
    Connection(u64),
    /// The same, where it is the person who runs this gateway, at our own command line.
    Operator(u64),
}

/// The profile whose place a client came to; none where it chose none.
pub(crate) type Place = Option<Arc<str>>;

/// Whoever comes, and to whose place: what was begun at one is not found at another.
#[derive(Debug, Clone)]
pub(crate) struct Comer {
    pub(crate) principal: Principal,
    pub(crate) place: Place,
    /// The other end of the connection. It is counted, and no part of who comes: a client may use
    /// several processes.
    pub(crate) peer: Arc<Peer>,
}

impl PartialEq for Comer {
    fn eq(&self, other: &Self) -> bool {
        (&self.principal, &self.place) == (&other.principal, &other.place)
    }
}

impl Eq for Comer {}

impl Hash for Comer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.principal, &self.place).hash(state);
    }
}

impl Comer {
    /// As whom it is counted.
    pub(crate) fn peer_id(&self) -> PeerId {
        self.principal.at(&self.peer)
    }
}

impl Principal {
    /// The principal of a new connection.
    pub(crate) fn connection(operated: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        if operated { Self::Operator(number) } else { Self::Connection(number) }
    }

    /// The same as the gate knows it: by name only.
    pub(crate) fn at_the_gate(&self) -> toolgate_host::Principal {
        toolgate_host::Principal::named(self.name().as_bytes())
    }

    /// A name no other principal of this process has. Digests are made of it, so each form is
    /// written out here and does not follow the names of types.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Local => "local".to_owned(),
            Self::Key(key) => format!("key:{}", key.id),
            Self::Connection(number) => format!("connection:{number}"),
            Self::Operator(number) => format!("operator:{number}"),
        }
    }

    /// The name that approvals are bound to: the same whenever he comes back.
    pub(crate) fn person(&self) -> Arc<str> {
        match self {
            Self::Local | Self::Connection(_) => "local".into(),
            Self::Operator(_) => toolgate_host::OPERATOR.into(),
            Self::Key(key) => format!("{}{}", toolgate_host::KEY_CALLER, key.name).into(),
        }
    }

    /// As whom it is counted at the other end of this connection.
    pub(crate) fn at(&self, peer: &Peer) -> PeerId {
        let key = match self {
            Self::Key(key) => Some(key.clone()),
            Self::Local | Self::Connection(_) | Self::Operator(_) => None,
        };
        PeerId { end: peer.end(), key }
    }

    /// The number of its connection, if that is one of lines.
    pub(crate) fn lines(&self) -> Option<u64> {
        match self {
            Self::Connection(number) | Self::Operator(number) => Some(*number),
            Self::Local | Self::Key(_) => None,
        }
    }

    /// Whether it came over HTTP.
    pub(crate) fn over_http(&self) -> bool {
        self.lines().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_named_by_what_it_is_and_not_by_how_it_is_printed() {
        let named = |name: &str| toolgate_host::Principal::named(name.as_bytes());
        assert_eq!(Principal::Local.at_the_gate(), named("local"));
        assert_eq!(Principal::Connection(7).at_the_gate(), named("connection:7"));
        assert_eq!(Principal::Operator(7).at_the_gate(), named("operator:7"));
    }
}

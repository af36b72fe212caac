//! Whoever stands behind a request, as far as its carrier shows it.
//!
//! Everything that outlives a request (sessions, visitors, parked calls) belongs to one of these
//! and is found by no other. What a client calls itself plays no part in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolgate_model::Digest;

/// Whoever stands behind a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Principal {
    /// Somebody on this machine, over HTTP.
    Local,
    /// The holder of a credential, over HTTP.
    Holder(Digest),
    /// Whoever is at the other end of one connection of lines.
    Connection(u64),
    /// The same, where it is the person who runs this gateway, at our own command line.
    Operator(u64),
}

/// The profile whose place a client came to; none where it chose none.
pub(crate) type Place = Option<Arc<str>>;

/// Whoever comes, and to whose place: what was begun at one is not found at another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Comer {
    pub(crate) principal: Principal,
    pub(crate) place: Place,
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
        toolgate_host::Principal::named(format!("{self:?}").as_bytes())
    }

    /// The name that approvals are bound to: the same whenever he comes back.
    pub(crate) fn person(&self) -> Arc<str> {
        match self {
            Self::Local | Self::Connection(_) => "local".into(),
            Self::Operator(_) => toolgate_host::OPERATOR.into(),
            Self::Holder(credential) => format!("holder:{}", credential.short(16)).into(),
        }
    }

    /// Whether it came over HTTP.
    pub(crate) fn over_http(&self) -> bool {
        !matches!(self, Self::Connection(_) | Self::Operator(_))
    }
}

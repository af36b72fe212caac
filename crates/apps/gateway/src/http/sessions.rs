//! HTTP sessions: their ids, their owners, their number and their lifetime.
//!
//! This module alone creates session ids, from 128 random bits. A request that names a session must
//! come from the principal that opened it, with the same profile. A client cannot distinguish a
//! missing session from a session of another client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use toolgate_wire::hex;

use super::clock::CoarseClock;
use super::event_log::SessionEventLog;
use crate::peer::PeerId;
use crate::peer_quota::{PeerLimitError, PeerLimits, PeerQuotaEntry};
use crate::principal::{ClientIdentity, ClientPrincipal};
use crate::rejection::Rejection;
use crate::session::{LegacySession, LegacySessions};

/// The id of a session, written as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct HttpSessionId([u8; 16]);

impl HttpSessionId {
    /// Creates the id of a new session after `evict` has made room for it.
    pub(super) fn reserve(
        evicted: Result<Option<Self>, PeerLimitError>,
        evict: impl FnMut(Self),
    ) -> Result<Self, Rejection> {
        let rejected = |reason: String| {
            tracing::warn!(target: "toolgate::gateway", reason, "cannot open a session");
            let error = "no session can be opened now; try again later";
            Rejection::new(StatusCode::SERVICE_UNAVAILABLE, error)
        };
        let full = "too many sessions are open, and none of this client is idle";
        let evicted = evicted.map_err(|PeerLimitError| rejected(full.to_owned()))?;
        evicted.into_iter().for_each(evict);
        let mut bytes = [0; 16];
        let random = getrandom::fill(&mut bytes);
        random.map_err(|error| rejected(format!("cannot create a session id: {error}")))?;
        Ok(Self(bytes))
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        hex::decode(text).map(Self)
    }
}

impl fmt::Display for HttpSessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(&self.0))
    }
}

/// A legacy session over HTTP.
pub(crate) struct HttpSession {
    pub(crate) session: Arc<LegacySession>,
    pub(crate) log: Arc<SessionEventLog>,
    identity: ClientIdentity,
    /// The peer whose quota this session uses.
    pub(crate) peer: PeerId,
    last_used: AtomicU64,
}

impl HttpSession {
    pub(crate) fn new(
        session: Arc<LegacySession>,
        log: Arc<SessionEventLog>,
        identity: ClientIdentity,
    ) -> Self {
        let peer = identity.peer_id();
        Self { session, log, identity, peer, last_used: AtomicU64::new(0) }
    }

    /// Returns true if a request or a reader waits for something in this session.
    fn is_busy(&self) -> bool {
        self.session.in_flight() > 0 || self.log.readers() > 0
    }
}

impl PeerQuotaEntry for HttpSession {
    fn peer(&self) -> &PeerId {
        &self.peer
    }

    fn idle_since(&self) -> Option<u64> {
        (!self.is_busy()).then(|| self.last_used.load(Ordering::Relaxed))
    }
}

/// The sessions of one server.
pub(crate) struct HttpSessions {
    open: papaya::HashMap<HttpSessionId, Arc<HttpSession>>,
    sessions: Arc<LegacySessions>,
    clock: Arc<CoarseClock>,
    limits: PeerLimits,
    ttl: Duration,
}

impl HttpSessions {
    pub(crate) fn new(
        sessions: Arc<LegacySessions>,
        clock: Arc<CoarseClock>,
        max_sessions: usize,
        ttl: Duration,
    ) -> Self {
        let open = papaya::HashMap::new();
        Self { open, sessions, clock, limits: PeerLimits::from_total(max_sessions, 4), ttl }
    }

    /// Returns the session with this id if the same client opened it with the same profile.
    pub(crate) fn find(
        &self,
        id: &HeaderValue,
        identity: &ClientIdentity,
    ) -> Option<Arc<HttpSession>> {
        let session = self.open.pin().get(&HttpSessionId::parse(id.as_bytes())?).cloned()?;
        if session.identity != *identity {
            return None;
        }
        session.last_used.store(self.clock.now(), Ordering::Relaxed);
        Some(session)
    }

    /// Makes room for one more session of a peer and returns its id.
    pub(crate) fn reserve_id(&self, peer: &PeerId) -> Result<HttpSessionId, Rejection> {
        let open = self.open.pin();
        let entries = || open.iter().map(|(key, session)| (*key, session.as_ref()));
        let evicted = self.limits.make_room(peer, entries);
        HttpSessionId::reserve(evicted, |evicted| {
            self.remove(&evicted);
        })
    }

    /// Registers a session.
    pub(crate) fn insert(&self, key: HttpSessionId, session: HttpSession) -> Arc<HttpSession> {
        session.last_used.store(self.clock.now(), Ordering::Relaxed);
        let session = Arc::new(session);
        self.open.pin().insert(key, session.clone());
        session
    }

    /// Ends the session with this id if it belongs to the client. Returns false if there is none.
    pub(crate) fn close(&self, id: &HeaderValue, identity: &ClientIdentity) -> bool {
        let found =
            HttpSessionId::parse(id.as_bytes()).filter(|_| self.find(id, identity).is_some());
        found.is_some_and(|key| self.remove(&key))
    }

    /// Ends sessions that were idle for too long, and those of revoked principals.
    pub(crate) fn sweep(&self, is_revoked: impl Fn(&ClientPrincipal) -> bool) {
        let mut expired = Vec::new();
        for (key, session) in &self.open.pin() {
            session.log.sweep(&self.clock);
            let ends = is_revoked(&session.identity.principal) || self.check_expired(session);
            expired.extend(ends.then_some(*key));
        }
        for key in expired {
            self.remove(&key);
        }
    }

    fn check_expired(&self, session: &HttpSession) -> bool {
        if session.is_busy() {
            // Idle time counts from the end of the last stream or request.
            session.last_used.store(self.clock.now(), Ordering::Relaxed);
            return false;
        }
        self.clock.has_elapsed(session.last_used.load(Ordering::Relaxed), self.ttl)
    }

    fn remove(&self, key: &HttpSessionId) -> bool {
        let removed = self.open.pin().remove(key).cloned();
        let Some(ended) = removed else { return false };
        self.sessions.close(&ended.session);
        ended.log.close();
        true
    }

    /// Returns how many requests are in flight in all sessions.
    pub(crate) fn in_flight(&self) -> usize {
        self.open.pin().values().map(|open| open.session.in_flight()).sum()
    }

    /// Ends all sessions.
    pub(crate) fn close_all(&self) {
        let keys: Vec<HttpSessionId> = self.open.pin().keys().copied().collect();
        for key in keys {
            self.remove(&key);
        }
    }
}

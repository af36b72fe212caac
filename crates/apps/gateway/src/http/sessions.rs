//! HTTP sessions: their ids, whom they belong to, how many there are and how long they live.
//!
//! An id is minted here and nowhere else, from 128 bits nobody can guess; a request that names one
//! must come from whoever opened it, to the same place. A session that is not found and one that is
//! somebody else's look the same from outside.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::HeaderValue;

use super::clock::Clock;
use super::eventlog::EventLog;
use crate::peer::PeerId;
use crate::principal::{Comer, Principal};
use crate::session::{Registry, Session};
use crate::shares::ShareLimits;

/// The id of a session.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 16]);

impl Key {
    pub(super) fn mint() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    fn read(header: &HeaderValue) -> Option<Self> {
        Self::parse(header.as_bytes())
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text: &[u8; 32] = text.try_into().ok()?;
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Self(bytes))
    }
}

/// A hexadecimal digit, in the one spelling we use.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// A session that is carried by HTTP.
pub(crate) struct HttpSession {
    pub(crate) session: Arc<Session>,
    pub(crate) log: Arc<EventLog>,
    comer: Comer,
    /// Who opened it: for whom it is counted.
    pub(crate) peer: PeerId,
    touched: AtomicU64,
}

impl HttpSession {
    pub(crate) fn new(session: Arc<Session>, log: Arc<EventLog>, comer: Comer) -> Self {
        let peer = comer.peer_id();
        Self { session, log, comer, peer, touched: AtomicU64::new(0) }
    }

    /// Whether somebody waits for something in it.
    fn busy(&self) -> bool {
        self.in_flight() > 0 || self.log.readers() > 0
    }

    fn in_flight(&self) -> usize {
        self.session.peer().flights.len()
    }
}

/// Why no session can be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoRoom {
    /// There are too many, of this client or in all, and none of them may end for it.
    #[error("find an idle one among the sessions of this client")]
    Full,
    /// The system has no random numbers for an id.
    #[error("mint an id: {0}")]
    Random(getrandom::Error),
}

/// The sessions of one server.
pub(crate) struct Sessions {
    open: papaya::HashMap<Key, Arc<HttpSession>>,
    registry: Arc<Registry>,
    clock: Arc<Clock>,
    bounds: ShareLimits,
    ttl: Duration,
}

impl Sessions {
    pub(crate) fn new(
        registry: Arc<Registry>,
        clock: Arc<Clock>,
        most: usize,
        ttl: Duration,
    ) -> Self {
        let open = papaya::HashMap::new();
        Self { open, registry, clock, bounds: ShareLimits::of(most, 4), ttl }
    }

    /// The session a request names, if it is the caller's, and was begun at this place.
    pub(crate) fn find(&self, id: &HeaderValue, comer: &Comer) -> Option<Arc<HttpSession>> {
        let session = self.open.pin().get(&Key::read(id)?).cloned()?;
        if session.comer != *comer {
            return None;
        }
        session.touched.store(self.clock.now(), Ordering::Relaxed);
        Some(session)
    }

    /// Makes room for one more session of a peer, and mints its id. A client makes room for itself,
    /// and nobody for it but those who are gone.
    pub(crate) fn place(&self, peer: &PeerId) -> Result<Key, NoRoom> {
        let own = self.open.pin().values().filter(|session| session.peer == *peer).count();
        let may_evict_others = own < self.bounds.per_peer;
        let has_room = self.bounds.admit(peer, self.open.len(), own)
            || self.evict(|session| session.peer == *peer)
            || (may_evict_others && self.evict(|session| session.peer.is_gone()));
        match has_room {
            true => Key::mint().map_err(NoRoom::Random),
            false => Err(NoRoom::Full),
        }
    }

    /// Enters a session that has begun.
    pub(crate) fn enter(&self, key: Key, session: HttpSession) -> Arc<HttpSession> {
        session.touched.store(self.clock.now(), Ordering::Relaxed);
        let session = Arc::new(session);
        self.open.pin().insert(key, session.clone());
        session
    }

    /// Ends the session a request names, if it is the caller's.
    pub(crate) fn end(&self, id: &HeaderValue, comer: &Comer) -> bool {
        let found = Key::read(id).filter(|_| self.find(id, comer).is_some());
        found.is_some_and(|key| self.remove(&key))
    }

    /// Ends what nobody has used for too long, and what is of those who may not be served any more.
    pub(crate) fn sweep(&self, is_barred: impl Fn(&Principal) -> bool) {
        let mut expired = Vec::new();
        for (key, session) in &self.open.pin() {
            session.log.sweep(&self.clock);
            let ends = is_barred(&session.comer.principal) || self.expired(session);
            expired.extend(ends.then_some(*key));
        }
        for key in expired {
            self.remove(&key);
        }
    }

    fn expired(&self, session: &HttpSession) -> bool {
        if session.busy() {
            // Idleness is counted from when the last stream or request ended.
            session.touched.store(self.clock.now(), Ordering::Relaxed);
            return false;
        }
        self.clock.past(session.touched.load(Ordering::Relaxed), self.ttl)
    }

    /// Ends the session among these that has been idle longest, if one is idle.
    fn evict(&self, among: impl Fn(&HttpSession) -> bool) -> bool {
        let idle = {
            let open = self.open.pin();
            let idle = open.iter().filter(|(_, session)| !session.busy() && among(session));
            idle.min_by_key(|(_, session)| session.touched.load(Ordering::Relaxed))
                .map(|(key, _)| *key)
        };
        idle.is_some_and(|key| self.remove(&key))
    }

    fn remove(&self, key: &Key) -> bool {
        let removed = self.open.pin().remove(key).cloned();
        let Some(ended) = removed else { return false };
        self.registry.leave(&ended.session);
        ended.log.close();
        true
    }

    /// How many requests are in flight in all sessions.
    pub(crate) fn in_flight(&self) -> usize {
        self.open.pin().values().map(|session| session.in_flight()).sum()
    }

    /// Ends all of them.
    pub(crate) fn end_all(&self) {
        let keys: Vec<Key> = self.open.pin().keys().copied().collect();
        for key in keys {
            self.remove(&key);
        }
    }
}

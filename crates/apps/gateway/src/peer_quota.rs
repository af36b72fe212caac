//! Limits how much of a shared resource one peer may hold: connections, streams, sessions, uploads.
//!
//! There is a limit in total and one per peer, and the last quarter is reserved for peers that hold
//! little. So a client can use up its own share, but not the shares of others.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::peer::{ConnectionHolder, PeerId};

/// What part of the total one peer may hold while only the reserve is left. If the total is smaller
/// than this, shares would be empty, and only the total is limited.
const RESERVE_DIVISOR: usize = 64;

/// The limits of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PeerLimits {
    /// The limit for all peers together.
    pub(crate) total: usize,
    /// The limit for one peer.
    pub(crate) per_peer: usize,
}

impl PeerLimits {
    /// Creates limits from a total, with one part in `divisor` of it per peer.
    pub(crate) fn from_total(total: usize, divisor: usize) -> Self {
        Self { total, per_peer: if total < RESERVE_DIVISOR { total } else { total / divisor } }
    }

    /// Returns true if a peer that holds `own` of `all` may have one more.
    pub(crate) fn admit(&self, peer: &PeerId, all: usize, own: usize) -> bool {
        all < self.total && self.is_within_share(peer.holder, all, own)
    }

    /// Returns true if a peer that holds `own` of `all` has not used up its share. Unknown holders
    /// have no shares.
    pub(crate) fn is_within_share(&self, holder: ConnectionHolder, all: usize, own: usize) -> bool {
        let is_reserved = self.total >= RESERVE_DIVISOR && all >= self.total - self.total / 4;
        let limit = if is_reserved { self.total / RESERVE_DIVISOR } else { self.per_peer };
        holder == ConnectionHolder::Unknown || own < limit
    }
}

/// An entry of a table that peers share, such as a session.
pub(crate) trait PeerQuotaEntry {
    /// Returns the peer whose quota the entry uses.
    fn peer(&self) -> &PeerId;

    /// Returns since when the entry is idle, or `None` while it is in use.
    fn idle_since(&self) -> Option<u64>;
}

impl PeerLimits {
    /// Makes room in a table for one more entry of a peer. Returns the entry to evict, if there must
    /// be one, or an error if no entry may be evicted: only the one that has been idle longest among
    /// those of the same peer, or of peers that have exited.
    pub(crate) fn make_room<'a, K, E, I>(
        &self,
        peer: &PeerId,
        entries: impl Fn() -> I,
    ) -> Result<Option<K>, PeerLimitError>
    where
        E: PeerQuotaEntry + 'a,
        I: Iterator<Item = (K, &'a E)>,
    {
        let own = entries().filter(|(_, entry)| entry.peer() == peer).count();
        if self.admit(peer, entries().count(), own) {
            return Ok(None);
        }
        let longest_idle = |among: &dyn Fn(&PeerId) -> bool| {
            let among = entries().filter(|(_, entry)| among(entry.peer()));
            let idle = among.filter_map(|(key, entry)| Some((key, entry.idle_since()?)));
            idle.min_by_key(|(_, since)| *since).map(|(key, _)| key)
        };
        let of_exited = || (own < self.per_peer).then(|| longest_idle(&PeerId::is_gone)).flatten();
        longest_idle(&|other| other == peer).or_else(of_exited).map(Some).ok_or(PeerLimitError)
    }
}

/// A peer may not have one more entry of a table.
#[derive(Debug)]
pub(crate) struct PeerLimitError;

/// The use of one resource by all peers.
#[derive(Debug)]
pub(crate) struct PeerQuota {
    limits: PeerLimits,
    held: Mutex<HashMap<PeerId, usize>>,
}

/// A peer's use of a resource. Dropping it returns the resource.
#[derive(Debug)]
pub(crate) struct PeerQuotaGuard {
    quota: Arc<PeerQuota>,
    peer: PeerId,
}

impl PeerQuota {
    pub(crate) fn new(limits: PeerLimits) -> Arc<Self> {
        Arc::new(Self { limits, held: Mutex::default() })
    }

    /// Acquires one unit for a peer. Returns `None` if a limit is reached.
    pub(crate) fn acquire(self: &Arc<Self>, peer: PeerId) -> Option<PeerQuotaGuard> {
        let mut held = self.held.lock();
        let (all, own) = (held.values().sum(), held.get(&peer).copied().unwrap_or_default());
        if !self.limits.admit(&peer, all, own) {
            return None;
        }
        held.insert(peer.clone(), own + 1);
        Some(PeerQuotaGuard { quota: self.clone(), peer })
    }
}

impl Drop for PeerQuotaGuard {
    fn drop(&mut self) {
        let mut held = self.quota.held.lock();
        if let Some(own) = held.get_mut(&self.peer) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                held.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peer_fills_its_share_and_the_reserve_is_for_those_who_hold_little() {
        let quota = PeerQuota::new(PeerLimits::from_total(64, 4));
        let peer = |user| PeerId { holder: ConnectionHolder::User(user), key: None };
        let take = |user: u32, times: usize| -> Vec<PeerQuotaGuard> {
            (0..times).map_while(|_| quota.acquire(peer(user))).collect()
        };
        let first = take(1, 64);
        assert_eq!(first.len(), 16, "a quarter for one peer");
        let others = [take(2, 64), take(3, 64)];
        assert_eq!(others.each_ref().map(Vec::len), [16, 16]);
        let late: Vec<_> = (4..30).flat_map(|user| take(user, 64)).collect();
        assert_eq!(late.len(), 16, "one each of the rest, and so much in all");
        drop(first);
        assert_eq!(take(1, 64).len(), 1, "what is left is reserved");
        drop((others, late));
        assert_eq!(take(1, 64).len(), 16, "everything was given back");
    }
}

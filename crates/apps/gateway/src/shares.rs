//! How much one peer may hold of what everybody needs: connections, streams, sessions, uploads.
//!
//! Three numbers bound each: so much in all, so much of it for one peer, and a quarter of it for peers
//! that hold little. So one client can fill its own share and nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::peer::{PeerEnd, PeerId};

/// What a peer may hold of the reserve, as a part of everything. Where there is less than this in all,
/// a share of it would be nothing, and only the whole is bounded.
const PARTS: usize = 64;

/// How much there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShareLimits {
    /// In all.
    pub(crate) most: usize,
    /// Of one peer.
    pub(crate) per_peer: usize,
}

impl ShareLimits {
    /// So much in all, and this part of it for one peer.
    pub(crate) fn of(most: usize, part: usize) -> Self {
        Self { most, per_peer: if most < PARTS { most } else { most / part } }
    }

    /// Whether a peer that holds `own` of `all` may have one more.
    pub(crate) fn admit(&self, peer: &PeerId, all: usize, own: usize) -> bool {
        all < self.most && self.is_within_share(peer.end, all, own)
    }

    /// Whether a peer that holds `own` of `all` has not had its share. Where it is not known who holds
    /// what there are no shares.
    pub(crate) fn is_within_share(&self, end: PeerEnd, all: usize, own: usize) -> bool {
        let is_reserved = self.most >= PARTS && all >= self.most - self.most / 4;
        let limit = if is_reserved { self.most / PARTS } else { self.per_peer };
        end == PeerEnd::Unknown || own < limit
    }
}

/// What peers hold of one thing.
#[derive(Debug)]
pub(crate) struct Shares {
    bounds: ShareLimits,
    held: Mutex<HashMap<PeerId, usize>>,
}

/// One of what a peer holds, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Arc<Shares>,
    peer: PeerId,
    count: usize,
}

impl Shares {
    pub(crate) fn new(bounds: ShareLimits) -> Arc<Self> {
        Arc::new(Self { bounds, held: Mutex::default() })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<PeerId, usize>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more for this peer, if it may have it.
    pub(crate) fn take(self: &Arc<Self>, peer: PeerId) -> Option<Share> {
        let mut held = self.held();
        let (all, own) = (held.values().sum(), held.get(&peer).copied().unwrap_or_default());
        if !self.bounds.admit(&peer, all, own) {
            return None;
        }
        held.insert(peer.clone(), own + 1);
        Some(Share { shares: self.clone(), peer, count: 1 })
    }
}

impl Share {
    /// One more for the same peer; `false` if it may not have it.
    pub(crate) fn grow(&mut self) -> bool {
        let more = self.shares.take(self.peer.clone());
        // It is given back with this one.
        more.map(|mut more| more.count = 0).inspect(|()| self.count += 1).is_some()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut held = self.shares.held();
        if let Some(own) = held.get_mut(&self.peer) {
            *own = own.saturating_sub(self.count);
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
        let shares = Shares::new(ShareLimits::of(64, 4));
        let peer = |user| PeerId { end: PeerEnd::User(user), key: None };
        let take = |user: u32, times: usize| -> Vec<Share> {
            (0..times).map_while(|_| shares.take(peer(user))).collect()
        };
        let first = take(1, 64);
        assert_eq!(first.len(), 16, "a quarter for one peer");
        let others = [take(2, 64), take(3, 64)];
        assert_eq!(others.each_ref().map(Vec::len), [16, 16]);
        let late: Vec<_> = (4..30).flat_map(|user| take(user, 64)).collect();
        assert_eq!(late.len(), 16, "one each of the rest, and so much in all");
        drop(first);
        let mut grown = shares.take(peer(1)).unwrap();
        assert!(!grown.grow(), "what is left is reserved");
        drop((others, late));
        assert_eq!((0..64).take_while(|_| grown.grow()).count(), 15);
        drop(grown);
        assert_eq!(take(1, 64).len(), 16, "everything was given back");
    }
}

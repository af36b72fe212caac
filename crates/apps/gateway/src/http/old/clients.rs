//! The clients on the old transport: their ids, whose they are, how many there may be.
//!
//! A client is here exactly as long as its stream. One that has opened a stream and says nothing
//! goes when it has been silent for too long, or when its place or its connection is needed.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use toolgate_transport::sse;

use super::MESSAGES;
use super::client::Client;
use crate::gateway::Hub;
use crate::http::clock::{Clock, Pulse};
use crate::http::sessions::{Key, NoRoom};
use crate::http::stream::Feed;
use crate::peer::PeerId;
use crate::principal::{Comer, Principal};
use crate::shares::ShareLimits;

/// The clients of one server.
pub(crate) struct Clients {
    open: papaya::HashMap<Key, Arc<Client>>,
    clock: Arc<Clock>,
    bounds: ShareLimits,
    /// How long one may say nothing.
    silence: Duration,
}

/// A client's stream; its end is the client's.
pub(crate) struct Presence {
    clients: Arc<Clients>,
    key: Key,
    client: Arc<Client>,
}

impl Clients {
    pub(crate) fn new(clock: Arc<Clock>, most: usize, silence: Duration) -> Arc<Self> {
        Arc::new(Self {
            open: papaya::HashMap::new(),
            clock,
            bounds: ShareLimits::of(most, 4),
            silence,
        })
    }

    /// Enters a client that has just come, and tells it where to post.
    pub(super) fn open(
        self: &Arc<Self>,
        hub: Arc<Hub>,
        comer: Comer,
        pulse: Arc<Pulse>,
    ) -> Result<Presence, NoRoom> {
        let peer = comer.peer_id();
        let own = self.open.pin().values().filter(|client| client.peer == peer).count();
        if !self.bounds.admit(&peer, self.open.len(), own) && !self.evict(&peer) {
            return Err(NoRoom::Full);
        }
        let key = Key::mint().map_err(NoRoom::Random)?;
        let client = Arc::new(Client::new(hub, comer, self.clock.now(), pulse));
        let place = format!("{MESSAGES}?session={key}");
        client.outbox.push(sse::named("endpoint", place.as_bytes()));
        self.open.pin().insert(key, client.clone());
        Ok(Presence { clients: self.clone(), key, client })
    }

    /// The client a message names as its own.
    pub(super) fn find(&self, id: &str, principal: &Principal) -> Option<Arc<Client>> {
        let client = self.open.pin().get(&Key::parse(id.as_bytes())?).cloned()?;
        (client.comer.principal == *principal).then_some(client)
    }

    /// Ends those who came and said nothing for too long, and those who may not be served any more.
    pub(crate) fn sweep(&self, is_barred: impl Fn(&Principal) -> bool) {
        let open = self.open.pin();
        for client in open.values() {
            let late = client.is_new() && self.clock.past(client.since, self.silence);
            if late || is_barred(&client.comer.principal) {
                client.end();
            }
        }
    }

    /// Ends the oldest of a peer's clients that have said nothing.
    fn evict(&self, peer: &PeerId) -> bool {
        let open = self.open.pin();
        let silent = open.iter().filter(|(_, client)| client.is_new() && client.peer == *peer);
        let Some((key, client)) = silent.min_by_key(|(_, client)| client.since) else {
            return false;
        };
        client.end();
        open.remove(key).is_some()
    }

    /// How many requests are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.open.pin().values().map(|client| client.in_flight()).sum()
    }

    /// Ends all of them.
    pub(crate) fn end_all(&self) {
        self.open.pin().values().for_each(|client| client.end());
    }
}

impl Feed for Presence {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.client.outbox.poll_next(context)
    }

    fn position(&self) -> Option<String> {
        None
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.clients.open.pin().remove(&self.key);
        self.client.end();
    }
}

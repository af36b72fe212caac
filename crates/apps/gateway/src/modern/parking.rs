//! Parked calls: calls whose client was asked something and has not come back yet.
//!
//! The call runs on meanwhile, read by its keeper, so that its server is not blocked. The client
//! gets a sealed state and brings it back with its answers. The state names the call and is bound
//! to the principal who got it, its profile, what was asked for and a time; it works once, on
//! whichever connection it comes. A call nobody comes back
//! for is dropped when its time is over, which cancels it at the server; it is never run again.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use toolgate_model::{Digest, ServerName};
use toolgate_wire::string;

use super::canonical;
use super::running::Running;
use super::seal::Seal;
use super::visitors::Visitor;
use crate::peer::PeerId;
use crate::principal::Principal;
use crate::session::Reply;
use crate::shares::ShareLimits;
use crate::upstreams::CallerId;

/// How many calls may be parked, of one caller, of one peer, on one server and in all. A
/// parked call keeps its places at the gate: half of a caller's, and a quarter of a server's, stay
/// free for calls that do not wait for anybody.
const PER_CALLER: usize = 16;
const PER_SERVER: usize = 48;
const BOUNDS: ShareLimits = ShareLimits { most: 256, per_peer: 32 };

/// Why a state leads to no call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Lost {
    /// It was changed, or sealed by another process.
    #[error("requestState is not one of this gateway, or was changed; nothing was run again")]
    Foreign,
    /// Its time is over.
    #[error("requestState has expired; the call it belongs to was given up, not run again")]
    Expired,
    /// It was given to somebody else.
    #[error("requestState belongs to another caller")]
    NotYours,
    /// It was given for another request.
    #[error("requestState belongs to another request; a retry repeats its request unchanged")]
    Changed,
    /// It was used before, or the call is gone.
    #[error("the call this answers is no longer waiting; it was not run again")]
    Gone,
}

/// The parked calls of a gateway.
pub(crate) struct Parking {
    seal: Option<Seal>,
    time: Duration,
    began: Instant,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    parked: HashMap<u64, Parked>,
}

impl Table {
    fn has_room(&self, visitor: &Visitor, peer: &PeerId, server: Option<&ServerName>) -> bool {
        let count =
            |of: &dyn Fn(&Parked) -> bool| self.parked.values().filter(|parked| of(parked)).count();
        BOUNDS.admit(peer, self.parked.len(), count(&|parked| parked.peer == *peer))
            && count(&|parked| parked.caller == visitor.caller.id) < PER_CALLER
            && count(&|parked| parked.server.as_ref() == server) < PER_SERVER
    }
}

/// One parked call.
struct Parked {
    principal: Principal,
    peer: PeerId,
    caller: CallerId,
    server: Option<ServerName>,
    request: Digest,
    place: Arc<Place>,
    keeper: AbortHandle,
}

/// Where the call is while it is parked. Its keeper polls it in there.
type Place = Mutex<Option<Box<Running>>>;

impl Parking {
    pub(crate) fn new(time: Duration) -> Self {
        Self { seal: Seal::new(), time, began: Instant::now(), table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a call and says what its client is asked; gives it back if there is no room.
    pub(crate) fn park(self: &Arc<Self>, mut running: Box<Running>) -> Result<Reply, Box<Running>> {
        let visitor = running.call.visitor().clone();
        let (principal, server) = (visitor.principal.clone(), running.call.asker());
        let peer = running.call.peer_id();
        let request = canonical::digest(&running.request);
        let mut table = self.table();
        if !table.has_room(&visitor, &peer, server.as_ref()) {
            tracing::warn!(target: "toolgate::gateway", "too many calls wait for their clients");
            return Err(running);
        }
        let number = table.last + 1;
        let until = Instant::now() + self.time;
        let Some(state) = self.state(number, until, &visitor, &request) else {
            return Err(running);
        };
        table.last = number;
        running.land();
        let reply = asked(&running, &state);
        let place = Arc::new(Mutex::new(Some(running)));
        let keeper = tokio::spawn(keep(Arc::downgrade(self), number, place.clone(), until));
        let keeper = keeper.abort_handle();
        let caller = visitor.caller.id;
        let parked = Parked { principal, peer, caller, server, request, place, keeper };
        table.parked.insert(number, parked);
        Ok(reply)
    }

    /// What the client brings back.
    fn state(
        &self,
        number: u64,
        until: Instant,
        visitor: &Visitor,
        request: &Digest,
    ) -> Option<String> {
        let until = until.duration_since(self.began).as_millis();
        let holder = bearer(visitor);
        self.seal.as_ref()?.seal(&format!("{number} {until} {holder} {request}"))
    }

    /// The call a retry belongs to. It is the retry's from now on.
    pub(crate) fn claim(
        &self,
        state: &str,
        visitor: &Visitor,
        request: &Digest,
    ) -> Result<Box<Running>, Lost> {
        let state = self.seal.as_ref().and_then(|seal| seal.open(state)).ok_or(Lost::Foreign)?;
        let mut parts = state.split(' ');
        let mut next = || parts.next().ok_or(Lost::Foreign);
        let number: u64 = next()?.parse().map_err(|_| Lost::Foreign)?;
        let until: u128 = next()?.parse().map_err(|_| Lost::Foreign)?;
        if next()? != bearer(visitor).to_string() {
            return Err(Lost::NotYours);
        }
        if self.began.elapsed().as_millis() >= until {
            return Err(Lost::Expired);
        }
        if next()? != request.to_string() {
            return Err(Lost::Changed);
        }
        self.take(number).ok_or(Lost::Gone)
    }

    /// The call of this very caller that waits for an answer to this very request, the newest if
    /// there are several: what a retry that lost its state can only mean.
    pub(crate) fn alike(&self, caller: CallerId, request: &Digest) -> Option<Box<Running>> {
        let alike = |parked: &Parked| parked.caller == caller && parked.request == *request;
        let newest = {
            let table = self.table();
            let found = table.parked.iter().filter(|(_, parked)| alike(parked));
            found.map(|(number, _)| *number).max()
        };
        self.take(newest?)
    }

    fn take(&self, number: u64) -> Option<Box<Running>> {
        let parked = self.table().parked.remove(&number)?;
        parked.keeper.abort();
        parked.place.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Gives up the calls of some principals.
    pub(crate) fn forget(&self, whose: impl Fn(&Principal) -> bool) {
        let gone: Vec<_> = {
            let mut table = self.table();
            table.parked.extract_if(|_, parked| whose(&parked.principal)).collect()
        };
        for (_, parked) in gone {
            parked.keeper.abort();
            drop(parked.place.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.table().parked.len()
    }
}

/// Goes on with a parked call until it is taken or its time is over.
async fn keep(parking: Weak<Parking>, number: u64, place: Arc<Place>, until: Instant) {
    let taken =
        poll_fn(|context| match place.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(running) => {
                running.poll_work(context);
                Poll::Pending
            }
            None => Poll::Ready(()),
        });
    if timeout_at(until, taken).await.is_err()
        && let Some(parking) = parking.upgrade()
    {
        tracing::debug!(target: "toolgate::gateway", "a client did not come back to its call");
        parking.take(number);
    }
}

/// Who got a state. It says nothing of a credential.
fn bearer(visitor: &Visitor) -> Digest {
    Digest::of_parts([visitor.principal.name().as_bytes(), visitor.caller.profile.as_bytes()])
}

/// The result that asks the client.
fn asked(running: &Running, state: &str) -> Reply {
    let requests = running.call.ask_open();
    let head = br#"{"resultType":"input_required","inputRequests":"#;
    let tail = format!(r#","requestState":{}}}"#, string::encode(state));
    Reply::result(running.id(), &[head.as_slice(), &requests, tail.as_bytes()].concat())
}

//! Parked calls: calls that have asked their client something and wait for the retry.
//!
//! A parked call continues to run in a task, so that its server is not blocked. The client gets an
//! encrypted state and sends it back with its answers. The state names the call and is bound to the
//! principal, its profile, the request and a deadline. It works once, on any connection. A call
//! without a retry is dropped at the deadline, which cancels it at the server. It is never run
//! again.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use toolgate_host::CallerId;
use toolgate_model::{Digest, ServerName};
use toolgate_wire::string;

use super::state_cipher::StateCipher;
use super::{CallRounds, StatelessClient, request_digest};
use crate::exchange::{RpcResponse, RunningCall};
use crate::peer::PeerId;
use crate::peer_quota::PeerLimits;
use crate::principal::ClientPrincipal;

/// How many calls may be parked: per caller, per server, per peer and in total. A parked call keeps
/// its slots at the gate. Half of a caller's and a quarter of a server's slots stay free for calls
/// that do not wait for a client.
const PER_CALLER: usize = 16;
const PER_SERVER: usize = 48;
const PARKED_LIMITS: PeerLimits = PeerLimits { total: 256, per_peer: 32 };

/// The error for a `requestState` that was changed, or encrypted by another process.
const FOREIGN_STATE: &str =
    "requestState is unknown to this gateway or was changed; nothing was run again";

/// The parked calls of a gateway.
pub(crate) struct ParkedCalls {
    cipher: Option<StateCipher>,
    ttl: Duration,
    started: Instant,
    pub(crate) table: Mutex<ParkedCallTable>,
}

/// The parked calls by number.
#[derive(Default)]
pub(crate) struct ParkedCallTable {
    last: u64,
    pub(crate) parked: HashMap<u64, ParkedCall>,
}

impl ParkedCallTable {
    fn has_room(
        &self,
        client: &StatelessClient,
        peer: &PeerId,
        server: Option<&ServerName>,
    ) -> bool {
        let count = |of: &dyn Fn(&ParkedCall) -> bool| {
            self.parked.values().filter(|parked| of(parked)).count()
        };
        PARKED_LIMITS.admit(peer, self.parked.len(), count(&|parked| parked.peer == *peer))
            && count(&|parked| parked.client.caller.id == client.caller.id) < PER_CALLER
            && count(&|parked| parked.server.as_ref() == server) < PER_SERVER
    }
}

/// One parked call.
pub(crate) struct ParkedCall {
    client: Arc<StatelessClient>,
    peer: PeerId,
    server: Option<ServerName>,
    request: Digest,
    slot: Arc<ParkedCallSlot>,
    poll_task: AbortHandle,
}

/// The slot that holds a call while it is parked. A task polls the call in there.
type ParkedCallSlot = Mutex<Option<Box<RunningCall>>>;

impl ParkedCalls {
    pub(crate) fn new(time: Duration) -> Self {
        Self {
            cipher: StateCipher::new(),
            ttl: time,
            started: Instant::now(),
            table: Mutex::default(),
        }
    }

    /// Parks a call and returns the response with its questions. Returns the call itself if there
    /// is no room.
    pub(crate) fn park(mut running: Box<RunningCall>) -> Result<RpcResponse, Box<RunningCall>> {
        let call = running.call.clone();
        let Some(rounds) = call.rounds() else { return Err(running) };
        let (parked_calls, client) = (&rounds.parked_calls, &rounds.client);
        let server = rounds.state.lock().questions.asking_server();
        let peer = rounds.peer_id();
        let request = request_digest::digest(&rounds.request);
        let mut table = parked_calls.table.lock();
        if !table.has_room(client, &peer, server.as_ref()) {
            tracing::warn!(target: "toolgate::gateway", "too many parked calls");
            return Err(running);
        }
        let number = table.last + 1;
        let until = Instant::now() + parked_calls.ttl;
        let Some(state) = parked_calls.seal_state(number, until, client, &request) else {
            return Err(running);
        };
        table.last = number;
        running.mark_parked();
        let reply = input_required(&running, rounds, &state);
        let slot = Arc::new(Mutex::new(Some(running)));
        let weak = Arc::downgrade(parked_calls);
        let poll_task = tokio::spawn(poll_until_claimed(weak, number, slot.clone(), until));
        let (client, poll_task) = (client.clone(), poll_task.abort_handle());
        let parked = ParkedCall { client, peer, server, request, slot, poll_task };
        table.parked.insert(number, parked);
        Ok(reply)
    }

    /// Returns the encrypted state that the client sends back.
    fn seal_state(
        &self,
        number: u64,
        until: Instant,
        client: &StatelessClient,
        request: &Digest,
    ) -> Option<String> {
        let until = until.duration_since(self.started).as_millis();
        let holder = holder_digest(client);
        self.cipher.as_ref()?.seal(&format!("{number} {until} {holder} {request}"))
    }

    /// Returns the call that a retry belongs to and removes it from the parked calls.
    pub(crate) fn claim(
        &self,
        state: &str,
        client: &StatelessClient,
        request: &Digest,
    ) -> Result<Box<RunningCall>, &'static str> {
        let cipher = self.cipher.as_ref();
        let state = cipher.and_then(|cipher| cipher.open(state)).ok_or(FOREIGN_STATE)?;
        let mut parts = state.split(' ');
        let mut next = || parts.next().ok_or(FOREIGN_STATE);
        let number: u64 = next()?.parse().map_err(|_| FOREIGN_STATE)?;
        let until: u128 = next()?.parse().map_err(|_| FOREIGN_STATE)?;
        if next()? != holder_digest(client).to_string() {
            return Err("requestState belongs to another caller");
        }
        if self.started.elapsed().as_millis() >= until {
            return Err("requestState has expired; its call was cancelled and not run again");
        }
        if next()? != request.to_string() {
            return Err(
                "requestState belongs to another request; a retry must repeat its request unchanged",
            );
        }
        self.take(number)
            .ok_or("the call of this requestState is no longer waiting; it was not run again")
    }

    /// Returns the newest parked call of this caller for this request. This is the only call that a
    /// retry without a state can mean.
    pub(crate) fn claim_by_request(
        &self,
        caller: CallerId,
        request: &Digest,
    ) -> Option<Box<RunningCall>> {
        let alike =
            |parked: &ParkedCall| parked.client.caller.id == caller && parked.request == *request;
        let newest = {
            let table = self.table.lock();
            let found = table.parked.iter().filter(|(_, parked)| alike(parked));
            found.map(|(number, _)| *number).max()
        };
        self.take(newest?)
    }

    fn take(&self, number: u64) -> Option<Box<RunningCall>> {
        let parked = self.table.lock().parked.remove(&number)?;
        parked.poll_task.abort();
        parked.slot.lock().take()
    }

    /// Cancels the parked calls of some principals.
    pub(crate) fn forget_principals(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        let gone: Vec<_> = {
            let mut table = self.table.lock();
            table.parked.extract_if(|_, parked| is_selected(&parked.client.principal)).collect()
        };
        for (_, parked) in gone {
            parked.poll_task.abort();
            drop(parked.slot.lock().take());
        }
    }
}

/// Polls a parked call until it is claimed or its deadline passes.
async fn poll_until_claimed(
    parked_calls: Weak<ParkedCalls>,
    number: u64,
    slot: Arc<ParkedCallSlot>,
    until: Instant,
) {
    let taken = poll_fn(|context| match slot.lock().as_mut() {
        Some(running) => {
            running.poll_work(context);
            Poll::Pending
        }
        None => Poll::Ready(()),
    });
    if timeout_at(until, taken).await.is_err()
        && let Some(parked_calls) = parked_calls.upgrade()
    {
        tracing::debug!(target: "toolgate::gateway", "a parked call expired");
        parked_calls.take(number);
    }
}

/// Returns a digest of the principal and profile that got a state. It reveals no credential.
fn holder_digest(client: &StatelessClient) -> Digest {
    Digest::of_parts([client.principal.name().as_bytes(), client.caller.profile.as_bytes()])
}

/// Returns the response that asks the client.
fn input_required(running: &RunningCall, rounds: &CallRounds, state: &str) -> RpcResponse {
    let requests = rounds.to_input_requests();
    let head = br#"{"resultType":"input_required","inputRequests":"#;
    let tail = format!(r#","requestState":{}}}"#, string::encode(state));
    RpcResponse::result(&running.id, &[head.as_slice(), &requests, tail.as_bytes()].concat())
}

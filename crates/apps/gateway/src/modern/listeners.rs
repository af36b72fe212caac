//! The open listens of all clients, and the gate's events brought to them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, OwnedId, build, line, meta, method, scan, string};

use super::Visit;
use super::filter::Filter;
use crate::peer::PeerId;
use crate::principal::Principal;
use crate::session::list_changed_method;
use crate::shares::ShareLimits;
use crate::upstreams::{CallerId, GateEvent};

/// How many listens one peer may have open, and all.
const BOUNDS: ShareLimits = ShareLimits { most: 1024, per_peer: 64 };
/// How many messages may wait for a client that reads slowly, beside one for each resource.
const WAITING: usize = 256;

/// All open listens.
#[derive(Default)]
pub(crate) struct Listeners {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    open: HashMap<u64, Arc<Listener>>,
}

/// Who listens.
pub(crate) struct Hearer {
    principal: Principal,
    peer: PeerId,
    caller: CallerId,
    profile: Arc<str>,
}

impl From<&Visit> for Hearer {
    fn from(Visit { visitor, peer, .. }: &Visit) -> Self {
        let (principal, caller) = (visitor.principal.clone(), &visitor.caller);
        let peer = principal.at(peer);
        Self { principal, peer, caller: caller.id, profile: caller.profile.clone() }
    }
}

/// One open listen.
pub(crate) struct Listener {
    id: OwnedId,
    hearer: Hearer,
    wanted: Filter,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// What the client was promised; none while the servers are still asked.
    honoured: Option<Filter>,
    /// Something it wanted to hear of happened before.
    early: bool,
    messages: VecDeque<Bytes>,
    ended: bool,
    waker: Option<Waker>,
}

/// An entry among the listeners; dropping it takes it out.
pub(crate) struct Entered {
    listeners: Arc<Listeners>,
    number: u64,
    listener: Arc<Listener>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.listeners.table().open.remove(&self.number);
    }
}

impl std::ops::Deref for Entered {
    type Target = Listener;

    fn deref(&self) -> &Listener {
        &self.listener
    }
}

impl Listeners {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a listen; none if its peer has too many, or all have.
    pub(crate) fn enter(self: &Arc<Self>, listener: Listener) -> Option<Entered> {
        let mut table = self.table();
        let peer = &listener.hearer.peer;
        let own = table.open.values().filter(|open| open.hearer.peer == *peer).count();
        if !BOUNDS.admit(peer, table.open.len(), own) {
            return None;
        }
        table.last += 1;
        let (number, listener) = (table.last, Arc::new(listener));
        table.open.insert(number, listener.clone());
        Some(Entered { listeners: self.clone(), number, listener })
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        self.table().open.values().cloned().collect()
    }

    /// Brings an event to those it concerns.
    pub(crate) fn hear(&self, event: &GateEvent) {
        for listener in self.all() {
            listener.hear(event);
        }
    }

    /// Nobody knows what was missed: everybody looks anew at everything he asked for.
    pub(crate) fn missed(&self) {
        for listener in self.all() {
            listener.miss();
        }
    }

    /// Ends the listens of some principals.
    pub(crate) fn end(&self, whose: impl Fn(&Principal) -> bool) {
        for listener in self.all().iter().filter(|listener| whose(&listener.hearer.principal)) {
            listener.change(|queue| queue.ended = true);
        }
    }
}

impl Listener {
    pub(crate) fn new(id: OwnedId, hearer: Hearer, wanted: Filter) -> Self {
        Self { id, hearer, wanted, queue: Mutex::default() }
    }

    /// From now on it hears of this, and of nothing else. What happened meanwhile may have
    /// concerned any of it.
    pub(crate) fn promise(&self, honoured: Filter) {
        self.change(|queue| {
            if queue.early {
                queue.messages = self.anew(&honoured);
            }
            queue.honoured = Some(honoured);
        });
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Queue)) {
        let waker = {
            let mut queue = self.queue();
            change(&mut queue);
            queue.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next message; none at the end.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = self.queue();
        if let Some(message) = queue.messages.pop_front() {
            return Poll::Ready(Some(message));
        }
        if queue.ended {
            return Poll::Ready(None);
        }
        queue.waker = Some(context.waker().clone());
        Poll::Pending
    }

    fn hear(&self, event: &GateEvent) {
        let Some(event) = event.heard_by(self.hearer.caller, &self.hearer.profile) else { return };
        if let Some(message) = self.worded(event) {
            self.change(|queue| self.enqueue(queue, event, message));
        }
    }

    fn enqueue(&self, queue: &mut Queue, event: &GateEvent, message: Bytes) {
        let Some(honoured) = &queue.honoured else {
            queue.early = true;
            return;
        };
        if !concerns(event, honoured) {
            return;
        }
        match queue.messages.len() < WAITING + honoured.uris.len() {
            true => queue.messages.push_back(message),
            false => queue.messages = self.anew(honoured),
        }
    }

    /// Nobody knows what happened.
    fn miss(&self) {
        self.change(|queue| match &queue.honoured {
            Some(honoured) => queue.messages = self.anew(honoured),
            None => queue.early = true,
        });
    }

    /// In place of all that was missed: look anew at everything.
    fn anew(&self, honoured: &Filter) -> VecDeque<Bytes> {
        let kinds = [CapabilityKind::Tool, CapabilityKind::Prompt, CapabilityKind::Resource];
        let lists = kinds.into_iter().filter(|kind| honoured.lists(*kind));
        let uris = honoured.uris.iter().map(|uri| self.updated(uri));
        lists.map(|kind| self.changed(kind)).chain(uris).collect()
    }

    /// An event as this client hears of it, if it wanted to.
    fn worded(&self, event: &GateEvent) -> Option<Bytes> {
        if !concerns(event, &self.wanted) {
            return None;
        }
        match event {
            GateEvent::ListChanged { kind, .. } => {
                let own = event.is_change_for(self.hearer.caller, &self.hearer.profile);
                own.then(|| self.changed(*kind))
            }
            GateEvent::ResourceUpdated { frame, .. } => self.tag(frame),
            GateEvent::TaskStatus { principal, frame, .. } => {
                let own = *principal == self.hearer.principal.at_the_gate();
                own.then(|| self.tag(frame)).flatten()
            }
            GateEvent::Log { .. } | GateEvent::Notified(_) | GateEvent::Among { .. } => None,
        }
    }

    /// `_meta` of everything that is said here.
    pub(crate) fn meta(&self) -> String {
        format!("{{\"{}\":{}}}", meta::SUBSCRIPTION_ID, self.id.raw())
    }

    pub(crate) fn id(&self) -> &OwnedId {
        &self.id
    }

    fn changed(&self, kind: CapabilityKind) -> Bytes {
        let params = format!("{{\"_meta\":{}}}", self.meta());
        build::notification(list_changed_method(kind), Some(params.as_bytes()))
    }

    fn updated(&self, uri: &str) -> Bytes {
        let params = format!("{{\"uri\":{},\"_meta\":{}}}", string::encode(uri), self.meta());
        build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()))
    }

    /// A notification as it goes to this listen.
    fn tag(&self, frame: &Frame) -> Option<Bytes> {
        let edit = frame.edit();
        let edit = match (frame.meta_span(), frame.params_span()) {
            (Some(meta), _) => edit.set_member(meta, meta::SUBSCRIPTION_ID, self.id.raw()),
            (None, Some(params)) => edit.insert_member(params, "_meta", self.meta()),
            (None, None) => {
                let params = format!("{{\"_meta\":{}}}", self.meta());
                edit.insert_member(frame.span(), "params", params)
            }
        };
        edit.finish().ok().map(|message| line(&message))
    }
}

/// Whether an event is about something in the filter.
fn concerns(event: &GateEvent, filter: &Filter) -> bool {
    match event {
        GateEvent::ListChanged { kind, .. } => filter.lists(*kind),
        GateEvent::ResourceUpdated { uri, .. } => filter.uris.contains(uri),
        GateEvent::TaskStatus { frame, .. } => {
            let task = scan::text(frame.params().unwrap_or_default(), "taskId");
            task.is_some_and(|task| filter.tasks.iter().any(|id| *id == task))
        }
        GateEvent::Log { .. } | GateEvent::Notified(_) | GateEvent::Among { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::Limits;

    use super::*;

    fn listener(filter: &str) -> Listener {
        let filter = Filter::of(filter.as_bytes()).unwrap();
        let (principal, caller) = (Principal::Local, CallerId::fresh());
        let peer = principal.at(&crate::peer::Peer::default());
        let hearer = Hearer { principal, peer, caller, profile: "reader".into() };
        Listener::new(OwnedId::from(7), hearer, filter)
    }

    fn updated(own: &Listener, uri: &str) -> GateEvent {
        let frame = Frame::parse(own.updated(uri), &Limits::default()).unwrap();
        GateEvent::ResourceUpdated { uri: uri.into(), frame }
    }

    fn waiting(own: &Listener) -> Vec<Bytes> {
        own.queue().messages.iter().cloned().collect()
    }

    #[test]
    fn a_client_that_reads_slowly_is_told_to_look_anew() {
        let slow = listener(
            r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}"#,
        );
        slow.promise(slow.wanted.clone());
        let event = updated(&slow, "a:b");
        (0..=WAITING).for_each(|_| slow.hear(&event));
        assert_eq!(waiting(&slow).len(), WAITING + 1);
        slow.hear(&event);
        assert_eq!(waiting(&slow), [slow.changed(CapabilityKind::Tool), slow.updated("a:b")]);
    }

    #[test]
    fn a_list_of_another_profile_or_caller_is_not_heard_of() {
        let own = listener(r#"{"notifications":{"toolsListChanged":true}}"#);
        own.promise(own.wanted.clone());
        let (kind, other) = (CapabilityKind::Tool, CallerId::fresh());
        for (profile, caller) in [(Some("writer"), None), (None, Some(other))] {
            own.hear(&GateEvent::ListChanged { kind, profile: profile.map(Arc::from), caller });
            assert!(waiting(&own).is_empty(), "{profile:?} {caller:?}");
        }
        own.hear(&GateEvent::ListChanged { kind, profile: Some("reader".into()), caller: None });
        own.hear(&GateEvent::ListChanged { kind, profile: None, caller: None });
        assert_eq!(waiting(&own).len(), 2);
    }

    #[test]
    fn what_happens_before_the_promise_is_told_as_far_as_it_is_promised() {
        let wanted = r#"{"notifications":{"resourceSubscriptions":["a:b","c:d"]}}"#;
        let (eager, quiet) = (listener(wanted), listener(wanted));
        eager.hear(&updated(&eager, "c:d"));
        quiet.hear(&updated(&quiet, "e:f"));
        for own in [&eager, &quiet] {
            assert!(waiting(own).is_empty());
            own.promise(
                Filter::of(br#"{"notifications":{"resourceSubscriptions":["a:b"]}}"#).unwrap(),
            );
        }
        assert_eq!(waiting(&eager), [eager.updated("a:b")], "it may have changed too");
        assert!(waiting(&quiet).is_empty());
        quiet.hear(&updated(&quiet, "c:d"));
        assert!(waiting(&quiet).is_empty(), "nobody promised that");
    }

    #[test]
    fn a_notification_is_tagged_whatever_it_has() {
        let own = listener(r#"{"notifications":{}}"#);
        for (params, expected) in [
            (None, r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}"#),
            (
                Some(r#"{"uri":"x"}"#),
                r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"x"}"#,
            ),
            (
                Some(r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":"theirs"}}"#),
                r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":7}}"#,
            ),
        ] {
            let bytes = build::notification("notifications/x", params.map(str::as_bytes));
            let tagged = own.tag(&Frame::parse(bytes, &Limits::default()).unwrap()).unwrap();
            let tagged = Frame::parse(tagged, &Limits::default()).unwrap();
            assert_eq!(std::str::from_utf8(tagged.params().unwrap()).unwrap(), expected);
        }
    }
}

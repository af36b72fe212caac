//! The open listen requests of all clients. Delivers the gate's events to them.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use parking_lot::Mutex;
use toolgate_host::{CallerId, GateEvent};
use toolgate_model::CapabilityKind;
use toolgate_wire::{Frame, OwnedRequestId, build, meta, method, scan, string, to_single_line};

use super::ModernRequestContext;
use super::notification_filter::NotificationFilter;
use crate::peer::PeerId;
use crate::peer_quota::PeerLimits;
use crate::polled_state::PolledState;
use crate::principal::ClientPrincipal;
use crate::session::list_changed_method;

/// How many listen requests may be open, for one peer and in total.
const LISTEN_LIMITS: PeerLimits = PeerLimits { total: 1024, per_peer: 64 };
/// How many messages may wait for a slow client, in addition to one per resource.
const MAX_WAITING: usize = 256;

/// All open listen requests.
#[derive(Default)]
pub(crate) struct ListenSubscribers {
    table: Mutex<ListenSubscriberTable>,
}

/// The listen requests by number.
#[derive(Default)]
struct ListenSubscriberTable {
    last: u64,
    open: HashMap<u64, Arc<ListenSubscriber>>,
}

/// The client behind a listen request.
pub(crate) struct SubscriberIdentity {
    principal: ClientPrincipal,
    peer: PeerId,
    caller: CallerId,
    profile: Arc<str>,
}

impl From<&ModernRequestContext> for SubscriberIdentity {
    fn from(ModernRequestContext { client, peer, .. }: &ModernRequestContext) -> Self {
        let (principal, caller) = (client.principal.clone(), &client.caller);
        let peer = principal.peer_id(peer);
        Self { principal, peer, caller: caller.id, profile: caller.profile.clone() }
    }
}

/// One open listen request.
pub(crate) struct ListenSubscriber {
    pub(crate) id: OwnedRequestId,
    identity: SubscriberIdentity,
    requested: NotificationFilter,
    queue: PolledState<ListenSubscriberQueue>,
}

/// The messages that wait for one listen request.
#[derive(Default)]
struct ListenSubscriberQueue {
    /// The accepted filter, or `None` while the gateway still subscribes to resources.
    accepted: Option<NotificationFilter>,
    /// True if a matching event occurred before the filter was accepted.
    missed_events: bool,
    messages: VecDeque<Bytes>,
    ended: bool,
}

/// The registration of a listen request. Dropping it removes the request.
pub(crate) struct ListenSubscriberGuard {
    subscribers: Arc<ListenSubscribers>,
    number: u64,
    pub(crate) subscriber: Arc<ListenSubscriber>,
}

impl Drop for ListenSubscriberGuard {
    fn drop(&mut self) {
        self.subscribers.table.lock().open.remove(&self.number);
    }
}

impl ListenSubscribers {
    /// Registers a listen request. Returns `None` if there are too many, for its peer or in total.
    pub(crate) fn insert(
        self: &Arc<Self>,
        subscriber: ListenSubscriber,
    ) -> Option<ListenSubscriberGuard> {
        let mut table = self.table.lock();
        let peer = &subscriber.identity.peer;
        let own = table.open.values().filter(|open| open.identity.peer == *peer).count();
        if !LISTEN_LIMITS.admit(peer, table.open.len(), own) {
            return None;
        }
        table.last += 1;
        let (number, subscriber) = (table.last, Arc::new(subscriber));
        table.open.insert(number, subscriber.clone());
        Some(ListenSubscriberGuard { subscribers: self.clone(), number, subscriber })
    }

    fn all(&self) -> Vec<Arc<ListenSubscriber>> {
        self.table.lock().open.values().cloned().collect()
    }

    /// Delivers an event to the listen requests it concerns.
    pub(crate) fn deliver_event(&self, event: &GateEvent) {
        for subscriber in self.all() {
            subscriber.deliver_event(event);
        }
    }

    /// Reports everything as changed to all clients, after events were missed.
    pub(crate) fn resync_all(&self) {
        for subscriber in self.all() {
            subscriber.resync();
        }
    }

    /// Ends the listen requests of some principals.
    pub(crate) fn end(&self, is_selected: impl Fn(&ClientPrincipal) -> bool) {
        for subscriber in
            self.all().iter().filter(|subscriber| is_selected(&subscriber.identity.principal))
        {
            subscriber.queue.update(|queue| queue.ended = true);
        }
    }
}

impl ListenSubscriber {
    pub(crate) fn new(
        id: OwnedRequestId,
        identity: SubscriberIdentity,
        requested: NotificationFilter,
    ) -> Self {
        Self { id, identity, requested, queue: PolledState::default() }
    }

    /// Starts to report the events of this filter. If an event occurred before, this reports
    /// everything in the filter as changed.
    pub(crate) fn activate(&self, accepted: NotificationFilter) {
        self.queue.update(|queue| {
            if queue.missed_events {
                queue.messages = self.resync_messages(&accepted);
            }
            queue.accepted = Some(accepted);
        });
    }

    /// Returns the next message, or `None` at the end.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Bytes>> {
        self.queue.poll(context, |queue| match queue.messages.pop_front() {
            None if !queue.ended => None,
            next => Some(next),
        })
    }

    fn deliver_event(&self, event: &GateEvent) {
        let Some(event) = event.visible_to(self.identity.caller, &self.identity.profile) else {
            return;
        };
        if let Some(message) = self.to_notification(event) {
            self.queue.update(|queue| self.enqueue(queue, event, message));
        }
    }

    fn enqueue(&self, queue: &mut ListenSubscriberQueue, event: &GateEvent, message: Bytes) {
        let Some(accepted) = &queue.accepted else {
            queue.missed_events = true;
            return;
        };
        if !matches_filter(event, accepted) {
            return;
        }
        match queue.messages.len() < MAX_WAITING + accepted.uris.len() {
            true => queue.messages.push_back(message),
            false => queue.messages = self.resync_messages(accepted),
        }
    }

    /// Reports everything as changed, after events were missed.
    fn resync(&self) {
        self.queue.update(|queue| match &queue.accepted {
            Some(accepted) => queue.messages = self.resync_messages(accepted),
            None => queue.missed_events = true,
        });
    }

    /// Returns the messages that report everything in the filter as changed.
    fn resync_messages(&self, accepted: &NotificationFilter) -> VecDeque<Bytes> {
        let lists = accepted.lists.iter().map(|kind| self.list_changed(*kind));
        lists.chain(accepted.uris.iter().map(|uri| self.resource_updated(uri))).collect()
    }

    /// Returns the notification for an event, or `None` if this request does not want it.
    fn to_notification(&self, event: &GateEvent) -> Option<Bytes> {
        if !matches_filter(event, &self.requested) {
            return None;
        }
        match event {
            GateEvent::ListChanged { kind, .. } => {
                let own = event.is_change_for(self.identity.caller, &self.identity.profile);
                own.then(|| self.list_changed(*kind))
            }
            GateEvent::ResourceUpdated { frame, .. } => self.with_subscription_id(frame),
            GateEvent::TaskStatus { principal, frame, .. } => {
                let own = *principal == self.identity.principal.to_gate_principal();
                own.then(|| self.with_subscription_id(frame)).flatten()
            }
            GateEvent::Log { .. } | GateEvent::Notification(_) | GateEvent::Restricted { .. } => {
                None
            }
        }
    }

    /// Returns the `_meta` of all messages of this request.
    pub(crate) fn meta(&self) -> String {
        format!("{{\"{}\":{}}}", meta::SUBSCRIPTION_ID, self.id.raw())
    }

    fn list_changed(&self, kind: CapabilityKind) -> Bytes {
        let params = format!("{{\"_meta\":{}}}", self.meta());
        build::notification(list_changed_method(kind), Some(params.as_bytes()))
    }

    fn resource_updated(&self, uri: &str) -> Bytes {
        let params = format!("{{\"uri\":{},\"_meta\":{}}}", string::encode(uri), self.meta());
        build::notification(method::RESOURCES_UPDATED, Some(params.as_bytes()))
    }

    /// Adds the subscription id of this request to a notification.
    fn with_subscription_id(&self, frame: &Frame) -> Option<Bytes> {
        let edit = frame.edit();
        let edit = match (frame.meta_span(), frame.params_span()) {
            (Some(meta), _) => edit.set_member(meta, meta::SUBSCRIPTION_ID, self.id.raw()),
            (None, Some(params)) => edit.insert_member(params, "_meta", self.meta()),
            (None, None) => {
                let params = format!("{{\"_meta\":{}}}", self.meta());
                edit.insert_member(frame.span(), "params", params)
            }
        };
        edit.finish().ok().map(|message| to_single_line(&message))
    }
}

/// Returns true if an event matches the filter.
fn matches_filter(event: &GateEvent, filter: &NotificationFilter) -> bool {
    match event {
        GateEvent::ListChanged { kind, .. } => filter.wants_list(*kind),
        GateEvent::ResourceUpdated { uri, .. } => filter.uris.contains(uri),
        GateEvent::TaskStatus { frame, .. } => {
            let task = scan::member_text(frame.params().unwrap_or_default(), "taskId");
            task.is_some_and(|task| filter.tasks.iter().any(|id| *id == task))
        }
        GateEvent::Log { .. } | GateEvent::Notification(_) | GateEvent::Restricted { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use toolgate_wire::MessageLimits;

    use crate::peer::ConnectionPeer;

    use super::*;

    fn listener(filter: &str) -> ListenSubscriber {
        let filter = NotificationFilter::parse(filter.as_bytes()).unwrap();
        let (principal, caller) = (ClientPrincipal::Local, CallerId::fresh());
        let peer = principal.peer_id(&ConnectionPeer::for_lines(0));
        let identity = SubscriberIdentity { principal, peer, caller, profile: "reader".into() };
        ListenSubscriber::new(
            toolgate_wire::RequestId::from_raw(b"7").unwrap().to_owned(),
            identity,
            filter,
        )
    }

    fn updated(own: &ListenSubscriber, uri: &str) -> GateEvent {
        let frame = Frame::parse(own.resource_updated(uri), &MessageLimits::default()).unwrap();
        GateEvent::ResourceUpdated { uri: uri.into(), frame }
    }

    fn waiting(own: &ListenSubscriber) -> Vec<Bytes> {
        own.queue.update(|queue| queue.messages.iter().cloned().collect())
    }

    #[test]
    fn a_client_that_reads_slowly_is_told_to_look_anew() {
        let slow = listener(
            r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}}"#,
        );
        slow.activate(slow.requested.clone());
        let event = updated(&slow, "a:b");
        (0..=MAX_WAITING).for_each(|_| slow.deliver_event(&event));
        assert_eq!(waiting(&slow).len(), MAX_WAITING + 1);
        slow.deliver_event(&event);
        assert_eq!(
            waiting(&slow),
            [slow.list_changed(CapabilityKind::Tool), slow.resource_updated("a:b")]
        );
    }

    #[test]
    fn a_list_of_another_profile_or_caller_is_not_heard_of() {
        let own = listener(r#"{"notifications":{"toolsListChanged":true}}"#);
        own.activate(own.requested.clone());
        let (kind, other) = (CapabilityKind::Tool, CallerId::fresh());
        for (profile, caller) in [(Some("writer"), None), (None, Some(other))] {
            own.deliver_event(&GateEvent::ListChanged {
                kind,
                profile: profile.map(Arc::from),
                caller,
            });
            assert!(waiting(&own).is_empty(), "{profile:?} {caller:?}");
        }
        own.deliver_event(&GateEvent::ListChanged {
            kind,
            profile: Some("reader".into()),
            caller: None,
        });
        own.deliver_event(&GateEvent::ListChanged { kind, profile: None, caller: None });
        assert_eq!(waiting(&own).len(), 2);
    }

    #[test]
    fn what_happens_before_the_promise_is_told_as_far_as_it_is_promised() {
        let requested = r#"{"notifications":{"resourceSubscriptions":["a:b","c:d"]}}"#;
        let (eager, quiet) = (listener(requested), listener(requested));
        eager.deliver_event(&updated(&eager, "c:d"));
        quiet.deliver_event(&updated(&quiet, "e:f"));
        for own in [&eager, &quiet] {
            assert!(waiting(own).is_empty());
            own.activate(
                NotificationFilter::parse(
                    br#"{"notifications":{"resourceSubscriptions":["a:b"]}}"#,
                )
                .unwrap(),
            );
        }
        assert_eq!(waiting(&eager), [eager.resource_updated("a:b")], "it may have changed too");
        assert!(waiting(&quiet).is_empty());
        quiet.deliver_event(&updated(&quiet, "c:d"));
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
            let tagged = own
                .with_subscription_id(&Frame::parse(bytes, &MessageLimits::default()).unwrap())
                .unwrap();
            let tagged = Frame::parse(tagged, &MessageLimits::default()).unwrap();
            assert_eq!(std::str::from_utf8(tagged.params().unwrap()).unwrap(), expected);
        }
    }
}

//! Events outside any call, translated from the fleet for callers.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::time::{Instant, sleep_until};
use toolgate_fleet::FleetEvent;
use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, method, scan};

use crate::caller_states::CapabilityLists;
use crate::profile_view::ProfileView;
use crate::{CallerId, Gate, Principal, sanitize, uris};

/// How long catalog changes are collected: a starting fleet changes its lists once per server.
const COALESCE: Duration = Duration::from_millis(100);

/// Something that callers may want to know.
#[derive(Debug, Clone)]
pub enum GateEvent {
    /// A list has changed.
    ListChanged {
        /// The kind of the list.
        kind: CapabilityKind,
        /// The profile whose list changed; `None` for all profiles.
        profile: Option<Arc<str>>,
        /// The caller whose list changed; `None` for all callers with the profile.
        caller: Option<CallerId>,
    },
    /// A resource changed, for its subscribers.
    ResourceUpdated {
        /// The exposed URI.
        uri: String,
        /// The notification.
        frame: Frame,
    },
    /// A server's log message outside any call.
    Log {
        /// The severity.
        level: LogLevel,
        /// The notification.
        frame: Frame,
    },
    /// The status of a task changed.
    TaskStatus {
        /// The caller that started the task.
        caller: CallerId,
        /// The owner of the task. No other principal may receive this event.
        principal: Principal,
        /// The notification in the caller's format. Its name is the id of the task.
        frame: Frame,
    },
    /// A notification that the gateway does not know, forwarded unchanged.
    Notification(Frame),
    /// An event for some callers only. The others do not see its server, see it under other names,
    /// or have their own connection to it.
    Restricted {
        /// The callers that may receive it.
        subscribers: EventSubscribers,
        /// The event; never `Restricted` itself.
        event: Box<GateEvent>,
    },
}

/// The callers that may receive an event.
#[derive(Debug, Clone)]
pub enum EventSubscribers {
    /// Callers with one of these profiles.
    Profiles(Arc<[Arc<str>]>),
    /// The caller on whose connection the event arrived.
    Caller(CallerId),
}

impl GateEvent {
    /// Returns the event if a caller with this id and profile may receive it.
    pub fn visible_to(&self, id: CallerId, profile: &str) -> Option<&Self> {
        let Self::Restricted { subscribers, event } = self else { return Some(self) };
        let is_visible = match subscribers {
            EventSubscribers::Profiles(profiles) => profiles.iter().any(|it| **it == *profile),
            EventSubscribers::Caller(caller) => *caller == id,
        };
        is_visible.then_some(&**event)
    }

    /// Returns true if this is a list change that concerns the caller.
    pub fn is_change_for(&self, id: CallerId, profile: &str) -> bool {
        let Self::ListChanged { profile: whose, caller, .. } = self else { return false };
        whose.as_deref().is_none_or(|whose| whose == profile)
            && caller.is_none_or(|caller| caller == id)
    }
}

/// Translates the fleet's events until the gate is dropped. List changes are collected for a while;
/// other events are sent at once.
pub(crate) async fn translate(
    gate: Weak<Gate>,
    mut events: Receiver<FleetEvent>,
    out: Sender<GateEvent>,
) {
    let mut due = None;
    loop {
        let event = tokio::select! {
            biased;
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => None,
            event = events.recv() => Some(event),
        };
        let Some(gate) = gate.upgrade() else { return };
        let translated = match event {
            None => {
                due = None;
                list_changes(&gate)
            }
            Some(
                Ok(FleetEvent::CatalogChanged { .. } | FleetEvent::RebuildRequested)
                | Err(RecvError::Lagged(_)),
            ) => {
                due.get_or_insert_with(|| Instant::now() + COALESCE);
                continue;
            }
            Some(Ok(FleetEvent::Notified { server, caller, frame })) => {
                translate_notification(&gate, &server, caller, frame)
            }
            Some(Ok(FleetEvent::StateChanged(server))) => {
                gate.tasks.watch_again(&server, &gate.fleet);
                continue;
            }
            Some(Err(RecvError::Closed)) => return,
        };
        translated.into_iter().for_each(|event| drop(out.send(event)));
    }
}

/// Sleeps until the given time, or forever if there is none.
/// Returns the list changes to announce after catalogs changed: only lists that differ from what
/// callers were last shown or told.
fn list_changes(gate: &Arc<Gate>) -> Vec<GateEvent> {
    let mut changes = Vec::new();
    let apart = gate.fleet.has_per_caller_servers();
    let mut announced = HashSet::new();
    for slot in gate.caller_states.profiles_in_use() {
        let view = gate.shared_view(&slot);
        let lists = CapabilityKind::ALL.map(|kind| view.list_of(kind).clone());
        for kind in changed_kinds(&slot.announced, lists) {
            // If callers have views of their own, none uses this one.
            if !apart {
                announced.insert((slot.profile.clone(), kind));
                let profile = Some(slot.profile.clone());
                changes.push(GateEvent::ListChanged { kind, profile, caller: None });
            }
        }
        if view.exposure.searching {
            let gate = gate.clone();
            tokio::spawn(async move { gate.tool_index.index_view(&view).await });
        }
    }
    for state in
        gate.caller_states.callers().into_iter().filter(|state| apart || state.has_own_lists())
    {
        let lists = state.lists(&gate.caller_view(&state));
        for kind in changed_kinds(&state.announced, lists) {
            let profile = state.profile_state.profile.clone();
            if !announced.contains(&(profile.clone(), kind)) {
                let (profile, caller) = (Some(profile), Some(state.caller));
                changes.push(GateEvent::ListChanged { kind, profile, caller });
            }
        }
    }
    changes
}

/// Returns the kinds whose lists differ from the announced ones, and announces the new lists.
fn changed_kinds(
    announced: &Mutex<Option<CapabilityLists>>,
    lists: CapabilityLists,
) -> Vec<CapabilityKind> {
    let mut announced = announced.lock();
    let Some(before) = announced.replace(lists.clone()) else { return Vec::new() };
    let differs = |kind: &CapabilityKind| {
        let at = *kind as usize;
        !before[at].has_same_entries(&lists[at])
    };
    CapabilityKind::ALL.into_iter().filter(differs).collect()
}

fn translate_notification(
    gate: &Arc<Gate>,
    server: &ServerName,
    caller: Option<CallerId>,
    frame: Frame,
) -> Vec<GateEvent> {
    if let Some(caller) = caller {
        return translate_for_caller(gate, server, caller, frame);
    }
    let slots = gate.caller_states.profiles_in_use();
    let views = slots.iter().map(|slot| gate.shared_view(slot));
    let seeing = views.filter(|view| view.offered_by(server).is_some()).collect::<Vec<_>>();
    let everybody = seeing.len() == slots.len();
    if frame.is(method::RESOURCES_UPDATED) {
        return translate_update(server, &frame, &seeing, everybody);
    }
    let Some(event) = translate_other(gate, server, frame) else { return Vec::new() };
    // A task belongs to its principal, whatever that principal's profile shows.
    match everybody || matches!(event, GateEvent::TaskStatus { .. }) {
        true => vec![event],
        false => restrict(seeing.iter().map(|view| view.profile.clone()), event),
    }
}

/// Translates a notification from a per-caller connection, for that caller alone.
fn translate_for_caller(
    gate: &Arc<Gate>,
    server: &ServerName,
    caller: CallerId,
    frame: Frame,
) -> Vec<GateEvent> {
    let state = gate.caller_states.callers().into_iter().find(|state| state.caller == caller);
    let view = state
        .map(|state| gate.caller_view(&state))
        .filter(|view| view.offered_by(server).is_some());
    let Some(view) = view else { return Vec::new() };
    let events = match frame.is(method::RESOURCES_UPDATED) {
        true => uris::expose_updated_uri(&view, server, &frame)
            .into_iter()
            .filter_map(resource_updated)
            .collect(),
        false => Vec::from_iter(translate_other(gate, server, frame)),
    };
    let for_caller = |event| match event {
        GateEvent::TaskStatus { .. } => event,
        event => GateEvent::Restricted {
            subscribers: EventSubscribers::Caller(caller),
            event: Box::new(event),
        },
    };
    events.into_iter().map(for_caller).collect()
}

fn resource_updated(frame: Frame) -> Option<GateEvent> {
    Some(GateEvent::ResourceUpdated { uri: frame.name()?.into_owned(), frame })
}

/// Returns one update per URI under which callers know the resource.
fn translate_update(
    server: &ServerName,
    frame: &Frame,
    seeing: &[Arc<ProfileView>],
    everybody: bool,
) -> Vec<GateEvent> {
    let mut named: BTreeMap<String, (Frame, Vec<Arc<str>>)> = BTreeMap::new();
    for view in seeing {
        for shown in uris::expose_updated_uri(view, server, frame) {
            let Some(uri) = shown.name().map(Cow::into_owned) else { continue };
            let known = named.entry(uri).or_insert_with(|| (shown, Vec::new()));
            known.1.push(view.profile.clone());
        }
    }
    let events = named.into_values().flat_map(|(frame, profiles)| {
        let everybody = everybody && profiles.len() == seeing.len();
        match resource_updated(frame) {
            Some(event) if everybody => vec![event],
            Some(event) => restrict(profiles, event),
            None => Vec::new(),
        }
    });
    events.collect()
}

fn restrict(profiles: impl IntoIterator<Item = Arc<str>>, event: GateEvent) -> Vec<GateEvent> {
    let profiles: Arc<[Arc<str>]> = profiles.into_iter().collect();
    match profiles.is_empty() {
        true => Vec::new(),
        false => {
            let subscribers = EventSubscribers::Profiles(profiles);
            vec![GateEvent::Restricted { subscribers, event: Box::new(event) }]
        }
    }
}

fn translate_other(gate: &Arc<Gate>, server: &ServerName, frame: Frame) -> Option<GateEvent> {
    let name = frame.method()?.into_owned();
    let params = frame.params().unwrap_or_default();
    Some(match name.as_str() {
        method::MESSAGE => {
            let level = scan::member_text(params, "level").and_then(|level| level.parse().ok());
            GateEvent::Log {
                level: level.unwrap_or(LogLevel::Info),
                frame: sanitize::notification(frame),
            }
        }
        method::TASKS_STATUS | method::TASKS_CHANGED => return gate.task_event(server, frame),
        _ => GateEvent::Notification(sanitize::notification(frame)),
    })
}

//! What happens outside any call, as callers are to hear of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::time::Instant;
use toolgate_fleet::{CallerKey, FleetEvent};
use toolgate_model::{CapabilityKind, ServerName};
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Frame, method, scan};

use crate::seats::Lists;
use crate::view::View;
use crate::{CallerId, Gate, Principal, text, uris};

/// How long changes are gathered: a fleet that starts changes its lists once per server.
const COALESCE: Duration = Duration::from_millis(100);

/// Something callers may want to hear of.
#[derive(Debug, Clone)]
pub enum GateEvent {
    /// A list is really different from what it was.
    ListChanged {
        /// Which.
        kind: CapabilityKind,
        /// Whose: that of callers with this profile; `None`: everybody's.
        profile: Option<Arc<str>>,
        /// That of this caller alone; `None`: of all of those.
        caller: Option<CallerId>,
    },
    /// A resource changed; for those subscribed to it.
    ResourceUpdated {
        /// Its URI as the lists show it.
        uri: String,
        /// The notification.
        frame: Frame,
    },
    /// A server's log line that belongs to no call.
    Log {
        /// How grave it is.
        level: LogLevel,
        /// The notification.
        frame: Frame,
    },
    /// A task stands differently now.
    TaskStatus {
        /// Who began it.
        caller: CallerId,
        /// Whose it is; nobody else may hear of it.
        principal: Principal,
        /// The notification, in the caller's form; its name is the task's id.
        frame: Frame,
    },
    /// A notification this gateway does not know, passed on as it came.
    Notified(Frame),
    /// Something that only some may hear of: the others do not see the server it comes from, see it
    /// otherwise, or have a connection of their own to it.
    Among {
        /// Who.
        hearers: Hearers,
        /// What happened; never one of these itself.
        event: Box<GateEvent>,
    },
}

/// Who may hear of something.
#[derive(Debug, Clone)]
pub enum Hearers {
    /// Callers with one of these profiles.
    Profiles(Arc<[Arc<str>]>),
    /// The one caller whose connection it came on.
    Caller(CallerId),
}

impl GateEvent {
    /// What happened, if this caller, who has this profile, may hear of it.
    pub fn heard_by(&self, id: CallerId, profile: &str) -> Option<&Self> {
        let Self::Among { hearers, event } = self else { return Some(self) };
        let hears = match hearers {
            Hearers::Profiles(profiles) => profiles.iter().any(|it| **it == *profile),
            Hearers::Caller(caller) => *caller == id,
        };
        hears.then_some(&**event)
    }

    /// Whether a change of a list is one of this caller's.
    pub fn is_change_for(&self, id: CallerId, profile: &str) -> bool {
        let Self::ListChanged { profile: whose, caller, .. } = self else { return false };
        whose.as_deref().is_none_or(|whose| whose == profile)
            && caller.is_none_or(|caller| caller == id)
    }
}

/// Translates the fleet's events until the gate is gone. Changes are gathered for a while; nothing
/// else waits for them.
pub(crate) async fn translate(
    gate: Weak<Gate>,
    mut events: Receiver<FleetEvent>,
    out: Sender<GateEvent>,
) {
    let mut due = None;
    loop {
        let event = tokio::select! {
            biased;
            () = arrived(due) => None,
            event = events.recv() => Some(event),
        };
        let Some(gate) = gate.upgrade() else { return };
        let told = match event {
            None => {
                due = None;
                changed(&gate)
            }
            Some(
                Ok(FleetEvent::CatalogChanged { .. } | FleetEvent::Renewed)
                | Err(RecvError::Lagged(_)),
            ) => {
                due.get_or_insert_with(|| Instant::now() + COALESCE);
                continue;
            }
            Some(Ok(FleetEvent::Notified { server, caller, frame })) => {
                notified(&gate, &server, caller, frame)
            }
            Some(Ok(FleetEvent::StateChanged(server))) => {
                gate.tasks.watch_again(&server, &gate.fleet);
                continue;
            }
            Some(Err(RecvError::Closed)) => return,
        };
        told.into_iter().for_each(|event| drop(out.send(event)));
    }
}

/// Waits for a moment that may never come.
async fn arrived(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// Who must hear of what, now that catalogs have changed: those whose lists really differ from what
/// they were last shown or told of.
fn changed(gate: &Arc<Gate>) -> Vec<GateEvent> {
    let mut changes = Vec::new();
    let apart = gate.fleet.has_own_servers();
    let mut told = HashSet::new();
    for slot in gate.seats.in_use() {
        let view = gate.view_in(&slot);
        let lists = CapabilityKind::ALL.map(|kind| view.list_of(kind).clone());
        for kind in differing(&slot.announced, lists) {
            // Where every caller has a view of his own, nobody has this one.
            if !apart {
                told.insert((slot.profile.clone(), kind));
                let profile = Some(slot.profile.clone());
                changes.push(GateEvent::ListChanged { kind, profile, caller: None });
            }
        }
        if view.exposure.searching {
            let gate = gate.clone();
            tokio::spawn(async move { gate.finder.cover(&view).await });
        }
    }
    for seat in gate.seats.taken().into_iter().filter(|seat| apart || seat.is_apart()) {
        let lists = seat.lists(&gate.view_at(&seat));
        for kind in differing(&seat.announced, lists) {
            let profile = seat.slot.profile.clone();
            if !told.contains(&(profile.clone(), kind)) {
                let (profile, caller) = (Some(profile), Some(seat.caller));
                changes.push(GateEvent::ListChanged { kind, profile, caller });
            }
        }
    }
    changes
}

/// The kinds whose lists differ from those that were announced, which these are from now on.
fn differing(announced: &Mutex<Option<Lists>>, lists: Lists) -> Vec<CapabilityKind> {
    let mut announced = announced.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(before) = announced.replace(lists.clone()) else { return Vec::new() };
    let differs = |kind: &CapabilityKind| {
        let at = *kind as usize;
        !before[at].is_like(&lists[at])
    };
    CapabilityKind::ALL.into_iter().filter(differs).collect()
}

fn notified(
    gate: &Arc<Gate>,
    server: &ServerName,
    caller: Option<CallerKey>,
    frame: Frame,
) -> Vec<GateEvent> {
    if let Some(caller) = caller.map(CallerId::from) {
        return notified_alone(gate, server, caller, frame);
    }
    let slots = gate.seats.in_use();
    let views = slots.iter().map(|slot| gate.view_in(slot));
    let seeing = views.filter(|view| view.has_server(server)).collect::<Vec<_>>();
    let everybody = seeing.len() == slots.len();
    if frame.is(method::RESOURCES_UPDATED) {
        return updated(server, &frame, &seeing, everybody);
    }
    let Some(event) = other(gate, server, frame) else { return Vec::new() };
    // A task is its principal's, whatever he sees.
    match everybody || matches!(event, GateEvent::TaskStatus { .. }) {
        true => vec![event],
        false => among(seeing.iter().map(|view| view.profile().clone()), event),
    }
}

/// What came on the connection of one caller: nobody else hears of it.
fn notified_alone(
    gate: &Arc<Gate>,
    server: &ServerName,
    caller: CallerId,
    frame: Frame,
) -> Vec<GateEvent> {
    let seat = gate.seats.taken().into_iter().find(|seat| seat.caller == caller);
    let view = seat.map(|seat| gate.view_at(&seat)).filter(|view| view.has_server(server));
    let Some(view) = view else { return Vec::new() };
    let events = match frame.is(method::RESOURCES_UPDATED) {
        true => uris::updated(&view, server, &frame).into_iter().filter_map(update).collect(),
        false => Vec::from_iter(other(gate, server, frame)),
    };
    let alone = |event| match event {
        GateEvent::TaskStatus { .. } => event,
        event => GateEvent::Among { hearers: Hearers::Caller(caller), event: Box::new(event) },
    };
    events.into_iter().map(alone).collect()
}

fn update(frame: Frame) -> Option<GateEvent> {
    Some(GateEvent::ResourceUpdated { uri: frame.name()?.into_owned(), frame })
}

/// A changed resource, once under each name that callers know it by.
fn updated(
    server: &ServerName,
    frame: &Frame,
    seeing: &[Arc<View>],
    everybody: bool,
) -> Vec<GateEvent> {
    let mut named: BTreeMap<String, (Frame, Vec<Arc<str>>)> = BTreeMap::new();
    for view in seeing {
        for shown in uris::updated(view, server, frame) {
            let Some(uri) = shown.name().map(Cow::into_owned) else { continue };
            let known = named.entry(uri).or_insert_with(|| (shown, Vec::new()));
            known.1.push(view.profile().clone());
        }
    }
    let events = named.into_values().flat_map(|(frame, profiles)| {
        let everybody = everybody && profiles.len() == seeing.len();
        match update(frame) {
            Some(event) if everybody => vec![event],
            Some(event) => among(profiles, event),
            None => Vec::new(),
        }
    });
    events.collect()
}

fn among(profiles: impl IntoIterator<Item = Arc<str>>, event: GateEvent) -> Vec<GateEvent> {
    let profiles: Arc<[Arc<str>]> = profiles.into_iter().collect();
    match profiles.is_empty() {
        true => Vec::new(),
        false => {
            let hearers = Hearers::Profiles(profiles);
            vec![GateEvent::Among { hearers, event: Box::new(event) }]
        }
    }
}

fn other(gate: &Arc<Gate>, server: &ServerName, frame: Frame) -> Option<GateEvent> {
    let name = frame.method()?.into_owned();
    let params = frame.params().unwrap_or_default();
    Some(match name.as_str() {
        method::MESSAGE => {
            let level = scan::text(params, "level").and_then(|level| level.parse().ok());
            GateEvent::Log { level: level.unwrap_or(LogLevel::Info), frame: text::told(frame) }
        }
        method::TASKS_STATUS | method::TASKS_CHANGED => return gate.task_news(server, frame),
        _ => GateEvent::Notified(text::told(frame)),
    })
}

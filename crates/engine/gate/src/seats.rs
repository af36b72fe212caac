//! Which view a caller has, and what he found beside it.
//!
//! Callers of one profile share a view; those who have servers of their own have a view of their
//! own, too. Both are made when first used and again after a change. A profile that no caller has
//! any more is forgotten at the next change, so that one nobody uses costs nothing.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use toolgate_exposure::Exposure;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_policy::ClientNames;

use crate::listing::List;
use crate::view::{Making, View};
use crate::{Caller, CallerId, Gate, GateEvent, Refusal, manner};

/// How many found tools join one caller's list; then the oldest leaves it.
const MOST_FOUND: usize = 64;

/// The lists of a view, by kind.
pub(crate) type Lists = [Arc<List>; CapabilityKind::ALL.len()];

/// The view of one profile.
pub(crate) struct Slot {
    pub(crate) profile: Arc<str>,
    view: ArcSwapOption<View>,
    /// The lists that callers were last told of, or shown first.
    pub(crate) announced: Mutex<Option<Lists>>,
}

/// What the gate keeps for one caller.
pub(crate) struct Seat {
    gate: Weak<Gate>,
    pub(crate) caller: CallerId,
    /// What its client calls itself, and who calls.
    client: String,
    person: Arc<str>,
    pub(crate) slot: Arc<Slot>,
    /// His own view, if some server is connected for him alone.
    own: ArcSwapOption<View>,
    pub(crate) announced: Mutex<Option<Lists>>,
    found: Mutex<VecDeque<CapabilityId>>,
    joined: Mutex<Option<Joined>>,
}

/// A caller's list of tools, and what it was made of.
struct Joined {
    view: Arc<View>,
    found: BTreeSet<CapabilityId>,
    list: Arc<List>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Seats {
    slots: Mutex<HashMap<Arc<str>, Arc<Slot>>>,
    seats: Mutex<Vec<Weak<Seat>>>,
    pub(crate) renders: Arc<AtomicU64>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seats {
    fn slot(&self, profile: &Arc<str>) -> Arc<Slot> {
        let mut slots = locked(&self.slots);
        let make = || {
            let (view, announced) = (ArcSwapOption::empty(), Mutex::default());
            Arc::new(Slot { profile: profile.clone(), view, announced })
        };
        slots.entry(profile.clone()).or_insert_with(make).clone()
    }

    /// The profiles some caller has; the others are forgotten.
    pub(crate) fn in_use(&self) -> Vec<Arc<Slot>> {
        let mut slots = locked(&self.slots);
        slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        let mut all: Vec<_> = slots.values().cloned().collect();
        all.sort_by(|one, other| one.profile.cmp(&other.profile));
        all
    }

    /// The callers who are there.
    pub(crate) fn taken(&self) -> Vec<Arc<Seat>> {
        let mut seats = locked(&self.seats);
        seats.retain(|seat| seat.strong_count() > 0);
        seats.iter().filter_map(Weak::upgrade).collect()
    }

    fn take(&self, gate: &Weak<Gate>, caller: &Caller) -> Arc<Seat> {
        let seat = Arc::new(Seat {
            gate: gate.clone(),
            caller: caller.id,
            client: caller.client.name.clone(),
            person: caller.person.clone(),
            slot: self.slot(&caller.profile),
            own: ArcSwapOption::empty(),
            announced: Mutex::default(),
            found: Mutex::default(),
            joined: Mutex::default(),
        });
        locked(&self.seats).push(Arc::downgrade(&seat));
        seat
    }

    /// A caller is gone, even if somebody still holds him.
    pub(crate) fn release(&self, caller: CallerId) {
        locked(&self.seats).retain(|seat| {
            let seat = seat.upgrade();
            if let Some(seat) = seat.as_ref().filter(|seat| seat.caller == caller) {
                seat.own.store(None);
                locked(&seat.found).clear();
                *locked(&seat.joined) = None;
            }
            seat.is_some_and(|seat| seat.caller != caller)
        });
    }
}

impl Seat {
    fn has_found(&self) -> bool {
        !locked(&self.found).is_empty()
    }

    /// Takes note of tools he found; whether one of them is new.
    fn note(&self, ids: &[CapabilityId], view: &View) -> bool {
        let mut found = locked(&self.found);
        let mut grown = false;
        for id in ids.iter().filter(|id| view.is_deferred(id)) {
            if !found.contains(id) {
                found.push_back(id.clone());
                grown = true;
            }
        }
        while found.len() > MOST_FOUND {
            found.pop_front();
        }
        grown
    }

    fn found(&self) -> BTreeSet<CapabilityId> {
        locked(&self.found).iter().cloned().collect()
    }

    /// The list of tools of this caller alone, with what was found and without what is refused to its
    /// client.
    fn joined(&self, view: &Arc<View>) -> Arc<List> {
        let found = self.found();
        let mut joined = locked(&self.joined);
        match &*joined {
            Some(it) if Arc::ptr_eq(&it.view, view) && it.found == found => it.list.clone(),
            before => {
                let names = ClientNames { client: &self.client, caller: &self.person };
                let denied = view.denied_to(names);
                let list = view.joined(before.as_ref().map(|it| &it.list), &found, &denied);
                *joined = Some(Joined { view: view.clone(), found, list: list.clone() });
                list
            }
        }
    }

    /// The list of a kind as he sees it.
    pub(crate) fn list(&self, view: &Arc<View>, kind: CapabilityKind) -> Arc<List> {
        match kind == CapabilityKind::Tool && (view.denies_by_client || self.has_found()) {
            true => self.joined(view),
            false => view.list_of(kind).clone(),
        }
    }

    /// All his lists.
    pub(crate) fn lists(&self, view: &Arc<View>) -> Lists {
        CapabilityKind::ALL.map(|kind| self.list(view, kind))
    }

    /// Whether his lists may differ from those of others with his profile.
    pub(crate) fn is_apart(&self) -> bool {
        let by_client = self.slot.view.load().as_ref().is_some_and(|view| view.denies_by_client);
        by_client || self.own.load().is_some() || self.has_found()
    }
}

impl Gate {
    /// What the gate keeps for a caller.
    fn seat(&self, caller: &Caller) -> Arc<Seat> {
        let seat = caller.seat.get_or_init(|| self.seats.take(&self.me, caller));
        match std::ptr::eq(seat.gate.as_ptr(), self) {
            true => seat.clone(),
            false => self.seats.take(&self.me, caller), // he was another gate's first
        }
    }

    /// What a caller sees now.
    pub(crate) fn view(&self, caller: &Caller) -> Arc<View> {
        let seat = self.seat(caller);
        self.view_at(&seat)
    }

    pub(crate) fn view_at(&self, seat: &Seat) -> Arc<View> {
        if !self.fleet.has_own_servers() {
            if seat.own.load().is_some() {
                seat.own.store(None);
            }
            return self.view_in(&seat.slot);
        }
        let generation = self.fleet.generation();
        let before = seat.own.load_full();
        if let Some(view) = before.as_ref().filter(|view| view.generation == generation) {
            return view.clone();
        }
        let view = self.make(Some(seat.caller), &seat.slot.profile, before.as_deref());
        seat.own.store(Some(view.clone()));
        locked(&seat.announced).get_or_insert_with(|| seat.lists(&view));
        view
    }

    pub(crate) fn view_in(&self, slot: &Slot) -> Arc<View> {
        let before = slot.view.load_full();
        let generation = self.fleet.generation();
        if let Some(view) = before.as_ref().filter(|view| view.generation == generation) {
            return view.clone();
        }
        let view = self.make(None, &slot.profile, before.as_deref());
        slot.view.store(Some(view.clone()));
        let lists = || CapabilityKind::ALL.map(|kind| view.list_of(kind).clone());
        locked(&slot.announced).get_or_insert_with(lists);
        view
    }

    fn make(&self, caller: Option<CallerId>, profile: &str, before: Option<&View>) -> Arc<View> {
        // Servers, profiles and rules as they were published together.
        let (generation, epoch, offered, governing, manner) = self.fleet.snapshot(|| {
            // Asked before the catalogs are: what changes meanwhile makes it stale at once.
            let (generation, epoch) = (self.fleet.generation(), self.fleet.epoch());
            let offered = self.fleet.catalogs(caller.map(CallerId::key));
            (generation, epoch, offered, self.governing(), self.manner())
        });
        Arc::new(View::new(Making {
            generation,
            epoch,
            own: caller.is_some(),
            withheld: self.withheld(&offered, governing.posture()),
            governing,
            offered,
            profile,
            manner: &manner,
            before,
            renders: self.seats.renders.clone(),
        }))
    }

    /// The view that whoever has a profile shares.
    pub(crate) fn view_of(&self, profile: &str) -> Result<Arc<View>, Refusal> {
        let manner = self.manner();
        if manner.profiles.get(profile).is_none() {
            return Err(manner::unknown(&manner.profiles, profile, ""));
        }
        Ok(self.view_in(&self.seats.slot(&profile.into())))
    }

    /// What whoever has a profile sees, under which names, and because of what.
    pub fn exposure(&self, profile: &str) -> Result<Arc<Exposure>, Refusal> {
        Ok(self.view_of(profile)?.exposure.clone())
    }

    /// How many definitions were made ready to be sent so far: those that stay as they are, are
    /// made once for each revision.
    pub fn renders(&self) -> u64 {
        self.seats.renders.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// The prepared bytes of a list, as a caller sees it.
    pub(crate) fn prepared(&self, kind: CapabilityKind, caller: &Caller, settled: bool) -> Bytes {
        let seat = self.seat(caller);
        let view = self.view_at(&seat);
        view.prepared(&seat.list(&view, kind), caller.revision, settled)
    }

    /// Puts tools a caller found into his list, and tells him if that changed it.
    pub(crate) fn join(&self, caller: &Caller, found: &[CapabilityId]) {
        let seat = self.seat(caller);
        let view = self.view_at(&seat);
        if seat.note(found, &view) {
            let lists = seat.lists(&view);
            *locked(&seat.announced) = Some(lists);
            let profile = Some(caller.profile.clone());
            let (kind, caller) = (CapabilityKind::Tool, Some(caller.id));
            let _ = self.events.send(GateEvent::ListChanged { kind, profile, caller });
        }
    }

    /// Whether a caller's list has a tool that is visible to him.
    pub(crate) fn lists_tool(&self, caller: &Caller, view: &View, id: &CapabilityId) -> bool {
        let listed = !view.is_deferred(id) || locked(&self.seat(caller).found).contains(id);
        let names = ClientNames { client: &caller.client.name, caller: &caller.person };
        listed && !view.denied_to(names).contains(id)
    }
}

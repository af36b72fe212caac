//! Per-caller state: the view of each caller and the tools it found by searching.
//!
//! Callers with the same profile share a view; a caller with per-caller servers has its own. Views
//! are built on first use and again after a change. A profile that no caller has any more is
//! dropped at the next change.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use parking_lot::Mutex;
use toolgate_exposure::Exposure;
use toolgate_model::{CapabilityId, CapabilityKind};
use toolgate_policy::MatchableClientNames;

use crate::capability_list::CapabilityList;
use crate::profile_view::ProfileView;
use crate::{Caller, CallerId, Gate, GateError, GateEvent, settings};

/// The most found tools in one caller's list. Beyond that, the oldest is removed.
const MOST_FOUND: usize = 64;

/// The lists of a view, by kind.
pub(crate) type CapabilityLists = [Arc<CapabilityList>; CapabilityKind::ALL.len()];

/// The shared view of one profile.
pub(crate) struct ProfileState {
    pub(crate) profile: Arc<str>,
    view: ArcSwapOption<ProfileView>,
    /// The lists last announced to callers, or the first ones shown.
    pub(crate) announced: Mutex<Option<CapabilityLists>>,
}

/// The state the gate keeps for one caller.
pub(crate) struct CallerState {
    gate: Weak<Gate>,
    pub(crate) caller: CallerId,
    /// The client's name, and the principal's.
    client: String,
    person: Arc<str>,
    pub(crate) profile_state: Arc<ProfileState>,
    /// The caller's own view, if a server is connected for this caller alone.
    own: ArcSwapOption<ProfileView>,
    pub(crate) announced: Mutex<Option<CapabilityLists>>,
    found: Mutex<VecDeque<CapabilityId>>,
    tool_list: Mutex<Option<CallerToolList>>,
}

/// A caller's tool list and the inputs it was built from.
struct CallerToolList {
    view: Arc<ProfileView>,
    found: BTreeSet<CapabilityId>,
    list: Arc<CapabilityList>,
}

/// The states of all profiles and callers.
#[derive(Default)]
pub(crate) struct CallerStates {
    profiles: Mutex<HashMap<Arc<str>, Arc<ProfileState>>>,
    callers: Mutex<Vec<Weak<CallerState>>>,
    pub(crate) renders: Arc<AtomicU64>,
}

impl CallerStates {
    fn profile_state(&self, profile: &Arc<str>) -> Arc<ProfileState> {
        let mut slots = self.profiles.lock();
        let make = || {
            let (view, announced) = (ArcSwapOption::empty(), Mutex::default());
            Arc::new(ProfileState { profile: profile.clone(), view, announced })
        };
        slots.entry(profile.clone()).or_insert_with(make).clone()
    }

    /// Returns the profiles that some caller has, and drops the others.
    pub(crate) fn profiles_in_use(&self) -> Vec<Arc<ProfileState>> {
        let mut slots = self.profiles.lock();
        slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        let mut all: Vec<_> = slots.values().cloned().collect();
        all.sort_by(|one, other| one.profile.cmp(&other.profile));
        all
    }

    /// Returns the connected callers.
    pub(crate) fn callers(&self) -> Vec<Arc<CallerState>> {
        let mut states = self.callers.lock();
        states.retain(|state| state.strong_count() > 0);
        states.iter().filter_map(Weak::upgrade).collect()
    }

    fn take(&self, gate: &Weak<Gate>, caller: &Caller) -> Arc<CallerState> {
        let state = Arc::new(CallerState {
            gate: gate.clone(),
            caller: caller.id,
            client: caller.client.name.clone(),
            person: caller.person.clone(),
            profile_state: self.profile_state(&caller.profile),
            own: ArcSwapOption::empty(),
            announced: Mutex::default(),
            found: Mutex::default(),
            tool_list: Mutex::default(),
        });
        self.callers.lock().push(Arc::downgrade(&state));
        state
    }

    /// Removes a caller, even if something still holds a reference to it.
    pub(crate) fn release(&self, caller: CallerId) {
        self.callers.lock().retain(|state| {
            let state = state.upgrade();
            if let Some(state) = state.as_ref().filter(|state| state.caller == caller) {
                state.own.store(None);
                state.found.lock().clear();
                *state.tool_list.lock() = None;
            }
            state.is_some_and(|state| state.caller != caller)
        });
    }
}

impl CallerState {
    fn has_found(&self) -> bool {
        !self.found.lock().is_empty()
    }

    /// Adds tools that the caller found; returns true if one of them is new.
    fn note(&self, ids: &[CapabilityId], view: &ProfileView) -> bool {
        let mut found = self.found.lock();
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
        self.found.lock().iter().cloned().collect()
    }

    /// Returns this caller's tool list: with the tools it found and without those that rules deny
    /// to its client.
    fn tool_list(&self, view: &Arc<ProfileView>) -> Arc<CapabilityList> {
        let found = self.found();
        let mut joined = self.tool_list.lock();
        match &*joined {
            Some(it) if Arc::ptr_eq(&it.view, view) && it.found == found => it.list.clone(),
            before => {
                let names = MatchableClientNames { client: &self.client, caller: &self.person };
                let denied = view.denied_to(names);
                let list =
                    view.caller_tool_list(before.as_ref().map(|it| &it.list), &found, &denied);
                *joined = Some(CallerToolList { view: view.clone(), found, list: list.clone() });
                list
            }
        }
    }

    /// Returns the list of a kind as the caller sees it.
    pub(crate) fn list(
        &self,
        view: &Arc<ProfileView>,
        kind: CapabilityKind,
    ) -> Arc<CapabilityList> {
        match kind == CapabilityKind::Tool && (view.denies_by_client || self.has_found()) {
            true => self.tool_list(view),
            false => view.list_of(kind).clone(),
        }
    }

    /// Returns all lists of the caller.
    pub(crate) fn lists(&self, view: &Arc<ProfileView>) -> CapabilityLists {
        CapabilityKind::ALL.map(|kind| self.list(view, kind))
    }

    /// Returns true if the caller's lists may differ from those of its profile.
    pub(crate) fn has_own_lists(&self) -> bool {
        let by_client =
            self.profile_state.view.load().as_ref().is_some_and(|view| view.denies_by_client);
        by_client || self.own.load().is_some() || self.has_found()
    }
}

impl Gate {
    /// Returns the state of a caller.
    fn caller_state(&self, caller: &Caller) -> Arc<CallerState> {
        let state = caller.state.get_or_init(|| self.caller_states.take(&self.me, caller));
        match std::ptr::eq(state.gate.as_ptr(), self) {
            true => state.clone(),
            false => self.caller_states.take(&self.me, caller), // it was created for another gate
        }
    }

    /// Returns the current view of a caller.
    pub(crate) fn view(&self, caller: &Caller) -> Arc<ProfileView> {
        let state = self.caller_state(caller);
        self.caller_view(&state)
    }

    pub(crate) fn caller_view(&self, state: &CallerState) -> Arc<ProfileView> {
        if !self.fleet.has_per_caller_servers() {
            if state.own.load().is_some() {
                state.own.store(None);
            }
            return self.shared_view(&state.profile_state);
        }
        let profile = &state.profile_state.profile;
        let (view, is_new) = self.refresh_view(&state.own, Some(state.caller), profile);
        if is_new {
            state.announced.lock().get_or_insert_with(|| state.lists(&view));
        }
        view
    }

    pub(crate) fn shared_view(&self, slot: &ProfileState) -> Arc<ProfileView> {
        let (view, is_new) = self.refresh_view(&slot.view, None, &slot.profile);
        if is_new {
            let lists = || CapabilityKind::ALL.map(|kind| view.list_of(kind).clone());
            slot.announced.lock().get_or_insert_with(lists);
        }
        view
    }

    /// Returns the stored view, or builds and stores a new one if catalogs changed since. Also
    /// returns whether it is new.
    fn refresh_view(
        &self,
        stored: &ArcSwapOption<ProfileView>,
        caller: Option<CallerId>,
        profile: &str,
    ) -> (Arc<ProfileView>, bool) {
        let (before, generation) = (stored.load_full(), self.fleet.generation());
        if let Some(view) = before.as_ref().filter(|view| view.generation == generation) {
            return (view.clone(), false);
        }
        let view = Arc::new(ProfileView::new(self, caller, profile, before.as_deref()));
        stored.store(Some(view.clone()));
        (view, true)
    }

    /// Returns the shared view of a profile.
    pub(crate) fn profile_view(&self, profile: &str) -> Result<Arc<ProfileView>, GateError> {
        let settings = self.settings();
        if settings.profiles.get(profile).is_none() {
            return Err(settings::unknown_profile(&settings.profiles, profile, ""));
        }
        Ok(self.shared_view(&self.caller_states.profile_state(&profile.into())))
    }

    /// Returns what a profile sees, under which names and by which rules.
    pub fn exposure(&self, profile: &str) -> Result<Arc<Exposure>, GateError> {
        Ok(self.profile_view(profile)?.exposure.clone())
    }

    /// Returns how many definitions were rendered so far. An unchanged definition is rendered once
    /// per revision.
    pub fn renders(&self) -> u64 {
        self.caller_states.renders.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Returns the rendered list as the caller sees it.
    pub(crate) fn render_list(
        &self,
        kind: CapabilityKind,
        caller: &Caller,
        settled: bool,
    ) -> Bytes {
        let state = self.caller_state(caller);
        let view = self.caller_view(&state);
        view.render_list(&state.list(&view, kind), caller.revision, settled)
    }

    /// Adds found tools to the caller's list and announces the change, if there is one.
    pub(crate) fn add_found_tools(&self, caller: &Caller, found: &[CapabilityId]) {
        let state = self.caller_state(caller);
        let view = self.caller_view(&state);
        if state.note(found, &view) {
            let lists = state.lists(&view);
            *state.announced.lock() = Some(lists);
            let profile = Some(caller.profile.clone());
            let (kind, caller) = (CapabilityKind::Tool, Some(caller.id));
            let _ = self.events.send(GateEvent::ListChanged { kind, profile, caller });
        }
    }

    /// Returns true if the caller's list contains this visible tool.
    pub(crate) fn lists_tool(
        &self,
        caller: &Caller,
        view: &ProfileView,
        id: &CapabilityId,
    ) -> bool {
        let listed = !view.is_deferred(id) || self.caller_state(caller).found.lock().contains(id);
        let names = MatchableClientNames { client: &caller.client.name, caller: &caller.person };
        listed && !view.denied_to(names).contains(id)
    }
}

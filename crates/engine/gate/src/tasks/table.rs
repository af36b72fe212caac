//! The tasks that the gate knows, with their owners, servers and last known states.
//!
//! A task belongs to its principal. It is forgotten when it expires at its server, when its caller
//! is gone, or when there are too many. Forgetting a task never cancels or repeats it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use toolgate_fleet::Fleet;
use toolgate_model::ServerName;

use super::outcome::TaskOutcome;
use super::task::{Task, TaskFormatPair};
use crate::caller::Principal;
use crate::{Caller, CallerId, GateError};

/// The most tasks in all; the oldest is forgotten first.
const MAX_TASKS: usize = 10_000;
/// The most tasks of one principal.
const MAX_OWN: usize = 1_000;
/// The most bytes of results that are kept for ended tasks.
const MAX_KEPT: usize = 64 << 20;
/// The longest time a task is remembered.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// All known tasks.
#[derive(Default, Clone)]
pub(crate) struct TaskTable {
    state: Arc<Mutex<TaskTableState>>,
}

/// The contents of the table.
#[derive(Default)]
struct TaskTableState {
    tasks: BTreeMap<u64, Arc<Task>>,
    by_id: HashMap<String, Vec<u64>>,
    by_principal: HashMap<Principal, BTreeSet<u64>>,
    /// The tasks whose outcome is kept, oldest first.
    ended: BTreeSet<u64>,
    kept_bytes: usize,
    next: u64,
}

impl TaskTable {
    /// Adds a task. It replaces an earlier one with the same id from the same server.
    pub(super) fn add(&self, task: Task) -> Arc<Task> {
        let mut state = self.state.lock();
        let same = state.tasks_with_id(&task.id).find(|(_, known)| known.is_replaced_by(&task));
        if let Some(at) = same.map(|(at, _)| at) {
            state.remove(at);
        }
        state.make_room(task.principal());
        let at = state.next;
        state.next += 1;
        let task = Arc::new(task);
        state.by_id.entry(task.id.clone()).or_default().push(at);
        state.by_principal.entry(task.principal()).or_default().insert(at);
        state.tasks.insert(at, task.clone());
        drop(state);
        let expiry = expire(Arc::downgrade(&self.state), Arc::downgrade(&task), at);
        task.set_expiry(tokio::spawn(expiry).abort_handle());
        task
    }

    /// Stores the outcome of a task, so that it need not be fetched again.
    pub(super) fn set_outcome(&self, task: &Arc<Task>, outcome: TaskOutcome) {
        let mut state = self.state.lock();
        let found = state.tasks_with_id(&task.id).find(|(_, known)| Arc::ptr_eq(known, task));
        let Some(at) = found.map(|(at, _)| at) else { return };
        let weight = outcome.weight();
        state.evict_outcomes(weight);
        if weight <= MAX_KEPT && task.set_outcome(outcome) && weight > 0 {
            state.kept_bytes += weight;
            state.ended.insert(at);
        }
    }

    /// Returns the task with this id, if it belongs to the caller's principal.
    pub(super) fn find(&self, caller: &Caller, id: &str) -> Result<Arc<Task>, GateError> {
        let state = self.state.lock();
        let own = |task: &&Arc<Task>| task.principal() == caller.principal;
        let mut own: Vec<_> = state.tasks_with_id(id).map(|(_, task)| task).filter(own).collect();
        if own.iter().any(|task| task.caller.id == caller.id) {
            own.retain(|task| task.caller.id == caller.id);
        }
        match own.as_slice() {
            [] => Err(GateError::unknown("task", id)),
            [task] => Ok(Arc::clone(task)),
            [one, two, ..] => {
                let (one, two) = (&one.tool.server, &two.tool.server);
                let message = format!("servers `{one}` and `{two}` both have a task `{id}`");
                Err(GateError { message, ..GateError::unknown("task", id) })
            }
        }
    }

    /// Returns a principal's tasks, oldest first.
    pub(super) fn tasks_of(&self, principal: Principal) -> Vec<Arc<Task>> {
        let state = self.state.lock();
        let own = state.by_principal.get(&principal).into_iter().flatten();
        own.filter_map(|at| state.tasks.get(at).cloned()).collect()
    }

    /// Returns the task that a server refers to; `None` if several callers have one with this id.
    pub(crate) fn find_by_server(&self, server: &ServerName, id: &str) -> Option<Arc<Task>> {
        let state = self.state.lock();
        let mut own =
            state.tasks_with_id(id).map(|(_, task)| task).filter(|it| it.tool.server == *server);
        let only = own.next()?;
        own.next().is_none().then(|| only.clone())
    }

    /// Removes one task.
    pub(super) fn forget(&self, task: &Arc<Task>) {
        let mut state = self.state.lock();
        let found = state.tasks_with_id(&task.id).find(|(_, known)| Arc::ptr_eq(known, task));
        if let Some(at) = found.map(|(at, _)| at) {
            state.remove(at);
        }
    }

    /// Returns true if a caller has an open task on one of these servers.
    pub(crate) fn has_open(&self, caller: CallerId, on: impl Fn(&ServerName) -> bool) -> bool {
        let open =
            |task: &Arc<Task>| task.caller.id == caller && on(&task.tool.server) && task.is_open();
        self.state.lock().tasks.values().any(open)
    }

    /// Subscribes to task notifications again, because a server may have a new connection.
    pub(crate) fn watch_again(&self, server: &ServerName, fleet: &Fleet) {
        let tasks: Vec<_> = self.state.lock().tasks.values().cloned().collect();
        let tasks = tasks.iter().filter(|task| task.tool.server == *server);
        tasks.for_each(|task| task.watch_again(fleet));
    }

    /// Removes the tasks of a caller that is gone, and those on connections of that caller alone.
    pub(crate) fn release(&self, caller: CallerId, connected: impl Fn(&ServerName) -> bool) {
        let gone = |task: &Arc<Task>| {
            task.principal() == Principal::Caller(caller)
                || task.caller.id == caller && connected(&task.tool.server)
        };
        let mut state = self.state.lock();
        let gone: Vec<_> =
            state.tasks.iter().filter(|(_, task)| gone(task)).map(|(at, _)| *at).collect();
        for at in gone {
            state.remove(at);
        }
    }
}

impl TaskTableState {
    fn tasks_with_id(&self, id: &str) -> impl Iterator<Item = (u64, &Arc<Task>)> {
        let places = self.by_id.get(id).into_iter().flatten();
        places.filter_map(|at| Some((*at, self.tasks.get(at)?)))
    }

    fn remove(&mut self, at: u64) {
        let Some(task) = self.tasks.remove(&at) else { return };
        if let Some(places) = self.by_id.get_mut(&task.id) {
            places.retain(|place| *place != at);
            if places.is_empty() {
                self.by_id.remove(&task.id);
            }
        }
        if let Some(own) = self.by_principal.get_mut(&task.principal()) {
            own.remove(&at);
            if own.is_empty() {
                self.by_principal.remove(&task.principal());
            }
        }
        if self.ended.remove(&at) {
            self.kept_bytes -= task.outcome().map_or(0, |outcome| outcome.weight());
        }
        task.stop();
    }

    /// Makes room for one more task of a principal.
    fn make_room(&mut self, principal: Principal) {
        let own = self.by_principal.get(&principal);
        let own = own.filter(|own| own.len() >= MAX_OWN).and_then(BTreeSet::first).copied();
        let oldest = self.tasks.keys().next().copied().filter(|_| self.tasks.len() >= MAX_TASKS);
        if let Some(at) = own.or(oldest) {
            self.remove(at);
        }
    }

    /// Makes room for an outcome. A task whose outcome is stored only here is removed with it.
    fn evict_outcomes(&mut self, weight: usize) {
        while self.kept_bytes + weight > MAX_KEPT {
            let Some(at) = self.ended.pop_first() else { return };
            let Some(task) = self.tasks.get(&at).cloned() else { continue };
            self.kept_bytes -= task.unsettle().map_or(0, |outcome| outcome.weight());
            if matches!(task.route, TaskFormatPair::Stored) {
                self.remove(at);
            }
        }
    }
}

/// Removes a task when it expires. Its server may extend that time.
async fn expire(state: Weak<Mutex<TaskTableState>>, task: Weak<Task>, at: u64) {
    loop {
        let Some(expires) = task.upgrade().map(|task| task.expires()) else { return };
        let latest = Instant::now() + LONGEST;
        tokio::time::sleep_until(expires.unwrap_or(latest).min(latest)).await;
        let over = |task: Arc<Task>| task.expires().is_none_or(|until| until <= Instant::now());
        if !task.upgrade().is_none_or(over) {
            continue;
        }
        if let Some(state) = state.upgrade() {
            state.lock().remove(at);
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use toolgate_bridge::tasks::TaskFormat;
    use toolgate_model::{CapabilityId, CapabilityKind};
    use toolgate_session::RootsInteractor;
    use toolgate_wire::Revision;

    use super::*;
    use crate::Client;

    fn caller() -> Arc<Caller> {
        let (id, ambient) = (CallerId::fresh(), Arc::new(RootsInteractor::new(&[])));
        let capabilities = Bytes::from_static(b"{}");
        Arc::new(Caller::new(id, Client::default(), Revision::V2025_11_25, capabilities, ambient))
    }

    fn begun(caller: &Arc<Caller>, id: &str, route: TaskFormatPair) -> Task {
        let server = ServerName::new("s").unwrap();
        let tool = CapabilityId { server, kind: CapabilityKind::Tool, name: "t".into() };
        let seen = format!("{{\"taskId\":\"{id}\",\"status\":\"working\"}}");
        Task::new(caller, true, &tool, route, seen.as_bytes()).unwrap()
    }

    #[tokio::test]
    async fn who_begins_too_many_tasks_loses_his_own_oldest() {
        let (table, many, few) = (TaskTable::default(), caller(), caller());
        table.add(begun(&few, "few", TaskFormatPair::Direct(TaskFormat::Session)));
        for n in 0..=MAX_OWN {
            table.add(begun(&many, &format!("{n}"), TaskFormatPair::Direct(TaskFormat::Session)));
        }
        assert!(table.find(&many, "0").is_err());
        assert!(table.find(&many, "1").is_ok());
        assert!(table.find(&few, "few").is_ok());
        table.release(many.id, |_| false);
        assert!(table.tasks_of(many.principal).is_empty());
        assert_eq!(table.state.lock().tasks.len(), 1);
    }

    #[tokio::test]
    async fn kept_results_make_way_for_newer_ones() {
        let (table, me) = (TaskTable::default(), caller());
        let large = || TaskOutcome::Result(vec![b' '; MAX_KEPT / 2 + 1].into());
        let fetched = table.add(begun(&me, "a", TaskFormatPair::Direct(TaskFormat::Session)));
        let held = table.add(begun(&me, "b", TaskFormatPair::Stored));
        let newest = table.add(begun(&me, "c", TaskFormatPair::Stored));
        for task in [&fetched, &held, &newest] {
            table.set_outcome(task, large());
        }
        assert_eq!(fetched.outcome(), None, "its server has it still");
        assert!(table.find(&me, "a").is_ok());
        assert!(table.find(&me, "b").is_err(), "nobody else has it");
        assert!(newest.outcome().is_some());
        table.forget(&newest);
        assert_eq!(table.state.lock().kept_bytes, 0);
    }

    #[tokio::test]
    async fn an_id_that_two_servers_use_is_nobodys_to_guess() {
        let (table, me) = (TaskTable::default(), caller());
        table.add(begun(&me, "x", TaskFormatPair::Direct(TaskFormat::Session)));
        let mut other = begun(&me, "x", TaskFormatPair::Direct(TaskFormat::Session));
        other.tool.server = ServerName::new("r").unwrap();
        table.add(other);
        let refused = table.find(&me, "x").err().unwrap();
        assert!(refused.message.contains("both have"), "{refused}");
    }

    #[tokio::test]
    async fn two_visits_of_one_principal_on_servers_of_their_own_may_use_one_id() {
        let table = TaskTable::default();
        let visit = || {
            let visit = Arc::into_inner(caller()).unwrap();
            Arc::new(visit.with_principal(Principal::from_name(b"p")))
        };
        let (one, two, three) = (visit(), visit(), visit());
        for who in [&one, &two] {
            table.add(begun(who, "1", TaskFormatPair::Direct(TaskFormat::Session)));
        }
        for who in [&one, &two] {
            assert_eq!(table.find(who, "1").unwrap().caller.id, who.id);
        }
        assert!(table.find(&three, "1").is_err(), "nobody can tell which he means");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_kept_for_no_time_can_still_be_asked_after() {
        let (table, me) = (TaskTable::default(), caller());
        let zero = br#"{"taskId":"z","status":"working","ttl":0}"#;
        let known = begun(&me, "z", TaskFormatPair::Direct(TaskFormat::Session));
        known.observe(zero);
        table.add(known);
        tokio::time::sleep(Duration::from_secs(59)).await;
        assert!(table.find(&me, "z").is_ok());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(table.find(&me, "z").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_open_until_it_ends_or_nobody_looks() {
        let (table, me, they) = (TaskTable::default(), caller(), caller());
        let task = table.add(begun(&me, "o", TaskFormatPair::Direct(TaskFormat::Session)));
        assert!(table.has_open(me.id, |_| true));
        assert!(!table.has_open(me.id, |_| false), "it runs where others are, too");
        assert!(!table.has_open(they.id, |_| true));
        tokio::time::sleep(Duration::from_secs(3601)).await;
        assert!(!table.has_open(me.id, |_| true));
        task.observe(br#"{"taskId":"o","status":"working"}"#);
        assert!(table.has_open(me.id, |_| true));
        task.observe(br#"{"taskId":"o","status":"failed"}"#);
        assert!(!table.has_open(me.id, |_| true));
    }

    #[tokio::test]
    async fn what_is_said_of_another_task_is_not_heard_and_results_are_not_kept() {
        let me = caller();
        let task = begun(&me, "x", TaskFormatPair::Direct(TaskFormat::Extension));
        task.observe(br#"{"taskId":"y","status":"completed"}"#);
        assert!(task.is_open());
        let result = "r".repeat(1 << 20);
        task.observe(
            format!(r#"{{"taskId":"x","status":"completed","odd":1,"result":"{result}"}}"#)
                .as_bytes(),
        );
        assert_eq!(task.last_seen(), &br#"{"taskId":"x","status":"completed","odd":1}"#[..]);
        task.observe(format!(r#"{{"taskId":"x","status":"failed","odd":"{result}"}}"#).as_bytes());
        assert_eq!(task.last_seen(), &br#"{"taskId":"x","status":"failed"}"#[..]);
    }
}

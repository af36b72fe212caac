//! Which tasks there are: whose, on which server, how they stood when last seen.
//!
//! A task is its principal's own. It is forgotten when the time is over that its server keeps it,
//! when its caller is gone, or when there are too many; forgetting one never cancels or repeats it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;
use toolgate_fleet::Fleet;
use toolgate_model::ServerName;

use super::outcome::Outcome;
use super::task::{Course, Task};
use crate::caller::Principal;
use crate::{Caller, CallerId, Refusal};

/// How many tasks are remembered in all; the oldest is forgotten first.
const MAX_TASKS: usize = 10_000;
/// How many of one principal.
const MAX_OWN: usize = 1_000;
/// How many bytes of results are kept for tasks that ended.
const MAX_KEPT: usize = 64 << 20;
/// The longest time a task that says when it ends is remembered.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// All tasks.
#[derive(Default, Clone)]
pub(crate) struct Ledger {
    book: Arc<Mutex<Book>>,
}

#[derive(Default)]
struct Book {
    tasks: BTreeMap<u64, Arc<Task>>,
    by_id: HashMap<String, Vec<u64>>,
    by_principal: HashMap<Principal, BTreeSet<u64>>,
    /// The tasks whose outcome is kept, in the order they ended.
    ended: BTreeSet<u64>,
    kept: usize,
    next: u64,
}

impl Ledger {
    fn book(&self) -> MutexGuard<'_, Book> {
        open(&self.book)
    }

    /// Remembers a task, in the place of one its server gave the same id before.
    pub(super) fn add(&self, task: Task) -> Arc<Task> {
        let mut book = self.book();
        let same = book.of_id(&task.id).find(|(_, known)| known.is_again(&task));
        if let Some(at) = same.map(|(at, _)| at) {
            book.remove(at);
        }
        book.make_room(task.principal());
        let at = book.next;
        book.next += 1;
        let task = Arc::new(task);
        book.by_id.entry(task.id.clone()).or_default().push(at);
        book.by_principal.entry(task.principal()).or_default().insert(at);
        book.tasks.insert(at, task.clone());
        drop(book);
        let expiry = expire(Arc::downgrade(&self.book), Arc::downgrade(&task), at);
        task.ends_with(tokio::spawn(expiry).abort_handle());
        task
    }

    /// Keeps the end of a task, so that it need not be fetched again.
    pub(super) fn settle(&self, task: &Arc<Task>, outcome: Outcome) {
        let mut book = self.book();
        let found = book.of_id(&task.id).find(|(_, known)| Arc::ptr_eq(known, task));
        let Some(at) = found.map(|(at, _)| at) else { return };
        let weight = outcome.weight();
        book.make_way(weight);
        if weight <= MAX_KEPT && task.settle(outcome) && weight > 0 {
            book.kept += weight;
            book.ended.insert(at);
        }
    }

    /// This caller's task of that id, or another's who is the same principal.
    pub(super) fn find(&self, caller: &Caller, id: &str) -> Result<Arc<Task>, Refusal> {
        let book = self.book();
        let own = |task: &&Arc<Task>| task.principal() == caller.principal;
        let mut own: Vec<_> = book.of_id(id).map(|(_, task)| task).filter(own).collect();
        if own.iter().any(|task| task.caller.id == caller.id) {
            own.retain(|task| task.caller.id == caller.id);
        }
        match own.as_slice() {
            [] => Err(Refusal::unknown("task", id)),
            [task] => Ok(Arc::clone(task)),
            [one, two, ..] => {
                let (one, two) = (&one.tool.server, &two.tool.server);
                let message = format!("servers `{one}` and `{two}` both call a task `{id}`");
                Err(Refusal { message, ..Refusal::unknown("task", id) })
            }
        }
    }

    /// A principal's tasks, oldest first.
    pub(super) fn of(&self, principal: Principal) -> Vec<Arc<Task>> {
        let book = self.book();
        let own = book.by_principal.get(&principal).into_iter().flatten();
        own.filter_map(|at| book.tasks.get(at).cloned()).collect()
    }

    /// The task a server speaks of; `None` if that could be several callers'.
    pub(crate) fn of_server(&self, server: &ServerName, id: &str) -> Option<Arc<Task>> {
        let book = self.book();
        let mut own = book.of_id(id).map(|(_, task)| task).filter(|it| it.tool.server == *server);
        let only = own.next()?;
        own.next().is_none().then(|| only.clone())
    }

    /// Forgets one task.
    pub(super) fn forget(&self, task: &Arc<Task>) {
        let mut book = self.book();
        let found = book.of_id(&task.id).find(|(_, known)| Arc::ptr_eq(known, task));
        if let Some(at) = found.map(|(at, _)| at) {
            book.remove(at);
        }
    }

    /// Whether a caller has an open task on one of these servers.
    pub(crate) fn has_open(&self, caller: CallerId, on: impl Fn(&ServerName) -> bool) -> bool {
        let open =
            |task: &Arc<Task>| task.caller.id == caller && on(&task.tool.server) && task.is_open();
        self.book().tasks.values().any(open)
    }

    /// A server may have come back on another connection: whatever it reported, it shall again.
    pub(crate) fn watch_again(&self, server: &ServerName, fleet: &Fleet) {
        let tasks: Vec<_> = self.book().tasks.values().cloned().collect();
        let tasks = tasks.iter().filter(|task| task.tool.server == *server);
        tasks.for_each(|task| task.watch_again(fleet));
    }

    /// A caller is gone: his tasks go, and those on connections that were his alone.
    pub(crate) fn release(&self, caller: CallerId, connected: impl Fn(&ServerName) -> bool) {
        let gone = |task: &Arc<Task>| {
            task.principal() == Principal::Caller(caller)
                || task.caller.id == caller && connected(&task.tool.server)
        };
        let mut book = self.book();
        let gone: Vec<_> =
            book.tasks.iter().filter(|(_, task)| gone(task)).map(|(at, _)| *at).collect();
        for at in gone {
            book.remove(at);
        }
    }
}

impl Book {
    fn of_id(&self, id: &str) -> impl Iterator<Item = (u64, &Arc<Task>)> {
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
            self.kept -= task.outcome().map_or(0, |outcome| outcome.weight());
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

    /// Makes room for an outcome: a task that is kept nowhere else goes with its outcome.
    fn make_way(&mut self, weight: usize) {
        while self.kept + weight > MAX_KEPT {
            let Some(at) = self.ended.pop_first() else { return };
            let Some(task) = self.tasks.get(&at).cloned() else { continue };
            self.kept -= task.unsettle().map_or(0, |outcome| outcome.weight());
            if matches!(task.course, Course::Held) {
                self.remove(at);
            }
        }
    }
}

/// Forgets a task when its time is over, which its server may put off.
async fn expire(book: Weak<Mutex<Book>>, task: Weak<Task>, at: u64) {
    loop {
        let Some(expires) = task.upgrade().map(|task| task.expires()) else { return };
        let latest = Instant::now() + LONGEST;
        tokio::time::sleep_until(expires.unwrap_or(latest).min(latest)).await;
        let over = |task: Arc<Task>| task.expires().is_none_or(|until| until <= Instant::now());
        if !task.upgrade().is_none_or(over) {
            continue;
        }
        if let Some(book) = book.upgrade() {
            open(&book).remove(at);
        }
        return;
    }
}

fn open(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use toolgate_bridge::tasks::Form;
    use toolgate_model::{CapabilityId, CapabilityKind};
    use toolgate_session::Ambient;
    use toolgate_wire::Revision;

    use super::*;
    use crate::Client;

    fn caller() -> Arc<Caller> {
        let (id, ambient) = (CallerId::fresh(), Arc::new(Ambient::new(&[])));
        let capabilities = Bytes::from_static(b"{}");
        Arc::new(Caller::new(id, Client::default(), Revision::V2025_11_25, capabilities, ambient))
    }

    fn begun(caller: &Arc<Caller>, id: &str, course: Course) -> Task {
        let server = ServerName::new("s").unwrap();
        let tool = CapabilityId { server, kind: CapabilityKind::Tool, name: "t".into() };
        let seen = format!("{{\"taskId\":\"{id}\",\"status\":\"working\"}}");
        Task::new(caller, true, &tool, course, seen.as_bytes()).unwrap()
    }

    #[tokio::test]
    async fn who_begins_too_many_tasks_loses_his_own_oldest() {
        let (ledger, many, few) = (Ledger::default(), caller(), caller());
        ledger.add(begun(&few, "few", Course::Straight(Form::Session)));
        for n in 0..=MAX_OWN {
            ledger.add(begun(&many, &format!("{n}"), Course::Straight(Form::Session)));
        }
        assert!(ledger.find(&many, "0").is_err());
        assert!(ledger.find(&many, "1").is_ok());
        assert!(ledger.find(&few, "few").is_ok());
        ledger.release(many.id, |_| false);
        assert!(ledger.of(many.principal).is_empty());
        assert_eq!(ledger.book().tasks.len(), 1);
    }

    #[tokio::test]
    async fn kept_results_make_way_for_newer_ones() {
        let (ledger, me) = (Ledger::default(), caller());
        let large = || Outcome::Result(vec![b' '; MAX_KEPT / 2 + 1].into());
        let fetched = ledger.add(begun(&me, "a", Course::Straight(Form::Session)));
        let held = ledger.add(begun(&me, "b", Course::Held));
        let newest = ledger.add(begun(&me, "c", Course::Held));
        for task in [&fetched, &held, &newest] {
            ledger.settle(task, large());
        }
        assert_eq!(fetched.outcome(), None, "its server has it still");
        assert!(ledger.find(&me, "a").is_ok());
        assert!(ledger.find(&me, "b").is_err(), "nobody else has it");
        assert!(newest.outcome().is_some());
        ledger.forget(&newest);
        assert_eq!(ledger.book().kept, 0);
    }

    #[tokio::test]
    async fn an_id_that_two_servers_use_is_nobodys_to_guess() {
        let (ledger, me) = (Ledger::default(), caller());
        ledger.add(begun(&me, "x", Course::Straight(Form::Session)));
        let mut other = begun(&me, "x", Course::Straight(Form::Session));
        other.tool.server = ServerName::new("r").unwrap();
        ledger.add(other);
        let refused = ledger.find(&me, "x").err().unwrap();
        assert!(refused.message.contains("both call"), "{refused}");
    }

    #[tokio::test]
    async fn two_visits_of_one_principal_on_servers_of_their_own_may_use_one_id() {
        let ledger = Ledger::default();
        let visit = || {
            let visit = Arc::into_inner(caller()).unwrap();
            Arc::new(visit.of(Principal::named(b"p")))
        };
        let (one, two, three) = (visit(), visit(), visit());
        for who in [&one, &two] {
            ledger.add(begun(who, "1", Course::Straight(Form::Session)));
        }
        for who in [&one, &two] {
            assert_eq!(ledger.find(who, "1").unwrap().caller.id, who.id);
        }
        assert!(ledger.find(&three, "1").is_err(), "nobody can tell which he means");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_is_kept_for_no_time_can_still_be_asked_after() {
        let (ledger, me) = (Ledger::default(), caller());
        let zero = br#"{"taskId":"z","status":"working","ttl":0}"#;
        let known = begun(&me, "z", Course::Straight(Form::Session));
        known.observe(zero);
        ledger.add(known);
        tokio::time::sleep(Duration::from_secs(59)).await;
        assert!(ledger.find(&me, "z").is_ok());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(ledger.find(&me, "z").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_is_open_until_it_ends_or_nobody_looks() {
        let (ledger, me, they) = (Ledger::default(), caller(), caller());
        let task = ledger.add(begun(&me, "o", Course::Straight(Form::Session)));
        assert!(ledger.has_open(me.id, |_| true));
        assert!(!ledger.has_open(me.id, |_| false), "it runs where others are, too");
        assert!(!ledger.has_open(they.id, |_| true));
        tokio::time::sleep(Duration::from_secs(3601)).await;
        assert!(!ledger.has_open(me.id, |_| true));
        task.observe(br#"{"taskId":"o","status":"working"}"#);
        assert!(ledger.has_open(me.id, |_| true));
        task.observe(br#"{"taskId":"o","status":"failed"}"#);
        assert!(!ledger.has_open(me.id, |_| true));
    }

    #[tokio::test]
    async fn what_is_said_of_another_task_is_not_heard_and_results_are_not_kept() {
        let me = caller();
        let task = begun(&me, "x", Course::Straight(Form::Extension));
        task.observe(br#"{"taskId":"y","status":"completed"}"#);
        assert!(task.is_open());
        let result = "r".repeat(1 << 20);
        task.observe(
            format!(r#"{{"taskId":"x","status":"completed","odd":1,"result":"{result}"}}"#)
                .as_bytes(),
        );
        assert_eq!(task.seen(), &br#"{"taskId":"x","status":"completed","odd":1}"#[..]);
        task.observe(format!(r#"{{"taskId":"x","status":"failed","odd":"{result}"}}"#).as_bytes());
        assert_eq!(task.seen(), &br#"{"taskId":"x","status":"failed"}"#[..]);
    }
}

//! The gate itself, and the order of its steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use tokio::sync::broadcast;
use tokio::time::Instant;
use toolgate_fleet::{Fleet, Pool};
use toolgate_model::{CapabilityId, CapabilityKind, ServerName};
use toolgate_naming::Style;
use toolgate_session::{Interactor, Outbound};
use toolgate_wire::mirror::Rule;
use toolgate_wire::view::{LogLevel, ToolView};
use toolgate_wire::{Frame, method};

use crate::admit::Queue;
use crate::events::{self, GateEvent};
use crate::resolve::{self, Resolved};
use crate::tasks::Tasks;
use crate::view::View;
use crate::{Caller, CallerId, Refusal, present, subscriptions};

/// How long after the start a list waits for servers nobody has seen yet.
const START_GRACE: Duration = Duration::from_secs(3);
/// How many events may wait for a slow listener before it misses some.
const EVENTS: usize = 1024;

/// The one way from a caller to a server.
pub struct Gate {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) tasks: Tasks,
    style: Style,
    queue: Queue,
    everybody: ArcSwapOption<View>,
    /// Views of callers who have servers of their own.
    own: Mutex<HashMap<CallerId, Arc<View>>>,
    events: broadcast::Sender<GateEvent>,
    started: Instant,
}

impl Gate {
    /// A gate before this fleet.
    pub fn new(fleet: Arc<Fleet>, style: Style) -> Arc<Self> {
        let gate = Arc::new(Self {
            fleet,
            tasks: Tasks::default(),
            style,
            queue: Queue::default(),
            everybody: ArcSwapOption::empty(),
            own: Mutex::default(),
            events: broadcast::channel(EVENTS).0,
            started: Instant::now(),
        });
        let (fleet_events, out) = (gate.fleet.events(), gate.events.clone());
        tokio::spawn(events::translate(Arc::downgrade(&gate), fleet_events, out));
        gate
    }

    /// Passes a request to the server it concerns and gives back the server's answer, which bears
    /// an id of its own. Dropping the future cancels the request at the server.
    ///
    /// A step may stop it with a reason; it never skips or reorders another.
    pub async fn pass(
        &self,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        match request.method().as_deref() {
            // Boxed, as everything rare on this way: what every call carries stays small.
            Some(method::TASKS_LIST) => return Box::pin(self.list_tasks(caller, port)).await,
            Some(method::TASKS_GET | method::TASKS_RESULT | method::TASKS_CANCEL) => {
                return Box::pin(self.pass_task(request, caller, port)).await;
            }
            _ => {}
        }
        let view = self.view(caller);
        let Resolved { id, rename } = resolve::capability(&view, request)?; // name -> identity
        let pool = self.fleet.pool(&id.server, &caller.tenant())?;
        let _place = self.queue.admit(caller, &pool).await?; // in his turn
        let outbound = Outbound { frame: request.clone(), rename, port };
        let answer = self.dispatch(&view, &id, &pool, caller, &outbound).await?; // the only send
        Ok(present::answer(&view, &id, answer)) // as this caller must see it
    }

    async fn dispatch(
        &self,
        view: &View,
        id: &CapabilityId,
        pool: &Pool,
        caller: &Caller,
        outbound: &Outbound,
    ) -> Result<Frame, Refusal> {
        let request = &outbound.frame;
        if subscriptions::concerns(request) {
            return Box::pin(subscriptions::pass(pool, &id.name, caller, outbound)).await;
        }
        let answer = pool.call(outbound, || repeatable(view, id)).await?;
        if id.kind == CapabilityKind::Tool {
            self.tasks.note(caller.id, &id.server, &answer);
        }
        Ok(answer)
    }

    /// The prepared `result` of a list, as this caller sees it.
    ///
    /// Right after the start it waits a moment for servers that were never seen before; nobody
    /// waits later, and servers known from an earlier run are never waited for.
    pub async fn list(&self, kind: CapabilityKind, caller: &Caller) -> Bytes {
        let patience = self.started + START_GRACE;
        if Instant::now() < patience {
            let unseen = self.fleet.settled(|status| status.catalog.is_none());
            let _ = tokio::time::timeout_at(patience, unseen).await;
        }
        self.view(caller).list(kind).clone()
    }

    /// The name this caller knows a capability by; `None` if he does not see it.
    pub fn name_of(&self, caller: &Caller, id: &CapabilityId) -> Option<String> {
        self.view(caller).names.name_of(id).map(str::to_owned)
    }

    /// How this caller names a URI of one server, listed or not; `None` if nothing leads there.
    pub fn uri_of(&self, caller: &Caller, server: &ServerName, uri: &str) -> Option<String> {
        let view = self.view(caller);
        let shown = view.names.uri_of(server, uri);
        match resolve::located(&view, &shown) {
            Ok(id) if id.server == *server => Some(shown.into_owned()),
            _ => view.names.tagged(server, uri),
        }
    }

    /// The arguments of a tool, by the name this caller knows, that a modern request repeats in
    /// headers; `None` for nearly every tool there is.
    pub fn mirrored(&self, caller: &Caller, tool: &str) -> Option<Arc<[Rule]>> {
        self.view(caller).mirrored(tool)
    }

    /// What the gateway declares to this caller, raw.
    pub fn capabilities(&self, caller: &Caller) -> Bytes {
        self.view(caller).capabilities.clone()
    }

    /// What servers want this caller's model to know.
    pub fn instructions(&self, caller: &Caller) -> Option<String> {
        self.view(caller).instructions.clone()
    }

    /// The configured roots, as a `roots/list` result; `None` if there are none.
    pub fn roots(&self) -> Option<Bytes> {
        self.fleet.roots()
    }

    /// The level from which a caller wants servers' log lines.
    pub fn set_level(&self, caller: CallerId, level: LogLevel) {
        self.fleet.set_level(caller.key(), level);
    }

    /// A caller is gone.
    pub fn release(&self, caller: CallerId) {
        self.fleet.release(caller.key());
        self.tasks.release(caller);
        self.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&caller);
    }

    /// What happens outside any call, from now on.
    pub fn events(&self) -> broadcast::Receiver<GateEvent> {
        self.events.subscribe()
    }

    pub(crate) fn everybodys_list(&self, kind: CapabilityKind) -> Bytes {
        self.everybodys_view().list(kind).clone()
    }

    /// What a caller sees now.
    pub(crate) fn view(&self, caller: &Caller) -> Arc<View> {
        if !self.fleet.has_own_servers() {
            return self.everybodys_view();
        }
        let generation = self.fleet.generation();
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        match own.get(&caller.id) {
            Some(view) if view.generation == generation => view.clone(),
            _ => {
                let catalogs = self.fleet.catalogs(Some(caller.id.key()));
                let view = Arc::new(View::new(generation, catalogs, &self.style));
                own.insert(caller.id, view.clone());
                view
            }
        }
    }

    pub(crate) fn everybodys_view(&self) -> Arc<View> {
        let generation = self.fleet.generation();
        if let Some(view) = self.everybody.load_full()
            && view.generation == generation
        {
            return view;
        }
        let view = Arc::new(View::new(generation, self.fleet.catalogs(None), &self.style));
        self.everybody.store(Some(view.clone()));
        view
    }
}

/// Whether a request may be sent again to a server that did not run it: everything that only
/// reads, and tools whose definition says so.
fn repeatable(view: &View, id: &CapabilityId) -> bool {
    if id.kind != CapabilityKind::Tool {
        return true;
    }
    let Some(definition) = view.definition(id) else { return false };
    let Some(tool) = ToolView::of(definition) else { return false };
    tool.hints.read_only == Some(true) || tool.hints.idempotent == Some(true)
}

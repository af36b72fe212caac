//! The gate itself and the order of its steps.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;
use toolgate_exposure::UriOwner;
use toolgate_fleet::{Fleet, FleetApplyReport, FleetError, FleetServer, ServerLease, ServerStatus};
use toolgate_model::{
    ApprovalChannel, CapabilityKind, DiscoveryStatus, GovernanceSettings, PoolScope, ServerName,
};
use toolgate_session::{Interactor, OutboundRequest};
use toolgate_wire::mcp_headers::ArgumentHeader;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Era, Frame, Span, method};

use crate::admit::AdmissionQueue;
use crate::caller_states::CallerStates;
use crate::decide::{CallContext, CallDecision, CallTarget};
use crate::error::CallError;
use crate::events::{self, GateEvent};
use crate::governance::ActiveGovernance;
use crate::params::RequestParams;
use crate::pins::PinRegistry;
use crate::present::{ResponseContext, own_response};
use crate::profile_view::ProfileView;
use crate::results::{self, ResultStorage};
use crate::server_questions::{self, SamplingTracker};
use crate::stores::GateStores;
use crate::taint::TaintTable;
use crate::tasks::{OutboundCall, TaskTable};
use crate::tool_search::ToolIndex;
use crate::{
    Caller, CallerId, GateError, GatewaySettings, arguments, own_tools, resolve, sanitize,
    settings, skills,
};

/// How long after the start callers wait for servers without a known catalog. Many clients list
/// once, so fast servers should be in that list; a slower server delays no one.
const START_GRACE: Duration = Duration::from_millis(500);
/// How many events a slow listener may fall behind before it misses some.
const EVENTS: usize = 1024;

/// A request, its caller, and how to reach that caller meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct GateRequest<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) port: &'a Arc<dyn Interactor>,
}

/// The only way from a caller to a server.
pub struct Gate {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) tasks: TaskTable,
    settings: ArcSwap<GatewaySettings>,
    pub(crate) queue: AdmissionQueue,
    slow_checks: Semaphore,
    pub(crate) caller_states: CallerStates,
    pub(crate) tool_index: ToolIndex,
    pub(crate) results: ResultStorage,
    pub(crate) events: broadcast::Sender<GateEvent>,
    pub(crate) governance: ArcSwap<ActiveGovernance>,
    pub(crate) pins: Mutex<PinRegistry>,
    pub(crate) samplings: Arc<SamplingTracker>,
    pub(crate) stores: OnceLock<GateStores>,
    pub(crate) taints: TaintTable,
    /// How many requests have a journal number.
    pub(crate) calls: AtomicU64,
    started: Instant,
    pub(crate) me: Weak<Self>,
}

impl Gate {
    /// Creates a gate in front of this fleet.
    pub fn new(fleet: Arc<Fleet>, settings: GatewaySettings) -> Arc<Self> {
        let settings = ArcSwap::from_pointee(settings);
        let gate = Arc::new_cyclic(|me| Self {
            fleet,
            tasks: TaskTable::default(),
            settings,
            queue: AdmissionQueue::default(),
            slow_checks: Semaphore::new(arguments::SLOW_CHECKS),
            caller_states: CallerStates::default(),
            tool_index: ToolIndex::default(),
            results: ResultStorage::default(),
            events: broadcast::channel(EVENTS).0,
            governance: ArcSwap::default(),
            pins: Mutex::default(),
            samplings: Arc::default(),
            stores: OnceLock::new(),
            taints: TaintTable::default(),
            calls: AtomicU64::new(0),
            started: Instant::now(),
            me: me.clone(),
        });
        let (fleet_events, out) = (gate.fleet.events(), gate.events.clone());
        tokio::spawn(events::translate(Arc::downgrade(&gate), fleet_events, out));
        gate
    }

    /// Applies new servers, settings and rules together, so that no request sees new servers under
    /// old rules. Callers whose profile is gone see nothing and get an error: falling back to
    /// another profile could show them more than they chose.
    pub async fn apply(
        &self,
        members: Vec<FleetServer>,
        settings: GatewaySettings,
        governance: &GovernanceSettings,
    ) -> FleetApplyReport {
        let governing = self.changed_governance(governance);
        let store = || {
            let restyled = **self.settings.load() != settings;
            if restyled {
                self.settings.store(Arc::new(settings));
            }
            let governed = governing.is_some();
            if let Some(governing) = governing {
                self.governance.store(governing);
            }
            restyled || governed
        };
        self.fleet.apply_with(members, store).await
    }

    /// Returns a lease of the server; `None` if servers were redeclared since the view was built,
    /// so that the call must be decided again.
    pub(crate) fn lease_server(
        &self,
        view: &ProfileView,
        server: &ServerName,
        caller: &Caller,
    ) -> Result<Option<ServerLease>, FleetError> {
        self.fleet.lease_at_epoch(view.epoch, server, &caller.tenant())
    }

    pub(crate) fn settings(&self) -> Arc<GatewaySettings> {
        self.settings.load_full()
    }

    /// Passes a request to its server and returns the server's answer, which has an id of its own.
    /// Dropping the future cancels the request at the server.
    ///
    /// A step may stop the request with a reason; it never skips or reorders another step.
    pub async fn pass(
        &self,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, GateError> {
        let passed = self.route(GateRequest { frame: request, caller, port: &port }).await;
        passed.map_err(|refusal| refusal.for_revision(caller.revision))
    }

    /// Separates what the gate answers itself from what goes to a server. Everything rare is boxed,
    /// so that the future of an ordinary call stays small.
    async fn route(&self, request: GateRequest<'_>) -> Result<Frame, GateError> {
        let GateRequest { frame, caller, .. } = request;
        if frame.method().is_some_and(|method| method.starts_with("tasks/")) {
            let answer = sanitize::small(Box::pin(self.handle_task_request(request)).await?);
            return Ok(self.limit_result(&self.view(caller), frame, caller, answer).await);
        }
        let view = self.view(caller);
        if frame.is(skills::LIST) && view.skill_servers.len() > 1 {
            return Box::pin(self.list_skills(&view, request)).await;
        }
        if own_tools::is_own_tool_call(&view, frame) {
            return Box::pin(self.call_own_tool(&view, request)).await;
        }
        if results::reads_kept_result(&view, frame) {
            return Box::pin(self.read_kept(&view, frame, caller)).await;
        }
        self.pass_to_server(&view, request).await
    }

    pub(crate) async fn pass_to_server(
        &self,
        view: &Arc<ProfileView>,
        request: GateRequest<'_>,
    ) -> Result<Frame, GateError> {
        let GateRequest { frame, caller, port } = request;
        self.check_profile_exists(view)?;
        let mut resolved = resolve::capability(view, frame)?; // exposed name to capability id
        let Some(lease) = self.lease_server(view, &resolved.id.server, caller)? else {
            return self.pass_again(request).await;
        };
        let refreshed = match resolved.id.kind {
            CapabilityKind::Method => {
                Box::pin(self.refresh_all_if_stale(&resolved.id, frame, &lease, view, caller)).await
            }
            _ => self.refresh_if_stale(&resolved.id, &lease, view, caller).await,
        };
        if let Some(view) = &refreshed.view {
            resolved = resolve::capability(view, frame)?;
            if resolved.id.server != *lease.server() {
                return self.pass_again(request).await;
            }
        }
        let view = refreshed.view.as_ref().unwrap_or(view);
        let (id, params) = (&resolved.id, &RequestParams::of(frame));
        let (number, stale) = (self.next_call(), refreshed.failure.as_deref());
        let context = CallContext { view, request: frame, id, caller, port, number, stale, params };
        let misfit = arguments::check_arguments(view, id, frame, caller, &self.slow_checks);
        if let Some(stopped) = misfit.await {
            self.record_misfit(&context);
            return stopped; // against the server's own schema
        }
        match self.decide_and_send(context, resolved.rename, lease).await {
            Err(CallError::Replaced(_)) => self.pass_again(request).await,
            answer => answer.or_else(|stop| stop.answer(&context)),
        }
    }

    /// Decides a request again, because its server was redeclared or replaced since.
    fn pass_again<'a>(
        &'a self,
        request: GateRequest<'a>,
    ) -> BoxFuture<'a, Result<Frame, GateError>> {
        Box::pin(self.route(request))
    }

    /// Decides a request and sends it if it passes.
    pub(crate) async fn decide_and_send(
        &self,
        context: CallContext<'_>,
        rename: Option<(Span, Bytes)>,
        lease: ServerLease,
    ) -> Result<Frame, CallError> {
        self.queue.check_room()?; // before a person is asked
        let call = context.require_target()?;
        let CallDecision { outcome, because, .. } = self.evaluate_policy(&call)?; // the rules first
        let Some(via) = outcome.via().filter(|via| *via != ApprovalChannel::Client) else {
            return self.send(&call, &because, rename, lease).await;
        };
        drop(lease); // a person may take a long time
        Box::pin(async {
            let because = self.await_approval(&call, &because, via).await?; // then a person
            let (view, lease) = loop {
                let view = self.recheck_approved(&call).await?; // the wait may have been long
                if let Some(lease) = self.lease_server(&view, &context.id.server, context.caller)? {
                    break (view, lease);
                }
            };
            let call = CallContext { view: &view, ..context }.require_target()?;
            self.send(&call, &because, rename, lease).await
        })
        .await
    }

    async fn send(
        &self,
        call: &CallTarget<'_>,
        because: &str,
        rename: Option<(Span, Bytes)>,
        lease: ServerLease,
    ) -> Result<Frame, CallError> {
        let CallContext { view, request, id, caller, port, .. } = call.context;
        let permit = self.queue.admit(caller, &lease).await?;
        let record = self.record_intent(call, because).await?; // before anything is sent
        let asks = self.guard_interactor(&lease, port.clone()); // limits the server's questions
        let outbound = OutboundRequest { frame: request.clone(), rename, interactor: asks.clone() };
        let repeatable = || call.attributes.read_only || call.attributes.idempotent;
        let (tool, pool, outbound, repeatable) = (id, &*lease, &outbound, &repeatable);
        let sent = OutboundCall { tool, pool, caller, outbound, repeatable, permit };
        let answer = self.dispatch(view, sent).await; // the only place that sends
        record.finish(&answer);
        if answer.is_ok() && !call.is_trusted() {
            self.taint(caller).raise(); // results of untrusted servers taint the caller
        }
        let method = &request.method().unwrap_or_default();
        let id = (id.kind != CapabilityKind::Method).then_some(id);
        let response = ResponseContext { view, caller, pool, method, id };
        let answer = response.present(answer?); // in the caller's revision
        let answer = server_questions::reject_unsafe_urls(lease.server(), answer);
        let answer = sanitize::answer(answer).await; // without hidden text
        let answer = asks.declined.explain(request, answer); // names the declined questions
        Ok(self.limit_result(view, request, caller, answer).await) // within the profile's limit
    }

    async fn dispatch(
        &self,
        view: &ProfileView,
        call: OutboundCall<'_>,
    ) -> Result<Frame, CallError> {
        let (request, uri, caller) = (&call.outbound.frame, &call.tool.name, call.caller.id);
        let done = || own_response(b"{}").map_err(CallError::from);
        // Many callers share one subscription, so the pool decides whether the server needs a request.
        if request.is(method::RESOURCES_SUBSCRIBE) {
            Box::pin(call.pool.subscribe(uri, caller)).await?;
            return done();
        }
        if request.is(method::RESOURCES_UNSUBSCRIBE) {
            Box::pin(call.pool.unsubscribe(uri, caller)).await?;
            return done();
        }
        if request.is(method::TOOLS_CALL)
            && let Some(mode) = view.task_servers.mode(call.tool)
        {
            return Box::pin(call.run(mode, &self.tasks)).await;
        }
        Ok(call.pool.call(call.outbound, call.repeatable).await?)
    }

    /// Waits briefly after the start for servers without a known catalog. Later calls return at
    /// once. Servers known from an earlier run are not waited for, even if they failed then.
    pub async fn await_start(&self) {
        let patience = self.started + START_GRACE;
        if Instant::now() < patience {
            let _ = tokio::time::timeout_at(patience, self.fleet.wait_discovered()).await;
        }
    }

    /// Returns the rendered `result` of a list for this caller, from what is known now. Later
    /// changes are announced.
    pub async fn list(&self, kind: CapabilityKind, caller: &Caller) -> Bytes {
        self.await_start().await;
        self.render_list(kind, caller, self.is_settled_for(caller))
    }

    /// Returns an error if the profile of the view was removed.
    pub(crate) fn check_profile_exists(&self, view: &ProfileView) -> Result<(), GateError> {
        match view.profile_definition() {
            Some(_) => Ok(()),
            None => {
                let now = self.settings();
                Err(settings::unknown_profile(&now.profiles, &view.profile, " any more"))
            }
        }
    }

    /// Returns true if the caller may cache its lists. Legacy callers are notified of changes, so
    /// for them it does not matter.
    fn is_settled_for(&self, caller: &Caller) -> bool {
        caller.revision.era() == Era::Legacy || self.fleet.discovery() == DiscoveryStatus::Completed
    }

    /// Returns the URI under which the caller reads a resource of one server, listed or not; `None`
    /// if the caller cannot reach the server. `uri` is the server's own or an exposed one. The
    /// result stays valid if another server offers the same URI later.
    pub fn uri_of(&self, caller: &Caller, server: &ServerName, uri: &str) -> Option<String> {
        let view = self.view(caller);
        let own = match view.names().find_uri_owner(uri) {
            UriOwner::Server { server: owner, uri: own } if owner == server => own,
            _ => uri.into(),
        };
        view.names().tagged_uri(server, &own)
    }

    /// Returns the arguments that a modern request must repeat in headers for the tool it calls;
    /// `None` for most tools, and for tools that are not in this caller's list, because the client
    /// does not have their definitions.
    pub fn header_rules(&self, caller: &Caller, request: &Frame) -> Option<Arc<[ArgumentHeader]>> {
        let view = self.view(caller);
        let (tool, rules) = view.header_rules(request)?;
        self.lists_tool(caller, &view, tool).then(|| rules.clone())
    }

    /// Returns the raw capabilities that the gateway declares to this caller.
    pub fn capabilities(&self, caller: &Caller) -> Bytes {
        self.view(caller).capabilities(caller.revision)
    }

    /// Returns the servers' instructions for this caller's model.
    pub fn instructions(&self, caller: &Caller) -> Option<String> {
        self.view(caller).instructions.clone()
    }

    /// Returns the configured roots as a `roots/list` result; `None` if there are none.
    pub fn roots(&self) -> Option<Bytes> {
        self.fleet.roots()
    }

    /// Sets the minimum level of server log messages for a caller.
    pub fn set_level(&self, caller: CallerId, level: LogLevel) {
        self.fleet.set_level(caller, level);
    }

    /// Releases everything held for a caller that is gone.
    pub fn release(&self, caller: CallerId) {
        self.fleet.release_caller(caller);
        let own = self.own_servers();
        self.tasks.release(caller, |server| own.contains(server));
        self.caller_states.release(caller);
    }

    /// Returns true if a task runs on a connection of this caller alone, which would end with the
    /// caller. A task that was not queried for an hour does not count.
    pub fn has_open_tasks(&self, caller: CallerId) -> bool {
        if !self.fleet.has_per_caller_servers() {
            return false;
        }
        let own = self.own_servers();
        self.tasks.has_open(caller, |server| own.contains(server))
    }

    /// Returns the servers with one connection per caller.
    fn own_servers(&self) -> HashSet<ServerName> {
        let own = |status: &ServerStatus| status.spec.pool == PoolScope::PerCaller;
        self.fleet.status().into_iter().filter(own).map(|it| it.spec.name.clone()).collect()
    }

    /// Subscribes to events outside any call.
    pub fn events(&self) -> broadcast::Receiver<GateEvent> {
        self.events.subscribe()
    }
}

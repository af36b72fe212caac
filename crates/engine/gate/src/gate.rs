//! The gate itself, and the order of its steps.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;
use toolgate_fleet::{Applied, Fleet, FleetError, Member, ServerStatus, Visit};
use toolgate_model::{CapabilityId, CapabilityKind, Discovery, Governance, PoolScope, ServerName};
use toolgate_naming::Located;
use toolgate_session::{Interactor, Outbound};
use toolgate_wire::mirror::Rule;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{Era, Frame, Span, method};

use crate::admit::Queue;
use crate::asks::{self, Samplings};
use crate::books::Books;
use crate::decide::{Matter, Ruling, Subject};
use crate::events::{self, GateEvent};
use crate::finder::Finder;
use crate::governing::Governing;
use crate::params::Params;
use crate::pinned::Pinned;
use crate::present::Exchange;
use crate::refusal::Stop;
use crate::resolve::{self, Resolved};
use crate::results::{self, Keeping};
use crate::seats::Seats;
use crate::taint::Taints;
use crate::tasks::{self, Call, Ledger};
use crate::view::View;
use crate::{
    Caller, CallerId, Manner, Refusal, arguments, extension, manner, own, subscriptions, text,
};

/// How long after the start callers wait for servers of which nothing is known yet. Many clients
/// list once, so what is up at once should be in their first list; a slower server delays nobody.
const START_GRACE: Duration = Duration::from_millis(500);
/// How many events may wait for a slow listener before it misses some.
const EVENTS: usize = 1024;

/// The one way from a caller to a server.
pub struct Gate {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) tasks: Ledger,
    manner: ArcSwap<Manner>,
    pub(crate) queue: Queue,
    slow_checks: Semaphore,
    pub(crate) seats: Seats,
    pub(crate) finder: Finder,
    pub(crate) results: Keeping,
    pub(crate) events: broadcast::Sender<GateEvent>,
    pub(crate) governing: ArcSwap<Governing>,
    pub(crate) pinned: Pinned,
    pub(crate) samplings: Arc<Samplings>,
    pub(crate) books: OnceLock<Books>,
    pub(crate) taints: Taints,
    /// How many requests were numbered for the journal.
    pub(crate) calls: AtomicU64,
    started: Instant,
    pub(crate) me: Weak<Self>,
}

impl Gate {
    /// A gate before this fleet.
    pub fn new(fleet: Arc<Fleet>, manner: impl Into<Manner>) -> Arc<Self> {
        let manner = ArcSwap::from_pointee(manner.into());
        let gate = Arc::new_cyclic(|me| Self {
            fleet,
            tasks: Ledger::default(),
            manner,
            queue: Queue::default(),
            slow_checks: Semaphore::new(arguments::SLOW_CHECKS),
            seats: Seats::default(),
            finder: Finder::default(),
            results: Keeping::default(),
            events: broadcast::channel(EVENTS).0,
            governing: ArcSwap::default(),
            pinned: Pinned::default(),
            samplings: Arc::default(),
            books: OnceLock::new(),
            taints: Taints::default(),
            calls: AtomicU64::new(0),
            started: Instant::now(),
            me: me.clone(),
        });
        let (fleet_events, out) = (gate.fleet.events(), gate.events.clone());
        tokio::spawn(events::translate(Arc::downgrade(&gate), fleet_events, out));
        gate
    }

    /// Shows everything in this manner from now on. Callers whose profile is gone see nothing, and
    /// are told so: they chose to see no more than that.
    pub fn restyle(&self, manner: impl Into<Manner>) {
        let manner = manner.into();
        if **self.manner.load() != manner {
            self.manner.store(Arc::new(manner));
            self.fleet.renew();
        }
    }

    /// Takes other servers, another manner and other rules, all of them at once: no request ever
    /// sees new servers under old rules.
    pub async fn apply(
        &self,
        members: Vec<Member>,
        manner: impl Into<Manner>,
        said: &Governance,
    ) -> Applied {
        let (manner, governing) = (manner.into(), self.governing_of(said));
        let store = || {
            let restyled = **self.manner.load() != manner;
            if restyled {
                self.manner.store(Arc::new(manner));
            }
            let governed = governing.is_some();
            if let Some(governing) = governing {
                self.governing.store(governing);
            }
            restyled || governed
        };
        self.fleet.apply_with(members, store).await
    }

    /// The connection a server is called on; `None` if servers were declared anew since the view was
    /// made, so that the call must be decided about anew.
    pub(crate) fn visit(
        &self,
        view: &View,
        server: &ServerName,
        caller: &Caller,
    ) -> Result<Option<Visit>, FleetError> {
        self.fleet.visit_as_of(view.epoch, server, &caller.tenant())
    }

    pub(crate) fn manner(&self) -> Arc<Manner> {
        self.manner.load_full()
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
        let passed = self.pass_steps(request, caller, port).await;
        passed.map_err(|refusal| refusal.fitted(caller.revision)) // in words of his revision
    }

    async fn pass_steps(
        &self,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        match request.method().as_deref() {
            // Boxed, as everything rare on this way: what every call carries stays small.
            Some(method) if tasks::concerns(method) => {
                let answer = text::small(Box::pin(self.task(request, caller, port)).await?);
                return Ok(self.bounded(&self.view(caller), request, caller, answer).await);
            }
            Some(method) if extension::concerns(method) => {
                return Box::pin(self.pass_extension(request, caller, port)).await;
            }
            _ => {}
        }
        let view = self.view(caller);
        if own::concerns(&view, request) {
            return Box::pin(self.pass_own(&view, request, caller, port)).await;
        }
        if results::concerns(&view, request) {
            return Box::pin(self.read_kept(&view, request, caller)).await;
        }
        self.pass_to_server(&view, request, caller, port).await
    }

    pub(crate) async fn pass_to_server(
        &self,
        view: &Arc<View>,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        self.still_there(view)?; // the profile
        let mut resolved = resolve::capability(view, request)?; // name -> identity
        // A server that is replaced meanwhile ends after this call.
        let Some(visit) = self.visit(view, &resolved.id.server, caller)? else {
            let view = self.view(caller);
            return Box::pin(self.pass_to_server(&view, request, caller, port)).await;
        };
        let renewed = self.renewed(&resolved.id, &visit, view, caller).await; // recently read
        if let Some(now) = &renewed.view {
            resolved = resolve::capability(now, request)?;
            if resolved.id.server != *visit.server() {
                return Box::pin(self.pass_to_server(now, request, caller, port)).await;
            }
        }
        let (view, Resolved { id, rename }) = (renewed.view.as_ref().unwrap_or(view), resolved);
        let (number, stale) = (self.next_call(), renewed.failure.as_deref());
        let (port, params) = (&port, &Params::of(request));
        let matter = Matter { view, request, id: &id, caller, port, number, stale, params };
        let misfit = arguments::misfit(view, &id, request, caller, &self.slow_checks);
        if let Some(stopped) = misfit.await {
            self.record_misfit(&matter);
            return stopped; // against the original schema
        }
        match self.carry(matter, rename, visit).await {
            // Another server stands there now: nothing was decided about that one.
            Err(Stop::Replaced(_)) => {
                let view = self.view(caller);
                Box::pin(self.pass_to_server(&view, request, caller, port.clone())).await
            }
            answer => answer.or_else(|stop| stop.answer(&matter)),
        }
    }

    /// Decides about a request, and sends it if it passes.
    pub(crate) async fn carry(
        &self,
        matter: Matter<'_>,
        rename: Option<(Span, Bytes)>,
        visit: Visit,
    ) -> Result<Frame, Stop> {
        self.queue.has_room()?; // before anybody is asked
        let subject = matter.known()?;
        let ruling = self.ruled(&matter, &subject)?; // the rules first
        let Some(via) = ruling.asks else {
            return self.send(matter, &subject, &ruling, rename, visit).await;
        };
        drop(visit); // a person may take his time
        Box::pin(async {
            let ruling = self.approved(&matter, &subject, ruling, via).await?; // then a person
            let (view, visit) = loop {
                let view = self.still_holds(&matter, &subject).await?; // the wait may have been long
                if let Some(visit) = self.visit(&view, &matter.id.server, matter.caller)? {
                    break (view, visit);
                }
            };
            let matter = Matter { view: &view, ..matter };
            let subject = matter.known()?;
            self.send(matter, &subject, &ruling, rename, visit).await
        })
        .await
    }

    async fn send(
        &self,
        matter: Matter<'_>,
        subject: &Subject<'_>,
        ruling: &Ruling,
        rename: Option<(Span, Bytes)>,
        visit: Visit,
    ) -> Result<Frame, Stop> {
        let Matter { view, request, id, caller, .. } = matter;
        let place = self.queue.admit(caller, &visit).await?; // in his turn
        let intent = self.intended(&matter, subject, ruling).await?; // on record before it leaves
        let asks = self.guarded(&visit, matter.port.clone()); // what the server may ask meanwhile
        let outbound = Outbound { frame: request.clone(), rename, port: asks.clone() };
        let repeatable = || subject.marks.read_only || subject.marks.idempotent;
        let (tool, pool, outbound, repeatable) = (id, &*visit, &outbound, &repeatable);
        let call = Call { tool, pool, caller, outbound, repeatable, place };
        let answer = self.dispatch(view, call).await; // the only send
        intent.over(&answer);
        if answer.is_ok() && !subject.is_trusted() {
            self.taint(caller).raise(); // results of untrusted servers taint the caller
        }
        let exchange = Exchange { view, caller, pool, request, id: matter.named() };
        let answer = exchange.present(answer?); // as this caller must see it
        let answer = text::answer(asks::vetted(&id.server, answer)).await; // nothing hidden in it
        let answer = asks.declined.explain(request, answer); // and what nobody was asked
        Ok(self.bounded(view, request, caller, answer).await) // and as much as he takes
    }

    async fn dispatch(&self, view: &View, call: Call<'_>) -> Result<Frame, Stop> {
        let request = &call.outbound.frame;
        if subscriptions::concerns(request) {
            let subscribed = subscriptions::pass(call.pool, &call.tool.name, call.caller, request);
            return Ok(Box::pin(subscribed).await?);
        }
        if request.is(method::TOOLS_CALL)
            && let Some(manner) = view.tasked.manner(call.tool)
        {
            return Box::pin(call.run(manner, &self.tasks)).await;
        }
        Ok(call.pool.call(call.outbound, call.repeatable).await?)
    }

    /// Waits a moment right after the start for servers that were never seen before. Nobody waits
    /// later, and servers known from an earlier run are never waited for, nor those that did not
    /// come up then.
    pub async fn await_start(&self) {
        let patience = self.started + START_GRACE;
        if Instant::now() < patience {
            let _ = tokio::time::timeout_at(patience, self.fleet.first_seen()).await;
        }
    }

    /// The prepared `result` of a list, as this caller sees it: what is known now. Whoever has it is
    /// told when more becomes known.
    pub async fn list(&self, kind: CapabilityKind, caller: &Caller) -> Bytes {
        self.await_start().await;
        self.prepared(kind, caller, self.is_settled_for(caller))
    }

    /// A profile that was taken away from those who have it.
    pub(crate) fn still_there(&self, view: &View) -> Result<(), Refusal> {
        match view.declared() {
            Some(_) => Ok(()),
            None => Err(manner::unknown(&self.manner().profiles, view.profile(), " any more")),
        }
    }

    /// Whether what this caller is shown is there to stay. Legacy callers are told of changes
    /// anyway, and nobody looks.
    fn is_settled_for(&self, caller: &Caller) -> bool {
        caller.revision.era() == Era::Legacy || self.fleet.discovery() == Discovery::Completed
    }

    /// The name this caller knows a capability by; `None` if he does not see it.
    pub fn name_of(&self, caller: &Caller, id: &CapabilityId) -> Option<String> {
        self.view(caller).names().name_of(id).map(str::to_owned)
    }

    /// The URI by which this caller reads a resource of one server, listed or not; `None` if the
    /// caller cannot reach the server. `uri` is the server's own or an exposed one. The answer stays
    /// right when another server offers the same URI later.
    pub fn uri_of(&self, caller: &Caller, server: &ServerName, uri: &str) -> Option<String> {
        let view = self.view(caller);
        match view.names().locate(uri) {
            Located::At { server: owner, uri } if owner == server => {
                view.names().tagged(server, &uri)
            }
            _ => view.names().tagged(server, uri),
        }
    }

    /// The arguments of the tool a request calls that a modern request repeats in headers; `None`
    /// for nearly every tool there is, and for those that are not in this caller's list: what he was
    /// not sent, his client cannot follow.
    pub fn mirrored(&self, caller: &Caller, request: &Frame) -> Option<Arc<[Rule]>> {
        let view = self.view(caller);
        let (tool, rules) = view.mirrored(request)?;
        self.lists_tool(caller, &view, tool).then(|| rules.clone())
    }

    /// What the gateway declares to this caller, raw.
    pub fn capabilities(&self, caller: &Caller) -> Bytes {
        self.view(caller).capabilities(caller.revision)
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
        let own = self.own_servers();
        self.tasks.release(caller, |server| own.contains(server));
        self.seats.release(caller);
    }

    /// Whether a task runs on a connection that is this caller's alone and would end with him.
    /// One that nobody has asked after for an hour does not count.
    pub fn holds_tasks(&self, caller: CallerId) -> bool {
        if !self.fleet.has_own_servers() {
            return false;
        }
        let own = self.own_servers();
        self.tasks.has_open(caller, |server| own.contains(server))
    }

    /// The servers that are connected for each caller anew.
    fn own_servers(&self) -> HashSet<ServerName> {
        let own = |status: &ServerStatus| status.spec.pool == PoolScope::PerCaller;
        self.fleet.status().into_iter().filter(own).map(|it| it.spec.name.clone()).collect()
    }

    /// What happens outside any call, from now on.
    pub fn events(&self) -> broadcast::Receiver<GateEvent> {
        self.events.subscribe()
    }
}

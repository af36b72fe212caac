//! The gate as the gateway sees it: the one seam between the two.
//!
//! Futures own what they need, so that a call can outlive the connection that brought it; the box
//! around [`Upstreams::pass`] is the only one a call costs here.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::broadcast;
use toolgate_host::Gate;
use toolgate_host::keys::Keyring;
use toolgate_model::CapabilityKind;
use toolgate_wire::Frame;
use toolgate_wire::mirror::Rule;
use toolgate_wire::view::LogLevel;

pub(crate) use toolgate_host::{
    Answer, AskKind, Caller, CallerId, CallerScope as Scope, Client, GateEvent, Interactor,
    Question, Refusal,
};

/// Everything a downstream session needs of the servers behind the gate.
pub(crate) trait Upstreams: Send + Sync {
    /// Takes a request that concerns a server. Dropping the future cancels it upstream.
    fn pass(
        self: Arc<Self>,
        request: Frame,
        caller: Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> BoxFuture<'static, Result<Frame, Refusal>>;

    /// The profile of such a client: the one that was asked for, else the one that is configured
    /// for it.
    fn choose(&self, asked: Option<&str>, client: &Client) -> Result<Arc<str>, Refusal>;

    /// The prepared `result` of a list request.
    fn list(
        self: Arc<Self>,
        kind: CapabilityKind,
        caller: Arc<Caller>,
    ) -> BoxFuture<'static, Bytes>;

    /// Waits a moment right after the start, so that the first clients are told of servers that are
    /// up at once.
    fn await_start(&self) -> BoxFuture<'_, ()>;

    /// The raw `capabilities` of the answer to `initialize`.
    fn capabilities(&self, caller: &Caller) -> Bytes;

    /// The `instructions` of the answer to `initialize`.
    fn instructions(&self, caller: &Caller) -> Option<String>;

    /// The arguments of the called tool that a modern HTTP request repeats in headers.
    fn mirrored(&self, caller: &Caller, request: &Frame) -> Option<Arc<[Rule]>>;

    /// Whether this caller has something under way that would be lost with him.
    fn holds_tasks(&self, caller: CallerId) -> bool;

    /// The configured roots as a `roots/list` result, if there are any.
    fn roots(&self) -> Option<Bytes>;

    /// The least level of log messages this caller wants.
    fn set_level(&self, caller: CallerId, level: LogLevel);

    /// Has a task reported on; `false` if it is not this caller's.
    fn watch_task(&self, caller: &Caller, task: &str) -> bool;

    /// The caller is gone.
    fn release(&self, caller: CallerId);

    /// The keys by which callers over HTTP are known; none where nobody keeps any.
    fn keys(&self) -> Option<&Arc<Keyring>>;

    /// Whether callers over HTTP must have a key, also on this machine.
    fn requires_key(&self) -> bool;

    /// What happens outside any call.
    fn events(&self) -> broadcast::Receiver<GateEvent>;
}

impl Upstreams for Gate {
    fn pass(
        self: Arc<Self>,
        request: Frame,
        caller: Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> BoxFuture<'static, Result<Frame, Refusal>> {
        Box::pin(async move { Gate::pass(&self, &request, &caller, port).await })
    }

    fn choose(&self, asked: Option<&str>, client: &Client) -> Result<Arc<str>, Refusal> {
        Gate::choose(self, asked, client)
    }

    fn list(
        self: Arc<Self>,
        kind: CapabilityKind,
        caller: Arc<Caller>,
    ) -> BoxFuture<'static, Bytes> {
        Box::pin(async move { Gate::list(&self, kind, &caller).await })
    }

    fn await_start(&self) -> BoxFuture<'_, ()> {
        Box::pin(Gate::await_start(self))
    }

    fn capabilities(&self, caller: &Caller) -> Bytes {
        Gate::capabilities(self, caller)
    }

    fn instructions(&self, caller: &Caller) -> Option<String> {
        Gate::instructions(self, caller)
    }

    fn mirrored(&self, caller: &Caller, request: &Frame) -> Option<Arc<[Rule]>> {
        Gate::mirrored(self, caller, request)
    }

    fn holds_tasks(&self, caller: CallerId) -> bool {
        Gate::holds_tasks(self, caller)
    }

    fn roots(&self) -> Option<Bytes> {
        Gate::roots(self)
    }

    fn set_level(&self, caller: CallerId, level: LogLevel) {
        Gate::set_level(self, caller, level);
    }

    fn watch_task(&self, caller: &Caller, task: &str) -> bool {
        Gate::watch_task(self, caller, task)
    }

    fn release(&self, caller: CallerId) {
        Gate::release(self, caller);
    }

    fn keys(&self) -> Option<&Arc<Keyring>> {
        Gate::keys(self)
    }

    fn requires_key(&self) -> bool {
        Gate::requires_key(self)
    }

    fn events(&self) -> broadcast::Receiver<GateEvent> {
        Gate::events(self)
    }
}

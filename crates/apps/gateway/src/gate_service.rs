//! The interface between the gateway and the gate.
//!
//! Futures own what they need, so that a call can outlive the connection that brought it. The box
//! around [`GateService::pass`] is the only allocation of that kind per call.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::broadcast;
use toolgate_host::Gate;
use toolgate_host::keys::Keyring;
use toolgate_model::CapabilityKind;
use toolgate_wire::Frame;
use toolgate_wire::mcp_headers::ArgumentHeader;
use toolgate_wire::view::LogLevel;

pub(crate) use toolgate_host::{
    Answer, Caller, CallerId, CallerScope, Client, GateError, GateEvent, Interactor, Question,
    QuestionKind,
};

/// The gate, as the gateway uses it. Tests replace it by a scripted one.
pub(crate) trait GateService: Send + Sync {
    /// Passes a request to the server it concerns. Dropping the future cancels the request there.
    fn pass(
        self: Arc<Self>,
        request: Frame,
        caller: Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> BoxFuture<'static, Result<Frame, GateError>>;

    /// Returns the profile of a client: the requested one, otherwise the one configured for the
    /// client.
    fn choose_profile(&self, asked: Option<&str>, client: &Client) -> Result<Arc<str>, GateError>;

    /// Returns the prepared `result` of a list request.
    fn list(
        self: Arc<Self>,
        kind: CapabilityKind,
        caller: Arc<Caller>,
    ) -> BoxFuture<'static, Bytes>;

    /// Waits briefly after startup, so that the first clients see the servers that start quickly.
    fn await_start(&self) -> BoxFuture<'_, ()>;

    /// Returns the raw `capabilities` of the answer to `initialize`.
    fn capabilities(&self, caller: &Caller) -> Bytes;

    /// Returns the `instructions` of the answer to `initialize`.
    fn instructions(&self, caller: &Caller) -> Option<String>;

    /// Returns the arguments of the called tool that a modern HTTP request repeats in headers.
    fn header_rules(&self, caller: &Caller, request: &Frame) -> Option<Arc<[ArgumentHeader]>>;

    /// Returns true if the caller has open tasks, which would be lost if the caller were released.
    fn has_open_tasks(&self, caller: CallerId) -> bool;

    /// Returns the configured roots as a `roots/list` result, if any are configured.
    fn roots(&self) -> Option<Bytes>;

    /// Sets the lowest level of log messages that the caller wants.
    fn set_level(&self, caller: CallerId, level: LogLevel);

    /// Starts status notifications for a task. Returns false if the task is not the caller's.
    fn watch_task(&self, caller: &Caller, task: &str) -> bool;

    /// Releases everything the gate keeps for a caller that is gone.
    fn release(&self, caller: CallerId);

    /// Returns the keyring that identifies callers over HTTP, if there is one.
    fn keys(&self) -> Option<&Arc<Keyring>>;

    /// Returns true if callers over HTTP must present a key, even from this machine.
    fn requires_key(&self) -> bool;

    /// Subscribes to the events that happen outside of calls.
    fn events(&self) -> broadcast::Receiver<GateEvent>;
}

impl GateService for Gate {
    fn pass(
        self: Arc<Self>,
        request: Frame,
        caller: Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> BoxFuture<'static, Result<Frame, GateError>> {
        Box::pin(async move { Gate::pass(&self, &request, &caller, port).await })
    }

    fn choose_profile(&self, asked: Option<&str>, client: &Client) -> Result<Arc<str>, GateError> {
        Gate::choose_profile(self, asked, client)
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

    fn header_rules(&self, caller: &Caller, request: &Frame) -> Option<Arc<[ArgumentHeader]>> {
        Gate::header_rules(self, caller, request)
    }

    fn has_open_tasks(&self, caller: CallerId) -> bool {
        Gate::has_open_tasks(self, caller)
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

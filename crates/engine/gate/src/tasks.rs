//! Tasks: calls that continue after their first answer and are polled.
//!
//! There are two formats: that of 2025-11-25, and that of the extension to 2026-07-28. If caller
//! and server use the same, messages pass unchanged and the gate only remembers the owner.
//! Otherwise the gate converts, in one file per pairing. For callers that know neither, the gate
//! waits for the task as for an ordinary call (`wait.rs`).
//!
//! The gate itself runs nothing. A task lives at its server; the gate never starts one twice, and
//! forgets it when it expires.

mod call;
mod extension_on_session;
mod methods;
mod notifications;
mod outcome;
mod presentation;
mod progress;
mod questions;
mod session_on_extension;
mod table;
mod task;
mod task_servers;
mod upstream;
mod wait;

use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use toolgate_bridge::tasks;
use toolgate_model::ErrorCode;
use toolgate_model::time::rfc3339_from_time;
use toolgate_session::{CapabilityOverrideInteractor, Interactor};
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, code};

pub(crate) use call::OutboundCall;
pub(crate) use table::TaskTable;
pub(crate) use task_servers::TaskCapableServers;

use crate::GateError;
use crate::present::{own_frame, own_response};

/// Returns the current time as tasks write it: RFC 3339, UTC.
pub(crate) fn now() -> String {
    rfc3339_from_time(SystemTime::now())
}

/// Returns an interactor that also declares the tasks extension. A modern server creates tasks only
/// for clients that declare it, so the gate does when it handles tasks for a caller.
fn task_aware(inner: Arc<dyn Interactor>) -> Arc<dyn Interactor> {
    let capabilities = tasks::declare_extension(&inner.capabilities());
    Arc::new(CapabilityOverrideInteractor { inner, capabilities })
}

/// Returns an error object as a response.
fn error_response(error: &[u8]) -> Result<Frame, GateError> {
    own_frame([br#"{"jsonrpc":"2.0","id":0,"error":"#, error, b"}"].concat().into())
}

/// Converts a server's error to a request that the gate wrote.
fn server_error(error: &[u8]) -> GateError {
    let error = RpcError::of(error);
    let error = error.as_ref();
    let code = error.and_then(|error| i32::try_from(error.code?).ok());
    let of_our_hop = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    let message = error.and_then(|error| error.message.as_deref()).unwrap_or_default();
    GateError {
        rpc_code: code.filter(|code| !of_our_hop.contains(code)).unwrap_or(code::INTERNAL_ERROR),
        data: error.and_then(|error| error.data.map(Bytes::copy_from_slice)),
        ..GateError::new(ErrorCode::CallServerError, message)
    }
}

/// Returns the error for a modern caller that did not declare the extension.
fn missing() -> GateError {
    let message = "this needs a client that declares the tasks extension";
    let error = GateError::new(ErrorCode::CallClientCapability, message);
    GateError { data: Some(tasks::missing_capability_data()), ..error }
}

fn method_not_found(name: &str) -> GateError {
    GateError::new(ErrorCode::CallMethod, format!("Method not found: {name}"))
}

fn unreadable() -> GateError {
    GateError::new(ErrorCode::CallBadAnswer, "cannot read the server's task")
}

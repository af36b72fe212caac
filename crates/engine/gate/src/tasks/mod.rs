//! Tasks: a call that goes on after it was answered, and is asked after later.
//!
//! There are two forms, that of 2025-11-25 and the extension's to 2026-07-28. Where caller and
//! server speak the same, everything passes as it came; the gate only remembers whose task it is.
//! Where they do not, the gate keeps the difference: one file per pairing. For callers who know
//! neither, a task is waited for like an ordinary call (`finish.rs`).
//!
//! Absent on purpose: running anything. A task lives at its server; the gate never starts one
//! twice, and forgets it when its time is over.

mod call;
pub(crate) mod clock;
mod extension_on_session;
mod facts;
mod finish;
mod inbox;
mod ledger;
mod methods;
mod news;
mod outcome;
mod port;
mod progress;
mod session_on_extension;
mod show;
mod task;
mod upstream;

use bytes::Bytes;
use toolgate_bridge::tasks;
use toolgate_wire::view::RpcError;
use toolgate_wire::{Frame, code};

pub(crate) use call::Call;
pub(crate) use facts::Tasked;
pub(crate) use ledger::Ledger;

use crate::Refusal;
use crate::present::own_frame;

/// Whether a method is about tasks.
pub(crate) fn concerns(method: &str) -> bool {
    method.starts_with("tasks/")
}

/// An error object as an answer.
fn failed(error: &[u8]) -> Result<Frame, Refusal> {
    own_frame([br#"{"jsonrpc":"2.0","id":0,"error":"#, error, b"}"].concat().into())
}

/// A server's error to a request the gate wrote, as a refusal.
fn reworded(error: &[u8]) -> Refusal {
    let told = RpcError::of(error);
    let told = told.as_ref();
    let code = told.and_then(|error| i32::try_from(error.code?).ok());
    let of_our_hop = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    Refusal {
        code: code.filter(|code| !of_our_hop.contains(code)).unwrap_or(code::INTERNAL_ERROR),
        message: told
            .and_then(|error| error.message.as_deref().map(str::to_owned))
            .unwrap_or_default(),
        data: told.and_then(|error| error.data.map(Bytes::copy_from_slice)),
    }
}

/// A modern caller did not declare the extension.
fn missing() -> Refusal {
    Refusal {
        code: code::MISSING_CLIENT_CAPABILITY,
        message: "this needs a client that declares the tasks extension".into(),
        data: Some(tasks::missing_capability()),
    }
}

fn no_method(name: &str) -> Refusal {
    let message = format!("Method not found: {name}");
    Refusal { code: code::METHOD_NOT_FOUND, message, data: None }
}

fn unreadable() -> Refusal {
    let message = "failed to read the server's task".into();
    Refusal { code: code::INTERNAL_ERROR, message, data: None }
}

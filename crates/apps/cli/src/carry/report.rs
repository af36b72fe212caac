//! What could not be carried, as it is told to people and to programs.

use serde::Serialize;
use toolgate_host::config::Loss;

use crate::out::{self, visible};

/// Something that is not said any more.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct Lost {
    /// Of which server; none: of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Which field.
    pub field: String,
    /// Why.
    pub why: String,
}

impl Lost {
    /// Something of this server that is not carried.
    pub fn of(server: &str, field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { server: Some(server.to_owned()), field: field.into(), why: why.into() }
    }
}

impl From<&Loss> for Lost {
    fn from(loss: &Loss) -> Self {
        let server = loss.server.as_ref().map(ToString::to_string);
        Self { server, field: loss.field.clone(), why: loss.why.clone() }
    }
}

/// Says what is lost.
pub fn tell_lost(lost: &[Lost]) {
    for Lost { server, field, why } in lost {
        let of = server.as_ref().map(|server| format!(" of {server}")).unwrap_or_default();
        out::note(&format!("not carried: `{}`{}: {}", visible(field), visible(&of), visible(why)));
    }
}

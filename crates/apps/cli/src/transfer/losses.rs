//! Settings that a conversion between dialects loses, for people and programs.

use serde::Serialize;
use toolgate_host::config::ConversionLoss;

use crate::out::{self, escape_invisible};

/// A setting that is lost in a conversion.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub struct LossJson {
    /// The server, or `None` for a setting of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The field.
    pub field: String,
    /// The reason.
    pub why: String,
}

impl LossJson {
    /// Returns the loss of a field of this server.
    pub fn of(server: &str, field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { server: Some(server.to_owned()), field: field.into(), why: why.into() }
    }
}

impl From<&ConversionLoss> for LossJson {
    fn from(loss: &ConversionLoss) -> Self {
        let server = loss.server.as_ref().map(ToString::to_string);
        Self { server, field: loss.field.clone(), why: loss.why.clone() }
    }
}

/// Prints the losses to stderr.
pub fn print_losses(lost: &[LossJson]) {
    for LossJson { server, field, why } in lost {
        let of = server.as_ref().map(|server| format!(" of {server}")).unwrap_or_default();
        out::note(&format!(
            "not carried: `{}`{}: {}",
            escape_invisible(field),
            escape_invisible(&of),
            escape_invisible(why)
        ));
    }
}

//! Settings that a conversion between dialects loses.

use serde::Serializer;
use serde_json::json;
use toolgate_host::config::ConversionLoss;
use toolgate_model::ServerName;

use crate::out;

/// Returns the loss of a field of this server.
pub fn loss_of(
    server: &ServerName,
    field: impl Into<String>,
    why: impl Into<String>,
) -> ConversionLoss {
    ConversionLoss { server: Some(server.clone()), field: field.into(), why: why.into() }
}

/// Writes losses in their stable JSON form.
pub fn serialize<S: Serializer>(lost: &[ConversionLoss], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lost.iter().map(|ConversionLoss { server, field, why }| match server {
        Some(server) => json!({ "server": server, "field": field, "why": why }),
        None => json!({ "field": field, "why": why }),
    }))
}

/// Prints the losses to stderr.
pub fn print_losses(lost: &[ConversionLoss]) {
    for ConversionLoss { server, field, why } in lost {
        let of = server.as_ref().map(|server| format!(" of {server}")).unwrap_or_default();
        out::note(&format!("not carried: `{field}`{of}: {why}"));
    }
}

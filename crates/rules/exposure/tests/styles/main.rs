//! The manners of naming: as other hosts do it where that is unambiguous, and safe where it is not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

mod awkward;
mod clashes;
mod naive;
mod properties;

use toolgate_exposure::{ExposedNames, NameClaim, NamingOptions, expose};
use toolgate_model::{CapabilityId, CapabilityKind, NamingStyle, ServerName};

fn tool(server: &str, name: &str) -> CapabilityId {
    let server = ServerName::new(server).unwrap();
    CapabilityId { server, kind: CapabilityKind::Tool, name: name.into() }
}

fn style(naming: NamingStyle) -> NamingOptions {
    NamingOptions { naming, ..NamingOptions::default() }
}

/// The names of some tools, whose servers are declared in the order they are first named.
fn exposed(naming: NamingStyle, ids: &[CapabilityId]) -> ExposedNames {
    let claims: Vec<_> = ids.iter().cloned().map(|id| NameClaim { id, alias: None }).collect();
    let mut servers: Vec<_> = Vec::new();
    for id in ids {
        if !servers.contains(&&id.server) {
            servers.push(&id.server);
        }
    }
    expose(&claims, &servers, &style(naming))
}

fn names(naming: NamingStyle, ids: &[CapabilityId]) -> Vec<String> {
    let exposed = exposed(naming, ids);
    ids.iter().map(|id| exposed.name_of(id).unwrap().to_owned()).collect()
}

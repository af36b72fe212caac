//! The words of the domain as plain data: servers, where they were declared, what they offer, how
//! they stand.
//!
//! No IO, no async and no protocol here: a type in this crate can be made, compared and printed,
//! and nothing else. How a server is reached lives in `edges`, what is done with it in `engine`.

mod capability;
mod catalog;
mod diagnostic;
mod digest;
mod invisible;
mod name;
mod origin;
mod prefix;
mod secret;
mod spec;
mod status;

pub use capability::{CapabilityId, CapabilityKind};
pub use catalog::{Catalog, Definition};
pub use diagnostic::{Diagnostic, Severity};
pub use digest::Digest;
pub use invisible::is_invisible;
pub use name::{NameError, ServerName};
pub use origin::{Origin, Scope};
pub use prefix::Prefix;
pub use secret::Secret;
pub use spec::{HttpKind, HttpSpec, PoolScope, ServerSpec, StdioSpec, Timeouts, TransportSpec};
pub use status::{Discovery, Failure, Phase, ServerState};

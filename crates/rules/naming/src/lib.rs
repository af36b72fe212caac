//! Exposed names: what agents see in place of a [`CapabilityId`], and the way back.
//!
//! Names are made here for a whole set of capabilities at once and looked up afterwards; nobody
//! parses them. They depend on the set alone, never on its order. Who may see a capability is
//! decided elsewhere.
//!
//! [`CapabilityId`]: toolgate_model::CapabilityId

mod assign;
mod exposed;
mod names;
mod template;
mod uris;

pub use exposed::{Exposed, Located, Style, expose};
pub use toolgate_model::Prefix;

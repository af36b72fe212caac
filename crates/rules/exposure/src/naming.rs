//! Exposed names: what agents see in place of a [`CapabilityId`], and the way back.
//!
//! Names are made for a whole set of capabilities at once and then looked up, never parsed. They
//! depend on the set and on the order of the server declarations, never on the order in which
//! servers connect. Who may see a capability is decided elsewhere.
//!
//! `styles` proposes the names that a host would use, `bounds` limits them, and `assign` separates
//! equal ones, by digests from `candidates`.
//!
//! [`CapabilityId`]: toolgate_model::CapabilityId

mod assign;
mod bounds;
mod candidates;
mod exposed_names;
mod name_set;
mod style;
mod styles;
mod template;
mod uris;

pub use bounds::NameBounds;
pub use exposed_names::{ExposedNames, UriOwner, expose};
pub use style::{NameClaim, NamingOptions};

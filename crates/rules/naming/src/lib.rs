//! Exposed names: what agents see in place of a [`CapabilityId`], and the way back.
//!
//! Names are made here for a whole set of capabilities at once and looked up afterwards; nobody
//! parses them. They depend on the set and on the order servers are declared in, never on the order
//! they came in. Who may see a capability is decided elsewhere.
//!
//! The way of a name: `styles` say what a host would call each of a set, `bounds` what a name may
//! consist of, and `assign` tells apart what came out the same, by digests that `names` puts on.
//!
//! [`CapabilityId`]: toolgate_model::CapabilityId

mod assign;
mod bounds;
mod exposed;
mod named;
mod names;
mod style;
mod styles;
mod template;
mod uris;

pub use bounds::Bounds;
pub use exposed::{Exposed, Located, expose};
pub use style::{Claim, Style};
pub use toolgate_model::{Naming, Prefix};

//! Decisions: whether a call passes, is asked about or is refused, and because of what.
//!
//! One pure, total function. It knows identities and never exposed names, asks nobody and remembers
//! nothing: grants, pins and taint are facts it is given. The order in which things count stands in
//! `decide` and nowhere else; `docs/policy.md` tells it to people.

mod asked;
mod because;
mod condition;
mod decide;
mod explain;
mod findings;
mod glob;
mod index;
mod known;
mod number;
mod pattern;
mod policy;
mod prepared;
mod reader;
mod rule;
mod screen;
mod texts;

pub use asked::{Asked, Facts};
pub use because::{Because, Decision, MISFIT, Reason};
pub use decide::Step;
pub use explain::{Declared, Explained, Layer, Said};
pub use findings::{Finding, Flaw};
pub use policy::Policy;
pub use prepared::Prepared;
pub use rule::{BadRule, ClientNames};

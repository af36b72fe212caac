//! The gate: the one way from a caller to a server.
//!
//! Every request that concerns a server passes [`Gate::pass`], and nothing else in the workspace
//! sends one. The steps stand in `gate.rs` in their order, one file each; what a step has
//! established is in the type it returns.
//!
//! The gate knows exposed names and callers; it knows nothing of HTTP, sessions with clients, or
//! how a question reaches a person.

mod admit;
mod arguments;
mod caller;
mod events;
mod extension;
mod finder;
mod gate;
mod listing;
mod lists;
mod manner;
mod own;
mod present;
mod refusal;
mod resolve;
mod results;
mod seats;
mod skills;
mod subscriptions;
mod tasks;
mod uris;
mod view;

pub use caller::{Caller, CallerId, Client, Principal};
pub use events::{GateEvent, Hearers};
pub use finder::Found;
pub use gate::Gate;
pub use manner::Manner;
pub use refusal::Refusal;
pub use toolgate_exposure::{Because, Exposure, Row, Seen};
pub use toolgate_search::Match;

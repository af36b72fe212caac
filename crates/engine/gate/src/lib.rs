//! The gate: the one way from a caller to a server.
//!
//! Every request that concerns a server passes [`Gate::pass`], and nothing else in the workspace
//! sends one. The steps stand in `gate.rs` in their order, one file each; what a step has
//! established is in the type it returns.
//!
//! The gate knows exposed names and callers; it knows nothing of HTTP, sessions with clients, or
//! how a question reaches a person.

mod admit;
pub mod approvals;
mod approving;
mod arguments;
mod asks;
mod books;
mod budget;
mod caller;
mod decide;
mod events;
mod explain;
mod exposing;
mod extension;
mod finder;
mod gate;
mod governing;
mod listing;
mod lists;
mod manner;
mod outlook;
mod own;
mod params;
mod pinned;
mod present;
mod recorded;
mod refusal;
mod renewed;
mod resolve;
mod results;
mod seats;
mod skills;
mod subscriptions;
mod taint;
mod tasks;
mod text;
mod uris;
mod view;

pub use caller::{Caller, CallerId, Client, KEY_CALLER, OPERATOR, Principal};
pub use decide::{Asker, Outcome};
pub use events::{GateEvent, Hearers};
pub use explain::{Explanation, Hypothesis, Voice};
pub use extension::names_something;
pub use finder::Found;
pub use gate::Gate;
pub use manner::Manner;
pub use outlook::Outlook;
pub use pinned::PinState;
pub use refusal::Refusal;
pub use toolgate_exposure::{Because, Exposure, Row, Seen};
pub use toolgate_search::Match;

//! The gate: the only way from a caller to a server.
//!
//! Every request for a server goes through [`Gate::pass`], and nothing else in the workspace sends
//! one. `gate.rs` lists the steps in order, and each step has its own file. The type a step returns
//! carries what the step has established.
//!
//! The gate knows exposed names and callers. It knows nothing about HTTP, sessions with clients, or
//! how a question reaches a person.

mod admit;
pub mod approvals;
mod approve;
mod arguments;
mod budget;
mod call_record;
mod caller;
mod caller_states;
mod capability_list;
mod decide;
mod error;
mod events;
mod explain;
mod exposure;
mod extension;
mod gate;
mod governance;
mod own_tools;
mod params;
mod pins;
mod present;
mod profile_view;
mod refresh;
mod rendering;
mod resolve;
mod results;
mod sanitize;
mod server_questions;
mod settings;
mod skills;
mod stores;
mod taint;
mod tasks;
mod tool_search;
mod uris;

pub use caller::{Caller, Client, KEY_CALLER, OPERATOR, Principal};
pub use decide::{ApprovalContext, DecisionOutcome};
pub use error::GateError;
pub use events::{EventSubscribers, GateEvent};
pub use explain::{CallExplanation, CallHypothesis, DecisionForecast};
pub use extension::names_capability;
pub use gate::Gate;
pub use pins::PinStatusEntry;
pub use settings::GatewaySettings;
pub use tool_search::ToolSearchHit;
pub use toolgate_exposure::{Exposure, ExposureEntry, ExposureReason, Visibility};
pub use toolgate_search::TermMatch;
pub use toolgate_session::CallerId;

//! Approvals: the calls that need an answer from a person, who may answer, and what follows.
//!
//! [`ApprovalBroker`] serves both sides. The pipeline asks it for an existing grant
//! ([`ApprovalBroker::find_grant`], without waiting) and otherwise obtains a decision
//! ([`ApprovalBroker::obtain`]): through a form in the caller's client, or from the operator.
//! Commands, console and chat list the pending calls and decide them.
//!
//! A pending call is on disk before anyone is asked, and a decision before anyone learns of it.
//! "Once" is a grant that the database uses up, so the call is made at most once, however often it
//! is repeated or answered. Whether to ask is decided by the policy, not here.

mod broker;
mod digest;
mod display;
mod form;
mod grant_index;
mod journaling;
mod obtain;
mod rate_limit;
mod waiters;

pub use broker::ApprovalBroker;
pub use digest::params_digest;
pub use display::format_params as shown_params;
pub use grant_index::ApprovalBindingRef;
pub use obtain::{CallApprovalOutcome, CallApprovalRequest};

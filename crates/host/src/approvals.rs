//! Approvals: pending calls, grants, and how to settle them, with the broker of a running host
//! ([`Gate::approvals`](crate::Gate::approvals)).

pub use toolgate_gate::approvals::{ApprovalBroker, shown_params};
pub use toolgate_model::Digest;
pub use toolgate_store::{
    ApprovalBinding, ApprovalChoice, ApprovalDecision, Grant, GrantSelector, PendingCall,
    SettledCall, StoreError as ApprovalError,
};

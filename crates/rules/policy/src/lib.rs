//! Decides whether a call is allowed, requires approval or is denied, and why.
//!
//! The decision is a pure, total function. It works on capability identities and never on exposed
//! names, prompts no one and remembers nothing: grants, pins and taint are facts passed in.
//! `decide` alone defines the order of precedence; `docs/reference/policy.md` documents it for users.

mod capability_policy;
mod condition;
mod decide;
mod explain;
mod findings;
mod glob;
mod number;
mod parser;
mod pattern;
mod pattern_index;
mod policy;
mod prefilter;
mod query;
mod reason;
mod resolution;
mod rule;
mod rule_index;

pub use capability_policy::CapabilityRules;
pub use decide::DecisionStep;
pub use explain::{DecisionExplanation, PolicyLayer, RuleExplanation};
pub use findings::{RuleFinding, RuleFlaw};
pub use policy::Policy;
pub use query::{PolicyFacts, PolicyQuery};
pub use reason::{Decision, DecisionReason, DecisionReasonKind, NO_APPROVER, SCHEMA_MISMATCH};
pub use rule::{InvalidRule, MatchableClientNames};

//! The words of the domain as plain data: servers, where they were declared, what they offer, how
//! they stand.
//!
//! No IO, no async and no protocol here: a type in this crate can be made, compared and printed,
//! and nothing else. How a server is reached lives in `edges`, what is done with it in `engine`.

mod auth;
mod capability;
mod catalog;
mod context;
mod data;
mod diagnostic;
mod digest;
mod files;
mod governance;
mod invisible;
mod loader;
mod mask;
mod name;
mod origin;
mod prefix;
mod profile;
mod rate;
mod safety;
mod secret;
mod selection;
mod shown;
mod spec;
mod status;
mod tags;

pub use auth::{Auth, AuthProvider, OAuth};
pub use capability::{CapabilityId, CapabilityKind};
pub use catalog::{Catalog, Definition};
pub use context::{ContextNames, ContextSettings, Offer};
pub use data::Data;
pub use diagnostic::{Diagnostic, Excerpt, Severity};
pub use digest::Digest;
pub use files::{EnvFile, ProjectFile, ServerFiles};
pub use governance::{
    Approvals, Condition, Effect, Expected, Governance, Mode, Posture, RuleSet, SamplingLimits,
    Via, WrittenRule, says,
};
pub use invisible::{is_invisible, visible, visible_lines};
pub use loader::is_loader_variable;
pub use mask::Mask;
pub use name::{NameError, ServerName};
pub use origin::{Origin, Scope};
pub use prefix::Prefix;
pub use profile::{
    DEFAULT_PROFILE, DEFAULT_TAG, DeclaredProfile, Expose, Naming, Profile, Profiles, RESULT_LIMIT,
    imports,
};
pub use rate::TokenBucket;
pub use safety::{Safety, Sandbox};
pub use secret::Secret;
pub use selection::{Approval, Selection, ToolSpec, fits, matches, without_remark};
pub use shown::{
    consented_args, consented_value, hidden_in_args, hidden_in_url, is_secret_like,
    looks_like_token, shown_args, shown_url,
};
pub use spec::{
    HttpKind, HttpSpec, PoolScope, Resolved, ServerSpec, StdioSpec, Timeouts, TransportSpec,
};
pub use status::{Discovery, Failure, Phase, ServerState};

//! The domain as plain data: servers, where they were declared, what they offer, and their state.
//!
//! The types here can be made, compared and printed, and nothing else: no IO, no async, no
//! protocol. The crates in `edges` reach servers, the crates in `engine` use them.

mod auth;
mod capability;
mod catalog;
mod config_value;
mod context;
mod diagnostic;
mod digest;
mod error_code;
mod files;
mod governance;
mod invisible;
mod loader;
mod mask;
mod name;
mod origin;
mod prefix;
mod profile;
mod redaction;
mod safety;
mod secret;
mod selection;
mod spec;
mod status;
mod tags;
pub mod time;
mod token_bucket;

pub use auth::{AuthProvider, AuthSpec, OAuthSpec};
pub use capability::{CapabilityId, CapabilityKind};
pub use catalog::{Catalog, Definition};
pub use config_value::ConfigValue;
pub use context::{ContextNamingStyle, ContextOfferMode, ContextSettings};
pub use diagnostic::{Diagnostic, DiagnosticExcerpt, DiagnosticSeverity};
pub use digest::Digest;
pub use error_code::{CodedError, ErrorCode, Exit, UnknownErrorCode};
pub use files::{EnvFile, LaunchFiles, LaunchProjectFile};
pub use governance::{
    ApprovalChannel, ApprovalSettings, ArgumentCondition, Effect, ExpectedArgumentValue,
    GovernanceSettings, PolicyMode, Posture, RuleSet, RuleSpec, SamplingLimits, has_tag_word,
};
pub use invisible::{escape_invisible, escape_invisible_lines, is_invisible};
pub use loader::is_loader_variable;
pub use mask::Mask;
pub use name::{ServerName, ServerNameError};
pub use origin::{ConfigScope, Origin};
pub use prefix::PrefixMode;
pub use profile::{
    DEFAULT_PROFILE, DEFAULT_TAG, DeclaredProfile, ExposureMode, NamingStyle, Profile, Profiles,
    RESULT_LIMIT, imports_tag,
};
pub use redaction::{
    is_secret_like, looks_like_token, redact_args, redact_args_for_consent, redact_url,
    redact_value_for_consent, secrets_in_args, secrets_in_url,
};
pub use safety::{SafetySpec, SandboxSpec};
pub use secret::Secret;
pub use selection::{
    ApprovalMode, DeclaredTool, ToolSelection, matches_glob, matches_tool_pattern, strip_remark,
};
pub use spec::{
    HttpSpec, HttpTransportKind, PoolScope, ResolvedServer, ServerSpec, ServerTimeouts, StdioSpec,
    TransportSpec,
};
pub use status::{DiscoveryStatus, FailurePhase, ServerFailure, ServerState, StartBlock};
pub use token_bucket::TokenBucket;
// Crates that need nothing else of `wire` define their enums of words with it.
pub use toolgate_wire::words;

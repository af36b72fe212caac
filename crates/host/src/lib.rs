//! Toolgate as a library: all MCP servers of a user behind one gate, for programs that embed it.
//!
//! A [`Host`] starts the configured servers, keeps them running, and passes requests to them. It
//! works on a current-thread runtime and installs no global state. The gateway and the command line
//! are built on this crate.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use toolgate_host::{Host, Tool, json};
//!
//! let host = Host::builder()
//!     .config("toolgate.toml")
//!     .tool(Tool::new("add", "Adds two numbers", json!({
//!         "type": "object",
//!         "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
//!         "required": ["a", "b"],
//!     }), |call| async move {
//!         let number = |key: &str| call.arguments[key].as_f64().ok_or("a number is missing");
//!         Ok::<_, &str>((number("a")? + number("b")?).to_string().into())
//!     }))
//!     .start()
//!     .await?;
//!
//! host.wait_settled().await;
//! for tool in host.tools().await {
//!     println!("{}: {}", tool.name, tool.description);
//! }
//! let answer = host.call("add", &json!({ "a": 1, "b": 2 })).await?;
//! println!("{answer}");
//! host.close().await;
//! # Ok(())
//! # }
//! ```

pub mod approvals;
pub mod audit;
mod builder;
mod builtin_servers;
pub mod config;
pub mod content;
mod error;
mod host;
pub mod keys;
pub mod local;
pub mod pins;
pub mod policy;
pub mod review;
mod sample;
pub mod session;
mod setup;

pub use builder::HostBuilder;
pub use error::{HostError, error_chain};
pub use host::{Host, ListedCapability};
pub use local::Tool;
pub use sample::sample_server;
pub use serde_json::{Value, json};
pub use setup::{Setup, read_files};
pub use toolgate_bridge::{SERVER_INFO, translate_question};
pub use toolgate_config::{
    ConfigSources, Home, NamingStyle, Plan, PlanEntry, PrefixMode, StartStatus, ensure_user_config,
};
pub use toolgate_dialects::parse_duration;
pub use toolgate_exposure::{
    CostReport, Exposure, ExposureEntry, ExposureReason, TokenCost, Visibility,
};
pub use toolgate_findings::strip_text;
pub use toolgate_fleet::{
    ConnectPhaseReport, ConnectReport, FleetApplyReport, FleetEvent, ServerStatus,
};
pub use toolgate_gate::{Caller, Client, Gate, GateError, GateEvent, Principal, ToolSearchHit};
pub use toolgate_gate::{DecisionForecast, KEY_CALLER, OPERATOR, PinStatusEntry};
pub use toolgate_launch::{ConfinedLimits, ConfinedOutcome, LaunchError, run_confined};
pub use toolgate_launch::{
    LaunchHelperProgram, ReloadSignals, ShutdownSignals, TreeGuarantee, helper_main,
};
pub use toolgate_model::{
    CapabilityId, CapabilityKind, Catalog, ConfigScope, DEFAULT_PROFILE, Diagnostic,
    DiagnosticSeverity, DiscoveryStatus, ExposureMode, FailurePhase, HttpSpec, HttpTransportKind,
    Origin, PoolScope, Posture, Secret, ServerFailure, ServerName, ServerSpec, ServerState,
    ServerTimeouts, StdioSpec, TransportSpec, is_invisible,
};
pub use toolgate_search::TermMatch;
pub use toolgate_search::tokens::estimate as tokens;
pub use toolgate_session::{Answer, CallerId, Interactor, Question, QuestionKind, RootsInteractor};
pub use toolgate_store::{Consent, OperatorPassphraseFile};

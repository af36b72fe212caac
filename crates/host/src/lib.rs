//! Toolgate as a library: every MCP server of a user behind one gate, for whoever writes an agent.
//!
//! A [`Host`] starts the servers it is told of, keeps them, and lets requests through to them.
//! It works on a current-thread runtime and installs no global state. Everything a face of
//! Toolgate does (the gateway, the command line), it does through this crate.
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
//! host.settled().await;
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
pub mod config;
pub mod content;
mod error;
mod host;
pub mod keys;
pub mod local;
pub mod pins;
pub mod policy;
pub mod review;
mod roster;
mod sample;
pub mod session;
mod setup;

pub use builder::HostBuilder;
pub use error::HostError;
pub use host::{Host, Listed, Overview};
pub use local::Tool;
pub use sample::sample_server;
pub use serde_json::{Value, json};
pub use setup::{Setup, SetupOptions};
pub use toolgate_bridge::{SERVER_INFO, question as question_for};
pub use toolgate_config::{Entry, Home, Naming, Plan, Prefix, Standing, ensure_user_config};
pub use toolgate_dialects::parse_duration;
pub use toolgate_exposure::{Because, Cost, Exposure, Ledger, Row, Seen};
pub use toolgate_findings::stripped;
pub use toolgate_fleet::{Applied, FleetEvent, PhaseReport, Report, ServerStatus};
pub use toolgate_gate::{Caller, CallerId, Client, Found, Gate, GateEvent, Principal, Refusal};
pub use toolgate_gate::{KEY_CALLER, OPERATOR, Outlook, PinState};
pub use toolgate_launch::{Bounds, Ending, LaunchError, confined};
pub use toolgate_launch::{Hangups, Helper, Signals, TreeGuarantee, helper_main};
pub use toolgate_model::{
    CapabilityId, CapabilityKind, Catalog, DEFAULT_PROFILE, Diagnostic, Discovery, Expose, Failure,
    HttpKind, HttpSpec, Origin, Phase, PoolScope, Posture, Scope, Secret, ServerName, ServerSpec,
    ServerState, Severity, StdioSpec, Timeouts, TransportSpec, is_invisible,
};
pub use toolgate_search::Match;
pub use toolgate_search::tokens::estimate as tokens;
pub use toolgate_session::{Ambient, Answer, AskKind, Interactor, Question, Scope as CallerScope};
pub use toolgate_store::{Consent, Passphrase};

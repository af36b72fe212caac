//! The control protocol: requests about a gateway and its responses. They are the same within this
//! process and over the control socket.
//!
//! A connection begins with one JSON line ([`ControlOpening`]). It either turns the rest of the
//! connection into MCP, or holds a [`ControlRequest`], which one line ([`ControlResponse`])
//! answers. Calls, reads and prompts are not control requests; they use an MCP session.

mod approvals;
mod checkup;
mod config_finding;
mod explanation;
mod exposure;
mod gate_checks;
mod handler;
mod inventory;
mod keys;
mod overview;
mod pins;
mod tool_matches;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::exit::{CliError, Result};

pub use approvals::{
    ApprovalControlRequest, GrantJson, PendingCallJson, PendingCallsSnapshot, SettledCallJson,
    no_call_error,
};
pub use checkup::{DoctorReport, ServerCheckup};
pub use config_finding::ConfigFinding;
pub use explanation::{ExplainedRuleJson, ExplanationJson, HypotheticalCallJson};
pub use exposure::{
    DecisionJson, ExposureReport, ExposureRowJson, ServerWithoutCatalog, TokenSum, TokenTotals,
};
pub use handler::{ControlHandler, ReloadReport};
pub use inventory::{CapabilityInventoryEntry, ServerCapabilityInventory};
pub use keys::{AccessKeyJson, KeyRequest};
pub use overview::{ServerRow, ServersReport};
pub use pins::{LockFileDraft, PinChangeJson, PinJson, PinReport, PinRequest};
pub use tool_matches::{ToolMatch, ToolMatches};

/// The first line of a connection.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "toolgate", rename_all = "kebab-case")]
pub enum ControlOpening {
    /// The rest of the connection is MCP, one message per line.
    Mcp {
        /// The only revision the client accepts, if it is strict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol: Option<String>,
        /// The profile the client chooses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        /// Whether a person types at Toolgate's command line; such calls need no approval.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        operator: bool,
        /// The operator's passphrase, if one is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passphrase: Option<String>,
    },
    /// A control request.
    Ask(ControlEnvelope),
}

/// A control request with the operator's passphrase.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ControlEnvelope {
    /// The request.
    #[serde(flatten)]
    pub question: ControlRequest,
    /// The operator's passphrase, if one is set and the request changes something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passphrase: Option<String>,
}

/// A control request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum ControlRequest {
    /// Return information about the gateway.
    Owner,
    /// Return the state of every server.
    Servers {
        /// How long to wait for servers that are still starting.
        wait_ms: u64,
    },
    /// Check that a profile exists.
    Profile {
        /// The name of the profile.
        name: String,
    },
    /// Return what a server offers to callers with this profile.
    Discover {
        /// The server.
        server: String,
        /// The profile.
        profile: String,
    },
    /// Return what every server offers to callers with this profile.
    DiscoverAll {
        /// The profile.
        profile: String,
        /// How long to wait for servers that are still starting.
        wait_ms: u64,
    },
    /// Return what callers with this profile see, and by which rule.
    Exposure {
        /// The profile.
        profile: String,
    },
    /// Return the tools that match a query best.
    Search {
        /// The profile.
        profile: String,
        /// The query.
        query: String,
        /// The most tools to return.
        limit: usize,
    },
    /// Return the URI under which clients reach a resource of this server, listed or not.
    Uri {
        /// The server.
        server: String,
        /// The server's own URI.
        uri: String,
    },
    /// Return whether resources of this server may be compiled into the local context.
    Compile {
        /// The server.
        server: String,
    },
    /// Start servers step by step and return how each step went.
    Doctor {
        /// The server, or all servers if `None`.
        server: Option<String>,
    },
    /// Return the health of every server, for the report beside the journal.
    Standings,
    /// A request about approvals.
    Approvals {
        /// The request.
        asked: ApprovalControlRequest,
    },
    /// Clear the taint of callers.
    Untaint {
        /// The caller, or all callers if `None`.
        caller: Option<String>,
    },
    /// Return what would be decided about a call, and by which rule.
    Explain(HypotheticalCallJson),
    /// A request about pins.
    Pins {
        /// The request.
        asked: PinRequest,
    },
    /// A request about access keys.
    Keys {
        /// The request.
        asked: KeyRequest,
    },
    /// Reload the files after a consent was given or revoked.
    Reconsider {
        /// The server.
        server: String,
    },
    /// Check that the requester may change something.
    MayChange,
    /// Check that the requester may change something, and record the change in the journal.
    Authorize {
        /// The change that follows.
        change: String,
    },
    /// Set or remove the operator passphrase.
    SetPassphrase {
        /// The new passphrase, or `None` to remove it.
        new: Option<String>,
    },
}

impl ControlRequest {
    /// Returns true if only the operator may send it, because it changes something or prepares a
    /// change.
    pub fn requires_operator(&self) -> bool {
        match self {
            Self::Approvals { asked } => match asked {
                ApprovalControlRequest::List
                | ApprovalControlRequest::News { .. }
                | ApprovalControlRequest::Grants => false,
                ApprovalControlRequest::Settle { .. }
                | ApprovalControlRequest::Revoke { .. }
                | ApprovalControlRequest::RevokeServer { .. } => true,
            },
            Self::Pins { asked } => match asked {
                PinRequest::Show { .. } | PinRequest::Lock => false,
                PinRequest::Approve { .. } | PinRequest::Forget { .. } => true,
            },
            Self::Keys { asked } => match asked {
                KeyRequest::List => false,
                KeyRequest::Add { .. } | KeyRequest::Revoke { .. } => true,
            },
            Self::Untaint { .. } | Self::Reconsider { .. } | Self::MayChange => true,
            Self::Authorize { .. } | Self::SetPassphrase { .. } => true,
            Self::Owner | Self::Servers { .. } | Self::Profile { .. } => false,
            Self::Discover { .. } | Self::DiscoverAll { .. } | Self::Exposure { .. } => false,
            Self::Search { .. } | Self::Uri { .. } | Self::Compile { .. } => false,
            Self::Doctor { .. } | Self::Standings | Self::Explain(_) => false,
        }
    }
}

/// The one-line response to a control request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlResponse {
    /// The answer, if the request succeeded.
    Answer(Box<RawValue>),
    /// The error, if it did not.
    Failure(CliError),
}

impl From<Result<Box<RawValue>>> for ControlResponse {
    fn from(outcome: Result<Box<RawValue>>) -> Self {
        outcome.map_or_else(Self::Failure, Self::Answer)
    }
}

impl ControlResponse {
    /// Returns the answer or the error.
    pub fn into_result(self) -> Result<Box<RawValue>> {
        match self {
            Self::Answer(answer) => Ok(answer),
            Self::Failure(failure) => Err(failure),
        }
    }
}

/// Whether resources of a server may be compiled into the local context.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ResourceCompilePermission {
    /// Whether its resources may be compiled.
    pub allowed: bool,
    /// Whether its text is trusted.
    pub trusted: bool,
    /// Whether a project file declares it; such files cannot set either of these.
    pub proposed: bool,
}

/// Information about the gateway that owns a home.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunningGatewayInfo {
    /// Its process id.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its URL; `None` for `serve --stdio`.
    pub endpoint: Option<String>,
    /// The file given with `--config`.
    pub config: Option<PathBuf>,
    /// The project folder whose files it reads.
    pub project: Option<PathBuf>,
    /// Whether changes need the operator's passphrase.
    #[serde(default)]
    pub passphrase: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_spelled_as_the_protocol_says() {
        let spelled = |opening: &ControlOpening| serde_json::to_string(opening).unwrap();
        let plain = ControlOpening::Mcp {
            protocol: None,
            profile: None,
            operator: false,
            passphrase: None,
        };
        assert_eq!(spelled(&plain), r#"{"toolgate":"mcp"}"#);
        let (profile, operator) = (Some("reader".into()), true);
        let reader = ControlOpening::Mcp { protocol: None, profile, operator, passphrase: None };
        let text = r#"{"toolgate":"mcp","profile":"reader","operator":true}"#;
        assert_eq!(spelled(&reader), text);
        let question = ControlRequest::Servers { wait_ms: 5 };
        let ask = ControlOpening::Ask(ControlEnvelope { question, passphrase: None });
        assert_eq!(spelled(&ask), r#"{"toolgate":"ask","what":"servers","wait_ms":5}"#);
        let owner: ControlOpening =
            serde_json::from_str(r#"{"toolgate":"ask","what":"owner"}"#).unwrap();
        assert!(matches!(
            owner,
            ControlOpening::Ask(ControlEnvelope { question: ControlRequest::Owner, .. })
        ));
        assert!(
            serde_json::from_str::<ControlOpening>(r#"{"toolgate":"ask","what":"else"}"#).is_err()
        );
    }

    #[test]
    fn a_raw_answer_survives_the_reply() {
        let raw = RawValue::from_string(r#"{"n": 1.50}"#.into()).unwrap();
        let line = serde_json::to_string(&ControlResponse::from(Ok(raw))).unwrap();
        let reply: ControlResponse = serde_json::from_str(&line).unwrap();
        assert_eq!(reply.into_result().unwrap().get(), r#"{"n": 1.50}"#);
    }
}

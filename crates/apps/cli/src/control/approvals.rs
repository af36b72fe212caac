//! Control requests about approvals. The running gateway answers them, or, if none runs, the state
//! of the home.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::ServerName;
use toolgate_host::approvals::{ApprovalBroker, ApprovalChoice, Grant, GrantSelector, PendingCall};
use toolgate_model::time::rfc3339_from_time;

use super::handler::to_raw_json;
use crate::exit::{CliError, ErrorCode, OrFail as _, Result, cli_error};

/// The longest time a request may wait for a change.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A control request about approvals.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum ApprovalControlRequest {
    /// Return the pending calls.
    List,
    /// Return the pending calls once they differ from those at a known version.
    News {
        /// The known version, or `None` to return at once.
        since: Option<u64>,
        /// How long to wait for a change.
        wait_ms: u64,
    },
    /// Decide about a pending call.
    Settle {
        /// The id of the call.
        id: String,
        /// The decision.
        choice: ApprovalChoice,
    },
    /// Return the grants.
    Grants,
    /// Revoke a grant.
    Revoke {
        /// The id of the grant.
        id: String,
    },
    /// Revoke all grants of a server.
    RevokeServer {
        /// The server.
        server: String,
    },
}

/// A pending call: the stable shape of `approvals list --json` and `approvals show --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PendingCallJson {
    /// The id by which it is approved.
    pub id: String,
    /// The caller.
    pub caller: String,
    /// The caller's client.
    pub client: String,
    /// The server of the capability.
    pub server: String,
    /// The server's own name of the capability.
    pub tool: String,
    /// The kind of the capability: `tool`, `resource`, `prompt`, `method`.
    pub kind: String,
    /// The complete raw arguments.
    pub arguments: Box<RawValue>,
    /// The other parameters that would reach the server, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_params: Option<Box<RawValue>>,
    /// The digest of the arguments and the other parameters.
    pub digest: String,
    /// The reason why the call needs approval.
    pub because: String,
    /// When the call was made.
    pub asked: String,
    /// When the pending call expires.
    pub expires: String,
    /// The digest of the process or endpoint behind the server's name.
    pub identity: String,
    /// The digest of the capability's definition.
    pub definition: String,
}

/// The pending calls at one moment.
#[derive(Debug, Serialize, Deserialize)]
pub struct PendingCallsSnapshot {
    /// The version of the list, which changes with every change of the list.
    pub version: u64,
    /// The pending calls.
    pub calls: Vec<PendingCallJson>,
}

/// A grant: the stable shape of `approvals grants --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GrantJson {
    /// The id by which it is revoked.
    pub id: String,
    /// Its extent: `once`, `tool` or `server`.
    pub choice: ApprovalChoice,
    /// The caller whose calls it permits.
    pub caller: String,
    /// The caller's client.
    pub client: String,
    /// The server.
    pub server: String,
    /// The tool. For a grant of the whole server, the tool whose call was approved.
    pub tool: String,
    /// The digest of the arguments of a one-time grant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The operator who gave it.
    pub by: String,
    /// When it was given.
    pub given: String,
    /// When it expires, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A call about which the operator decided.
#[derive(Debug, Serialize, Deserialize)]
pub struct SettledCallJson {
    /// The call.
    pub call: PendingCallJson,
    /// The decision.
    pub choice: ApprovalChoice,
    /// The grant, unless the call was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantJson>,
}

impl ApprovalControlRequest {
    /// Returns the answer as JSON. `by` names the operator for the journal.
    pub async fn answer(&self, broker: &ApprovalBroker, by: &str) -> Result<Box<RawValue>> {
        match self {
            Self::List => to_raw_json(&list_pending(broker).await?),
            Self::News { since, wait_ms } => to_raw_json(
                &wait_for_change(broker, *since, Duration::from_millis(*wait_ms)).await?,
            ),
            Self::Settle { id, choice } => to_raw_json(&settle(broker, id, *choice, by).await?),
            Self::Grants => {
                let grants = broker.grants().await?;
                to_raw_json(&grants.iter().map(GrantJson::from).collect::<Vec<_>>())
            }
            Self::Revoke { id } => {
                to_raw_json(&broker.revoke(&GrantSelector::Id(id.clone()), by).await?)
            }
            Self::RevokeServer { server } => {
                let server = GrantSelector::Server(ServerName::new(server)?);
                to_raw_json(&broker.revoke(&server, by).await?)
            }
        }
    }
}

async fn list_pending(broker: &ApprovalBroker) -> Result<Vec<PendingCallJson>> {
    let calls = broker.list().await?;
    calls.iter().map(PendingCallJson::of).collect()
}

/// Waits for another version and returns the pending calls. The version is read before the list, so
/// that a change in between is reported by the next request.
async fn wait_for_change(
    broker: &ApprovalBroker,
    since: Option<u64>,
    wait: Duration,
) -> Result<PendingCallsSnapshot> {
    let mut watch = broker.watch();
    if let Some(since) = since {
        let other = watch.wait_for(|version| *version != since);
        let _ = tokio::time::timeout(wait.min(MAX_WAIT), other).await;
    }
    let version = *watch.borrow_and_update();
    Ok(PendingCallsSnapshot { version, calls: list_pending(broker).await? })
}

async fn settle(
    broker: &ApprovalBroker,
    id: &str,
    choice: ApprovalChoice,
    by: &str,
) -> Result<SettledCallJson> {
    if let Some(settled) = broker.settle(id, choice, by).await? {
        let grant = settled.grant.as_ref().map(GrantJson::from);
        return Ok(SettledCallJson { call: PendingCallJson::of(&settled.call)?, choice, grant });
    }
    let why = match broker.verdict(id).await? {
        Some(earlier) => {
            format!("it was decided before (`{}`, by {})", earlier.choice.as_str(), earlier.by)
        }
        None => "it is not pending; it may have expired or been cancelled".to_owned(),
    };
    Err(no_call_error("decide about", id, &why))
}

/// Returns the error of a request about a call that is not pending. `doing` is the attempted
/// action, as in `cannot {doing} call`.
pub fn no_call_error(doing: &str, id: &str, why: &str) -> CliError {
    cli_error!(ApprovalUnknown, "cannot {doing} call `{id}`: {why}")
        .hint("run `toolgate approvals list` to see the pending calls")
}

impl PendingCallJson {
    fn of(call: &PendingCall) -> Result<Self> {
        let bound = &call.binding;
        let parse = |json: &_| {
            let parsed = serde_json::from_slice::<Box<RawValue>>(json);
            parsed.or_fail(ErrorCode::StoreValue, "cannot parse the arguments")
        };
        let other_params = Some(&call.other_params).filter(|params| !params.is_empty());
        Ok(Self {
            id: call.id.clone(),
            caller: bound.caller.clone(),
            client: bound.client.clone(),
            server: bound.tool.server.to_string(),
            tool: bound.tool.name.to_string(),
            kind: bound.tool.kind.to_string(),
            arguments: parse(&call.arguments)?,
            other_params: other_params.map(|params| parse(params)).transpose()?,
            digest: call.arguments_digest.to_string(),
            because: call.because.clone(),
            asked: rfc3339_from_time(call.asked_at),
            expires: rfc3339_from_time(call.expires_at),
            identity: bound.identity.to_string(),
            definition: bound.definition.to_string(),
        })
    }
}

impl From<&Grant> for GrantJson {
    fn from(grant: &Grant) -> Self {
        let bound = &grant.binding;
        Self {
            id: grant.id.clone(),
            choice: grant.choice,
            caller: bound.caller.clone(),
            client: bound.client.clone(),
            server: bound.tool.server.to_string(),
            tool: bound.tool.name.to_string(),
            digest: grant.arguments_digest.map(|digest| digest.to_string()),
            by: grant.by.clone(),
            given: rfc3339_from_time(grant.given_at),
            expires: grant.expires_at.map(rfc3339_from_time),
        }
    }
}

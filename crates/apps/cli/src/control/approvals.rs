//! Questions about approvals, and their answers: put to the gateway that lives, or to what a home
//! remembers where none does.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::ServerName;
use toolgate_host::approvals::{ApprovalError, Broker, Choice, Grant, PendingCall, Which};
use toolgate_host::audit::rfc3339_of;

use super::desk::raw;
use crate::exit::{Failure, chain};

/// The longest a question may wait for news.
const LONGEST: Duration = Duration::from_secs(60);

/// What can be asked about approvals.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Approving {
    /// What waits?
    List,
    /// What waits, as soon as that is something else than it was at this version?
    News {
        /// The version that is known; none: none.
        since: Option<u64>,
        /// How long to wait for another.
        wait_ms: u64,
    },
    /// Decide about one.
    Settle {
        /// Which.
        id: String,
        /// How.
        choice: Choice,
    },
    /// What is granted?
    Grants,
    /// Take a grant back.
    Revoke {
        /// Which.
        id: String,
    },
    /// Take all grants of a server back.
    RevokeServer {
        /// Which.
        server: String,
    },
}

/// A call that waits: the stable shape of `approvals list --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pending {
    /// The name it is approved by.
    pub id: String,
    /// Who calls.
    pub caller: String,
    /// With which client.
    pub client: String,
    /// The server it would reach.
    pub server: String,
    /// The server's own name for what is called.
    pub tool: String,
    /// The arguments, whole and raw.
    pub arguments: Box<RawValue>,
    /// What is said beside them and would reach the server; left out if that is nothing.
    #[serde(rename = "otherParams", default, skip_serializing_if = "Option::is_none")]
    pub other_params: Option<Box<RawValue>>,
    /// The digest of both.
    pub digest: String,
    /// Until when it can be approved.
    pub expires: String,
}

/// The same with everything that is known about it.
///
/// Written out: raw JSON does not survive a flattened member.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    /// The name it is approved by.
    pub id: String,
    /// Who calls.
    pub caller: String,
    /// With which client.
    pub client: String,
    /// The server it would reach.
    pub server: String,
    /// The server's own name for what is called.
    pub tool: String,
    /// What that is: `tool`, `resource`, `prompt`, `method`.
    pub kind: String,
    /// The arguments, whole and raw.
    pub arguments: Box<RawValue>,
    /// What is said beside them and would reach the server; left out if that is nothing.
    #[serde(rename = "otherParams", default, skip_serializing_if = "Option::is_none")]
    pub other_params: Option<Box<RawValue>>,
    /// The digest of both.
    pub digest: String,
    /// Why it is asked about.
    pub because: String,
    /// When it was asked for.
    pub asked: String,
    /// Until when it can be approved.
    pub expires: String,
    /// What is started or reached under the server's name.
    pub identity: String,
    /// The digest of the definition.
    pub definition: String,
}

impl From<Shown> for Pending {
    fn from(shown: Shown) -> Self {
        let Shown { id, caller, client, server, tool, arguments, other_params, .. } = shown;
        let Shown { digest, expires, .. } = shown;
        Self { id, caller, client, server, tool, arguments, other_params, digest, expires }
    }
}

/// What waits at one moment.
#[derive(Debug, Serialize, Deserialize)]
pub struct News {
    /// A number for that moment.
    pub version: u64,
    /// What waits.
    pub calls: Vec<Shown>,
}

/// A grant: the stable shape of `approvals grants --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Given {
    /// The name it is revoked by.
    pub id: String,
    /// How far it goes: `once`, `tool` or `server`.
    pub choice: Choice,
    /// Whose calls it permits.
    pub caller: String,
    /// With which client.
    pub client: String,
    /// Of which server.
    pub server: String,
    /// Of which tool; of a grant for the whole server, the one it was given at.
    pub tool: String,
    /// Of a one-time grant, the digest of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Who gave it.
    pub by: String,
    /// When.
    pub given: String,
    /// Until when, if not for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// What came of a decision.
#[derive(Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The call.
    pub call: Shown,
    /// What was chosen.
    pub choice: Choice,
    /// The grant that was given, if it was not denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Given>,
}

impl Approving {
    /// The answer, as JSON; `by` whom something is changed.
    pub async fn answer(&self, broker: &Broker, by: &str) -> Result<Box<RawValue>, Failure> {
        match self {
            Self::List => raw(&waiting(broker).await?),
            Self::News { since, wait_ms } => {
                raw(&news(broker, *since, Duration::from_millis(*wait_ms)).await?)
            }
            Self::Settle { id, choice } => raw(&settle(broker, id, *choice, by).await?),
            Self::Grants => {
                let grants = broker.grants().await.map_err(failed)?;
                raw(&grants.iter().map(Given::from).collect::<Vec<_>>())
            }
            Self::Revoke { id } => raw(&revoke(broker, &Which::Id(id.clone()), by).await?),
            Self::RevokeServer { server } => {
                let server =
                    ServerName::new(server).map_err(|error| Failure::usage(error.to_string()))?;
                raw(&revoke(broker, &Which::Server(server), by).await?)
            }
        }
    }
}

async fn waiting(broker: &Broker) -> Result<Vec<Shown>, Failure> {
    let calls = broker.list().await.map_err(failed)?;
    calls.iter().map(Shown::of).collect()
}

/// A version is taken before the list: what changes in between is told the next time.
async fn news(broker: &Broker, since: Option<u64>, wait: Duration) -> Result<News, Failure> {
    let mut watch = broker.watch();
    if let Some(since) = since {
        let other = watch.wait_for(|version| *version != since);
        let _ = tokio::time::timeout(wait.min(LONGEST), other).await;
    }
    let version = *watch.borrow_and_update();
    Ok(News { version, calls: waiting(broker).await? })
}

async fn settle(broker: &Broker, id: &str, choice: Choice, by: &str) -> Result<Outcome, Failure> {
    if let Some(settled) = broker.settle(id, choice, by).await.map_err(failed)? {
        let grant = settled.grant.as_ref().map(Given::from);
        return Ok(Outcome { call: Shown::of(&settled.call)?, choice, grant });
    }
    let why = match broker.verdict(id).await.map_err(failed)? {
        Some(earlier) => {
            format!("it was decided before (`{}`, by {})", earlier.choice.as_str(), earlier.by)
        }
        None => "none waits: it may be expired or taken back".to_owned(),
    };
    Err(no_call("decide about", id, &why))
}

async fn revoke(broker: &Broker, which: &Which, by: &str) -> Result<u64, Failure> {
    broker.revoke(which, by).await.map_err(failed)
}

/// There is no such call, and why.
pub fn no_call(doing: &str, id: &str, why: &str) -> Failure {
    Failure::failed(format!("{doing} a call `{id}`: {why}"))
        .hint("`toolgate approvals list` shows what waits")
}

fn failed(error: ApprovalError) -> Failure {
    Failure::failed(chain(&error))
}

impl Shown {
    fn of(call: &PendingCall) -> Result<Self, Failure> {
        let bound = &call.bound;
        let unread = |error| Failure::failed(format!("read the arguments: {error}"));
        let arguments = serde_json::from_slice(&call.arguments).map_err(unread)?;
        let others = Some(&call.other_params).filter(|others| !others.is_empty());
        let others = others.map(|others| serde_json::from_slice(others));
        Ok(Self {
            id: call.id.clone(),
            caller: bound.caller.clone(),
            client: bound.client.clone(),
            server: bound.tool.server.to_string(),
            tool: bound.tool.name.to_string(),
            kind: bound.tool.kind.to_string(),
            arguments,
            other_params: others.transpose().map_err(unread)?,
            digest: call.arguments_digest.to_string(),
            because: call.because.clone(),
            asked: rfc3339_of(call.asked_at),
            expires: rfc3339_of(call.expires_at),
            identity: bound.identity.to_string(),
            definition: bound.definition.to_string(),
        })
    }
}

impl From<&Grant> for Given {
    fn from(grant: &Grant) -> Self {
        let bound = &grant.bound;
        Self {
            id: grant.id.clone(),
            choice: grant.choice,
            caller: bound.caller.clone(),
            client: bound.client.clone(),
            server: bound.tool.server.to_string(),
            tool: bound.tool.name.to_string(),
            digest: grant.arguments_digest.map(|digest| digest.to_string()),
            by: grant.by.clone(),
            given: rfc3339_of(grant.given_at),
            expires: grant.expires_at.map(rfc3339_of),
        }
    }
}

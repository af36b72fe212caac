//! Control requests about pins, for `toolgate pins` and `toolgate lock`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::pins::{DefinitionDifference, PinEntry, PinFilter, entries_digest};
use toolgate_host::review::TextFinding;
use toolgate_host::{Host, Setup};
use toolgate_model::time::rfc3339_from_time;

use super::handler::to_raw_json;
use crate::exit::{Result, cli_error};

/// A control request about pins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum PinRequest {
    /// Return definitions and their pins.
    Show {
        /// The server, or all servers if `None`.
        server: Option<String>,
        /// The name of the definition, or all if `None`.
        name: Option<String>,
    },
    /// Approve definitions as they were shown.
    Approve {
        server: String,
        name: Option<String>,
        /// The digest of the shown definitions, from [`PinReport::seen`].
        seen: String,
    },
    /// Delete pins.
    Forget { server: String, name: Option<String> },
    /// Return the content of a lock file.
    Lock,
}

/// Definitions and their pins.
#[derive(Debug, Serialize, Deserialize)]
pub struct PinReport {
    /// One entry per definition.
    pub lines: Vec<PinJson>,
    /// The digest of all entries. An approval names it, so that it applies to exactly these.
    pub seen: String,
    /// The servers whose lists could not be refreshed.
    pub problems: Vec<String>,
}

/// One definition and its pin.
#[derive(Debug, Serialize, Deserialize)]
pub struct PinJson {
    pub server: String,
    /// `tool`, `template`, `prompt` or `instructions`.
    pub kind: String,
    /// Its own name; empty for instructions.
    pub name: String,
    /// `pinned`, `changed`, `new` or `gone`.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned_at: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PinChangeJson>,
    /// Suspicious texts in the definition, as `doctor` reports them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// One difference between a definition and its pin.
#[derive(Debug, Serialize, Deserialize)]
pub struct PinChangeJson {
    pub code: String,
    pub pointer: String,
    pub severity: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The content of a lock file for the current state.
#[derive(Debug, Serialize, Deserialize)]
pub struct LockFileDraft {
    /// The text of the lock file.
    pub text: String,
    /// What prevents writing it.
    pub problems: Vec<String>,
}

/// Answers a request about pins. `by` names the operator for the journal.
pub async fn answer(
    host: &Host,
    setup: &Setup,
    asked: &PinRequest,
    by: &str,
) -> Result<Box<RawValue>> {
    let decisions = setup.store();
    match asked {
        PinRequest::Show { server, name } => {
            let problems = host.relist(server.as_deref()).await;
            let chosen = PinFilter { server: server.as_deref(), name: name.as_deref() };
            let rows = host.pins(&decisions, &chosen).await?;
            let seen = entries_digest(&rows).to_string();
            let suspicious = host.text_findings();
            let lines = rows.into_iter().map(|row| PinJson::of(row, &suspicious)).collect();
            to_raw_json(&PinReport { lines, seen, problems })
        }
        PinRequest::Approve { server, name, seen } => {
            let chosen = PinFilter { server: Some(server), name: name.as_deref() };
            let invalid =
                |()| cli_error!(CliUsage, "`seen` is not the digest of shown definitions");
            let seen = seen.parse().map_err(invalid)?;
            to_raw_json(&host.approve_pins(&decisions, &chosen, seen, by).await?)
        }
        PinRequest::Forget { server, name } => {
            to_raw_json(&host.forget_pins(&decisions, server, name.as_deref(), by).await?)
        }
        PinRequest::Lock => {
            host.wait_settled().await;
            let mut problems = host.relist(None).await;
            let (lock, more) = host.build_lock_file();
            problems.extend(more);
            to_raw_json(&LockFileDraft { text: lock.format(), problems })
        }
    }
}

/// Returns the findings about one definition, or about the server's instructions.
fn findings(row: &PinEntry, all: &[TextFinding]) -> Vec<String> {
    let is_about_row = |finding: &&TextFinding| {
        let about = finding.capability.as_ref().map(|id| (id.kind, id.name.to_string()));
        row.digest.is_some() && finding.server == row.server && about == row.capability
    };
    all.iter().filter(is_about_row).map(ToString::to_string).collect()
}

impl PinJson {
    fn of(row: PinEntry, suspicious: &[TextFinding]) -> Self {
        let findings = findings(&row, suspicious);
        let (kind, name) = match row.capability {
            Some((kind, name)) => (kind.to_string(), name),
            None => ("instructions".to_owned(), String::new()),
        };
        Self {
            server: row.server.to_string(),
            kind,
            name,
            state: row.status.as_str().to_owned(),
            digest: row.digest.map(|digest| digest.to_string()),
            pinned: row.pinned.map(|digest| digest.to_string()),
            by: row.by,
            pinned_at: row.pinned_at.map(rfc3339_from_time),
            changes: row.changes.into_iter().map(PinChangeJson::from).collect(),
            findings,
        }
    }
}

impl From<DefinitionDifference> for PinChangeJson {
    fn from(change: DefinitionDifference) -> Self {
        let DefinitionDifference { code, pointer, severity, text, before, after } = change;
        let (code, severity) = (code.to_owned(), severity.to_string());
        Self { code, pointer, severity, text, before, after }
    }
}

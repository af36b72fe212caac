//! What is approved of servers' definitions, as `pins` prints it, and what `lock` writes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::audit::rfc3339_of;
use toolgate_host::pins::{Change, Chosen, PinRow, shown};
use toolgate_host::review::TextFinding;
use toolgate_host::{Host, Setup};

use super::desk::raw;
use crate::exit::Failure;

/// What can be asked about definitions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Pinning {
    /// Which are approved, and which are not?
    Show {
        /// Of which server; none: of all.
        server: Option<String>,
        /// Of which name there.
        name: Option<String>,
    },
    /// Approve what was shown.
    Approve {
        server: String,
        name: Option<String>,
        /// What stands for what was shown.
        seen: String,
    },
    /// Forget what was approved.
    Forget { server: String, name: Option<String> },
    /// What would a lock file say?
    Lock,
}

/// The definitions that were asked about.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pins {
    /// Each of them.
    pub lines: Vec<PinLine>,
    /// What stands for all of them as they are shown: an approval is of exactly that.
    pub seen: String,
    /// Servers whose lists could not be read again.
    pub problems: Vec<String>,
}

/// One definition beside what was approved of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct PinLine {
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
    pub changes: Vec<ChangeLine>,
    /// What is suspicious in its words, as `doctor` finds it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// One difference.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChangeLine {
    pub code: String,
    pub pointer: String,
    pub severity: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Everything as a lock file has it now.
#[derive(Debug, Serialize, Deserialize)]
pub struct Locked {
    /// The text of the file.
    pub text: String,
    /// What stands in the way of locking it.
    pub problems: Vec<String>,
}

/// Answers a question about definitions; `by` whom something is changed.
pub async fn answer(
    host: &Host,
    setup: &Setup,
    asked: &Pinning,
    by: &str,
) -> Result<Box<RawValue>, Failure> {
    let decisions = setup.decisions();
    match asked {
        Pinning::Show { server, name } => {
            let problems = host.relist(server.as_deref()).await;
            let chosen = Chosen { server: server.as_deref(), name: name.as_deref() };
            let rows = host.pins(&*decisions, &chosen).await?;
            let seen = shown(&rows).to_string();
            let suspicious = host.text_findings();
            let line =
                |row: PinRow| PinLine { findings: findings(&row, &suspicious), ..row.into() };
            raw(&Pins { lines: rows.into_iter().map(line).collect(), seen, problems })
        }
        Pinning::Approve { server, name, seen } => {
            let chosen = Chosen { server: Some(server), name: name.as_deref() };
            let unread = |()| Failure::usage("approve these definitions: nothing was shown");
            let seen = seen.parse().map_err(unread)?;
            raw(&host.approve_pins(&*decisions, &chosen, seen, by).await?)
        }
        Pinning::Forget { server, name } => {
            raw(&host.forget_pins(&*decisions, server, name.as_deref(), by).await?)
        }
        Pinning::Lock => {
            host.settled().await;
            let mut problems = host.relist(None).await;
            let (lock, more) = host.lock();
            problems.extend(more);
            raw(&Locked { text: lock.format(), problems })
        }
    }
}

/// What is suspicious in the words of one definition, or in the instructions.
fn findings(row: &PinRow, all: &[TextFinding]) -> Vec<String> {
    let meant = |finding: &&TextFinding| {
        let about = finding.capability.as_ref().map(|id| (id.kind, id.name.to_string()));
        row.digest.is_some() && finding.server == row.server && about == row.capability
    };
    all.iter().filter(meant).map(ToString::to_string).collect()
}

impl From<PinRow> for PinLine {
    fn from(row: PinRow) -> Self {
        let (kind, name) = match row.capability {
            Some((kind, name)) => (kind.to_string(), name),
            None => ("instructions".to_owned(), String::new()),
        };
        Self {
            server: row.server.to_string(),
            kind,
            name,
            state: row.word.as_str().to_owned(),
            digest: row.digest.map(|digest| digest.to_string()),
            pinned: row.pinned.map(|digest| digest.to_string()),
            by: row.by,
            pinned_at: row.pinned_at.map(rfc3339_of),
            changes: row.changes.into_iter().map(ChangeLine::from).collect(),
            findings: Vec::new(),
        }
    }
}

impl From<Change> for ChangeLine {
    fn from(change: Change) -> Self {
        let Change { code, pointer, severity, text, before, after } = change;
        let severity = match severity {
            toolgate_host::Severity::Note => "note",
            toolgate_host::Severity::Warning => "warning",
            toolgate_host::Severity::Error => "error",
        };
        let (code, severity) = (code.to_owned(), severity.to_owned());
        Self { code, pointer, severity, text, before, after }
    }
}

//! What is wrong with the rules: those that cannot be understood, those that others always come
//! before, and those that mean nothing there is.

use std::collections::BTreeSet;

use toolgate_config::Entry;
use toolgate_model::{CapabilityId, CapabilityKind, Diagnostic, Origin, ServerName, Severity};
use toolgate_policy::{BadRule, Finding, Flaw, Policy};

use super::rules_among;
use crate::{HostError, Setup};

/// What was looked at, and what was found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// How many rules there are.
    pub rules: usize,
    /// How calls are decided that no rule speaks of.
    pub mode: &'static str,
    /// What is wrong, by file and line.
    pub diagnostics: Vec<Diagnostic>,
    /// Servers of which nothing is known yet, so that rules about them cannot be checked.
    pub unknown: Vec<ServerName>,
}

/// Checks every rule of every file against what servers offered last.
pub async fn check(setup: &Setup) -> Result<Checked, HostError> {
    let plan = setup.plan();
    let (mut offered, mut listed) = (Vec::new(), BTreeSet::new());
    for entry in &plan.entries {
        let name = &entry.spec.name;
        let Some(saved) = setup.store().catalog(name, &entry.spec.digest()).await? else {
            continue;
        };
        listed.insert(name.clone());
        for kind in CapabilityKind::ALL {
            offered.extend(saved.catalog.of(kind).iter().map(|definition| {
                let id = CapabilityId { server: name.clone(), kind, name: definition.name.clone() };
                let tags = tags(entry, &id, &definition.raw);
                (id, tags)
            }));
        }
    }
    let governance = &plan.settings.governance;
    let (policy, bad) = Policy::of(governance);
    let policy = rules_among(&policy, &plan.entries);
    // A file that cannot be read may hold rules.
    let unread = plan.diagnostics.iter().filter(|it| it.severity == Severity::Error).cloned();
    let mut diagnostics: Vec<_> = unread.chain(bad.into_iter().map(told_bad)).collect();
    diagnostics.extend(policy.findings(&offered, &listed).iter().map(told));
    diagnostics.extend(plan.idle_profiles());
    diagnostics.sort_by(|one, other| place(&one.origin).cmp(&place(&other.origin)));
    let unknown = plan.entries.iter().map(|entry| &entry.spec.name);
    Ok(Checked {
        rules: governance.rules.iter().map(|set| set.rules.len()).sum(),
        mode: policy.mode().0.as_str(),
        diagnostics,
        unknown: unknown.filter(|name| !listed.contains(*name)).cloned().collect(),
    })
}

fn place(origin: &Origin) -> (Option<&std::path::PathBuf>, u32, u32) {
    (origin.file.as_deref(), origin.line, origin.column)
}

/// The tags of a capability, as the gate has them.
fn tags(entry: &Entry, id: &CapabilityId, definition: &[u8]) -> Vec<String> {
    match id.kind {
        CapabilityKind::Tool => entry.spec.tool_tags(&id.name, definition),
        _ => entry.spec.server_tags(),
    }
}

fn told_bad(bad: BadRule) -> Diagnostic {
    let message = format!("failed to {}", bad.message);
    Diagnostic { severity: Severity::Error, origin: bad.origin, excerpt: None, message, hint: None }
}

fn told(finding: &Finding<'_>) -> Diagnostic {
    let Finding { flaw, effect, text, origin } = finding;
    let (severity, what, hint) = match flaw {
        Flaw::OnlyTightens => (
            Severity::Note,
            "allows nothing: a project's file can only tighten".to_owned(),
            Some("write it into your own config".to_owned()),
        ),
        Flaw::Ambiguous(meanings) => (
            Severity::Warning,
            format!("allows nothing: it may mean {}", list(meanings)),
            Some("write the one that is meant".to_owned()),
        ),
        Flaw::Unreachable { by, origin } => (
            Severity::Warning,
            format!("never decides: `{by}` ({origin}) always comes before it"),
            Some("take one of them out".to_owned()),
        ),
        Flaw::NoServer => (
            Severity::Warning,
            "is about no server that is declared".to_owned(),
            Some("`toolgate list` shows them".to_owned()),
        ),
        Flaw::NeverMatches => (
            Severity::Warning,
            "matches nothing that its server offered last".to_owned(),
            Some("`toolgate discover` shows what there is; names are case-sensitive".to_owned()),
        ),
    };
    let message = format!("the {effect} rule `{text}` {what}");
    Diagnostic { severity, origin: (*origin).clone(), excerpt: None, message, hint }
}

fn list(meanings: &[String]) -> String {
    let quoted: Vec<_> = meanings.iter().map(|meaning| format!("`{meaning}`")).collect();
    quoted.join(" or ")
}

//! Checks the rules: finds rules that are invalid, unreachable or without a match.

use std::collections::BTreeSet;

use toolgate_model::{
    CapabilityId, CapabilityKind, Diagnostic, DiagnosticSeverity, ErrorCode, Origin, ServerName,
};
use toolgate_policy::{InvalidRule, Policy, RuleFinding, RuleFlaw};

use super::policy_for_entries;
use crate::{HostError, Setup};

/// The result of checking all rules.
#[derive(Debug, Clone)]
pub struct PolicyCheckReport {
    /// The number of rules.
    pub rules: usize,
    /// How calls without a matching rule are decided.
    pub mode: &'static str,
    /// The problems, ordered by file and line.
    pub diagnostics: Vec<Diagnostic>,
    /// Servers without a known catalog, whose rules cannot be checked.
    pub unknown: Vec<ServerName>,
}

/// Checks every rule of every file against the last known catalogs.
pub async fn check(setup: &Setup) -> Result<PolicyCheckReport, HostError> {
    let plan = setup.plan();
    let (mut offered, mut listed) = (Vec::new(), BTreeSet::new());
    for entry in &plan.entries {
        let name = &entry.spec.name;
        let Some(saved) = setup.store().catalog(name, &entry.spec.digest()).await? else {
            continue;
        };
        listed.insert(name.clone());
        for kind in CapabilityKind::ALL {
            offered.extend(saved.catalog.definitions(kind).iter().map(|definition| {
                let id = CapabilityId { server: name.clone(), kind, name: definition.name.clone() };
                // The tags as the gate computes them.
                let tags = match kind {
                    CapabilityKind::Tool => entry.spec.tool_tags(&id.name, &definition.raw),
                    _ => entry.spec.server_tags(),
                };
                (id, tags)
            }));
        }
    }
    let governance = &plan.settings.governance;
    let (policy, bad) = Policy::compile(governance);
    let policy = policy_for_entries(&policy, &plan.entries);
    // A file that cannot be read may contain rules.
    let unread =
        plan.diagnostics.iter().filter(|it| it.severity == DiagnosticSeverity::Error).cloned();
    let mut diagnostics: Vec<_> = unread.chain(bad.into_iter().map(bad_rule_diagnostic)).collect();
    diagnostics.extend(policy.findings(&offered, &listed).iter().map(finding_diagnostic));
    diagnostics.extend(plan.ineffective_profiles());
    diagnostics.sort_by(|one, other| place(&one.origin).cmp(&place(&other.origin)));
    let unknown = plan.entries.iter().map(|entry| &entry.spec.name);
    Ok(PolicyCheckReport {
        rules: governance.rules.iter().map(|set| set.rules.len()).sum(),
        mode: policy.mode().0.as_str(),
        diagnostics,
        unknown: unknown.filter(|name| !listed.contains(*name)).cloned().collect(),
    })
}

fn place(origin: &Origin) -> (Option<&std::path::PathBuf>, u32, u32) {
    (origin.file.as_deref(), origin.line, origin.column)
}

fn bad_rule_diagnostic(bad: InvalidRule) -> Diagnostic {
    Diagnostic::warning(ErrorCode::PolicyInvalidRule, bad.origin, bad.message)
        .severity(DiagnosticSeverity::Error)
}

fn finding_diagnostic(finding: &RuleFinding<'_>) -> Diagnostic {
    let RuleFinding { flaw, effect, text, origin } = finding;
    let (severity, what, hint) = match flaw {
        RuleFlaw::OnlyTightens => (
            DiagnosticSeverity::Note,
            "has no effect: a project file can only tighten rules".to_owned(),
            Some("move it to your user config".to_owned()),
        ),
        RuleFlaw::Ambiguous(meanings) => (
            DiagnosticSeverity::Warning,
            format!("has no effect: it is ambiguous and may mean {}", list(meanings)),
            Some("write the intended one in full".to_owned()),
        ),
        RuleFlaw::Unreachable { by, origin } => (
            DiagnosticSeverity::Warning,
            format!("never applies: `{by}` ({origin}) always takes precedence"),
            Some("remove one of them".to_owned()),
        ),
        RuleFlaw::NoServer => (
            DiagnosticSeverity::Warning,
            "names a server that is not declared".to_owned(),
            Some("run `toolgate list` to see the declared servers".to_owned()),
        ),
        RuleFlaw::NeverMatches => (
            DiagnosticSeverity::Warning,
            "matches nothing in the last known catalog of its server".to_owned(),
            Some("run `toolgate discover` to see the names; they are case-sensitive".to_owned()),
        ),
    };
    let message = format!("the {effect} rule `{text}` {what}");
    let code = ErrorCode::PolicyUnusedRule;
    let found = Diagnostic::warning(code, (*origin).clone(), message).severity(severity);
    Diagnostic { hint, ..found }
}

fn list(meanings: &[String]) -> String {
    let quoted: Vec<_> = meanings.iter().map(|meaning| format!("`{meaning}`")).collect();
    quoted.join(" or ")
}

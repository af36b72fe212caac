//! Merges the policy settings of all files.
//!
//! Rules are kept per file, nearest first, each with its position; `rules/policy` combines them for
//! one call. A project's file can only make decisions stricter: anything that would loosen them is
//! ignored and reported.

use std::time::Duration;

use toolgate_dialects::{
    FileApprovalSettings, FileSettings, LocatedValue, Permissions, RuleTranslation,
};
use toolgate_model::{
    ApprovalChannel, ApprovalSettings, Diagnostic, DiagnosticSeverity, Effect, ErrorCode,
    GovernanceSettings, Origin, PolicyMode, Posture, RuleSet, RuleSpec,
};
use toolgate_policy::Policy;

use crate::clients;
use crate::files::ConfigLayer;
use crate::strict_setting::{
    OWN_CONFIG_HINT, SettingCandidate, StrictnessRank, collect_candidates, no_effect_severity,
    report_project_settings,
};

/// The default age limit of a list of definitions in each posture.
const PERSONAL: Duration = Duration::from_secs(60);
const GOVERNED: Duration = Duration::from_secs(10);

/// Merges the settings of all files; `layers` are nearest first.
pub(crate) fn merge_governance(
    layers: &[ConfigLayer],
    diagnostics: &mut Vec<Diagnostic>,
) -> GovernanceSettings {
    let posture = StrictnessRank {
        name: "launch.posture",
        default: Posture::Personal,
        strictness: |posture| posture as u128,
    };
    let posture = posture
        .merge(layers, |settings| settings.posture, diagnostics)
        .unwrap_or(Posture::Personal);
    let is_governed = posture == Posture::Governed;
    let mode = mode(layers, diagnostics);
    let rules = layers.iter().filter_map(|layer| rule_set(layer, mode.as_ref(), diagnostics));
    let rules = rules.collect();
    let taint =
        StrictnessRank { name: "policy.taint", default: is_governed, strictness: u128::from };
    let floor =
        StrictnessRank { name: "policy.yolo_floor", default: false, strictness: u128::from };
    let recheck = StrictnessRank {
        name: "pins.recheck",
        default: if is_governed { GOVERNED } else { PERSONAL },
        strictness: |age: Duration| u128::MAX - age.as_millis(),
    };
    let governance = GovernanceSettings {
        rules,
        posture,
        approvals: approvals(layers, posture, diagnostics),
        taint: taint.merge(layers, |it| it.permissions.taint, diagnostics),
        yolo_floor: floor
            .merge(layers, |it| it.permissions.yolo_floor, diagnostics)
            .unwrap_or(false),
        recheck: recheck.merge(layers, |it| it.recheck, diagnostics),
    };
    report_invalid_rules(&governance, layers, diagnostics);
    governance
}

/// Returns the effective mode and its origin; `None` if no file sets one.
fn mode(
    layers: &[ConfigLayer],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<SettingCandidate<PolicyMode>> {
    let mut candidates = collect_candidates(layers, |settings| settings.permissions.mode);
    // Another host asks for approval itself, so its mode is no reason for Toolgate to ask as well.
    // It only counts against a file that sets the mode to never ask.
    if candidates.iter().all(|candidate| candidate.value != PolicyMode::Full) {
        candidates
            .retain(|candidate| candidate.is_for_toolgate || candidate.value != PolicyMode::Ask);
    }
    let strictness =
        StrictnessRank { name: "policy.mode", default: PolicyMode::Ask, strictness: how_strict };
    strictness.select_strictest(&candidates, diagnostics)
}

fn how_strict(mode: PolicyMode) -> u128 {
    match mode {
        PolicyMode::Full => 0,
        PolicyMode::Ask => 1,
        PolicyMode::Limited => 2,
    }
}

/// Returns the rules of one file, with the mode if this file sets the effective mode.
fn rule_set(
    layer: &ConfigLayer,
    mode: Option<&SettingCandidate<PolicyMode>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RuleSet> {
    let Permissions { allow, ask, deny, .. } = &layer.parsed.settings.permissions;
    let lists = [(Effect::Deny, deny), (Effect::Ask, ask), (Effect::Allow, allow)];
    let mut rules = Vec::new();
    for (effect, candidates) in lists {
        for rule in candidates {
            rules.extend(
                effective_rule(layer, effect, rule, diagnostics).map(|rule| (effect, rule)),
            );
        }
    }
    let mode = mode.filter(|candidate| is_file_of(layer, &candidate.origin));
    let origin = mode.map_or_else(|| layer.origin((0, 0)), |candidate| candidate.origin.clone());
    let mode = mode.map(|candidate| candidate.value);
    (mode.is_some() || !rules.is_empty()).then_some(RuleSet { origin, mode, rules })
}

/// Translates a rule into Toolgate's syntax, if it applies. Rules about the host's own tools do
/// not.
fn effective_rule(
    layer: &ConfigLayer,
    effect: Effect,
    rule: &RuleSpec,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RuleSpec> {
    if rule.subject.is_empty() {
        // The reader could not parse the rule. Restrictions are kept.
        return Some(rule.clone());
    }
    let meaning =
        layer.file.dialect.translate_rule(effect, rule, &layer.parsed.settings.permissions);
    let why = match meaning {
        RuleTranslation::HostTool => return None,
        RuleTranslation::Rule(_) if effect == Effect::Allow && layer.is_project() => {
            "a project's file can only make rules stricter"
        }
        RuleTranslation::Rule(about) => return Some(RuleSpec { subject: about, ..rule.clone() }),
        RuleTranslation::Ignored(why) => why,
    };
    let message = format!("the rule {effect} {:?} has no effect: {why}", rule.subject);
    let origin = layer.origin(rule.position);
    let warning = Diagnostic::warning(ErrorCode::PolicyUnusedRule, origin, message);
    let severity = no_effect_severity(layer.rank.is_for_toolgate());
    diagnostics.push(warning.hint(OWN_CONFIG_HINT).severity(severity));
    None
}

/// Merges who approves calls. Only the user and the system can set this.
fn approvals(
    layers: &[ConfigLayer],
    posture: Posture,
    diagnostics: &mut Vec<Diagnostic>,
) -> ApprovalSettings {
    let (proposed, own): (Vec<_>, Vec<_>) = layers.iter().partition(|layer| layer.is_project());
    for layer in proposed {
        diagnostics.extend(report_project_approvals(layer));
    }
    let said = |layer: &&ConfigLayer| layer.parsed.settings.approvals.clone();
    let said: Vec<FileApprovalSettings> = own.iter().map(said).collect();
    let usual = ApprovalSettings::default();
    let time = |of: fn(&FileApprovalSettings) -> Option<LocatedValue<Duration>>| {
        said.iter().find_map(of).map(|found| found.value)
    };
    let terminal = StrictnessRank {
        name: "approvals.from_client_terminal",
        default: false,
        strictness: |is_allowed: bool| u128::from(!is_allowed),
    };
    let from_client_terminal = |settings: &FileSettings| settings.approvals.from_client_terminal;
    let mut approvals = ApprovalSettings {
        via: via(&own, posture, diagnostics),
        wait: time(|it| it.wait).unwrap_or(usual.wait),
        expiry: time(|it| it.expiry).unwrap_or(usual.expiry),
        clients: usual.clients,
        from_client_terminal: terminal
            .merge(own.iter().copied(), from_client_terminal, diagnostics)
            .unwrap_or(false),
    };
    let clients = said.iter().flat_map(|it| it.clients.keys().cloned());
    for client in clients.collect::<std::collections::BTreeSet<_>>() {
        let name = format!("approvals.clients.{client}.via");
        let of_client = |it: &FileSettings| it.approvals.clients.get(&client).copied();
        let held = via_rank(&name).merge(own.iter().copied(), of_client, diagnostics);
        approvals.clients.extend(held.map(|held| (client.clone(), held)));
    }
    add_client_aliases(&mut approvals);
    approvals
}

/// Adds the names that clients report: `install` writes the name used on the command line, which
/// may differ.
fn add_client_aliases(approvals: &mut ApprovalSettings) {
    for client in clients::ALL {
        let Some(via) = approvals.clients.get(client.id).copied() else { continue };
        for name in client.reported_names {
            approvals.clients.entry((*name).to_owned()).or_insert(via);
        }
    }
}

fn via_rank(name: &str) -> StrictnessRank<'_, ApprovalChannel> {
    let strictness = |channel| channel as u128;
    StrictnessRank { name, default: ApprovalChannel::Client, strictness }
}

/// Returns who approves for every client. In the governed posture, clients that approve by
/// themselves must be named one by one.
fn via(
    own: &[&ConfigLayer],
    posture: Posture,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ApprovalChannel> {
    let candidates = collect_candidates(own.iter().copied(), |settings| settings.approvals.via);
    let held = via_rank("approvals.via").select_strictest(&candidates, diagnostics)?;
    if posture == Posture::Governed && held.value != ApprovalChannel::Operator {
        let message = format!(
            "`approvals.via` = {:?} has no effect in the governed posture",
            held.value.as_str()
        );
        let warning = Diagnostic::warning(ErrorCode::ConfigNoEffect, held.origin, message);
        let hint = "set it for each client: [approvals.clients.NAME] via = …";
        diagnostics.push(warning.hint(hint));
        return None;
    }
    Some(held.value)
}

/// Reports approval settings of a project's file, which have no effect.
fn report_project_approvals(layer: &ConfigLayer) -> impl Iterator<Item = Diagnostic> {
    let FileApprovalSettings { via, clients, wait, expiry, from_client_terminal } =
        &layer.parsed.settings.approvals;
    let settings = [
        ("via".to_owned(), via.map(|it| it.at)),
        ("wait".to_owned(), wait.map(|it| it.at)),
        ("expiry".to_owned(), expiry.map(|it| it.at)),
        ("from_client_terminal".to_owned(), from_client_terminal.map(|it| it.at)),
    ];
    let clients = clients.iter().map(|(name, it)| (format!("clients.{name}.via"), Some(it.at)));
    report_project_settings(layer, "approvals", settings.into_iter().chain(clients))
}

/// Reports rules that cannot be parsed, unless the reader has reported them.
fn report_invalid_rules(
    governance: &GovernanceSettings,
    layers: &[ConfigLayer],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let (_, bad) = Policy::compile(governance);
    for rule in bad {
        let is_there = |layer: &&ConfigLayer| is_file_of(layer, &rule.origin);
        let layer = layers.iter().find(is_there);
        let warning = layer.is_some_and(|layer| {
            layer.parsed.diagnostics.iter().any(|found| found.origin == rule.origin)
        });
        let severity = match layer.is_some_and(|layer| layer.file.dialect.is_toolgate()) {
            true => DiagnosticSeverity::Error,
            false => DiagnosticSeverity::Warning,
        };
        if !warning {
            let code = ErrorCode::PolicyInvalidRule;
            let found = Diagnostic::warning(code, rule.origin, rule.message);
            diagnostics.push(found.severity(severity));
        }
    }
}

fn is_file_of(layer: &ConfigLayer, origin: &Origin) -> bool {
    origin.scope == layer.scope() && origin.file.as_ref() == Some(&layer.file.at.path)
}

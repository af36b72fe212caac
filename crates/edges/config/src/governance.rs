//! What all files together say about decisions.
//!
//! Rules are kept file by file, nearest first, each with its place; what they come to for one call
//! is for `rules/policy`. A project's file can only make things stricter: what it would open is left
//! out and told.

use std::time::Duration;

use toolgate_dialects::{FileApprovals, Meaning, Permissions, Said};
use toolgate_model::{
    Approvals, Diagnostic, Effect, Governance, Mode, Origin, Posture, RuleSet, Scope, Severity,
    Via, WrittenRule,
};
use toolgate_policy::Policy;

use crate::clients;
use crate::files::Layer;
use crate::layers::note;
use crate::strictest::{OWN, Strictness, Word, words};

/// How old a list of definitions may be in each posture, unless somebody says.
const PERSONAL: Duration = Duration::from_secs(60);
const GOVERNED: Duration = Duration::from_secs(10);

/// Adds up what the files say, nearest first.
pub(crate) fn settle(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Governance {
    let posture = posture(layers, diagnostics);
    let mode = mode(layers, diagnostics);
    let rules = layers.iter().filter_map(|layer| rule_set(layer, mode.as_ref(), diagnostics));
    let rules = rules.collect();
    let governance = Governance {
        rules,
        posture,
        approvals: approvals(layers, posture, diagnostics),
        taint: taint(layers, posture, diagnostics),
        yolo_floor: yolo_floor(layers, diagnostics),
        recheck: recheck(layers, posture, diagnostics),
    };
    bad_rules(&governance, layers, diagnostics);
    governance
}

fn posture(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Posture {
    let said = words(layers, |settings| settings.posture);
    let strictness = Strictness {
        name: "launch.posture",
        default: Posture::Personal,
        order: |one, other| (*one as u8).cmp(&(*other as u8)),
    };
    strictness.settle(&said, diagnostics).map_or(Posture::Personal, |held| held.value)
}

/// The mode that holds and where it was said; none: nobody said one.
fn mode(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> Option<Word<Mode>> {
    let mut said = words(layers, |settings| settings.permissions.mode);
    // That another host asks by itself is no reason for us to ask as well: it only counts against
    // somebody who says that nobody is asked.
    if said.iter().all(|word| word.value != Mode::Full) {
        said.retain(|word| word.meant || word.value != Mode::Ask);
    }
    let strictness = Strictness {
        name: "policy.mode",
        default: Mode::Ask,
        order: |one, other| how_strict(*one).cmp(&how_strict(*other)),
    };
    strictness.settle(&said, diagnostics)
}

fn how_strict(mode: Mode) -> u8 {
    match mode {
        Mode::Full => 0,
        Mode::Ask => 1,
        Mode::Limited => 2,
    }
}

/// What one file contributes: its rules, and the mode if it is the one whose mode holds.
fn rule_set(
    layer: &Layer,
    mode: Option<&Word<Mode>>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RuleSet> {
    let Permissions { allow, ask, deny, .. } = &layer.reading.settings.permissions;
    let lists = [(Effect::Deny, deny), (Effect::Ask, ask), (Effect::Allow, allow)];
    let mut rules = Vec::new();
    for (effect, said) in lists {
        for rule in said {
            rules.extend(counted(layer, effect, rule, diagnostics).map(|rule| (effect, rule)));
        }
    }
    let mode = mode.filter(|word| is_file_of(layer, &word.origin));
    let origin = mode.map_or_else(|| layer.file.origin(0, 0), |word| word.origin.clone());
    let mode = mode.map(|word| word.value);
    (mode.is_some() || !rules.is_empty()).then_some(RuleSet { origin, mode, rules })
}

/// A rule in our words, if it counts. One about tools of the host itself is not our business.
fn counted(
    layer: &Layer,
    effect: Effect,
    rule: &WrittenRule,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<WrittenRule> {
    if rule.about.is_empty() {
        // Its reader could not read it; what restricts stays.
        return Some(rule.clone());
    }
    let meaning = layer.dialect.meaning(effect, rule, &layer.reading.settings.permissions);
    let why = match meaning {
        Meaning::OfTheHost => return None,
        Meaning::Rule(_) if effect == Effect::Allow && layer.file.scope == Scope::Project => {
            "a project's file can only be stricter"
        }
        Meaning::Rule(about) => return Some(WrittenRule { about, ..rule.clone() }),
        Meaning::Nothing(why) => why,
    };
    let (line, column) = rule.at;
    let message = format!("the rule {effect} {:?} does not count: {why}", rule.about);
    let told = note(layer.file.origin(line, column), message, Some(OWN.to_owned()));
    // Another host's file is right to say it: it was said to that host.
    let severity = if layer.rank.is_meant() { Severity::Warning } else { Severity::Note };
    diagnostics.push(Diagnostic { severity, ..told });
    None
}

fn taint(layers: &[Layer], posture: Posture, diagnostics: &mut Vec<Diagnostic>) -> Option<bool> {
    let said = words(layers, |settings| settings.permissions.taint);
    let default = posture == Posture::Governed;
    let strictness = Strictness { name: "policy.taint", default, order: bool::cmp };
    strictness.settle(&said, diagnostics).map(|held| held.value)
}

fn yolo_floor(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> bool {
    let said = words(layers, |settings| settings.permissions.yolo_floor);
    let strictness = Strictness { name: "policy.yolo_floor", default: false, order: bool::cmp };
    strictness.settle(&said, diagnostics).is_some_and(|held| held.value)
}

fn recheck(
    layers: &[Layer],
    posture: Posture,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Duration> {
    let said = words(layers, |settings| settings.recheck);
    let default = if posture == Posture::Governed { GOVERNED } else { PERSONAL };
    let strictness =
        Strictness { name: "pins.recheck", default, order: |one, other| other.cmp(one) };
    strictness.settle(&said, diagnostics).map(|held| held.value)
}

/// Who approves: for the user and the system to say.
fn approvals(layers: &[Layer], posture: Posture, diagnostics: &mut Vec<Diagnostic>) -> Approvals {
    let (proposed, own): (Vec<_>, Vec<_>) =
        layers.iter().partition(|layer| layer.file.scope == Scope::Project);
    for layer in proposed {
        diagnostics.extend(without_effect(layer));
    }
    let said = |layer: &&Layer| layer.reading.settings.approvals.clone();
    let said: Vec<FileApprovals> = own.iter().map(said).collect();
    let usual = Approvals::default();
    let time = |of: fn(&FileApprovals) -> Option<Said<Duration>>| {
        said.iter().find_map(of).map(|said| said.value)
    };
    let mut approvals = Approvals {
        via: via(layers, posture, diagnostics),
        wait: time(|it| it.wait).unwrap_or(usual.wait),
        expiry: time(|it| it.expiry).unwrap_or(usual.expiry),
        clients: usual.clients,
        from_client_terminal: from_client_terminal(layers, diagnostics),
    };
    let clients = said.iter().flat_map(|it| it.clients.keys().cloned());
    for client in clients.collect::<std::collections::BTreeSet<_>>() {
        let of_client = words(layers, |it| it.approvals.clients.get(&client).copied());
        let name = format!("approvals.clients.{client}.via");
        let held = settle_via(&name, &of_client, diagnostics);
        approvals.clients.extend(held.map(|held| (client, held.value)));
    }
    under_their_own_names(&mut approvals);
    approvals
}

/// Whether a process below a client may approve: for the user and the system to say, and the stricter
/// of them counts.
fn from_client_terminal(layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) -> bool {
    let mut said = words(layers, |settings| settings.approvals.from_client_terminal);
    said.retain(|word| word.origin.scope != Scope::Project);
    let name = "approvals.from_client_terminal";
    let order = |one: &bool, other: &bool| other.cmp(one);
    let held = Strictness { name, default: false, order }.settle(&said, diagnostics);
    held.is_some_and(|held| held.value)
}

/// `install` writes the name a client has on the command line; the client itself may have another.
fn under_their_own_names(approvals: &mut Approvals) {
    for client in clients::ALL {
        let Some(via) = approvals.clients.get(client.id).copied() else { continue };
        for name in client.calls_itself {
            approvals.clients.entry((*name).to_owned()).or_insert(via);
        }
    }
}

fn settle_via(
    name: &str,
    said: &[Word<Via>],
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Word<Via>> {
    let said: Vec<_> =
        said.iter().filter(|word| word.origin.scope != Scope::Project).cloned().collect();
    let order = |one: &Via, other: &Via| (*one as u8).cmp(&(*other as u8));
    Strictness { name, default: Via::Client, order }.settle(&said, diagnostics)
}

/// Who approves for every client. Where everything is to be approved, a client that could approve
/// by itself must be named.
fn via(layers: &[Layer], posture: Posture, diagnostics: &mut Vec<Diagnostic>) -> Option<Via> {
    let said = words(layers, |settings| settings.approvals.via);
    let held = settle_via("approvals.via", &said, diagnostics)?;
    if posture == Posture::Governed && held.value != Via::Operator {
        let message = format!(
            "`approvals.via` = {:?} does not count for every client in the governed posture",
            held.value.as_str()
        );
        let hint = "name the clients that may: [approvals.clients.NAME] via = …".to_owned();
        diagnostics.push(note(held.origin, message, Some(hint)));
        return None;
    }
    Some(held.value)
}

/// What a project's file says of who approves.
fn without_effect(layer: &Layer) -> Vec<Diagnostic> {
    let FileApprovals { via, clients, wait, expiry, from_client_terminal } =
        &layer.reading.settings.approvals;
    let said = [
        ("via".to_owned(), via.map(|it| it.at)),
        ("wait".to_owned(), wait.map(|it| it.at)),
        ("expiry".to_owned(), expiry.map(|it| it.at)),
        ("from_client_terminal".to_owned(), from_client_terminal.map(|it| it.at)),
    ];
    let clients = clients.iter().map(|(name, it)| (format!("clients.{name}.via"), Some(it.at)));
    let said = said.into_iter().chain(clients);
    let told = |(name, at): (String, Option<(u32, u32)>)| {
        let (line, column) = at?;
        let message = format!("`approvals.{name}` has no effect in a project's file");
        Some(note(layer.file.origin(line, column), message, Some(OWN.to_owned())))
    };
    said.filter_map(told).collect()
}

/// Tells of rules that nobody understands, unless their reader has.
fn bad_rules(governance: &Governance, layers: &[Layer], diagnostics: &mut Vec<Diagnostic>) {
    let (_, bad) = Policy::of(governance);
    for rule in bad {
        let is_there = |layer: &&Layer| is_file_of(layer, &rule.origin);
        let layer = layers.iter().find(is_there);
        let told = layer.is_some_and(|layer| {
            layer.reading.diagnostics.iter().any(|found| found.origin == rule.origin)
        });
        let severity = match layer.is_some_and(|layer| layer.dialect.is_ours()) {
            true => Severity::Error,
            false => Severity::Warning,
        };
        if !told {
            diagnostics.push(Diagnostic { severity, ..note(rule.origin, rule.message, None) });
        }
    }
}

fn is_file_of(layer: &Layer, origin: &Origin) -> bool {
    origin.scope == layer.file.scope && origin.file.as_ref() == Some(&layer.file.path)
}

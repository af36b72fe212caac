//! What several files say about decisions: rules with their places, and that a project's file makes
//! nothing looser.

use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::select;
use toolgate_config::{Dialect, Environment, Plan};
use toolgate_model::{
    ApprovalChannel, CapabilityId, CapabilityKind, ConfigScope, DiagnosticSeverity, Effect,
    GovernanceSettings, PolicyMode, Posture, ServerName,
};
use toolgate_policy::{Policy, PolicyFacts, PolicyQuery};

use crate::world::{USER, World, entry};

const SYSTEM: &str = "/etc/toolgate/config.toml";
const PROJECT: &str = "toolgate.toml";
const NYZHI: &str = "~/.config/nyzhi/config.toml";
const ZED: &str = "~/.config/zed/settings.json";

fn world(files: &[(&str, &str)]) -> Plan {
    let world = World::new();
    for (file, text) in files {
        world.file(file, text);
    }
    world.plan()
}

/// The rules of a plan, as `scope line: effect text`.
fn rules(plan: &Plan) -> Vec<String> {
    let sets = plan.settings.governance.rules.iter();
    let shown = sets.flat_map(|set| {
        let scope = set.origin.scope;
        set.rules
            .iter()
            .map(move |(effect, rule)| format!("{scope} {}: {effect} {rule}", rule.position.0))
    });
    shown.collect()
}

/// The mode that holds, and the scope and line of whoever said it.
fn mode(plan: &Plan) -> Option<(PolicyMode, ConfigScope, u32)> {
    let sets = plan.settings.governance.rules.iter();
    let said: Vec<_> =
        sets.filter_map(|set| Some((set.mode?, set.origin.scope, set.origin.line))).collect();
    assert!(said.len() <= 1, "{said:?}");
    let (mode, at) = {
        let (policy, _) = Policy::compile(&plan.settings.governance);
        let (mode, at) = policy.mode();
        (mode, at.map(|at| (at.scope, at.line)))
    };
    assert_eq!(
        said.first().map(|said| (said.0, Some((said.1, said.2)))),
        at.map(|at| (mode, Some(at)))
    );
    said.first().copied()
}

fn told(plan: &Plan) -> Vec<(DiagnosticSeverity, ConfigScope, u32, String)> {
    let told = plan.diagnostics.iter();
    told.map(|it| (it.severity, it.origin.scope, it.origin.line, it.message.clone())).collect()
}

#[test]
fn rules_of_all_files_hold_with_their_places_nearest_first() {
    let plan = world(&[
        (PROJECT, "[policy]\ndeny = ['mcp:a/x']\nask = [\n  'mcp:a/y',\n]\n"),
        (USER, "[policy]\nallow = ['mcp:a/*', { about = 'tag:mcp', client = 'c*' }]\n"),
        (SYSTEM, "\n\n[policy]\nask = ['mcp:b']\n"),
    ]);
    assert_eq!(
        rules(&plan),
        [
            "project 2: deny mcp:a/x",
            "project 4: ask mcp:a/y",
            "user 2: allow mcp:a/*",
            "user 2: allow tag:mcp, client \"c*\"",
            "system 4: ask mcp:b",
        ]
    );
    assert_eq!(told(&plan), []);
}

#[test]
fn a_projects_file_only_makes_things_stricter_and_each_word_is_told() {
    let plan = world(&[
        (
            PROJECT,
            "[policy]\nmode = 'yolo'\nallow = ['mcp:a/*']\ntaint = false\n\
             [approvals]\nvia = 'client'\nwait = '1s'\n[approvals.clients.c]\nvia = 'client'\n\
             [launch]\nposture = 'personal'\n[pins]\nrecheck = '1h'\n\
             [servers.a]\ncommand = 'x'\ntrust = true\nsampling = true\napproval = 'never'\n\
             tags = ['mcp.a', 'read-only']\n",
        ),
        (USER, "[policy]\nmode = 'ask'\n[launch]\nposture = 'governed'\n"),
    ]);
    let usual = GovernanceSettings::default();
    let GovernanceSettings { approvals, posture, taint, recheck, .. } = &plan.settings.governance;
    assert_eq!((*posture, *taint, *recheck), (Posture::Governed, None, None));
    assert_eq!(*approvals, usual.approvals);
    assert_eq!(mode(&plan), Some((PolicyMode::Ask, ConfigScope::User, 2)));
    assert_eq!(rules(&plan), [""; 0]);
    let spec = &entry(&plan, "a").spec;
    assert_eq!((spec.trust, spec.sampling, spec.selection.approval), (false, None, None));
    assert_eq!(spec.tags, Some(vec!["mcp.a".to_owned()]));
    let told = told(&plan);
    let lines: Vec<_> = told.iter().map(|it| it.2).collect();
    assert_eq!(lines, [2, 3, 4, 6, 7, 9, 11, 13, 14, 14, 16, 17], "{told:#?}");
    assert!(
        told.iter().all(|it| (it.0, it.1) == (DiagnosticSeverity::Warning, ConfigScope::Project)),
        "{told:#?}"
    );
}

#[test]
fn the_stricter_of_project_and_system_holds_against_the_user() {
    let files = |project: &str, user: &str, system: &str| {
        let policy = |mode: &str| match mode {
            "" => String::new(),
            mode => format!("[policy]\nmode = '{mode}'\n"),
        };
        let texts = [(PROJECT, policy(project)), (USER, policy(user)), (SYSTEM, policy(system))];
        let texts: Vec<_> = texts.iter().map(|(file, text)| (*file, text.as_str())).collect();
        mode(&world(&texts)).map(|(mode, scope, _)| (mode.as_str(), scope))
    };
    assert_eq!(files("", "yolo", ""), Some(("yolo", ConfigScope::User)));
    assert_eq!(files("", "", "yolo"), Some(("yolo", ConfigScope::System)));
    assert_eq!(files("ask", "yolo", ""), Some(("ask", ConfigScope::Project)));
    assert_eq!(files("limited", "yolo", "ask"), Some(("limited", ConfigScope::Project)));
    assert_eq!(files("", "yolo", "ask"), Some(("ask", ConfigScope::System)));
    assert_eq!(files("yolo", "", ""), None);
    assert_eq!(files("ask", "", ""), Some(("ask", ConfigScope::Project)));
    assert_eq!(files("ask", "limited", "yolo"), Some(("limited", ConfigScope::User)));
}

#[test]
fn what_the_user_told_another_host_counts_where_he_told_us_nothing() {
    let nyzhi = "[agent.trust]\nmode = 'full'\ndeny_tools = ['bash', 'mcp__a__b']\n";
    let plan = world(&[(NYZHI, nyzhi)]);
    assert_eq!(mode(&plan), Some((PolicyMode::Full, ConfigScope::User, 2)));
    assert_eq!(rules(&plan), ["user 3: deny mcp__a__b"]);
    let plan = world(&[(NYZHI, nyzhi), (USER, "[policy]\nmode = 'ask'\n")]);
    assert_eq!(mode(&plan), Some((PolicyMode::Ask, ConfigScope::User, 2)));
    // Of several hosts the strictest, and one that asks counts only against one that does not.
    let zed = r#"{ "agent": { "tool_permissions": { "default": "confirm" } } }"#;
    assert_eq!(mode(&world(&[(NYZHI, nyzhi), (ZED, zed)])).map(|it| it.0), Some(PolicyMode::Ask));
    assert_eq!(mode(&world(&[(ZED, zed)])), None);
    let limited = "[agent.trust]\nmode = 'limited'\nallow_tools = ['mcp__a__b']\n";
    let plan = world(&[(NYZHI, limited), (ZED, zed)]);
    assert_eq!(mode(&plan).map(|it| it.0), Some(PolicyMode::Limited));
    assert_eq!(rules(&plan), ["user 3: allow mcp__a__b"]);
}

#[test]
fn a_file_that_is_named_speaks_to_us() {
    let world = World::new();
    let text = r#"{ "version": 1, "servers": {},
        "permissions": { "mode": "ask", "allow": ["mcp:fs_read", "bash:ls"] } }"#;
    world.file("mcp.json", text).file(PROJECT, "[policy]\ndeny = ['mcp:*']\n");
    let plan = world.named(&world.path("mcp.json"), &Environment::new(|_| None));
    assert_eq!(plan.files[0].dialect, Dialect::CoreAgent);
    assert_eq!(mode(&plan), Some((PolicyMode::Ask, ConfigScope::User, 2)));
    assert_eq!(rules(&plan), ["user 2: allow mcp:fs_read"]);
    assert_eq!(told(&plan), []);
}

#[test]
fn where_everything_is_approved_a_client_is_trusted_by_name() {
    let approvals = "[approvals]\nvia = 'elicitation'\nexpiry = '5m'\n\
                     [approvals.clients.c]\nvia = 'client'\n";
    let personal = world(&[(USER, approvals)]).settings.governance.approvals;
    assert_eq!(personal.via, Some(ApprovalChannel::Elicitation));
    assert_eq!(personal.expiry, Duration::from_secs(300));
    let plan = world(&[(USER, &format!("{approvals}[launch]\nposture = 'governed'\n"))]);
    let governed = &plan.settings.governance.approvals;
    assert_eq!((governed.via, governed.clients["c"]), (None, ApprovalChannel::Client));
    let told = told(&plan);
    assert!(told.len() == 1 && told[0].2 == 2 && told[0].3.contains("governed"), "{told:#?}");
    let plan = world(&[(USER, approvals), (SYSTEM, "[approvals.clients.c]\nvia = 'operator'\n")]);
    assert_eq!(plan.settings.governance.approvals.clients["c"], ApprovalChannel::Operator);
}

#[test]
fn what_install_recorded_holds_for_the_name_a_client_gives_itself() {
    let text = "[approvals.clients]\ncursor = { via = 'operator' }\nzed = { via = 'client' }\n\
                Zed = { via = 'elicitation' }\n";
    let clients = world(&[(USER, text)]).settings.governance.approvals.clients;
    assert_eq!(clients["cursor-vscode"], ApprovalChannel::Operator);
    assert_eq!(
        (clients["zed"], clients["Zed"]),
        (ApprovalChannel::Client, ApprovalChannel::Elicitation)
    );
    assert_eq!(clients.len(), 4);
}

#[test]
fn a_rule_that_nobody_understands_is_an_error_with_its_place() {
    let plan = world(&[(USER, "[policy]\ndeny = [\n  'mcp:a/b',\n  'git push',\n  7,\n]\n")]);
    let told = told(&plan);
    let places: Vec<_> = told.iter().map(|it| (it.0, it.2)).collect();
    assert_eq!(
        places,
        [(DiagnosticSeverity::Error, 4), (DiagnosticSeverity::Error, 5)],
        "{told:#?}"
    );
    assert_eq!(decided(&plan, "z", "t"), Effect::Ask, "what it was to refuse is not known");
}

/// What becomes of a call, by what the files say alone.
fn decided(plan: &Plan, server: &str, tool: &str) -> Effect {
    let servers = ["a", "b", "z"].map(|name| ServerName::new(name).unwrap());
    let (policy, _) = Policy::compile(&plan.settings.governance);
    let policy = policy.with_servers(&servers);
    let id = CapabilityId {
        server: ServerName::new(server).unwrap(),
        kind: CapabilityKind::Tool,
        name: tool.into(),
    };
    let tags = ["mcp".to_owned()];
    let asked = PolicyQuery {
        id: &id,
        tags: &tags,
        client: "client",
        caller: "local",
        profile: "default",
        arguments: b"{}",
    };
    policy.decide(&asked, &PolicyFacts::default()).effect
}

/// A `[policy]` of a few rules about a few tools, so that they meet.
fn policy() -> impl Strategy<Value = String> {
    let about =
        select(vec!["mcp:a/x", "mcp:a/*", "mcp:b", "mcp__b__y", "mcp:b_y", "tag:mcp", "mcp:"]);
    let list = || proptest::collection::vec(about.clone(), 0..3);
    let mode = select(vec!["", "mode = 'ask'", "mode = 'limited'", "mode = 'yolo'", "mode = 'x'"]);
    (mode, list(), list(), list()).prop_map(|(mode, allow, ask, deny)| {
        format!("[policy]\n{mode}\nallow = {allow:?}\nask = {ask:?}\ndeny = {deny:?}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn a_projects_file_opens_nothing(project in policy(), user in policy(), system in policy()) {
        let without = world(&[(USER, &user), (SYSTEM, &system)]);
        let with = world(&[(PROJECT, &project), (USER, &user), (SYSTEM, &system)]);
        for (server, tool) in [("a", "x"), ("a", "y"), ("b", "y"), ("z", "t")] {
            let (before, after) = (decided(&without, server, tool), decided(&with, server, tool));
            prop_assert!(after >= before, "{server}/{tool}: {before} became {after}\n{project}\n{user}\n{system}");
        }
    }
}

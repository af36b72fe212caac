//! Security holes of other hosts in names and scopes, one test each.

use toolgate_model::{
    ApprovalMode, CapabilityId, CapabilityKind, ConfigScope, Effect, GovernanceSettings,
    PolicyMode, RuleSet,
};
use toolgate_policy::{DecisionReason, Policy};

use crate::world::{Call, OwnedFacts, origin, policy, said, set, tool};

fn effect(policy: &Policy, id: CapabilityId) -> Effect {
    let call = Call::of(id);
    policy.decide(&call.asked(), &call.facts()).effect
}

fn with(rules: &[(Effect, &str)], known: &[&str]) -> Policy {
    policy(&said([set(ConfigScope::User, rules)]), known)
}

fn effects(rule: (Effect, &str), known: &[&str], tools: &[(&str, &str)]) -> Vec<Effect> {
    let policy = with(&[rule], known);
    tools.iter().map(|(server, name)| effect(&policy, tool(server, name))).collect()
}

use Effect::{Allow, Ask, Deny};

#[test]
fn a_joined_name_that_two_servers_could_mean_opens_neither_and_refuses_both() {
    let pairs = [("a", "b_c"), ("a_b", "c")];
    for text in ["mcp:a_b_c", "mcp:a_b*"] {
        assert_eq!(effects((Allow, text), &["a", "a_b"], &pairs), [Ask, Ask], "{text}");
        assert_eq!(effects((Deny, text), &["a", "a_b"], &pairs), [Deny, Deny], "{text}");
    }
    assert_eq!(effects((Allow, "mcp:a_b_c"), &["a"], &pairs), [Allow, Ask]);
    assert_eq!(effects((Allow, "mcp:a_b_c"), &["a_b"], &pairs), [Ask, Allow]);
}

#[test]
fn names_that_hosts_clean_to_the_same_are_not_the_same() {
    let pairs = [("my-server", "t"), ("my_server", "t")];
    let both = ["my-server", "my_server"];
    assert_eq!(effects((Allow, "mcp:my_server_t"), &both, &pairs), [Ask, Ask]);
    assert_eq!(effects((Deny, "mcp:my_server_t"), &both, &pairs), [Deny, Deny]);
    assert_eq!(effects((Allow, "mcp:my_server/t"), &both, &pairs), [Ask, Allow]);
    assert_eq!(effects((Deny, "mcp:my_server/t"), &both, &pairs), [Ask, Deny]);
    assert_eq!(effects((Allow, "mcp:my_server_t"), &["my-server"], &pairs), [Allow, Ask]);
}

#[test]
fn two_underscores_in_a_name_are_not_a_border() {
    let pairs = [("a", "b__c"), ("a__b", "c")];
    let text = "mcp__a__b__c";
    assert_eq!(effects((Allow, text), &["a", "a__b"], &pairs), [Ask, Ask]);
    assert_eq!(effects((Deny, text), &["a", "a__b"], &pairs), [Deny, Deny]);
    assert_eq!(effects((Allow, text), &["a"], &pairs), [Allow, Ask]);
    // The whole of a server, or a tool of another.
    let pairs = [("a__b", "x"), ("a", "b")];
    assert_eq!(effects((Allow, "mcp__a__b"), &["a", "a__b"], &pairs), [Ask, Ask]);
    assert_eq!(effects((Deny, "mcp__a__b"), &["a", "a__b"], &pairs), [Deny, Deny]);
}

#[test]
fn a_server_named_like_somebody_s_tool_is_not_opened() {
    // `mcp:git/status` allows a tool of `git`; a server may be named exactly so.
    let pairs = [("git", "status"), ("git/status", "rm")];
    assert_eq!(effects((Allow, "mcp:git/status"), &["git"], &pairs), [Allow, Ask]);
    assert_eq!(effects((Allow, "mcp:git/status"), &["git", "git/status"], &pairs), [Ask, Ask]);
    assert_eq!(effects((Deny, "mcp:git/status"), &["git", "git/status"], &pairs), [Deny, Deny]);
    assert_eq!(
        effects((Allow, "mcp:git_status"), &["git", "git_status"], &[("git_status", "rm")]),
        [Ask]
    );
}

#[test]
fn who_is_told_of_no_servers_opens_nothing_that_could_be_read_twice() {
    let both = |text: &str| {
        let said = said([set(ConfigScope::User, &[(Allow, text)])]);
        let policy = Policy::compile(&said).0;
        [("a", "b_c"), ("a_b", "c"), ("a", "b__c"), ("a__b", "c")]
            .map(|(server, name)| effect(&policy, tool(server, name)))
    };
    assert_eq!(both("mcp:a_b_c"), [Ask; 4]);
    assert_eq!(both("mcp__a__b__c"), [Ask; 4]);
    assert_eq!(both("mcp:a/b_c"), [Allow, Ask, Ask, Ask]);
    assert_eq!(both("mcp:a"), [Allow, Ask, Allow, Ask]);
}

#[test]
fn a_tag_is_met_by_whole_parts() {
    let tagged = |tags: &[&str], rule: &str| {
        let mut call = Call::of(tool("a", "b"));
        call.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        with(&[(Deny, rule)], &["a"]).decide(&call.asked(), &call.facts()).effect
    };
    assert_eq!(tagged(&["mcp.filesystem.read"], "tag:mcp.filesystem"), Deny);
    assert_eq!(tagged(&["mcp.filesystem"], "tag:mcp.file"), Ask);
    assert_eq!(tagged(&["mcp"], "tag:mcp.file"), Ask);
    assert_eq!(tagged(&["mcp.git.read"], "tag:mcp.*.read"), Deny);
}

#[test]
fn a_refusal_of_everything_reaches_every_name() {
    for text in ["mcp:*", "mcp:*/*", "mcp__*"] {
        for (server, name) in [("@s/p", "a/b"), ("a", "b"), ("zażółć", "ü/🙂"), ("a b", "C")]
        {
            let policy = with(&[(Deny, text)], &[server]);
            for kind in CapabilityKind::ALL {
                let id = CapabilityId { kind, ..tool(server, name) };
                assert_eq!(effect(&policy, id), Deny, "{text} {server} {name} {kind}");
            }
        }
    }
}

#[test]
fn what_is_of_a_server_is_all_of_it_and_a_tool_is_a_tool() {
    let id = |kind, name: &str| CapabilityId { kind, ..tool("files", name) };
    let read = || id(CapabilityKind::Resource, "file:///etc/a/b");
    for text in [
        "mcp:files",
        "mcp:files/*",
        "resource:files",
        "resource:files/*",
        "resource:files/file:///etc/**",
        "resource:files/file:///*/a/b",
    ] {
        assert_eq!(effect(&with(&[(Deny, text)], &["files"]), read()), Deny, "{text}");
    }
    for text in ["resource:files/file:///etc/*", "mcp:files/file:///etc/a/b", "prompt:files/*"] {
        assert_eq!(effect(&with(&[(Deny, text)], &["files"]), read()), Allow, "{text}");
    }
    let prompt = id(CapabilityKind::Prompt, "p");
    assert_eq!(effect(&with(&[(Deny, "prompt:files/p")], &["files"]), prompt.clone()), Deny);
    assert_eq!(effect(&with(&[(Ask, "prompt:files/*")], &["files"]), prompt), Ask);
}

#[test]
fn yolo_skips_asking_and_nothing_else() {
    let mut rules = set(ConfigScope::User, &[(Deny, "mcp:a/rm"), (Ask, "mcp:a/push")]);
    rules.mode = Some(PolicyMode::Full);
    let admin = set(ConfigScope::System, &[(Ask, "mcp:a/pay")]);
    let policy = policy(&said([rules, admin]), &["a"]);
    let all = ["rm", "push", "pay", "other"].map(|name| effect(&policy, tool("a", name)));
    assert_eq!(all, [Deny, Allow, Ask, Allow]);
    let mut asking = Call::of(tool("a", "other"));
    asking.facts.approval = Some((ApprovalMode::Always, origin(ConfigScope::User, 1)));
    assert_eq!(policy.decide(&asking.asked(), &asking.facts()).effect, Allow);
    let mut blocked = Call::of(tool("a", "other"));
    blocked.facts.block = true;
    let decided = policy.decide(&blocked.asked(), &blocked.facts());
    assert_eq!(decided.reason, DecisionReason::Blocked("it is blocked".into()));
}

#[test]
fn trust_is_not_the_last_word() {
    let policy = policy(
        &said([
            set(ConfigScope::System, &[(Ask, "mcp:a/push")]),
            set(ConfigScope::Project, &[(Deny, "mcp:a/rm")]),
        ]),
        &["a"],
    );
    let trusted = |scope, name| {
        let mut call = Call::of(tool("a", name));
        call.facts.trust = Some(origin(scope, 3));
        policy.decide(&call.asked(), &call.facts()).effect
    };
    assert_eq!(
        ["push", "rm", "x"].map(|name| trusted(ConfigScope::User, name)),
        [Ask, Deny, Allow]
    );
    assert_eq!(trusted(ConfigScope::Project, "x"), Ask, "a project's file trusts nobody");
}

#[test]
fn an_entry_asks_before_its_server_is_trusted_and_a_project_s_entry_never_allows() {
    let policy = policy(&said([set(ConfigScope::User, &[(Allow, "mcp:a/x")])]), &["a"]);
    let decided = |approval, scope, read_only| {
        let mut call = Call::of(tool("a", "x"));
        call.facts.approval = Some((approval, origin(scope, 1)));
        call.facts.trust = Some(origin(ConfigScope::User, 2));
        call.facts.flags[0] = read_only;
        policy.decide(&call.asked(), &call.facts()).effect
    };
    assert_eq!(decided(ApprovalMode::Always, ConfigScope::Project, true), Ask);
    assert_eq!(decided(ApprovalMode::Auto, ConfigScope::User, false), Ask);
    assert_eq!(decided(ApprovalMode::Auto, ConfigScope::User, true), Allow);
    let lone = crate::world::policy(&GovernanceSettings::default(), &["a"]);
    let mut call = Call::of(tool("a", "x"));
    call.facts.approval = Some((ApprovalMode::Never, origin(ConfigScope::Project, 1)));
    assert_eq!(lone.decide(&call.asked(), &call.facts()).effect, Ask);
    call.facts.approval = Some((ApprovalMode::Never, origin(ConfigScope::User, 1)));
    assert_eq!(lone.decide(&call.asked(), &call.facts()).effect, Allow);
}

#[test]
fn taint_takes_back_what_was_allowed_and_spares_yolo_down_to_its_floor() {
    let tainted = |mode, floor, destructive| {
        let rules = RuleSet { mode, ..set(ConfigScope::User, &[(Allow, "mcp:a/x")]) };
        let said = GovernanceSettings { yolo_floor: floor, ..said([rules]) };
        let mut call = Call::of(tool("a", "x"));
        call.facts.flags[2] = true;
        call.facts.flags[3] = destructive;
        policy(&said, &["a"]).decide(&call.asked(), &call.facts()).effect
    };
    assert_eq!(tainted(None, false, false), Ask);
    assert_eq!(tainted(Some(PolicyMode::Full), false, true), Allow);
    assert_eq!(tainted(Some(PolicyMode::Full), true, false), Allow);
    assert_eq!(tainted(Some(PolicyMode::Full), true, true), Ask);
}

#[test]
fn a_standing_grant_does_not_answer_the_administrator() {
    let granted = |scope| {
        let policy = policy(&said([set(scope, &[(Ask, "mcp:a/x")])]), &["a"]);
        let mut call = Call::of(tool("a", "x"));
        call.facts.grant = true;
        policy.decide(&call.asked(), &call.facts()).effect
    };
    assert_eq!(
        [ConfigScope::System, ConfigScope::User, ConfigScope::Project].map(granted),
        [Ask, Allow, Allow]
    );
}

#[test]
fn the_default_mode_asks_and_is_not_explicit() {
    let policy = policy(&GovernanceSettings::default(), &["a"]);
    let call = Call::of(tool("a", "x"));
    let decided = policy.decide(&call.asked(), &call.facts());
    assert_eq!(decided.effect, Ask);
    assert_eq!(decided.reason, DecisionReason::Mode(PolicyMode::Ask, None));
    assert!(!decided.reason.is_explicit());
    let built_in = OwnedFacts { flags: [true, true, false, false], ..call.facts.clone() };
    let call = Call { facts: built_in, ..call };
    assert_eq!(policy.decide(&call.asked(), &call.facts()).reason, DecisionReason::BuiltIn);
}

#[test]
fn a_mode_is_no_looser_than_the_administrator_or_a_project_has_it() {
    let mode = |modes: &[(ConfigScope, PolicyMode)]| {
        let sets =
            modes.iter().map(|(scope, mode)| RuleSet { mode: Some(*mode), ..set(*scope, &[]) });
        policy(&said(sets), &[]).mode().0
    };
    assert_eq!(mode(&[(ConfigScope::Project, PolicyMode::Full)]), PolicyMode::Ask);
    assert_eq!(
        mode(&[(ConfigScope::User, PolicyMode::Full), (ConfigScope::Project, PolicyMode::Limited)]),
        PolicyMode::Limited
    );
    assert_eq!(
        mode(&[(ConfigScope::System, PolicyMode::Ask), (ConfigScope::User, PolicyMode::Full)]),
        PolicyMode::Ask
    );
    assert_eq!(
        mode(&[(ConfigScope::System, PolicyMode::Full), (ConfigScope::User, PolicyMode::Ask)]),
        PolicyMode::Ask
    );
    assert_eq!(
        mode(&[(ConfigScope::User, PolicyMode::Full), (ConfigScope::User, PolicyMode::Ask)]),
        PolicyMode::Full
    );
}

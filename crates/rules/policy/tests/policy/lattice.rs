//! All combinations of a few settings: three modes, and each rule, fact and origin present or
//! absent.

use toolgate_model::{ApprovalMode, ConfigScope, Effect, GovernanceSettings, PolicyMode, RuleSet};

use crate::properties::line;
use crate::reference;
use crate::world::{Call, number, origin, policy, said, set, tool};

const RULES: [(ConfigScope, Effect); 9] = [
    (ConfigScope::System, Effect::Deny),
    (ConfigScope::System, Effect::Ask),
    (ConfigScope::System, Effect::Allow),
    (ConfigScope::User, Effect::Deny),
    (ConfigScope::User, Effect::Ask),
    (ConfigScope::User, Effect::Allow),
    (ConfigScope::Project, Effect::Deny),
    (ConfigScope::Project, Effect::Ask),
    (ConfigScope::Project, Effect::Allow),
];

fn governance(mode: PolicyMode, floor: bool, chosen: usize) -> GovernanceSettings {
    let of = |scope| {
        let rules = RULES.iter().enumerate();
        let rules = rules.filter(|(bit, rule)| chosen >> bit & 1 == 1 && rule.0 == scope);
        rules.map(|(_, rule)| (rule.1, "mcp:a/b")).collect::<Vec<_>>()
    };
    let user = RuleSet { mode: Some(mode), ..set(ConfigScope::User, &of(ConfigScope::User)) };
    let project = set(ConfigScope::Project, &of(ConfigScope::Project));
    let sets = [project, user, set(ConfigScope::System, &of(ConfigScope::System))];
    let mut said = GovernanceSettings { yolo_floor: floor, ..said(sets) };
    number(&mut said);
    said
}

fn call(chosen: usize, approval: Option<ApprovalMode>) -> Call {
    let has = |bit: usize| chosen >> bit & 1 == 1;
    let scope = if has(0) { ConfigScope::Project } else { ConfigScope::User };
    let mut call = Call::of(tool("a", "b"));
    call.facts.trust = has(1).then(|| origin(scope, 1));
    call.facts.approval = approval.map(|approval| (approval, origin(scope, 1)));
    call.facts.grant = has(2);
    call.facts.flags = [has(3), has(4), has(5), has(6)];
    call
}

#[test]
fn every_combination_is_decided_as_the_reference_decides_it() {
    let approvals = ApprovalMode::ALL.map(Some).into_iter().chain([None]);
    let calls: Vec<_> = approvals
        .flat_map(|approval| (0..1 << 7).map(move |chosen| call(chosen, approval)))
        .collect();
    for (mode, floor) in [
        (PolicyMode::Ask, false),
        (PolicyMode::Limited, false),
        (PolicyMode::Full, false),
        (PolicyMode::Full, true),
    ] {
        for chosen in 0..1 << RULES.len() {
            let said = governance(mode, floor, chosen);
            let policy = policy(&said, &["a"]);
            let prepared = policy.prepare(&calls[0].id, &[]);
            for call in &calls {
                let (asked, facts) = (call.asked(), call.facts());
                let decided = prepared.decide(&asked, &facts);
                let expected = reference::decide(&said, &["a"], &asked, &facts);
                let found = (decided.effect, line(&decided.reason));
                assert_eq!(found, expected, "{mode:?} {chosen:b} {call:?}");
            }
        }
    }
}

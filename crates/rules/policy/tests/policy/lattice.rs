//! Every way in which few things can be said at once: three modes, and each rule, fact and origin
//! there or not.

use toolgate_model::{Approval, Effect, Governance, Mode, RuleSet, Scope};

use crate::properties::line;
use crate::reference;
use crate::world::{Call, number, origin, policy, said, set, tool};

const RULES: [(Scope, Effect); 9] = [
    (Scope::System, Effect::Deny),
    (Scope::System, Effect::Ask),
    (Scope::System, Effect::Allow),
    (Scope::User, Effect::Deny),
    (Scope::User, Effect::Ask),
    (Scope::User, Effect::Allow),
    (Scope::Project, Effect::Deny),
    (Scope::Project, Effect::Ask),
    (Scope::Project, Effect::Allow),
];

fn governance(mode: Mode, floor: bool, chosen: usize) -> Governance {
    let of = |scope| {
        let rules = RULES.iter().enumerate();
        let rules = rules.filter(|(bit, rule)| chosen >> bit & 1 == 1 && rule.0 == scope);
        rules.map(|(_, rule)| (rule.1, "mcp:a/b")).collect::<Vec<_>>()
    };
    let user = RuleSet { mode: Some(mode), ..set(Scope::User, &of(Scope::User)) };
    let project = set(Scope::Project, &of(Scope::Project));
    let sets = [project, user, set(Scope::System, &of(Scope::System))];
    let mut said = Governance { yolo_floor: floor, ..said(sets) };
    number(&mut said);
    said
}

fn call(chosen: usize, approval: Option<Approval>) -> Call {
    let has = |bit: usize| chosen >> bit & 1 == 1;
    let scope = if has(0) { Scope::Project } else { Scope::User };
    let mut call = Call::of(tool("a", "b"));
    call.facts.trust = has(1).then(|| origin(scope, 1));
    call.facts.approval = approval.map(|approval| (approval, origin(scope, 1)));
    call.facts.grant = has(2);
    call.facts.flags = [has(3), has(4), has(5), has(6), has(7)];
    call
}

#[test]
fn every_combination_is_decided_as_the_reference_decides_it() {
    let approvals = Approval::ALL.map(Some).into_iter().chain([None]);
    let calls: Vec<_> = approvals
        .flat_map(|approval| (0..1 << 8).map(move |chosen| call(chosen, approval)))
        .collect();
    for (mode, floor) in
        [(Mode::Ask, false), (Mode::Limited, false), (Mode::Full, false), (Mode::Full, true)]
    {
        for chosen in 0..1 << RULES.len() {
            let said = governance(mode, floor, chosen);
            let policy = policy(&said, &["a"]);
            let prepared = policy.prepare(&calls[0].id, &[]);
            for call in &calls {
                let (asked, facts) = (call.asked(), call.facts());
                let decided = prepared.decide(&asked, &facts);
                let expected = reference::decide(&said, &["a"], &asked, &facts);
                let found = (decided.effect, line(&decided.because));
                assert_eq!(found, expected, "{mode:?} {chosen:b} {call:?}");
            }
        }
    }
}

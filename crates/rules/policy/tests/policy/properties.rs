//! Properties of all rules and all calls.

use proptest::prelude::*;
use toolgate_model::{ConfigScope, Effect, RuleSet};
use toolgate_policy::{DecisionReason, Policy};

use crate::reference;
use crate::world::{call, cases, governance, known, number, origin, policy, rule};

/// The line of the rule that decided, if a rule did.
pub fn line(because: &DecisionReason<'_>) -> Option<u32> {
    match because {
        DecisionReason::Rule { origin, .. } => Some(origin.line),
        _ => None,
    }
}

proptest! {
    #![proptest_config(cases(1_000_000))]

    #[test]
    fn it_decides_as_the_reference_does(
        said in governance(), known in known(), call in call(),
    ) {
        let mut known = known;
        known.push(crate::world::SERVERS.iter().copied().find(|it| *it == call.id.server.as_str()).unwrap());
        known.sort_unstable();
        known.dedup();
        let policy = policy(&said, &known);
        let (asked, facts) = (call.asked(), call.facts());
        let expected = reference::decide(&said, &known, &asked, &facts);
        let decided = policy.decide(&asked, &facts);
        prop_assert_eq!((decided.effect, line(&decided.reason)), expected);
        let prepared = policy.prepare(asked.id, asked.tags);
        prop_assert_eq!(prepared.decide(&asked, &facts), decided);
    }
}

proptest! {
    #![proptest_config(cases(200_000))]

    #[test]
    fn another_deny_or_ask_opens_nothing(
        said in governance(), known in known(), call in call(), more in rule(), at in 0_usize..4,
        stricter in prop_oneof![Just(Effect::Deny), Just(Effect::Ask)],
    ) {
        let mut tighter = said.clone();
        match tighter.rules.len() {
            0 => return Ok(()),
            count => tighter.rules[at % count].rules.insert(0, (stricter, more.1)),
        }
        let (asked, facts) = (call.asked(), call.facts());
        let before = policy(&said, &known).decide(&asked, &facts).effect;
        let after = policy(&tighter, &known).decide(&asked, &facts).effect;
        prop_assert!(after >= before, "{before} became {after}");
    }

    #[test]
    fn a_project_only_tightens(
        said in governance(), known in known(), call in call(), theirs in governance(),
    ) {
        let mut with = said.clone();
        let sets = theirs.rules.into_iter().map(|set| RuleSet { origin: origin(ConfigScope::Project, 0), ..set });
        with.rules.splice(0..0, sets);
        number(&mut with);
        let (asked, facts) = (call.asked(), call.facts());
        let before = policy(&said, &known).decide(&asked, &facts).effect;
        let after = policy(&with, &known).decide(&asked, &facts).effect;
        prop_assert!(after >= before, "{before} became {after}");
    }

    #[test]
    fn a_project_s_entry_opens_nothing(said in governance(), known in known(), call in call()) {
        let mut without = call.clone();
        let theirs = |scope: ConfigScope| scope == ConfigScope::Project;
        without.facts.trust = without.facts.trust.filter(|origin| !theirs(origin.scope));
        without.facts.approval = without.facts.approval.filter(|(_, origin)| !theirs(origin.scope));
        let policy = policy(&said, &known);
        let before = policy.decide(&without.asked(), &without.facts()).effect;
        let after = policy.decide(&call.asked(), &call.facts()).effect;
        prop_assert!(after >= before, "{before} became {after}");
    }

    #[test]
    fn another_server_opens_nothing_of_those_there_are(
        said in governance(), known in known(), call in call(), more in 0..crate::world::SERVERS.len(),
    ) {
        let mut more_known = known.clone();
        more_known.push(crate::world::SERVERS[more]);
        if !known.contains(&call.id.server.as_str()) {
            return Ok(());
        }
        let (asked, facts) = (call.asked(), call.facts());
        let before = policy(&said, &known).decide(&asked, &facts).effect;
        let after = policy(&said, &more_known).decide(&asked, &facts).effect;
        prop_assert!(after >= before, "{before} became {after}");
    }

    #[test]
    fn who_knows_no_servers_opens_nothing_that_who_knows_them_would_not(
        said in governance(), call in call(),
    ) {
        let (asked, facts) = (call.asked(), call.facts());
        let alone = Policy::compile(&said).0.decide(&asked, &facts).effect;
        // A server alone in the world is the one that every reading must mean.
        let one = policy(&said, &[call.id.server.as_str()]).decide(&asked, &facts).effect;
        prop_assert!(alone >= one, "{one} became {alone}");
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}", form in 0..6_usize) {
        let prefix = ["", "mcp:", "mcp__", "tag:", "resource:", "prompt:"][form];
        let about = format!("{prefix}{text}");
        for effect in Effect::ALL {
            let said = crate::world::said([crate::world::set(ConfigScope::User, &[(effect, &about)])]);
            let (policy, bad) = Policy::compile(&said);
            let call = crate::world::Call::of(crate::world::tool("a", "b"));
            let policy = policy.with_servers([&call.id.server]);
            let decided = policy.decide(&call.asked(), &call.facts());
            prop_assert!(bad.is_empty() || decided.effect == Effect::Ask, "{about:?}");
        }
    }
}

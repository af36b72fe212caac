//! `explain` decides like `decide` and always names what decided.

use proptest::prelude::*;
use toolgate_model::{ConfigScope, Effect, PolicyMode};
use toolgate_policy::{DecisionReason, DecisionStep, PolicyLayer};

use crate::world::{Call, call, cases, governance, known, policy, said, set, tool};

proptest! {
    #![proptest_config(cases(200_000))]

    #[test]
    fn an_explanation_is_the_decision_and_names_its_rule(
        said in governance(), known in known(), call in call(),
    ) {
        let policy = policy(&said, &known);
        let (asked, facts) = (call.asked(), call.facts());
        let explained = policy.explain(&asked, &facts);
        prop_assert_eq!(&explained.decision, &policy.decide(&asked, &facts));
        let (settings, rules): (Vec<_>, Vec<_>) =
            explained.rules.iter().partition(|said| said.layer == PolicyLayer::Server);
        let by_setting = [DecisionStep::EntryAsk, DecisionStep::EntryAllow, DecisionStep::Trust];
        let decided = settings.iter().filter(|said| said.decided).count();
        prop_assert_eq!(decided, usize::from(by_setting.contains(&explained.step)));
        let deciders: Vec<_> = rules.iter().filter(|said| said.decided).collect();
        match &explained.base_decision.reason {
            DecisionReason::Rule { text, origin } => {
                prop_assert_eq!(deciders.len(), 1);
                prop_assert_eq!((&*deciders[0].text, &deciders[0].origin), (*text, *origin));
                prop_assert!(deciders[0].holds);
                prop_assert_eq!(deciders[0].effect, explained.base_decision.effect);
            }
            _ => prop_assert!(deciders.is_empty()),
        }
        // No applicable rule of higher precedence was skipped.
        let holding = |effect| rules.iter().any(|said| said.holds && said.effect == effect);
        if explained.step > DecisionStep::Deny {
            prop_assert!(!holding(Effect::Deny));
        }
        if explained.step > DecisionStep::UserAllow {
            let asks = policy.mode().0 != PolicyMode::Full;
            let counts = |effect| asks || effect != Effect::Ask;
            prop_assert!(!rules.iter().any(|said| said.holds && counts(said.effect)));
        }
        prop_assert!(explained.rules.is_sorted_by_key(|said| said.layer));
        prop_assert!(!explained.decision.reason.to_string().is_empty());
    }
}

#[test]
fn every_layer_tells_what_it_says_and_what_does_not_hold() {
    let mut user = set(ConfigScope::User, &[(Effect::Allow, "mcp:a/*"), (Effect::Ask, "mcp:a/b")]);
    user.rules[1].1.client = Some("other".into());
    let project = set(ConfigScope::Project, &[(Effect::Allow, "mcp:a/b")]);
    let policy = policy(
        &said([project, user, set(ConfigScope::System, &[(Effect::Deny, "mcp:z")])]),
        &["a"],
    );
    let call = Call::of(tool("a", "b"));
    let explained = policy.explain(&call.asked(), &call.facts());
    let told: Vec<_> = explained
        .rules
        .iter()
        .map(|said| (said.layer, said.effect, &*said.text, said.holds, said.decided))
        .collect();
    assert_eq!(
        told,
        [
            (PolicyLayer::User, Effect::Allow, "mcp:a/*", true, true),
            (PolicyLayer::User, Effect::Ask, "mcp:a/b (client = \"other\")", false, false),
            (PolicyLayer::Project, Effect::Allow, "mcp:a/b", false, false),
        ]
    );
    assert_eq!(explained.step, DecisionStep::UserAllow);
    assert_eq!(explained.decision.reason.to_string(), "rule `mcp:a/*` (user.toml:1)");
}

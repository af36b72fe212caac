//! What `policy check` reports about rules without effect.

use std::collections::BTreeSet;

use toolgate_model::{ConfigScope, Effect};
use toolgate_policy::RuleFlaw;

use crate::world::{policy, said, server, set, tool};

/// Returns the flaw of each user rule that has one, by its text. The servers `a` and `a_b` are
/// known, and only the tools `x` and `y/z` of `a` were listed.
fn flaws(rules: &[(Effect, &str)]) -> Vec<(String, String)> {
    let policy = policy(&said([set(ConfigScope::User, rules)]), &["a", "a_b"]);
    let offered = ["x", "y/z"].map(|name| (tool("a", name), vec!["mcp.a".to_owned()]));
    let listed = BTreeSet::from([server("a")]);
    let tell = |flaw: &RuleFlaw<'_>| match flaw {
        RuleFlaw::OnlyTightens => "only tightens".to_owned(),
        RuleFlaw::Ambiguous(meanings) => format!("ambiguous: {}", meanings.join(", ")),
        RuleFlaw::Unreachable { by, origin } => format!("behind {by}:{}", origin.line),
        RuleFlaw::NoServer => "no server".to_owned(),
        RuleFlaw::NeverMatches => "never matches".to_owned(),
    };
    let found = policy.findings(&offered, &listed);
    found.iter().map(|it| (it.text.to_owned(), tell(&it.flaw))).collect()
}

fn flaw(effect: Effect, text: &str) -> Option<String> {
    flaws(&[(effect, text)]).pop().map(|(_, flaw)| flaw)
}

#[test]
fn rules_that_mean_something_are_not_told_of() {
    for effect in Effect::ALL {
        for text in ["mcp:a/x", "mcp:a", "mcp:a/y/*", "mcp__a__x", "mcp:a_x", "tag:mcp", "mcp:*/x"]
        {
            assert_eq!(flaw(effect, text), None, "{effect} {text}");
        }
        // Nothing is known of `a_b` yet.
        assert_eq!(flaw(effect, "mcp:a_b/whatever"), None);
    }
}

#[test]
fn rules_that_mean_nothing_are() {
    for effect in Effect::ALL {
        assert_eq!(flaw(effect, "mcp:a/xx").as_deref(), Some("never matches"), "{effect}");
        assert_eq!(flaw(effect, "mcp:other/x").as_deref(), Some("no server"), "{effect}");
        assert_eq!(flaw(effect, "mcp:a/X").as_deref(), Some("never matches"), "{effect}");
    }
    let two = flaw(Effect::Allow, "mcp:a_b_x").unwrap();
    assert_eq!(two, "ambiguous: mcp:a/b_x, mcp:a_b/x");
}

#[test]
fn a_rule_behind_another_is_told_with_the_other() {
    let rules = [(Effect::Deny, "mcp:a/*"), (Effect::Allow, "mcp:a/x"), (Effect::Deny, "mcp:a/x")];
    let behind = "behind mcp:a/*:1".to_owned();
    assert_eq!(flaws(&rules), [("mcp:a/x".into(), behind.clone()), ("mcp:a/x".into(), behind)]);
    assert_eq!(flaws(&[(Effect::Deny, "mcp:a/x"), (Effect::Deny, "mcp:a/*")]), []);
    let twice = flaws(&[(Effect::Ask, "tag:mcp"), (Effect::Ask, "tag:mcp.a")]);
    assert_eq!(twice, [("tag:mcp.a".to_owned(), "behind tag:mcp:1".to_owned())]);
}

#[test]
fn what_a_project_allows_is_told() {
    let policy = policy(&said([set(ConfigScope::Project, &[(Effect::Allow, "mcp:a/x")])]), &["a"]);
    let found = policy.findings(&[(tool("a", "x"), Vec::new())], &BTreeSet::from([server("a")]));
    assert_eq!(found[0].flaw, RuleFlaw::OnlyTightens);
    assert_eq!(found[0].origin.to_string(), "project.toml:1");
}

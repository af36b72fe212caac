//! Invalid rules: each is reported with its position, and none allows anything.

use toolgate_model::{
    ArgumentCondition, ConfigScope, Effect, ExpectedArgumentValue, PolicyMode, RuleSet, RuleSpec,
};
use toolgate_policy::{DecisionReason, Policy};

use crate::world::{Call, origin, said, set, tool};

const UNREADABLE: [&str; 14] = [
    "",
    "git/push",
    "mcp",
    "mcp:",
    "mcp:/x",
    "mcp:x/",
    "mcp__",
    "tag:",
    "tag:a..b",
    "MCP:a/b",
    " mcp:a/b",
    "mcp:a/b\u{200b}",
    "resource:",
    "Bash(rm *)",
];

fn yolo(effect: Effect, rule: RuleSpec) -> RuleSet {
    let rules = vec![(effect, RuleSpec { position: (7, 3), ..rule })];
    RuleSet { mode: Some(PolicyMode::Full), rules, ..set(ConfigScope::User, &[]) }
}

#[test]
fn a_refusal_that_cannot_be_read_is_asked_about_even_where_all_is_trusted() {
    for text in UNREADABLE {
        let (policy, bad) = Policy::compile(&said([yolo(Effect::Deny, text.to_owned().into())]));
        assert_eq!(bad.len(), 1, "{text:?}");
        assert_eq!((bad[0].origin.line, bad[0].origin.column), (7, 3));
        assert!(
            bad[0]
                .message
                .contains("until it is fixed every call it might cover requires approval"),
            "{}",
            bad[0].message
        );
        let mut call = Call::of(tool("a", "b"));
        call.facts.trust = Some(origin(ConfigScope::User, 1));
        call.facts.grant = true;
        let decided = policy.decide(&call.asked(), &call.facts());
        let because = DecisionReason::Rule { text, origin: &bad[0].origin };
        // A subject that names resources covers resources only.
        let expected = if text == "resource:" { Effect::Allow } else { Effect::Ask };
        assert_eq!(decided.effect, expected, "{text:?}");
        assert!(expected == Effect::Allow || decided.reason == because);
    }
}

#[test]
fn an_ask_that_cannot_be_read_asks_and_an_allow_allows_nothing() {
    for text in UNREADABLE.into_iter().filter(|text| *text != "resource:") {
        for effect in [Effect::Ask, Effect::Allow] {
            let mut rules = RuleSet { mode: None, ..yolo(effect, text.to_owned().into()) };
            if effect == Effect::Ask {
                rules.rules.push((Effect::Allow, "mcp:a/*".to_owned().into()));
            }
            let (policy, bad) = Policy::compile(&said([rules]));
            let call = Call::of(tool("a", "b"));
            let decided = policy.decide(&call.asked(), &call.facts());
            assert_eq!((bad.len(), decided.effect), (1, Effect::Ask), "{text:?}");
            let by_mode = matches!(decided.reason, DecisionReason::Mode(PolicyMode::Ask, None));
            assert_eq!(by_mode, effect == Effect::Allow);
        }
    }
}

#[test]
fn a_bad_part_makes_a_refusal_wider_and_an_allow_void() {
    let bad_pointer = ArgumentCondition {
        pointer: "path".into(),
        expected: ExpectedArgumentValue::Glob("/etc/*".into()),
    };
    let rules = [
        RuleSpec { when: vec![bad_pointer], ..RuleSpec::from("mcp:a/b".to_owned()) },
        RuleSpec { client: Some(String::new()), ..RuleSpec::from("mcp:a/b".to_owned()) },
        RuleSpec { profile: Some(String::new()), ..RuleSpec::from("mcp:a/b".to_owned()) },
    ];
    for rule in rules {
        let decided = |effect, server, mode| {
            let set = RuleSet { mode, ..yolo(effect, rule.clone()) };
            let (policy, bad) = Policy::compile(&said([set]));
            let call = Call::of(tool(server, "b"));
            assert_eq!(bad.len(), 1);
            policy.decide(&call.asked(), &call.facts()).effect
        };
        assert_eq!(decided(Effect::Deny, "a", Some(PolicyMode::Full)), Effect::Deny);
        assert_eq!(decided(Effect::Deny, "other", Some(PolicyMode::Full)), Effect::Allow);
        assert_eq!(
            decided(Effect::Ask, "a", Some(PolicyMode::Full)),
            Effect::Allow,
            "nobody is asked"
        );
        assert_eq!(decided(Effect::Ask, "a", Some(PolicyMode::Limited)), Effect::Ask);
        assert_eq!(decided(Effect::Allow, "a", None), Effect::Ask);
    }
}

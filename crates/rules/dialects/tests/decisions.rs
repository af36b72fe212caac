//! What our own file says about decisions: rules with their places, and slips of the pen that open
//! nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::time::Duration;

use toolgate_dialects::{Dialect, FileRef, FileSettings, ParsedFile, PolicyMode};
use toolgate_model::{
    ApprovalChannel, ArgumentCondition, ConfigScope, ConfigValue, DiagnosticSeverity,
    ExpectedArgumentValue, Posture, RuleSpec, SamplingLimits,
};

fn project(text: &str) -> ParsedFile {
    Dialect::Toolgate.read(text, &FileRef::new("/project/toolgate.toml", ConfigScope::Project))
}

fn user(text: &str) -> ParsedFile {
    Dialect::Toolgate.read(text, &FileRef::new("/home/config.toml", ConfigScope::User))
}

#[test]
fn what_is_said_of_decisions_needs_no_remark() {
    for text in [
        "[servers.a]\ncommand = 'x'\napproval = 'always'\ntrust = true\nsampling = true\n",
        "[servers.a]\ncommand = 'x'\ntools.x = { approval = 'never' }\n",
        "[launch]\nposture = 'governed'\n[approvals]\nvia = 'operator'\n[pins]\nrecheck = '0s'\n",
        "[policy]\nmode = 'ask'\ndeny = ['mcp:a/b']\n",
    ] {
        assert_eq!(user(text).diagnostics, [], "{text}");
    }
}

/// A slip of the pen opens nothing: what restricts stays, wider than it was meant.
#[test]
fn a_rule_with_a_mistake_is_told_and_restricts_all_the_same() {
    let about = |rules: &[RuleSpec]| {
        rules
            .iter()
            .map(|rule| (rule.subject.clone(), rule.when.len(), rule.position))
            .collect::<Vec<_>>()
    };
    for (item, said, left) in [
        ("7", "has a number among `deny`", ""),
        ("{ abuot = 'mcp:a/b' }", "did you mean `about`?", ""),
        ("{ about = 'mcp:a/b', wehn = [] }", "did you mean `when`?", "mcp:a/b"),
        ("{ about = 'mcp:a/b', when = [{ at = '/x' }] }", "`glob` or `equals`", "mcp:a/b"),
        ("{ about = 'mcp:a/b', when = [{ at = 'x', glob = '' }] }", "begins with /", "mcp:a/b"),
        ("{ about = 'mcp:a/b', when = [1] }", "a number among `when`", "mcp:a/b"),
    ] {
        let reading = user(&format!("[policy]\ndeny = [ {item} ]\nallow = [ {item} ]\n"));
        let told = reading.diagnostics.iter().find(|it| {
            let text = format!("{} {}", it.message, it.hint.clone().unwrap_or_default());
            it.severity == DiagnosticSeverity::Error && text.contains(said)
        });
        let told = told.unwrap_or_else(|| panic!("{item}: {:#?}", reading.diagnostics));
        assert_eq!(told.origin.line, 2, "{told}");
        let said = reading.settings.permissions;
        assert_eq!(about(&said.deny), [(left.to_owned(), 0, (2, 10))], "{item}");
        assert_eq!(said.allow, [], "{item}");
    }
    let whole = user("[policy]\nask = 'mcp:a/b'\n").settings.permissions.ask;
    assert_eq!(about(&whole), [(String::new(), 0, (2, 7))]);
    let strict = user(
        "[policy]\nmode = 'yolol'\ntaint = 1\n[launch]\nposture = 'x'\n[pins]\nrecheck = 60\n[approvals]\nvia = 'me'\n",
    );
    let FileSettings { permissions, posture, recheck, approvals, .. } = strict.settings;
    assert_eq!(permissions.mode.map(|it| it.value), Some(PolicyMode::Ask));
    assert_eq!(permissions.taint.map(|it| it.value), Some(true));
    assert_eq!(posture.map(|it| it.value), Some(Posture::Governed));
    assert_eq!(recheck.map(|it| it.value), Some(Duration::ZERO));
    assert_eq!(approvals.via.map(|it| it.value), Some(ApprovalChannel::Operator));
    assert_eq!(strict.diagnostics.len(), 5);
}

#[test]
fn rules_are_read_with_their_places() {
    let text = "[policy]\nask = [\n  'mcp:a/b',\n  { about = 'tag:x', client = 'c*', profile = 'p', when = [\n    { at = '/n', equals = 3 },\n    { at = '/p', glob = '/srv/*' } ] },\n]\n";
    let rules = user(text).settings.permissions.ask;
    let plain = RuleSpec { position: (3, 3), ..RuleSpec::from("mcp:a/b".to_owned()) };
    let when = vec![
        ArgumentCondition {
            pointer: "/n".into(),
            expected: ExpectedArgumentValue::Value(ConfigValue::Integer(3)),
        },
        ArgumentCondition {
            pointer: "/p".into(),
            expected: ExpectedArgumentValue::Glob("/srv/*".into()),
        },
    ];
    let long = RuleSpec {
        subject: "tag:x".into(),
        client: Some("c*".into()),
        profile: Some("p".into()),
        when,
        position: (4, 3),
    };
    assert_eq!(rules, [plain, long]);
}

#[test]
fn sampling_is_for_the_user_to_allow() {
    let text = |said: &str| format!("[servers.a]\ncommand = 'x'\nsampling = {said}\n");
    let limits = |said: &str| user(&text(said)).servers[0].spec.sampling;
    assert_eq!(limits("true"), Some(SamplingLimits::default()));
    assert_eq!(limits("false"), None);
    let few = SamplingLimits { requests_per_day: 2, concurrency: 3, ..SamplingLimits::default() };
    assert_eq!(limits("{ requests_per_day = 2, concurrency = 3 }"), Some(few));
    let reading = project(&text("true"));
    assert_eq!(reading.servers[0].spec.sampling, None);
    assert!(reading.diagnostics[0].message.contains("has no effect in a project's file"));
    for wrong in
        ["1", "'yes'", "{ max_tokens = 0 }", "{ concurrency = -1 }", "{ max_tokens = 'x' }"]
    {
        let reading = user(&text(wrong));
        assert_eq!(reading.servers.len(), 0, "{wrong}");
        assert_eq!(reading.diagnostics[0].severity, DiagnosticSeverity::Error, "{wrong}");
    }
}

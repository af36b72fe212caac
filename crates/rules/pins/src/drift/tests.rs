//! Examples of differences between definitions.

use super::*;

fn told(before: &str, now: &str) -> Vec<(&'static str, String)> {
    let changes = compare_definitions(CapabilityKind::Tool, before.as_bytes(), now.as_bytes());
    changes.into_iter().map(|change| (change.code, change.pointer)).collect()
}

fn input(before: &str, now: &str) -> Vec<(&'static str, String)> {
    let tool = |schema: &str| format!(r#"{{"name":"t","inputSchema":{schema}}}"#);
    told(&tool(before), &tool(now))
}

#[test]
fn words_and_hints_are_told_by_name() {
    let before = r#"{"name":"t","description":"a","annotations":{"readOnlyHint":false},"_meta":1}"#;
    let now = r#"{"name":"t","title":"T","description":"b","annotations":{"readOnlyHint":true,
        "destructiveHint":true},"icons":[],"x":2}"#;
    let expected = [
        ("meta-changed", "/_meta"),
        ("annotation-changed", "/annotations/destructiveHint"),
        ("annotation-changed", "/annotations/readOnlyHint"),
        ("description-changed", "/description"),
        ("icons-changed", "/icons"),
        ("title-changed", "/title"),
        ("other-changed", "/x"),
    ];
    assert_eq!(told(before, now), expected.map(|(code, at)| (code, at.to_owned())));

    let changes = compare_definitions(CapabilityKind::Tool, before.as_bytes(), now.as_bytes());
    let flipped = &changes[2];
    assert_eq!(flipped.text, "annotation `readOnlyHint` changed from false to true");
    assert_eq!(flipped.severity, DiagnosticSeverity::Error, "it looks safer now");
    assert_eq!(changes[1].severity, DiagnosticSeverity::Warning, "it looks more dangerous now");
    assert_eq!(changes[3].before.as_deref(), Some("a"));
    assert_eq!(changes[3].after.as_deref(), Some("b"));
}

#[test]
fn what_is_hidden_is_shown() {
    let now = r#"{"name":"t","description":"a\u200b\u202eb\nc","x\u200by":1}"#;
    let changes = compare_definitions(CapabilityKind::Tool, br#"{"name":"t"}"#, now.as_bytes());
    assert_eq!(changes[0].after.as_deref(), Some("a⟦U+200B⟧⟦U+202E⟧b\nc"));
    assert_eq!(changes[1].pointer, "/x⟦U+200B⟧y");
    assert_eq!(changes[1].text, "`x⟦U+200B⟧y` was added");
}

#[test]
fn what_a_schema_takes_is_weighed() {
    let cases = [
        (r#"{"type":"string"}"#, r#"{"type":["string","null"]}"#, "input-widened", "/type"),
        (r#"{"type":"number"}"#, r#"{"type":"integer"}"#, "input-narrowed", "/type"),
        (r#"{"type":"string"}"#, r#"{"type":"integer"}"#, "input-changed", "/type"),
        (r#"{"required":["a"]}"#, r#"{"required":[]}"#, "input-widened", "/required"),
        ("{}", r#"{"required":["a"]}"#, "input-narrowed", "/required"),
        (r#"{"enum":["a"]}"#, r#"{"enum":["b","a"]}"#, "input-widened", "/enum"),
        (r#"{"enum":["a"]}"#, "{}", "input-widened", "/enum"),
        (r#"{"maximum":1}"#, r#"{"maximum":1e1}"#, "input-widened", "/maximum"),
        (r#"{"minLength":1}"#, r#"{"minLength":2}"#, "input-narrowed", "/minLength"),
        ("{}", r#"{"pattern":"a"}"#, "input-narrowed", "/pattern"),
        (r#"{"pattern":"b"}"#, r#"{"pattern":"a"}"#, "input-changed", "/pattern"),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"additionalProperties":false,"properties":{"x":{}}}"#,
            "input-widened",
            "/properties/x",
        ),
        ("{}", r#"{"properties":{"x":{"type":"string"}}}"#, "input-narrowed", "/properties/x"),
        (r#"{"additionalProperties":false}"#, "{}", "input-widened", "/additionalProperties"),
        (
            r#"{"properties":{"x":{"items":{"maximum":3}}}}"#,
            r#"{"properties":{"x":{"items":{"maximum":2}}}}"#,
            "input-narrowed",
            "/properties/x/items/maximum",
        ),
        (r#"{"not":{"maximum":3}}"#, r#"{"not":{"maximum":2}}"#, "input-widened", "/not/maximum"),
        (
            r##"{"$defs":{"a":{"maximum":1}}}"##,
            r##"{"$defs":{"a":{"maximum":2}}}"##,
            "input-changed",
            "/$defs",
        ),
        (
            r#"{"properties":{"x":{"description":"a"}}}"#,
            r#"{"properties":{"x":{"description":"b"}}}"#,
            "input-reworded",
            "/properties/x/description",
        ),
        (
            r#"{"maximum":1,"allOf":[{"unevaluatedProperties":false}]}"#,
            r#"{"maximum":2,"allOf":[{"unevaluatedProperties":false}]}"#,
            "input-changed",
            "/maximum",
        ),
    ];
    for (before, now, code, at) in cases {
        assert_eq!(input(before, now), [(code, format!("/inputSchema{at}"))], "{before} {now}");
    }
}

#[test]
fn what_has_no_one_meaning_is_told_as_such() {
    let changes = told(r#"{"name":"t"}"#, r#"{"name":"t","name":"t"}"#);
    assert_eq!(changes, [("unreadable", String::new())]);
    assert_eq!(told("{", "["), [("unreadable", String::new())]);
    assert!(told("{", "{").is_empty());
}

#[test]
fn a_flood_of_changes_is_bounded_in_number_and_in_time() {
    let many = |suffix: &str| {
        let all: Vec<_> = (0..20_000).map(|n| format!(r#""p{n}{suffix}":{{"x":1}}"#)).collect();
        format!(
            r#"{{"properties":{{{}}},"additionalProperties":{{{}}}}}"#,
            all.join(","),
            all.join(",")
        )
    };
    let began = std::time::Instant::now();
    let changes = input(&many("a"), &many("b"));
    assert_eq!(changes.len(), MAX_DIFFERENCES + 1);
    assert_eq!(changes.last().map(|it| it.0), Some("more-changed"));
    assert!(began.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn instructions_that_come_go_or_change_are_told() {
    assert_eq!(compare_instructions("a", "a"), None);
    let text = |before, now| compare_instructions(before, now).map(|change| change.text);
    assert_eq!(text("", "a").as_deref(), Some("the instructions were added"));
    assert_eq!(text("a", "").as_deref(), Some("the instructions were removed"));
    assert_eq!(text("a", "b").as_deref(), Some("the instructions were changed"));
}

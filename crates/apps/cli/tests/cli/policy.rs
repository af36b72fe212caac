//! `policy`: what is wrong with rules, what they decide and why, cases, and past calls.

use serde_json::{Value, json};

use crate::support::{Place, Said, run, sample};

const RULES: &str = r#"
[policy]
allow = ["mcp:s/echo", "mcp:s/ech"]
ask = ["mcp:s/help"]
deny = ["mcp:s/now", { about = "mcp:s/echo", when = [{ at = "/text", glob = "secret*" }] }]
"#;

/// A place whose servers were looked at.
fn looked_at(config: &str) -> Place {
    let place = Place::with(config);
    let said = run(&mut place.configured(&["discover"]));
    assert_eq!(said.code, 0, "{said:?}");
    place
}

fn governed(rules: &str) -> Place {
    looked_at(&format!("{}{rules}", sample("s")))
}

fn explain(place: &Place, words: &[&str]) -> Said {
    let words = [&["policy", "explain"], words].concat();
    run(&mut place.configured(&words))
}

fn effect(place: &Place, words: &[&str]) -> (Value, Value) {
    let said = explain(place, &[words, &["--json"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let told = said.json();
    (told["effect"].clone(), told["because"].clone())
}

#[test]
fn a_call_is_explained_with_the_rule_that_decides_and_every_layer() {
    let place = governed(RULES);
    let file = place.config().display().to_string();
    let said = explain(&place, &["s", "echo", "--arguments", r#"{"text":"hi"}"#]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("s/echo (tool): allow\n"), "{said:?}");
    assert!(said.out.contains(&format!("because  rule `mcp:s/echo` ({file}:")), "{said:?}");
    for part in ["admin: nothing", "server: nothing", "user:", "<- decides", "(does not hold)"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let (denied, because) = effect(&place, &["s", "echo", "--arguments", r#"{"text":"secret x"}"#]);
    assert_eq!(denied, "deny", "{because}");
    assert!(because.as_str().unwrap().contains("/text like"), "{because}");
    assert_eq!(effect(&place, &["s", "now"]).0, "deny");
    assert_eq!(effect(&place, &["s", "help"]).0, "ask");
    let unruled = effect(&place, &["s", "other"]);
    assert_eq!(unruled, ("ask".into(), "mode `ask`, as no file says otherwise".into()));
}

#[test]
fn what_is_explained_is_what_happens() {
    let place = governed(RULES);
    let said = run(&mut place.configured(&["call", "s", "now"]));
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("mcp:s/now") || said.out.contains("mcp:s/now"), "{said:?}");
    let said = run(&mut place.configured(&["call", "s", "echo", "text=hi"]));
    assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{said:?}");
    let said = run(&mut place.configured(&["call", "s", "echo", "text=secret"]));
    assert_eq!(said.code, 3, "{said:?}");
}

#[test]
fn a_server_or_profile_that_is_none_is_told() {
    let place = governed(RULES);
    let said = explain(&place, &["t", "echo"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("find a server named `t`"), "{said:?}");
    let said = explain(&place, &["s", "echo", "--as", "nobody"]);
    assert_eq!(said.code, 2, "{said:?}");
    let said = explain(&place, &["s", "echo", "--arguments", "[]"]);
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn rules_are_checked_against_what_servers_offer() {
    let place = governed(RULES);
    let said = run(&mut place.configured(&["policy", "check", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let report = said.json();
    assert_eq!((&report["rules"], &report["warnings"]), (&5.into(), &1.into()), "{report}");
    let found = &report["diagnostics"][0];
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("`mcp:s/ech` matches nothing"), "{message}");
    assert!(found["line"].as_u64() > Some(0), "{found}");
    let place = governed("[policy]\ndeny = [\"s/now\"]\n");
    let said = run(&mut place.configured(&["policy", "check"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.out.contains("servers.toml:5"), "{said:?}");
    assert!(said.out.contains("`mcp:SERVER/TOOL`"), "{said:?}");
    // Until it is right, nothing passes unasked.
    assert_eq!(effect(&place, &["s", "echo"]).0, "ask");
}

#[test]
fn a_joined_name_that_two_servers_have_is_told_and_allows_nothing() {
    let servers = format!(
        "{}{}",
        sample("a"),
        sample("a_b").replace("sample-server\"]", "sample-server\"]\nenv = { A = \"1\" }")
    );
    let place = looked_at(&format!("{servers}[policy]\nallow = [\"mcp:a_b_echo\"]\n"));
    let said = run(&mut place.configured(&["policy", "check"]));
    assert!(said.out.contains("`mcp:a/b_echo` or `mcp:a_b/echo`"), "{said:?}");
    assert_eq!(effect(&place, &["a_b", "echo"]).0, "ask");
}

#[test]
fn cases_are_decided_as_expected_or_told() {
    let place = governed(RULES);
    let cases = r#"
        [[case]]
        server = "s"
        tool = "echo"
        arguments = { text = "hi" }
        expect = "allow"
        because = "mcp:s/echo"
        [[case]]
        server = "s"
        tool = "now"
        expect = "deny"
    "#;
    let file = place.work().join("cases.toml");
    std::fs::write(&file, cases).unwrap();
    let said = run(&mut place.configured(&["policy", "test", "cases.toml"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    std::fs::write(&file, cases.replace("\"deny\"", "\"ask\"")).unwrap();
    let said = run(&mut place.configured(&["policy", "test", "cases.toml"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("s/now") && !said.out.contains("s/echo"), "{said:?}");
    let json = json!({ "case": [{ "server": "s", "prompt": "greet", "expect": "allow" }] });
    std::fs::write(place.work().join("cases.json"), json.to_string()).unwrap();
    let said = run(&mut place.configured(&["policy", "test", "cases.json", "--json"]));
    assert_eq!((said.code, &said.json()[0]["holds"]), (0, &true.into()), "{said:?}");
    std::fs::write(&file, cases.replace("expect", "expected")).unwrap();
    let said = run(&mut place.configured(&["policy", "test", "cases.toml"]));
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn past_calls_are_decided_anew() {
    let place = governed(RULES);
    for words in [["text=hi"], ["text=there"]] {
        let said = run(place.configured(&["call", "s", "echo"]).args(words));
        assert_eq!(said.code, 0, "{said:?}");
    }
    assert_eq!(run(&mut place.configured(&["call", "s", "now"])).code, 3);
    let said = run(&mut place.configured(&["policy", "replay", "--json"]));
    assert_eq!((said.code, &said.json()["calls"]), (0, &3.into()), "{said:?}");
    let next = place.work().join("next.toml");
    std::fs::write(next, "[policy]\ndeny = [\"mcp:s/echo\"]\nallow = [\"mcp:s/now\"]\n").unwrap();
    let words = ["policy", "replay", "--policy", "next.toml", "--since", "1h", "--json"];
    let said = run(&mut place.configured(&words));
    assert_eq!(said.code, 1, "{said:?}");
    let replayed = said.json();
    let otherwise = replayed["otherwise"].as_array().unwrap();
    let told: Vec<_> = otherwise.iter().map(|it| (&it["name"], &it["was"], &it["now"])).collect();
    let (echo, now) = (json!("echo"), json!("now"));
    let (allow, deny) = (json!("allow"), json!("deny"));
    assert_eq!(told, [(&echo, &allow, &deny), (&echo, &allow, &deny), (&now, &deny, &allow)]);
    let said = run(&mut place.configured(&["policy", "replay", "--since", "2999-01-01T00:00:00Z"]));
    assert_eq!(said.code, 0, "{said:?}");
    let said = run(&mut place.configured(&["policy", "replay", "--since", "yesterday"]));
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn what_is_refused_ends_with_its_own_code_and_says_why_once() {
    let rules = r#"
[policy]
deny = ["mcp:s/now", "resource:s", "prompt:s"]
"#;
    let place = governed(rules);
    for (words, rule) in [
        (&["call", "s", "now"][..], "mcp:s/now"),
        (&["read-resource", "s", "toolgate://sample/help"], "resource:s"),
        (&["prompt", "s", "getting_started"], "prompt:s"),
    ] {
        let said = run(&mut place.configured(words));
        assert_eq!((said.code, &*said.out), (3, ""), "{said:?}");
        assert_eq!(said.err.matches(&format!("rule `{rule}`")).count(), 1, "{said:?}");
    }
}

//! `policy`: what is wrong with rules, what they decide and why, cases, and past calls.

use serde_json::{Value, json};

use crate::support::{Place, Running, Said, calling, opening, run, sample};

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
    for part in ["admin: no rules", "server: no rules", "user:", "<- decides", "(does not apply)"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    let (denied, because) = effect(&place, &["s", "echo", "--arguments", r#"{"text":"secret x"}"#]);
    assert_eq!(denied, "deny", "{because}");
    assert!(because.as_str().unwrap().contains("/text like"), "{because}");
    assert_eq!(effect(&place, &["s", "now"]).0, "deny");
    assert_eq!(effect(&place, &["s", "help"]).0, "ask");
    let unruled = effect(&place, &["s", "other"]);
    let because = "mode `ask`, as no file says otherwise; its client approves by itself";
    assert_eq!(unruled, ("allow".into(), because.into()));
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
    assert!(said.err.contains("no server named `t`"), "{said:?}");
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
    let said = explain(&place, &["a_b", "echo", "--json"]);
    assert_eq!(said.json()["outcome"], "client_approves", "{said:?}");
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

/// A user's file and a project's with one server, to which the user has consented.
fn proposed(user: &str, project: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), user).unwrap();
    std::fs::write(place.work().join("toolgate.toml"), project).unwrap();
    let said = run(&mut place.verb(&["consent", "s", "--yes"]));
    assert_eq!(said.code, 0, "{said:?}");
    let said = run(&mut place.verb(&["discover", "s"]));
    assert_eq!(said.code, 0, "{said:?}");
    place
}

/// What would be decided about a tool of it.
fn proposed_effect(place: &Place, tool: &str) -> Value {
    let said = run(&mut place.verb(&["policy", "explain", "s", tool, "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    said.json()["effect"].clone()
}

#[test]
fn a_projects_server_gets_nothing_from_allow_rules_by_its_name_or_its_tags() {
    let rules = "[policy]\nallow = [\"mcp:s/echo\", \"tag:mcp.safe\"]\nask = [\"mcp:s/help\"]\n\
                 deny = [\"mcp:s/now\"]\n[approvals]\nvia = \"operator\"\n";
    let project = sample("s") + "tags = [\"mcp.safe\"]\n";
    for user in [rules.to_owned(), format!("{}{rules}", sample("s"))] {
        let place = proposed(&user, &project);
        assert_eq!(proposed_effect(&place, "echo"), "ask");
        assert_eq!(proposed_effect(&place, "help"), "ask");
        assert_eq!(proposed_effect(&place, "now"), "deny", "what denies is bound to the name");
        let said = run(&mut place.verb(&["config", "check"]));
        assert!(said.out.contains("allow rules do not apply to it"), "{said:?}");
    }
}

#[test]
fn a_users_own_server_keeps_its_allow_rules_beside_a_project() {
    let rules = "[policy]\nallow = [\"mcp:t/echo\"]\n";
    let place = proposed(&format!("{}env = {{ X = \"1\" }}\n{rules}", sample("t")), &sample("s"));
    let said = run(&mut place.verb(&["policy", "explain", "t", "echo", "--json"]));
    assert_eq!(said.json()["effect"], "allow", "{said:?}");
}

#[test]
fn a_project_neither_opens_a_built_in_profile_nor_renames_tools() {
    let project =
        format!("naming = \"sidekick\"\n{}[profiles.research]\ninclude = [\"*/*\"]\n", sample("s"));
    let place = proposed("", &project);
    let listed = |profile: &str| {
        let said = run(&mut place.verb(&["exposure", "--as", profile, "--json"]));
        assert_eq!(said.code, 0, "{said:?}");
        let lines = said.json().as_array().unwrap().clone();
        let visible = lines.into_iter().filter(|line| line["visible"] == true);
        visible.map(|line| line["exposed"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("research"), Vec::<Value>::new());
    assert!(listed("default").contains(&"s__echo".into()), "{:?}", listed("default"));
}

/// A client over stdio, and the names of its tools.
fn client(place: &Place, name: &str) -> (Running, Vec<String>) {
    let mut client = Running::start(&mut place.configured(&["serve", "--stdio"]));
    let [mut initialize, initialized] = opening();
    initialize["params"]["clientInfo"]["name"] = name.into();
    client.send(&initialize);
    client.answer(1);
    client.send(&initialized);
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let listed = client.answer(2);
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    (client, names)
}

fn outcome(place: &Place, words: &[&str]) -> Value {
    let said = explain(place, &[words, &["--json"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    said.json()["outcome"].clone()
}

#[test]
fn every_command_says_what_a_caller_really_meets() {
    let rules = "[policy]\nask = [\"mcp:s/help\"]\ndeny = [\"mcp:s/now\"]\n";
    let place = governed(rules);
    for (tool, effect, expected) in
        [("echo", "allow", "client_approves"), ("help", "ask", "form"), ("now", "deny", "refused")]
    {
        assert_eq!(outcome(&place, &["s", tool]), expected, "{tool}");
        let lines = run(&mut place.configured(&["exposure", "--json"])).json();
        let lines = lines.as_array().unwrap();
        let line = lines.iter().find(|it| it["name"] == tool && it["kind"] == "tool").unwrap();
        let told = (&line["decision"]["effect"], &line["decision"]["outcome"]);
        assert_eq!(told, (&json!(effect), &json!(expected)), "{tool}");
    }
    let said = run(&mut place.configured(&["doctor", "s", "--json"]));
    let phases = said.json()[0]["phases"].as_array().unwrap().clone();
    let decisions = phases.iter().find(|it| it["name"] == "decisions").unwrap();
    let detail = decisions["detail"].as_str().unwrap();
    assert!(detail.contains("1 ask") && detail.contains("1 deny"), "{detail}");
    let (mut client, _) = client(&place, "test");
    client.send(&calling(3, "s__echo"));
    let text = client.answer(3).to_string();
    assert!(!text.contains("dev.toolgate/decision"), "it passes, as is said: {text}");
    let operators = governed(&format!("{rules}[approvals]\nvia = \"operator\"\n"));
    assert_eq!(outcome(&operators, &["s", "echo"]), "operator");
    let cases = "[[case]]\nserver = \"s\"\ntool = \"echo\"\nexpect = \"ask\"\n";
    std::fs::write(operators.work().join("cases.toml"), cases).unwrap();
    let said = run(&mut operators.configured(&["policy", "test", "cases.toml"]));
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_past_call_that_would_now_wait_is_told() {
    let place = governed("");
    let (mut client, _) = client(&place, "test");
    client.send(&calling(3, "s__now"));
    assert_ne!(client.answer(3)["result"]["isError"], true);
    client.close_stdin();
    client.end();
    let said = run(&mut place.configured(&["policy", "replay", "--json"]));
    assert_eq!((said.code, &said.json()["calls"]), (0, &1.into()), "{said:?}");
    for (rules, outcome) in [
        ("[policy]\nask = [\"mcp:s/now\"]\n", "form"),
        ("[approvals]\nvia = \"operator\"\n", "operator"),
        ("[launch]\nposture = \"governed\"\n", "operator"),
    ] {
        std::fs::write(place.work().join("next.toml"), rules).unwrap();
        let said =
            run(&mut place.configured(&["policy", "replay", "--policy", "next.toml", "--json"]));
        assert_eq!(said.code, 1, "{rules}: {said:?}");
        let replayed = said.json();
        let told = &replayed["otherwise"][0];
        let expected = (&json!("allow"), &json!("ask"), &json!(outcome));
        assert_eq!((&told["was"], &told["now"], &told["outcome"]), expected, "{rules}");
    }
}

#[test]
fn what_is_always_refused_is_not_listed_and_keeps_its_name() {
    let place = governed(
        "[policy]\ndeny = [\"mcp:s/now\", { about = \"mcp:s/help\", client = \"blunt*\" }, \
         { about = \"mcp:s/echo\", when = [{ at = \"/text\", glob = \"x\" }] }]\n",
    );
    for (name, help) in [("test", true), ("blunt-1", false)] {
        let (mut client, names) = client(&place, name);
        let has = |tool: &str| names.iter().any(|name| name == tool);
        assert_eq!(
            (has("s__echo"), has("s__now"), has("s__help")),
            (true, false, help),
            "{name}: {names:?}"
        );
        client.send(&calling(3, "s__now"));
        let answer = client.answer(3);
        let because = &answer["result"]["_meta"]["dev.toolgate/decision"]["because"];
        assert!(because.as_str().unwrap().contains("mcp:s/now"), "{answer}");
    }
}

#[test]
fn a_method_is_explained_as_it_is_decided() {
    let place = governed(
        "[policy]\nallow = [\"mcp:s\", \"method:s/foo/run\"]\ndeny = [\"mcp:s/bar/**\", \
         \"mcp:s/now\"]\n[approvals]\nvia = \"operator\"\n",
    );
    for (method, params, expected) in [
        ("foo/run", "{}", "allowed"),
        ("foo/run", r#"{"name":"now"}"#, "refused"),
        ("foo/go", "{}", "operator"),
        ("bar/run", r#"{"uri":"toolgate://sample/help"}"#, "refused"),
    ] {
        let told = outcome(&place, &["s", method, "--method", "--arguments", params]);
        assert_eq!(told, expected, "{method} {params}");
    }
    let said = run(&mut place.configured(&["policy", "check", "--json"]));
    assert_eq!((said.code, &said.json()["warnings"]), (0, &0.into()), "{said:?}");
}

#[test]
fn a_tool_that_is_not_offered_is_not_said_to_only_read() {
    let place = looked_at(&format!("{}approval = \"writes\"\n", sample("s")));
    let said = explain(&place, &["s", "other", "--json"]);
    let told = said.json();
    let expected = (&json!("ask"), &json!(false), &json!(false));
    assert_eq!((&told["effect"], &told["read_only"], &told["offered"]), expected, "{said:?}");
}

#[test]
fn a_rule_is_added_to_the_users_file_and_removed_again() {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let file = place.home().join("config.toml");
    let before = format!(
        "{}# what agents may do\n[policy]\nask = [\n  \"mcp:s/help\", # rarely\n  \
         {{ about = \"mcp:s/echo\", client = \"x\" }},\n]\n",
        sample("s")
    );
    std::fs::write(&file, &before).unwrap();
    assert_eq!(run(&mut place.verb(&["discover", "s"])).code, 0);
    let edit = |words: &[&str]| run(place.verb(&["policy"]).args(words));
    let said = edit(&["deny", "mcp:s/now"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("added deny `mcp:s/now`"), "{said:?}");
    let row: Vec<_> = said.out.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(row[..4], ["s", "tool", "now", "deny"], "{said:?}");
    assert_eq!(run(&mut place.verb(&["call", "s", "now"])).code, 3);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("deny = [\"mcp:s/now\"]") && text.contains("# rarely"), "{text}");

    let again = edit(&["deny", "mcp:s/now", "--json"]);
    assert_eq!((again.code, &again.json()["action"]), (0, &"present".into()), "{again:?}");
    assert_eq!(again.json()["decides"][0]["decision"]["effect"], "deny");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);

    let said = edit(&["ask", "mcp:s/now"]);
    assert!(
        said.err.contains("added ask") && said.out.contains("deny"),
        "it comes first: {said:?}"
    );
    let with_tables = std::fs::read_to_string(&file).unwrap();
    assert!(with_tables.contains("\"mcp:s/help\", # rarely\n"), "{with_tables}");
    let said = edit(&["deny", "mcp:s/now", "--remove"]);
    assert!(said.err.contains("removed deny `mcp:s/now`"), "{said:?}");
    assert!(said.out.contains("now") && said.out.contains("ask"), "{said:?}");
    assert_eq!(edit(&["ask", "mcp:s/now", "--remove"]).code, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    let said = edit(&["ask", "mcp:s/now", "--remove", "--json"]);
    assert_eq!((said.code, &said.json()["action"]), (0, &"absent".into()), "{said:?}");
}

#[test]
fn a_rule_that_is_wrong_or_cannot_count_changes_no_file() {
    let place = Place::new();
    for words in [&["allow", "git push"][..], &["deny", ""], &["allow", "mcp:s/x", "-s", "project"]]
    {
        let said = run(place.verb(&["policy"]).args(words));
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
    }
    assert!(!place.home().join("config.toml").exists());
    let said = run(&mut place.verb(&["policy", "ask", "mcp:s/x", "-s", "project"]));
    assert_eq!(said.code, 0, "{said:?}");
    let text = std::fs::read_to_string(place.work().join("toolgate.toml")).unwrap();
    assert_eq!(text, "[policy]\nask = [\"mcp:s/x\"]\n");
}

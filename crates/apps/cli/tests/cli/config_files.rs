//! `config`, `secret`, `completions` and `man`.

use serde_json::json;

use crate::support::{Place, Running, run};

#[test]
fn every_fault_is_told_with_its_place_and_what_to_do() {
    let place = Place::new();
    let file = place.work().join(".mcp.json");
    let text = "{\n  \"mcpServers\": {\n    \"a\": { \"comand\": \"x\" },\n    \"b\": { \"command\": \"y\", \"arg\": [] }\n  }\n}\n";
    std::fs::write(&file, text).unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!(said.code, 2, "{said:?}");
    let place_of = |line: &str| format!("{}:{line}", file.display());
    assert!(said.out.contains(&place_of("3:5: error: ")), "{said:?}");
    assert!(said.out.contains(&place_of("4:")), "{said:?}");
    for part in ["^^", "hint: did you mean `command`?", "hint: did you mean `args`?"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    assert!(said.err.ends_with("1 server: 1 error, 2 warnings\n"), "{said:?}");
    let json = run(&mut place.verb(&["config", "check", "--json"]));
    assert_eq!(json.code, 2);
    assert_eq!(json.json()["errors"], 1);
    let first = &json.json()["diagnostics"][0];
    assert_eq!((&first["line"], &first["file"]), (&json!(3), &json!(file)));

    std::fs::write(&file, "{ \"mcpServers\": { \"b\": { \"command\": \"y\" } } }").unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("1 server: 0 errors, 0 warnings"), "{said:?}");
}

#[test]
fn a_person_sees_faults_in_colour() {
    let place = Place::new();
    std::fs::write(place.work().join(".mcp.json"), "{").unwrap();
    let said = run(&mut place.typed(&[], &["config", "check"]));
    assert!(said.out.contains("\u{1b}[31;1merror:"), "{said:?}");
    let plain = run(place.typed(&[], &["config", "check"]).env("NO_COLOR", "1"));
    assert!(!plain.out.contains("\u{1b}[31"), "{plain:?}");
}

#[test]
fn the_files_are_listed_in_the_order_they_win() {
    let place = Place::new();
    run(&mut place.verb(&["add", "a", "npx", "-s", "user"]));
    run(&mut place.verb(&["add", "a", "node"]));
    std::fs::create_dir(place.work().join(".vscode")).unwrap();
    std::fs::write(place.work().join(".vscode/mcp.json"), r#"{"servers":{"b":{"command":"x"}}}"#)
        .unwrap();
    let files = run(&mut place.verb(&["config", "files", "--json"])).json();
    let shown: Vec<_> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (&file["dialect"], &file["servers"], &file["used"]))
        .collect();
    let row =
        |dialect: &str, servers: u32, used: u32| (json!(dialect), json!(servers), json!(used));
    let expected = [row("mcp-json", 1, 1), row("vscode", 1, 1), row("toolgate", 2, 1)];
    assert_eq!(shown, expected.iter().map(|(a, b, c)| (a, b, c)).collect::<Vec<_>>(), "{files}");
    let all = run(&mut place.verb(&["config", "files", "--all"])).out;
    assert!(all.contains("codex") && all.contains("toolgate.toml"), "{all}");
}

#[test]
fn the_path_and_the_schema_are_printed() {
    let place = Place::new();
    let said = run(&mut place.verb(&["config", "path"]));
    assert_eq!(said.out, format!("{}\n", place.home().join("config.toml").display()));
    let said = run(&mut place.verb(&["config", "schema"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.json()["properties"]["servers"].is_object(), "{}", said.out);
}

#[test]
fn a_secret_is_kept_and_never_shown() {
    let place = Place::new();
    let canary = "canary-secret-9z";
    let mut running = Running::start(&mut place.verb(&["secret", "set", "api"]));
    running.send(&json!(canary));
    running.close_stdin();
    let (code, err) = running.end();
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains(canary), "{err}");
    let said = run(&mut place.verb(&["secret", "list"]));
    assert_eq!(said.out, "api\n");
    assert_eq!(run(&mut place.verb(&["secret", "list", "--json"])).json(), json!(["api"]));
    assert_eq!(run(&mut place.verb(&["secret", "remove", "api"])).code, 0);
    assert_eq!(run(&mut place.verb(&["secret", "remove", "api"])).code, 1);
    assert_eq!(run(&mut place.verb(&["secret", "list"])).out, "");
    assert_eq!(run(&mut place.verb(&["secret", "set", "api"])).code, 2, "nothing was piped in");
    assert_eq!(run(&mut place.verb(&["secret", "set", "api", canary])).code, 2, "no argument");
}

#[test]
fn a_secret_reaches_the_server_that_names_it() {
    let place = Place::new();
    let witness = place.work().join("seen");
    let script = format!("printf %s \"$KEY\" > {}", witness.display());
    let words = ["add", "s", "-s", "user", "-e", "KEY=${secret:api}", "--", "sh", "-c", &script];
    assert_eq!(run(&mut place.verb(&words)).code, 0);
    let blocked = run(&mut place.verb(&["get", "s", "--json"])).json();
    assert_eq!(blocked["standing"], "blocked", "{blocked}");
    assert!(blocked["reason"].as_str().unwrap().contains("secret"), "{blocked}");
    let mut running = Running::start(&mut place.verb(&["secret", "set", "api"]));
    running.send(&json!(7531));
    running.close_stdin();
    assert_eq!(running.end().0, 0);
    run(&mut place.verb(&["list"]));
    assert_eq!(std::fs::read_to_string(&witness).unwrap(), "7531");
}

#[test]
fn a_typed_secret_is_not_echoed() {
    let place = Place::new();
    let canary = "canary-typed-8y";
    let said = run(&mut place.typed(&[("Value of api:", canary)], &["secret", "set", "api"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains(canary), "{said:?}");
    assert_eq!(run(&mut place.verb(&["secret", "list"])).out, "api\n");
}

#[test]
fn shells_complete_every_verb() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = run(&mut place.verb(&["completions", shell]));
        assert_eq!(said.code, 0, "{said:?}");
        for verb in ["add-json", "remove", "doctor"] {
            assert!(said.out.contains(verb), "{shell}: {verb}");
        }
    }
    assert_eq!(run(&mut place.verb(&["completions", "abacus"])).code, 2);
}

#[test]
fn there_is_a_page_for_every_verb() {
    let place = Place::new();
    let said = run(&mut place.verb(&["man"]));
    assert!(said.code == 0 && said.out.contains(".TH toolgate 1"), "{said:?}");
    assert_eq!(run(&mut place.verb(&["man", "pages"])).code, 0);
    let page = |name: &str| std::fs::read_to_string(place.work().join("pages").join(name)).unwrap();
    assert!(page("toolgate-add.1").contains("\\-\\-scope"));
    assert!(page("toolgate-config-check.1").contains("wrong with the files"));
    assert!(page("toolgate.1").contains("toolgate\\-add(1)"));
    assert!(!place.work().join("pages/toolgate-mcp.1").exists());
}

#[test]
fn permissions_beside_servers_are_shown_and_a_project_allows_nothing() {
    let place = Place::new();
    let folder = place.work().join(".nyzhi");
    std::fs::create_dir(&folder).unwrap();
    let text = "[agent.trust]\nmode = \"limited\"\nallow_tools = [\"mcp__fs__read\"]\n";
    std::fs::write(folder.join("config.toml"), text).unwrap();
    let said = run(&mut place.verb(&["--json", "config", "files"]));
    let files = said.json();
    let [file] = &files.as_array().unwrap()[..] else { panic!("{files}") };
    let rules = json!({ "mode": "limited", "allow": ["mcp__fs__read"], "ask": [], "deny": [] });
    assert_eq!(file["permissions"], rules);
    let said = run(&mut place.verb(&["config", "files"]));
    assert!(said.out.contains("permissions: mode limited; allow mcp__fs__read"), "{said:?}");
    let said = run(&mut place.verb(&["config", "check"]));
    let told = "config.toml:3:16: note: the rule allow \"mcp__fs__read\" does not count";
    assert!(said.code == 0 && said.out.contains(told), "{said:?}");
}

#[test]
fn a_rule_that_cannot_be_understood_is_found_by_a_check() {
    let place = Place::new();
    let config = place.work().join("toolgate.toml");
    std::fs::write(&config, "[policy]\ndeny = [\"mcp:git/push\", \"git push\"]\n").unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.out.contains("toolgate.toml:2:25: error: "), "{said:?}");
}

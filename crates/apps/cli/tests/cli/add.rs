//! `add` and `add-json`: every form people know, and what lies in the files afterwards.

use serde_json::{Value, json};

use crate::support::{Place, Running, Said, TOOLGATE, run};

const CANARY: &str = "canary-7f3a";

/// What the project's `.mcp.json` declares.
fn shared(place: &Place) -> Value {
    let text = std::fs::read_to_string(place.work().join(".mcp.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["mcpServers"].clone()
}

fn ours(place: &Place) -> String {
    std::fs::read_to_string(place.work().join("toolgate.toml")).unwrap()
}

fn done(place: &Place, words: &[&str]) -> Said {
    let said = run(&mut place.verb(words));
    assert_eq!(said.code, 0, "{words:?}: {said:?}");
    said
}

#[test]
fn every_form_of_a_command_declares_the_same() {
    let forms = [
        &["add", "fs", "--", "npx", "-y", "pkg"][..],
        &["add", "fs", "npx", "-y", "pkg"],
        &["add", "fs", "npx", "--", "-y", "pkg"],
        &["mcp", "add", "--transport", "stdio", "fs", "npx", "-y", "pkg"],
        &["add", "fs", "-s", "project", "npx", "-y", "pkg"],
        &["add", "fs", "npx", "-y", "pkg", "--scope", "project"],
    ];
    for words in forms {
        let place = Place::new();
        let said = done(&place, words);
        assert_eq!(shared(&place), json!({ "fs": { "command": "npx", "args": ["-y", "pkg"] } }));
        assert!(said.err.contains("added fs to .mcp.json\n"), "{said:?}");
        assert_eq!(said.out, "", "data is for --json: {said:?}");
    }
}

#[test]
fn the_documented_lines_of_other_programs_work() {
    let place = Place::new();
    let lines: [(&[&str], Value); 8] = [
        (
            &["-e", "API_KEY=123", "-e", "DEBUG=true", "a", "/path/to/server", "x1", "x2", "x3"],
            json!({
                "command": "/path/to/server", "args": ["x1", "x2", "x3"],
                "env": { "API_KEY": "123", "DEBUG": "true" },
            }),
        ),
        (
            &["b", "python", "server.py", "--", "--server-arg", "my-value"],
            json!({ "command": "python", "args": ["server.py", "--server-arg", "my-value"] }),
        ),
        (
            &["--transport", "http", "c", "https://api.example.com/mcp/"],
            json!({ "type": "http", "url": "https://api.example.com/mcp/" }),
        ),
        (
            &[
                "--transport",
                "http",
                "d",
                "https://api.example.com/mcp/",
                "--header",
                "Authorization: Bearer abc123",
            ],
            json!({
                "type": "http", "url": "https://api.example.com/mcp/",
                "headers": { "Authorization": "Bearer abc123" },
            }),
        ),
        (
            &["--transport", "sse", "e", "https://api.example.com/sse/", "-H", "X-Api-Key: abc123"],
            json!({
                "type": "sse", "url": "https://api.example.com/sse/",
                "headers": { "X-Api-Key": "abc123" },
            }),
        ),
        (
            &["f", "--url", "https://mcp.example.com"],
            json!({ "type": "http", "url": "https://mcp.example.com" }),
        ),
        (
            &["g", "https://mcp.example.com/g", "--bearer-token-env-var", "TOKEN"],
            json!({
                "type": "http", "url": "https://mcp.example.com/g",
                "headers": { "Authorization": "Bearer ${TOKEN}" },
            }),
        ),
        (
            &["h", "node", "h.js", "-e", "KEY=${env:KEY}"],
            json!({ "command": "node", "args": ["h.js"], "env": { "KEY": "${KEY}" } }),
        ),
    ];
    for (words, expected) in lines {
        done(&place, &[&["add"], words].concat());
        let name = words.iter().find(|word| word.len() == 1).unwrap();
        assert_eq!(shared(&place)[*name], expected, "{words:?}");
    }
    assert_eq!(shared(&place).as_object().unwrap().len(), 8);
}

#[test]
fn what_is_added_may_start_and_a_change_of_it_may_not() {
    let place = Place::new();
    done(&place, &["add", "s", TOOLGATE, "sample-server"]);
    let call = ["call", "s", "echo", "text=hi"];
    assert_eq!(run(&mut place.verb(&call)).out, "hi\n");
    let file = place.work().join(".mcp.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("sample-server", "sample-server\", \"-v")).unwrap();
    assert_eq!(run(&mut place.verb(&call)).code, 3);
}

#[test]
fn a_living_gateway_takes_up_what_is_added() {
    let place = Place::new();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    done(&place, &["add", "s", TOOLGATE, "sample-server"]);
    assert_eq!(run(&mut place.verb(&["call", "s", "echo", "text=hi"])).out, "hi\n");
}

#[test]
fn what_the_shared_file_cannot_say_goes_into_ours() {
    let place = Place::new();
    done(&place, &["add", "t", "npx", "pkg", "--tag", "a,b", "--tag", "c"]);
    assert!(!place.work().join(".mcp.json").exists());
    let toml = ours(&place);
    assert!(toml.contains("[servers.t]\n"), "{toml}");
    assert!(toml.contains(r#"tags = ["a", "b", "c"]"#), "{toml}");
    done(&place, &["add", "u", "npx", "--include-tools", "read_*,list", "--exclude-tools", "rm"]);
    let toml = ours(&place);
    assert!(toml.contains(r#"include = ["read_*", "list"]"#), "{toml}");
    assert!(toml.contains(r#"exclude = ["rm"]"#), "{toml}");
    // The limit of other programs holds for the start too, which .mcp.json has no word for.
    done(&place, &["add", "slow", "npx", "slow", "--timeout", "5000"]);
    let limits = run(&mut place.verb(&["get", "slow", "--json"])).json()["timeouts"].clone();
    assert_eq!(limits, json!({ "start_ms": 5000, "call_ms": 5000, "max_ms": 5000 }));
    done(&place, &["add", "plain", "npx"]);
    assert!(ours(&place).contains("[servers.plain]"), "ours is there, so it is used");
}

#[test]
fn user_scope_is_the_users_own_file_with_its_example() {
    for scope in ["user", "local", "global"] {
        let place = Place::new();
        let words = ["add", "-s", scope, "--description", "files", "fs", "npx", "-y", "pkg"];
        let said = done(&place, &words);
        assert_eq!(said.err.contains("means `--scope user`"), scope != "user", "{said:?}");
        let text = std::fs::read_to_string(place.home().join("config.toml")).unwrap();
        assert!(text.starts_with("# Toolgate: the servers"), "{text}");
        assert!(text.contains("[servers.sample]\n"), "{text}");
        assert!(text.ends_with("command = \"npx\"\nargs = [\"-y\", \"pkg\"]\n"), "{text}");
        assert!(text.contains("[servers.fs]\ndescription = \"files\"\n"), "{text}");
        assert!(!place.work().join(".mcp.json").exists());
    }
}

#[test]
fn the_root_of_a_repository_is_the_project() {
    let place = Place::new();
    std::fs::create_dir_all(place.work().join(".git")).unwrap();
    let deep = place.work().join("a/b");
    std::fs::create_dir_all(&deep).unwrap();
    let said = run(place.verb(&["add", "fs", "npx", "--cwd", "."]).current_dir(&deep));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(shared(&place)["fs"], json!({ "command": "npx", "cwd": "a/b" }));
}

#[test]
fn one_of_the_same_name_is_shown_and_replaced_only_by_force() {
    let place = Place::new();
    done(&place, &["add", "fs", "npx", "old", "-e", &format!("TOKEN={CANARY}")]);
    let before = std::fs::read_to_string(place.work().join(".mcp.json")).unwrap();
    let said = run(&mut place.verb(&["add", "fs", "npx", "new"]));
    assert_eq!(said.code, 1, "{said:?}");
    for part in ["`fs` is already declared in", "\"old\"", "--force", ".mcp.json:"] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    assert!(!said.err.contains(CANARY), "{said:?}");
    assert_eq!(std::fs::read_to_string(place.work().join(".mcp.json")).unwrap(), before);
    let said = done(&place, &["add", "--force", "fs", "npx", "new"]);
    assert!(said.err.contains("replaced fs in .mcp.json"), "{said:?}");
    assert_eq!(shared(&place), json!({ "fs": { "command": "npx", "args": ["new"] } }));
}

#[test]
fn an_edit_keeps_the_rest_of_a_commented_file() {
    let place = Place::new();
    let file = place.work().join(".mcp.json");
    let before =
        "{\n  // ours\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }, // first\n  },\n}\n";
    std::fs::write(&file, before).unwrap();
    done(&place, &["add", "b", "npx", "-y", "pkg"]);
    let after = std::fs::read_to_string(&file).unwrap();
    let kept: Vec<_> = before.lines().filter(|line| !after.contains(*line)).collect();
    assert_eq!(kept, Vec::<&str>::new(), "{after}");
    assert!(after.contains("\"b\": {"), "{after}");
}

#[test]
fn a_dry_run_shows_the_lines_and_changes_nothing() {
    let place = Place::new();
    let file = place.work().join("toolgate.toml");
    let old = "OLD-canary-8e";
    std::fs::write(
        &file,
        format!("# mine\n[servers.a]\ncommand = \"x\"\nenv = {{ K = \"{old}\" }}\n"),
    )
    .unwrap();
    let before = std::fs::read_to_string(&file).unwrap();
    let env = format!("TOKEN={CANARY}");
    let said = done(&place, &["add", "b", "npx", "pkg", "-e", &env, "-e", "N=7q", "--dry-run"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    assert!(said.out.contains("--- toolgate.toml\n+++ toolgate.toml\n@@"), "{said:?}");
    for line in ["+[servers.b]\n", "+command = \"npx\"\n", "+args = [\"pkg\"]\n"] {
        assert!(said.out.contains(line), "{line}: {said:?}");
    }
    assert!(said.out.contains("TOKEN = \"***\""), "{said:?}");
    for hidden in [CANARY, old, "7q"] {
        assert!(!format!("{said:?}").contains(hidden), "{hidden}: {said:?}");
    }
    assert!(!place.home().join("config.toml").exists());
    let said = done(&place, &["add", "a", "npx", "--force", "--dry-run", "--json"]).json();
    let diff = said["diff"].as_str().unwrap();
    let lines = "-command = \"x\"\n-env = { K = \"***\" }\n+command = \"npx\"\n";
    assert!(diff.contains(lines), "{diff}");
    done(&place, &["add", "c", "npx", "-s", "user", "--dry-run"]);
    assert!(!place.home().join("config.toml").exists());
}

#[test]
fn a_typed_credential_is_written_and_never_shown() {
    let place = Place::new();
    let header = format!("Authorization: Bearer {CANARY}");
    let said = done(&place, &["add", "h", "https://x.test/mcp", "-H", &header]);
    assert!(
        said.err.contains("${env:AUTHORIZATION}") && said.err.contains("secret set"),
        "{said:?}"
    );
    assert!(!format!("{said:?}").contains(CANARY), "{said:?}");
    assert_eq!(shared(&place)["h"]["headers"]["Authorization"], format!("Bearer {CANARY}"));
    let said = done(&place, &["add", "q", &format!("https://x.test/q?k={CANARY}")]);
    assert!(said.err.contains("may be a credential"), "{said:?}");
    assert!(!format!("{said:?}").contains(CANARY), "{said:?}");
    let said =
        done(&place, &["add", "v", "https://x.test/v", "-H", "Authorization: Bearer ${env:T}"]);
    assert!(!said.err.contains("hint:"), "a variable is no credential: {said:?}");
}

#[test]
fn trust_is_the_users_and_bound_to_what_was_added() {
    let place = Place::new();
    done(&place, &["add", "s", "npx", "pkg", "--trust"]);
    let text = std::fs::read_to_string(place.work().join(".mcp.json")).unwrap();
    assert!(!text.contains("trust"), "{text}");
    let trusted =
        |name: &str| run(&mut place.verb(&["get", name, "--json"])).json()["trust"].clone();
    assert_eq!(trusted("s"), true);
    std::fs::write(place.work().join(".mcp.json"), text.replace("pkg", "other")).unwrap();
    assert_eq!(trusted("s"), false, "it is another server now");
    done(&place, &["add", "u", "npx", "-s", "user", "--trust"]);
    assert!(
        std::fs::read_to_string(place.home().join("config.toml")).unwrap().contains("trust = true")
    );
    assert_eq!(trusted("u"), true);
}

#[test]
fn what_cannot_be_meant_is_bad_usage() {
    let place = Place::new();
    for words in [
        &["add"][..],
        &["add", "n"],
        &["add", "n", "-y", "npx"],
        &["add", "n", "node", "-e", "code"],
        &["add", "n", "-t", "stdio", "https://x.test"],
        &["add", "n", "-t", "http", "npx"],
        &["add", "n", "-t", "carrier-pigeon", "npx"],
        &["add", "n", "npx", "--url", "https://x.test"],
        &["add", "n", "npx", "-s", "mine"],
        &["add", "n", "npx", "-e", "NOVALUE"],
        &["add", "n", "npx", "-H", "A: b"],
        &["add", "n", "https://x.test", "-H", "bad name: b"],
        &["add", "n", "npx", "--timeout", "soon"],
        &["add", " ", "npx"],
        &["add", "a\u{202e}b", "npx"],
        &["add", "https://x.test", "npx"],
        &["add-json", "n", "[]"],
        &["add-json", "n", "{}"],
        &["add-json", "n", "{\"command\":1}"],
        &["--config", "x.toml", "add", "-s", "user", "n", "npx"],
    ] {
        let said = run(&mut place.verb(words));
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(said.out.is_empty() && !said.err.is_empty(), "{words:?}: {said:?}");
    }
    assert_eq!(std::fs::read_dir(place.work()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn an_option_of_ours_behind_the_command_is_told_of() {
    let place = Place::new();
    let said = done(&place, &["add", "n", "npx", "--verbose", "pkg"]);
    assert!(said.err.contains("`--verbose` was taken as toolgate's own"), "{said:?}");
    assert_eq!(shared(&place)["n"]["args"], json!(["pkg"]));
    let said = done(&place, &["add", "m", "npx", "--", "--verbose", "pkg"]);
    assert!(!said.err.contains("was taken"), "{said:?}");
    assert_eq!(shared(&place)["m"]["args"], json!(["--verbose", "pkg"]));
}

#[test]
fn a_named_file_is_written_in_its_own_dialect() {
    let place = Place::new();
    let file = place.work().join("codex.toml");
    std::fs::write(&file, "# mine\nmodel = \"x\"\n\n[mcp_servers.a]\ncommand = \"y\"\n").unwrap();
    done(&place, &["--config", "codex.toml", "add", "b", "npx", "pkg"]);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("# mine\nmodel = \"x\"\n\n[mcp_servers.a]\ncommand = \"y\"\n"),
        "{text}"
    );
    assert!(text.contains("[mcp_servers.b]\ncommand = \"npx\"\nargs = [\"pkg\"]\n"), "{text}");
}

#[test]
fn json_says_what_was_done() {
    let place = Place::new();
    let said = done(&place, &["add", "fs", "npx", "--json"]).json();
    assert_eq!((&said["name"], &said["action"]), (&json!("fs"), &json!("added")));
    assert_eq!((&said["scope"], &said["dialect"]), (&json!("project"), &json!("mcp-json")));
    assert!(said["file"].as_str().unwrap().ends_with("work/.mcp.json"));
}

#[test]
fn entries_of_other_dialects_are_understood() {
    let place = Place::new();
    for (name, entry) in [
        ("claude", json!({ "command": "npx", "args": ["x"], "env": { "A": "${B}" } })),
        ("vscode", json!({ "type": "stdio", "command": "npx", "env": { "A": "${env:B}" } })),
        (
            "opencode",
            json!({ "type": "local", "command": ["npx", "y"], "environment": { "A": "{env:B}" } }),
        ),
        ("gemini", json!({ "httpUrl": "https://x.test/g", "timeout": 5000 })),
    ] {
        done(&place, &["add-json", name, &entry.to_string()]);
    }
    let listed = run(&mut place.verb(&["list", "--offline", "--json"])).json()["servers"].clone();
    let find = |name: &str| {
        let row = listed.as_array().unwrap().iter().find(|row| row["name"] == name);
        row.unwrap_or_else(|| panic!("{name}: {listed}")).clone()
    };
    assert_eq!(find("claude")["args"], json!(["x"]));
    assert_eq!(find("gemini")["url"], "https://x.test/g");
    assert_eq!(find("vscode")["command"], "npx");
    assert_eq!(find("opencode")["args"], json!(["y"]));
    let env = |name: &str| shared(&place)[name]["env"]["A"].clone();
    assert_eq!(
        [env("claude"), env("vscode")],
        ["${B}", "${B:-}"],
        "an editor promises the empty text"
    );
}

#[test]
fn an_entry_may_come_on_stdin_and_brings_no_trust() {
    let place = Place::new();
    let mut running = Running::start(&mut place.verb(&["add-json", "s", "-"]));
    running.send(&json!({ "command": "npx", "trust": true }));
    running.close_stdin();
    let (code, err) = running.end();
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("trust"), "{err}");
    assert_eq!(run(&mut place.verb(&["get", "s", "--json"])).json()["trust"], false);
    let said = run(&mut place.verb(&["add-json", "s", "{\"command\":\"x\"}"]));
    assert_eq!(said.code, 1, "{said:?}");
    done(&place, &["add-json", "s", "{\"command\":\"x\"}", "--force", "--trust"]);
    assert_eq!(run(&mut place.verb(&["get", "s", "--json"])).json()["trust"], true);
}

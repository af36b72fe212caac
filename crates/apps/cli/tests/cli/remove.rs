//! `remove`, `enable` and `disable`: what they change, and what they leave alone.

use serde_json::{Value, json};

use crate::support::{Place, run};

fn rows(place: &Place) -> Value {
    run(&mut place.verb(&["list", "--offline", "--json"])).json()["servers"].clone()
}

fn write(place: &Place, file: &str, text: &str) {
    let path = place.work().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(place: &Place, file: &str) -> String {
    std::fs::read_to_string(place.work().join(file)).unwrap()
}

#[test]
fn a_removed_server_is_out_of_its_file_and_its_consent_is_gone() {
    let place = Place::new();
    for name in ["a", "b"] {
        assert_eq!(run(&mut place.verb(&["add", name, "npx", name])).code, 0);
    }
    let said = run(&mut place.verb(&["remove", "a"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("removed a from .mcp.json\n"), "{said:?}");
    let file: Value = serde_json::from_str(&read(&place, ".mcp.json")).unwrap();
    assert_eq!(file, json!({ "mcpServers": { "b": { "command": "npx", "args": ["b"] } } }));
    let consents = run(&mut place.verb(&["consent", "--json"])).json();
    assert_eq!(consents.as_array().unwrap().len(), 1, "{consents}");
    let said = run(&mut place.verb(&["remove", "a"]));
    assert_eq!(said.code, 1, "{said:?}");
}

#[test]
fn a_scope_says_which_of_two_goes() {
    let place = Place::new();
    for scope in ["user", "project"] {
        assert_eq!(run(&mut place.verb(&["add", "-s", scope, "a", "npx", scope])).code, 0);
    }
    let said = run(&mut place.verb(&["remove", "a", "-s", "user"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("config.toml"), "{said:?}");
    assert_eq!(rows(&place)[0]["scope"], "project");
    assert_eq!(run(&mut place.verb(&["remove", "a", "-s", "user"])).code, 1);
    let said = run(&mut place.verb(&["remove", "a", "--json"]));
    assert_eq!(said.json()["scope"], "project", "{said:?}");
}

#[test]
fn removing_the_winner_says_who_counts_now() {
    let place = Place::new();
    for scope in ["user", "project"] {
        assert_eq!(run(&mut place.verb(&["add", "-s", scope, "a", "npx", scope])).code, 0);
    }
    let said = run(&mut place.verb(&["remove", "a"]));
    assert!(said.err.contains("is in effect now"), "{said:?}");
    assert_eq!(rows(&place)[0]["scope"], "user");
}

#[test]
fn another_programs_file_is_changed_only_if_named() {
    let place = Place::new();
    let before = "{\n  // mine\n  \"servers\": {\n    \"a\": { \"command\": \"npx\" }\n  }\n}\n";
    write(&place, ".vscode/mcp.json", before);
    let said = run(&mut place.verb(&["remove", "a"]));
    assert_eq!(said.code, 1, "{said:?}");
    for part in [".vscode/mcp.json", "vscode", "toolgate disable a", "--from"] {
        assert!(said.err.contains(part), "{part}: {said:?}");
    }
    assert_eq!(read(&place, ".vscode/mcp.json"), before);
    let said = run(&mut place.verb(&["remove", "a", "--from", ".vscode/mcp.json"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(read(&place, ".vscode/mcp.json").contains("// mine"));
    assert_eq!(rows(&place), json!([]));
}

#[test]
fn an_entry_that_cannot_be_read_can_be_removed() {
    let place = Place::new();
    write(
        &place,
        ".mcp.json",
        "{\"mcpServers\":{\"bad\":{\"command\":1},\"good\":{\"command\":\"x\"}}}",
    );
    let said = run(&mut place.verb(&["remove", "bad"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(run(&mut place.verb(&["config", "check"])).code, 0);
}

#[test]
fn our_files_and_the_shared_one_are_switched_in_place() {
    let place = Place::new();
    write(
        &place,
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }\n  }\n}\n",
    );
    write(&place, "toolgate.toml", "[servers.b] # mine\ncommand = \"y\"\n");
    for (name, file) in [("a", ".mcp.json"), ("b", "toolgate.toml")] {
        let before = read(&place, file);
        let said = run(&mut place.verb(&["disable", name]));
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.err.contains(&format!("disabled {name} in {file}\n")), "{said:?}");
        let enabled = || {
            let rows = rows(&place);
            let row = rows.as_array().unwrap().iter().find(|row| row["name"] == name).cloned();
            row.unwrap()["enabled"].clone()
        };
        assert_eq!(enabled(), false);
        let said = run(&mut place.verb(&["disable", name]));
        assert!(said.code == 0 && said.err.contains("is already disabled"), "{said:?}");
        assert_eq!(run(&mut place.verb(&["enable", name])).code, 0);
        assert_eq!(enabled(), true);
        for line in before.lines() {
            assert!(read(&place, file).contains(line.trim_end_matches(" }")), "{line}");
        }
    }
    assert!(!place.home().join("config.toml").exists(), "nothing of the user's was needed");
}

#[test]
fn another_programs_server_is_switched_in_the_users_own_file() {
    let place = Place::new();
    let before = "{ \"servers\": { \"a\": { \"command\": \"npx\" } } }";
    write(&place, ".vscode/mcp.json", before);
    let said = run(&mut place.verb(&["disable", "a", "--json"]));
    assert_eq!((said.code, &said.json()["enabled"]), (0, &json!(false)), "{said:?}");
    assert_eq!(read(&place, ".vscode/mcp.json"), before);
    let user = || std::fs::read_to_string(place.home().join("config.toml")).unwrap();
    assert!(user().contains("[servers.a]\nenabled = false\n"), "{}", user());
    assert_eq!(rows(&place)[0]["enabled"], false, "{}", rows(&place));
    assert_eq!(run(&mut place.verb(&["enable", "a"])).code, 0);
    assert!(!user().contains("[servers.a]"), "{}", user());
    assert_eq!(rows(&place)[0]["enabled"], true);
}

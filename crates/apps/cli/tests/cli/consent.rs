//! `consent`: what a project proposes starts only once the user has said so.

use std::path::Path;

use serde_json::json;

use crate::support::{Place, Running, TOOLGATE, eventually, run, run_outside_with};

fn propose(folder: &Path, args: &[&str]) {
    let file = json!({ "mcpServers": { "p": { "command": TOOLGATE, "args": args } } });
    std::fs::write(folder.join(".mcp.json"), file.to_string()).unwrap();
}

fn proposed() -> Place {
    let place = Place::new();
    propose(&place.work(), &["sample-server"]);
    place
}

#[test]
fn a_proposed_server_is_blocked_until_consent_and_again_after_a_change() {
    let place = proposed();
    let call = ["call", "p", "echo", "text=hi"];
    let said = run(&mut place.verb(&call));
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("toolgate consent p"), "{said:?}");

    let said = run(&mut place.verb(&["consent", "p", "--yes"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains(TOOLGATE) && said.out.contains("sample-server"), "{said:?}");
    assert_eq!(run(&mut place.verb(&call)).out, "hi\n");

    propose(&place.work(), &["sample-server", "--verbose"]);
    assert_eq!(run(&mut place.verb(&call)).code, 3);
    propose(&place.work(), &["sample-server"]);
    assert_eq!(run(&mut place.verb(&call)).code, 0);

    assert_eq!(run(&mut place.verb(&["consent", "p", "--revoke"])).code, 0);
    assert_eq!(run(&mut place.verb(&call)).code, 3);
    assert_eq!(run(&mut place.verb(&["consent", "p", "--revoke"])).code, 1);
}

#[test]
fn nothing_is_consented_in_silence() {
    let place = proposed();
    let said = run(&mut place.verb(&["consent", "p"]));
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("--yes"), "{said:?}");
    assert_eq!(run(&mut place.verb(&["call", "p", "echo", "text=hi"])).code, 3);
}

#[test]
fn somebody_at_a_terminal_is_asked() {
    let place = proposed();
    let question = "[y/N]";
    let no = run(&mut place.typed(&[(question, "")], &["consent", "p"]));
    assert_eq!(no.code, 1, "{no:?}");
    assert!(no.out.contains("sample-server"), "what would start: {no:?}");
    let yes = run(&mut place.typed(&[(question, "y")], &["consent", "p"]));
    assert_eq!(yes.code, 0, "{yes:?}");
    assert_eq!(run(&mut place.verb(&["call", "p", "echo", "text=hi"])).code, 0);
}

#[test]
fn the_list_says_what_waits_and_what_has_consent() {
    let place = proposed();
    let listed = || run(&mut place.verb(&["consent", "--json"])).json();
    assert_eq!(listed()[0]["consent"], "waiting");
    assert!(listed()[0]["starts"].as_str().unwrap().contains("sample-server"));
    run(&mut place.verb(&["consent", "p", "--yes"]));
    assert_eq!(listed()[0]["consent"], "given");
    let table = run(&mut place.verb(&["consent"]));
    assert!(table.out.contains("p     given"), "{table:?}");
}

#[test]
fn a_named_file_needs_no_consent() {
    let place = proposed();
    let file = place.work().join(".mcp.json");
    let mut verb = place.verb(&["call", "p", "echo", "text=hi", "--config"]);
    let said = run(verb.arg(file));
    assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{said:?}");
}

#[test]
fn a_living_gateway_hears_of_a_consent_at_once() {
    let place = proposed();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let state =
        || run(&mut place.verb(&["servers", "--json"])).json()["servers"][0]["state"].clone();
    assert_eq!(state(), "blocked");
    let said = run(&mut place.verb(&["consent", "p", "--yes"]));
    assert!(said.err.contains("reloaded it"), "{said:?}");
    assert_eq!(state(), "connected");
    run(&mut place.verb(&["consent", "p", "--revoke"]));
    assert_eq!(state(), "blocked");
}

#[test]
fn a_consent_is_listed_though_nothing_declares_its_server_any_more() {
    let place = proposed();
    run(&mut place.verb(&["consent", "p", "--yes"]));
    propose(&place.work(), &["sample-server", "--verbose"]);
    let listed = || run(&mut place.verb(&["consent", "--json"])).json();
    let words = |listed: serde_json::Value| {
        let word = |line: &serde_json::Value| line["consent"].as_str().unwrap().to_owned();
        listed.as_array().unwrap().iter().map(word).collect::<Vec<_>>()
    };
    assert_eq!(words(listed()), ["waiting", "unused"]);
    std::fs::remove_file(place.work().join(".mcp.json")).unwrap();
    assert_eq!(words(listed()), ["unused"]);
    assert!(listed()[0]["starts"].as_str().unwrap().contains("sample-server"));
    let table = run(&mut place.verb(&["consent"]));
    assert!(table.out.contains("p     unused   not declared here"), "{table:?}");
    assert_eq!(run(&mut place.verb(&["consent", "p", "--revoke"])).code, 0);
    assert_eq!(words(listed()), Vec::<String>::new());
}

/// A project's server with this variable, this file of variables and a script of the project.
fn propose_in_full(place: &Place, level: &str, file: &str) {
    let (folder, script) =
        (place.work(), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/server.py"));
    if !folder.join("server.py").exists() {
        std::fs::copy(script, folder.join("server.py")).unwrap();
    }
    std::fs::write(folder.join("vars.env"), file).unwrap();
    let text = format!(
        "[servers.p]\ncommand = \"python3\"\nargs = [\"server.py\"]\nenv_file = \"vars.env\"\n\
         env = {{ {level}, API_TOKEN = \"canary\" }}\n"
    );
    std::fs::write(folder.join("toolgate.toml"), text).unwrap();
}

/// Whether the project's server waits for consent, or has it.
fn consent_state(place: &Place) -> serde_json::Value {
    run(&mut place.verb(&["consent", "--json"])).json()[0]["consent"].clone()
}

#[test]
fn a_changed_value_or_variable_file_asks_again() {
    let place = Place::new();
    propose_in_full(&place, "PYTHONPATH = \"lib\"", "A=1\n");
    assert_eq!(run(&mut place.verb(&["consent", "p", "--yes"])).code, 0);
    assert_eq!(consent_state(&place), "given");
    let changes = [
        ("PYTHONPATH = \"other\"", "A=1\n"),
        ("PYTHONPATH = \"lib\"", "A=2\n"),
        ("PYTHONPATH = \"lib\"", "A=1\nPYTHONSTARTUP=x.py\n"),
        ("PYTHONPATH = \"lib\", LEVEL = \"debug\"", "A=1\n"),
    ];
    for (value, file) in changes {
        propose_in_full(&place, value, file);
        assert_eq!(consent_state(&place), "waiting", "{value} {file}");
        let said = run(&mut place.verb(&["discover", "p"]));
        assert!(said.code != 0 && said.err.contains("toolgate consent p"), "{said:?}");
    }
    propose_in_full(&place, "PYTHONPATH = \"lib\"", "A=1\n");
    assert_eq!(consent_state(&place), "given");
}

#[test]
fn a_consent_shows_values_and_what_is_not_pinned_and_no_secret() {
    let place = Place::new();
    propose_in_full(
        &place,
        "PYTHONPATH = \"lib\", LEVEL = \"debug\"",
        "MORE=open\nPW_KEY=canary\n",
    );
    let said = run(&mut place.verb(&["consent", "p", "--yes"]));
    for part in [
        "loader: \"PYTHONPATH\" = \"lib\"",
        "env: \"LEVEL\" = \"debug\"",
        "\"API_TOKEN\" = \"***\"",
        "sets: \"MORE\" = \"open\"",
        "not pinned: \"server.py\"",
    ] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    assert!(!said.out.contains("canary"), "{said:?}");
}

#[test]
fn a_living_gateway_blocks_a_server_whose_variable_file_changed() {
    let place = Place::new();
    propose_in_full(&place, "LEVEL = \"info\"", "A=1\n");
    assert_eq!(run(&mut place.verb(&["consent", "p", "--yes"])).code, 0);
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let state =
        || run(&mut place.verb(&["servers", "--json"])).json()["servers"][0]["state"].clone();
    eventually("the server's connection", || state() == "connected");
    std::fs::write(place.work().join("vars.env"), "A=2\n").unwrap();
    eventually("a new question", || state() == "blocked");
    assert_eq!(run(&mut place.verb(&["consent", "p", "--yes"])).code, 0);
    assert_eq!(state(), "connected");
}

#[test]
fn the_governed_posture_pins_the_files_of_a_project_that_run() {
    let place = Place::new();
    propose_in_full(&place, "LEVEL = \"info\"", "A=1\n");
    assert_eq!(run(&mut place.verb(&["consent", "p", "--yes"])).code, 0);
    assert_eq!(consent_state(&place), "given");
    std::fs::write(place.home().join("config.toml"), "[launch]\nposture = \"governed\"\n").unwrap();
    assert_eq!(consent_state(&place), "waiting", "that consent is for any contents of the files");
    let refused = run(&mut place.verb(&["consent", "p", "--yes"]));
    assert_eq!(refused.code, 3, "governed, and no operator passphrase is set: {refused:?}");
    let mut set = place.verb(&["approvals", "passphrase", "--passphrase-stdin"]);
    assert_eq!(run_outside_with(&mut set, "\nopen sesame\n").code, 0);
    let mut consent = place.verb(&["consent", "p", "--yes", "--passphrase-stdin"]);
    let said = run_outside_with(&mut consent, "open sesame\n");
    assert!(said.out.contains("pinned: \"server.py\" (sha256:"), "{said:?}");
    assert_eq!(consent_state(&place), "given");
    std::fs::write(place.work().join("server.py"), "print()\n").unwrap();
    assert_eq!(consent_state(&place), "waiting");
}

//! `import`: what others declare becomes ours, with a report of everything that does not.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::export::{DIALECTS, SERVERS};
use crate::support::{Place, TOOLGATE, run};

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The user's own folder.
fn user(place: &Place) -> PathBuf {
    place.work().parent().unwrap().to_owned()
}

fn names(report: &Value, key: &str) -> Vec<String> {
    let lines = report[key].as_array().unwrap().iter();
    lines.map(|line| line["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_a_dialect_says_survives_import_and_export() {
    let source = Place::with(SERVERS);
    for (dialect, name) in DIALECTS {
        let export = ["export", "--to", dialect, "--with-secrets"];
        let first = run(&mut source.configured(&export));
        let place = Place::new();
        let file = user(&place).join("others").join(name);
        write(&file, &first.out);
        let said = run(&mut place.verb(&["import", "--from", file.to_str().unwrap(), "--json"]));
        assert_eq!(said.code, 0, "{dialect}: {said:?}");
        assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:?}");
        assert_eq!(said.json()["diagnostics"], json!([]), "{dialect}: {said:?}");
        std::fs::remove_file(&file).unwrap();
        // What its own host would not start is switched off until somebody says otherwise.
        for loss in said.json()["losses"].as_array().unwrap() {
            assert_eq!((dialect, &loss["field"]), ("secondbrain", &"enabled".into()), "{loss}");
            let server = loss["server"].as_str().unwrap();
            let on = run(&mut place.verb(&["enable", server]));
            assert_eq!(on.code, 0, "{on:?}");
        }
        let second = run(&mut place.verb(&export));
        assert_eq!(second.out, first.out, "{dialect}: {}", said.out);
    }
}

fn cursor(place: &Place) -> PathBuf {
    let file = user(place).join(".cursor/mcp.json");
    let servers = json!({ "mcpServers": {
        "a": { "command": TOOLGATE, "args": ["sample-server"], "env": { "API_KEY": "canary-key", "L": "x" } },
        "b": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${env:B}" } },
        "gate": { "command": "toolgate", "args": ["serve", "--stdio"] },
    } });
    write(&file, &servers.to_string());
    file
}

#[test]
fn a_clients_servers_are_copied_with_a_warning_about_credentials() {
    let place = Place::new();
    cursor(&place);
    let said = run(&mut place.verb(&["import", "--from", "cursor"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("env.API_KEY") && !said.err.contains("canary"), "{said:?}");
    let skipped = said.err.contains("skipped gate") && said.err.contains("it is toolgate itself");
    assert!(skipped, "{said:?}");
    let config = std::fs::read_to_string(place.home().join("config.toml")).unwrap();
    assert!(config.contains("canary-key"), "{config}");
    assert_eq!(run(&mut place.verb(&["call", "a", "echo", "text=hi"])).out, "hi\n");

    let again = run(&mut place.verb(&["import", "--from", "cursor", "--json"]));
    assert_eq!(names(&again.json(), "skipped"), ["gate", "a", "b"], "{again:?}");
    assert_eq!(again.json()["imported"], json!([]));
    let forced = run(&mut place.verb(&["import", "--from", "cursor", "a", "--force", "--json"]));
    assert_eq!(names(&forced.json(), "imported"), ["a"]);
    assert_eq!(run(&mut place.verb(&["import", "--from", "cursor", "nobody"])).code, 1);
    assert_eq!(run(&mut place.verb(&["import", "--from", "zed"])).code, 1);
    assert_eq!(run(&mut place.verb(&["import", "--from", "missing.json"])).code, 2);
}

#[test]
fn credentials_can_be_moved_into_the_secret_store() {
    let place = Place::new();
    let file = cursor(&place);
    let said = run(&mut place.verb(&["import", "--from", "cursor", "--to-secrets", "--json"]));
    assert_eq!(said.json()["imported"][0]["moved"], json!(["env.API_KEY"]), "{said:?}");
    let config = std::fs::read_to_string(place.home().join("config.toml")).unwrap();
    assert!(config.contains("${secret:a.API_KEY}") && !config.contains("canary"), "{config}");
    std::fs::remove_file(file).unwrap();
    assert_eq!(run(&mut place.verb(&["call", "a", "echo", "text=hi"])).out, "hi\n");
    assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:?}");
}

#[test]
fn a_dry_run_writes_nothing_and_shows_no_credential() {
    let place = Place::new();
    cursor(&place);
    let said = run(&mut place.verb(&["import", "--from", "cursor", "--dry-run"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.starts_with("--- ") && said.out.contains("+[servers.a]"), "{said:?}");
    assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:?}");
    assert!(!place.home().join("config.toml").exists());
    assert!(!place.home().join("secrets.json").exists());
}

#[test]
fn without_a_source_everything_is_found_and_nothing_taken_in_silence() {
    let place = Place::new();
    cursor(&place);
    write(&place.work().join(".mcp.json"), r#"{"mcpServers":{"p":{"command":"python3"}}}"#);
    let said = run(&mut place.verb(&["import"]));
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("cursor (") && said.err.contains("python3"), "{said:?}");
    assert!(said.err.contains("--yes") && !said.err.contains("canary"), "{said:?}");
    assert!(!place.home().join("config.toml").exists());

    let no = run(&mut place.typed(&[("[y/N]", "")], &["import"]));
    assert_eq!(no.code, 1, "{no:?}");
    let yes = run(&mut place.typed(&[("[y/N]", "y")], &["import", "p"]));
    assert_eq!(yes.code, 0, "{yes:?}");
    let all = run(&mut place.verb(&["import", "--yes", "--json"]));
    assert_eq!(names(&all.json(), "imported"), ["a", "b"], "{all:?}");
}

#[test]
fn a_projects_file_gives_no_leave_of_its_own() {
    let place = Place::new();
    let servers = json!({ "mcpServers": { "t": { "command": TOOLGATE, "args": ["sample-server"], "trust": true } } });
    write(&place.work().join(".gemini/settings.json"), &servers.to_string());
    let said = run(&mut place.verb(&["import", "--from", "gemini", "--json"]));
    assert_eq!(said.json()["losses"][0]["field"], "trust", "{said:?}");
    let config = std::fs::read_to_string(place.home().join("config.toml")).unwrap();
    assert!(!config.contains("\ntrust = true"), "{config}");
    assert_eq!(run(&mut place.verb(&["call", "t", "echo", "text=hi"])).code, 0);
}

#[test]
fn importing_into_a_project_is_consent_to_exactly_that() {
    let place = Place::new();
    cursor(&place);
    let said =
        run(&mut place.verb(&["import", "--from", "cursor", "a", "-s", "project", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let file = PathBuf::from(said.json()["file"].as_str().unwrap());
    assert!(file.starts_with(place.work()), "{file:?}");
    assert_eq!(run(&mut place.verb(&["call", "a", "echo", "text=hi"])).out, "hi\n");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("sample-server", "other")).unwrap();
    assert_eq!(run(&mut place.verb(&["call", "a", "echo", "text=hi"])).code, 3);
}

#[test]
fn what_is_wrong_with_the_source_is_told_and_the_rest_is_taken() {
    let place = Place::new();
    let file = user(&place).join("broken.json");
    write(
        &file,
        r#"{"mcpServers":{"bad":{"command":1,"env":{"T":"canary"}},"good":{"command":"x","nonsense":1}}}"#,
    );
    let said = run(&mut place.verb(&["import", "--from", file.to_str().unwrap(), "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(names(&said.json(), "imported"), ["good"]);
    assert!(said.json()["diagnostics"].as_array().unwrap().len() >= 2, "{said:?}");
    assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:?}");
}

#[test]
fn what_a_file_says_for_all_its_servers_is_told_to_stay_there() {
    let place = Place::new();
    let file = user(&place).join("agents.json");
    write(
        &file,
        r#"{"version":1,"agentic_wrap":true,"permissions":{"allow":["mcp:a_read"]},"servers":{"a":{"transport":"stdio","command":"x"}}}"#,
    );
    let said = run(&mut place.verb(&["import", "--from", file.to_str().unwrap(), "--json"]));
    let report = said.json();
    assert_eq!(names(&report, "imported"), ["a"]);
    let lost: Vec<_> = report["losses"].as_array().unwrap().iter().map(|it| &it["field"]).collect();
    assert_eq!(lost, ["permissions", "extra.core-agent"], "{said:?}");
}

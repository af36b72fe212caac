//! `install` and `uninstall`: a client's own file, changed in place and back to the byte.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Place, Running, TOOLGATE, run};

/// Variables that would lead out of the test's own folders.
const ELSEWHERE: [&str; 5] =
    ["CODEX_HOME", "COPILOT_HOME", "BN_USER_DIRECTORY", "CLINE_MCP_SETTINGS_PATH", "APPDATA"];

fn verb(place: &Place, words: &[&str]) -> Command {
    let mut command = place.verb(words);
    for name in ELSEWHERE {
        command.env_remove(name);
    }
    // The files of these tests name programs that nobody wants started.
    if words.first() == Some(&"install") {
        command.arg("--no-start");
    }
    command
}

fn listed(place: &Place) -> Vec<Value> {
    let said = run(&mut verb(place, &["install", "--list", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    said.json().as_array().unwrap().clone()
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} of {value}"))
}

/// A file somebody keeps by hand, as each client has it.
fn kept_by_hand(client: &str) -> &'static str {
    match client {
        "codex" => {
            "# my own\nmodel = \"m\" # the good one\n\n[mcp_servers.mine]   # odd spaces\ncommand = 'npx'\n\
             args = [\n  \"-y\", # yes\n  \"x\",\n]\nenv = { TOKEN = \"canary-bird\" }\n\n[tui]\ntheme = \"dark\"\n"
        }
        "nyzhi" => {
            "# nyzhi\r\n[provider]\r\nkey = \"canary-bird\"\r\n\r\n[mcp.servers.mine]\r\ncommand = \"npx\"\r\n"
        }
        "continue" => {
            "# continue\nname: mine\nversion: 1.0.0\nmcpServers:\n  - name: mine # first\n    command: npx\n    env:\n      TOKEN: canary-bird\nmodels: []\n"
        }
        "goose" => {
            "# goose\nGOOSE_MODEL: m\nextensions:\n  # one\n  mine:\n    enabled: true\n    type: stdio\n    name: mine\n    cmd: npx\n    args: []\n    envs: { TOKEN: canary-bird }\n"
        }
        "secondbrain" => {
            "# second\ncontrol_plane:\n  mcp_stdio_allowed_commands: [npx]\nmcp_servers:\n  - name: mine # odd\n    transport: stdio\n    command: npx\n    enabled: false\n"
        }
        "vscode" => {
            "{\n\t// mine\n\t\"inputs\": [],\n\t\"servers\": {\n\t\t\"mine\": { \"command\": \"npx\", \"env\": { \"TOKEN\": \"canary-bird\" } }, // keep\n\t},\n}\n"
        }
        "zed" => {
            "// Zed\n{\n  \"theme\": \"One\", /* dark */\n  \"context_servers\": {\n    \"mine\": { \"command\": \"npx\", \"env\": { \"TOKEN\": \"canary-bird\" } }\n  }\n}\n"
        }
        "opencode" => {
            "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    // local\n    \"mine\": { \"type\": \"local\", \"command\": [\"npx\", \"x\"], \"environment\": { \"TOKEN\": \"canary-bird\" } }\n  }\n}\n"
        }
        "core-agent" => {
            "{\n  \"version\": 1,\n  \"servers\": {\n    \"mine\": { \"transport\": \"stdio\", \"command\": \"npx\", \"env\": { \"TOKEN\": \"canary-bird\" } }\n  }\n}\n"
        }
        "sidekick" => {
            "{\n    \"version\": \"1.0\",\n    \"servers\": [\n        { \"name\": \"mine\", \"server_config\": { \"command\": [\"npx\"], \"env\": { \"TOKEN\": \"canary-bird\" } }, \"tools\": [ { \"name\": \"t\" } ] }\n    ]\n}\n"
        }
        _ => {
            "{\r\n  // by hand\r\n  \"theme\": \"dark\",\r\n  \"apiKey\": \"canary-bird\",\r\n  \"mcpServers\": {\r\n    \"mine\": { \"command\": \"npx\", \"args\": [\"-y\", \"x\"], \"env\": { \"TOKEN\": \"canary-bird\" } } // keep\r\n  }\r\n}\r\n"
        }
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Every file below a folder but those of the home.
fn files(place: &Place) -> Vec<PathBuf> {
    let mut open = vec![place.work().parent().unwrap().to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path == place.home() => {}
                path if path.is_dir() => open.push(path),
                path => found.push(path),
            }
        }
    }
    found
}

#[test]
fn every_clients_file_comes_back_to_the_byte() {
    let place = Place::new();
    let lines = listed(&place);
    assert!(lines.len() >= 30, "{}", lines.len());
    for line in &lines {
        let (client, scope, file) = (word(line, "client"), word(line, "scope"), word(line, "file"));
        let (path, text) = (Path::new(file), kept_by_hand(client));
        write(path, text);
        let said =
            run(&mut verb(&place, &["install", client, "--scope", scope, "--approve", "client"]));
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{client} {scope}: {said:?}");
        assert!(!said.err.contains("canary"), "{client}: {said:?}");
        let changed = std::fs::read_to_string(path).unwrap();
        assert!(changed.contains("serve") && changed.contains("--home"), "{client}: {changed}");
        assert!(said.err.contains(".toolgate-backup-1"), "{client}: {said:?}");

        let again =
            run(&mut verb(&place, &["install", client, "-s", scope, "--approve", "client"]));
        assert_eq!(again.code, 0, "{client}: {again:?}");
        assert!(again.err.contains("already installed"), "{client}: {again:?}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), changed, "{client}");

        let said = run(&mut verb(&place, &["uninstall", client, "--scope", scope]));
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{client} {scope}: {said:?}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{client} {scope}");
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(files(&place), Vec::<PathBuf>::new(), "no backup is left of what came back");
}

#[test]
fn a_file_that_was_not_there_is_gone_again() {
    let place = Place::new();
    for line in &listed(&place) {
        let (client, scope, file) = (word(line, "client"), word(line, "scope"), word(line, "file"));
        let there = Path::new(file).parent().unwrap().exists();
        let said =
            run(&mut verb(&place, &["install", client, "-s", scope, "--approve", "operator"]));
        assert_eq!(said.code, 0, "{client} {scope}: {said:?}");
        assert!(std::fs::read_to_string(file).unwrap().contains("serve"), "{client}");
        let said = run(&mut verb(&place, &["uninstall", client, "-s", scope]));
        assert_eq!(said.code, 0, "{client} {scope}: {said:?}");
        assert!(!Path::new(file).exists(), "{client}");
        assert_eq!(Path::new(file).parent().unwrap().exists(), there, "{client}: its folder");
    }
}

#[test]
fn from_a_file_that_changed_since_only_the_entry_is_taken() {
    let place = Place::new();
    for line in listed(&place).iter().filter(|line| line["scope"] == "user") {
        let (client, file) = (word(line, "client"), word(line, "file"));
        let path = Path::new(file);
        write(path, kept_by_hand(client));
        assert_eq!(run(&mut verb(&place, &["install", client, "--approve", "client"])).code, 0);
        let later = if file.ends_with("json") { "\n// later\n" } else { "\n# later\n" };
        let edited = std::fs::read_to_string(path).unwrap() + later;
        std::fs::write(path, &edited).unwrap();
        let said = run(&mut verb(&place, &["uninstall", client]));
        assert_eq!(said.code, 0, "{client}: {said:?}");
        let left = std::fs::read_to_string(path).unwrap();
        assert!(left.contains("later") && left.contains("mine"), "{client}: {left}");
        assert!(!left.contains("--stdio"), "{client}: {left}");
        let kept: Vec<_> = kept_by_hand(client).lines().collect();
        let missing: Vec<_> = kept.iter().filter(|line| !left.contains(**line)).collect();
        assert_eq!(missing, Vec::<&&str>::new(), "{client}: {left}");
    }
}

#[test]
fn an_installed_toolgate_starts_no_second_gateway() {
    for form in ["--stdio", "--http"] {
        let place = Place::new();
        for line in &listed(&place) {
            let (client, scope) = (word(line, "client"), word(line, "scope"));
            let words = ["install", client, "-s", scope, form, "--approve", "client"];
            let said = run(&mut verb(&place, &words));
            let stdio_only = ["claude-desktop", "sidekick", "secondbrain"].contains(&client);
            let wanted = if stdio_only && form == "--http" { 2 } else { 0 };
            assert_eq!(said.code, wanted, "{client} {form}: {said:?}");
        }
        let installed = listed(&place).iter().filter(|it| it["installed"] == "toolgate").count();
        assert!(installed >= 30, "{installed} {form}");
        let said = run(&mut verb(&place, &["export", "--to", "toolgate", "--json"]));
        assert_eq!(said.json()["servers"], serde_json::json!([]), "{form}: {said:?}");
        let said = run(&mut verb(&place, &["import", "--yes", "--json"]));
        assert_eq!(said.json()["imported"], serde_json::json!([]), "{form}: {said:?}");
    }
}

#[test]
fn a_gateway_does_not_connect_to_itself() {
    let place = Place::new();
    let (_gateway, endpoint) = Running::serve(&mut verb(&place, &[]));
    let said =
        run(&mut verb(&place, &["install", "cursor", "--http", "--approve", "client", "--json"]));
    assert_eq!(said.json()[0]["transport"], "http", "{said:?}");
    let file = std::fs::read_to_string(said.json()[0]["file"].as_str().unwrap()).unwrap();
    assert!(file.contains(&endpoint), "the running gateway's address: {file}");
    drop(_gateway);
    let said = run(&mut verb(&place, &["servers", "--json"]));
    let servers = said.json()["servers"].clone();
    let names: Vec<_> = servers.as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert!(!names.contains(&&Value::from("toolgate")), "{names:?}");
}

#[test]
fn a_dry_run_shows_what_would_change_and_nothing_secret() {
    let place = Place::new();
    for line in &listed(&place) {
        let (client, scope, file) = (word(line, "client"), word(line, "scope"), word(line, "file"));
        let text = kept_by_hand(client);
        write(Path::new(file), text);
        let said = run(&mut verb(&place, &["install", client, "-s", scope, "--dry-run"]));
        assert_eq!(said.code, 0, "{client}: {said:?}");
        assert!(said.out.starts_with("--- ") && said.out.contains("\n+"), "{client}: {said:?}");
        assert!(said.out.contains("--stdio") && said.out.contains(TOOLGATE), "{client}: {said:?}");
        assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{client}: {said:?}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), text, "{client}");
        let file = Path::new(file);
        assert_eq!(
            std::fs::read_dir(file.parent().unwrap())
                .unwrap()
                .flatten()
                .filter(|it| it.file_name().to_string_lossy().contains("backup"))
                .count(),
            0
        );
        std::fs::remove_file(file).unwrap();
    }
    assert!(!place.home().join("installed.json").exists());
}

#[test]
fn who_approves_is_asked_for_and_recorded() {
    let place = Place::new();
    let said = run(&mut verb(&place, &["install", "cursor"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("--approve client"), "{said:?}");
    let cursor = place.work().parent().unwrap().join(".cursor/mcp.json");
    assert!(!cursor.exists());

    let script = [("[1-3]", "2"), ("[y/N]", "y")];
    let said = run(&mut place.typed(&script, &["install", "cursor"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(cursor.exists());
    let config = place.home().join("config.toml");
    let recorded = std::fs::read_to_string(&config).unwrap();
    assert!(recorded.contains("approvals") && recorded.contains("elicitation"), "{recorded}");
    let said = run(&mut verb(&place, &["servers"]));
    assert!(!said.err.contains("error"), "the file is still good: {said:?}");

    let no = run(&mut place.typed(&[("[y/N]", "n")], &["install", "zed", "--approve", "client"]));
    assert_eq!(no.code, 1, "{no:?}");
    assert_eq!(run(&mut verb(&place, &["uninstall", "cursor"])).code, 0);
    assert!(!std::fs::read_to_string(&config).unwrap().contains("elicitation"));
}

#[test]
fn another_server_of_that_name_is_left_alone() {
    let place = Place::new();
    let path = place.work().join(".cursor/mcp.json");
    let text = r#"{"mcpServers":{"toolgate":{"command":"other"}}}"#;
    write(&path, text);
    let words = ["install", "cursor", "-s", "project", "--approve", "client"];
    let said = run(&mut verb(&place, &words));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("--name"), "{said:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let said = run(verb(&place, &words).args(["--name", "gate"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(run(&mut verb(&place, &["uninstall", "cursor"])).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert_eq!(run(&mut verb(&place, &["uninstall", "cursor"])).code, 1);
}

#[test]
fn a_file_that_cannot_be_edited_gives_the_entry_to_paste() {
    let place = Place::new();
    let path = place.work().join(".cursor/mcp.json");
    write(&path, "{ \"mcpServers\": [ \"canary-bird\" }");
    let words = ["install", "cursor", "-s", "project", "--approve", "client"];
    let said = run(&mut verb(&place, &words));
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("add this to it yourself") && said.err.contains("--stdio"));
    assert!(!said.err.contains("canary"), "{said:?}");
    for (words, code) in [
        (&["install", "nobody", "--approve", "client"][..], 2),
        (&["install"], 2),
        (&["install", "goose", "-s", "project", "--approve", "client"], 2),
        (&["install", "claude-desktop", "--http", "--approve", "client"], 2),
        (&["uninstall", "nobody"], 2),
        (&["uninstall", "zed"], 1),
    ] {
        let said = run(&mut verb(&place, words));
        assert_eq!(said.code, code, "{words:?}: {said:?}");
    }
}

#[test]
fn a_second_install_changes_what_differs_and_the_first_text_comes_back() {
    let place = Place::new();
    let path = place.work().parent().unwrap().join(".gemini/settings.json");
    write(&path, kept_by_hand("gemini"));
    for form in ["--stdio", "--http", "--stdio"] {
        let said = run(&mut verb(&place, &["install", "gemini", form, "--approve", "client"]));
        assert_eq!(said.code, 0, "{said:?}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.contains("7420"), form == "--http", "{text}");
        assert!(text.contains("// by hand"), "{text}");
    }
    assert_eq!(run(&mut verb(&place, &["uninstall", "gemini"])).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), kept_by_hand("gemini"));
}

#[test]
fn a_client_with_servers_of_its_own_is_warned_about_them() {
    let place = Place::new();
    for line in &listed(&place) {
        let (client, scope, file) = (word(line, "client"), word(line, "scope"), word(line, "file"));
        write(Path::new(file), kept_by_hand(client));
        let words = ["install", client, "-s", scope, "--approve", "client", "--json"];
        let said = run(&mut verb(&place, &words));
        assert_eq!(said.code, 0, "{client}: {said:?}");
        // One of them is switched off, so nothing of it is listed.
        let is_off = client == "secondbrain";
        let direct = &said.json()[0]["direct"];
        let wanted = if is_off { Value::Null } else { serde_json::json!(["mine"]) };
        assert_eq!(*direct, wanted, "{client} {scope}: {said:?}");
        let warned = said.err.contains("listed twice") && said.err.contains("bypass every rule");
        assert_eq!(warned, !is_off, "{client} {scope}: {said:?}");
        assert_eq!(said.err.contains(&format!("install {client} --move")), !is_off, "{said:?}");
        run(&mut verb(&place, &["uninstall", client, "-s", scope]));
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn moved_servers_are_behind_the_gateway_only_and_come_back_to_the_byte() {
    for line in listed(&Place::new()).iter().filter(|line| line["scope"] == "user") {
        let place = Place::new();
        let client = word(line, "client");
        let line = listed(&place).into_iter().find(|it| it["client"] == client).unwrap();
        let (path, text) = (Path::new(word(&line, "file")), kept_by_hand(client));
        write(path, text);
        let words = ["install", client, "--approve", "client", "--move", "--json"];
        let said = run(&mut verb(&place, &words));
        assert_eq!(said.code, 0, "{client}: {said:?}");
        assert!(!said.out.contains("canary") && !said.err.contains("canary"), "{said:?}");
        let done = &said.json()[0];
        assert_eq!(done["moved"], serde_json::json!(["mine"]), "{client}: {said:?}");
        assert_eq!(done["direct"], Value::Null, "{client}: {said:?}");
        assert!(!said.err.contains("listed twice"), "{client}: {said:?}");
        let changed = std::fs::read_to_string(path).unwrap();
        // SecondBrain's list of allowed commands is no server.
        let servers = changed.replace("allowed_commands: [npx]", "");
        assert!(servers.contains("--stdio") && !servers.contains("npx"), "{client}: {changed}");
        let config = place.home().join("config.toml");
        let ours = std::fs::read_to_string(&config).unwrap();
        assert!(ours.contains("[servers.mine]") && ours.contains("npx"), "{client}: {ours}");
        let backup = PathBuf::from(word(done, "backup"));
        assert_eq!(std::fs::read_to_string(&backup).unwrap(), text, "{client}");

        let said = run(&mut verb(&place, &["uninstall", client, "--json"]));
        assert_eq!(said.code, 0, "{client}: {said:?}");
        assert_eq!(said.json()[0]["returned"], serde_json::json!(["mine"]), "{client}: {said:?}");
        assert_eq!(std::fs::read_to_string(path).unwrap(), text, "{client}");
        let ours = std::fs::read_to_string(&config).unwrap();
        let mut entries = ours.lines().filter(|line| !line.starts_with('#'));
        let left = entries.any(|line| line.contains("servers.mine") || line.contains("npx"));
        assert!(!left, "{client}: {ours}");
        assert!(!backup.exists(), "{client}: the backup holds what the file holds");
    }
}

/// A client's file with two servers, one of which our own config has too.
fn with_a_name_we_have(place: &Place, ours: &str) -> PathBuf {
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), ours).unwrap();
    let path = place.work().parent().unwrap().join(".cursor/mcp.json");
    let servers = serde_json::json!({ "mcpServers": {
        "a": { "command": "first", "env": { "API_KEY": "canary-key" } },
        "b": { "command": "second" },
    } });
    write(&path, &serde_json::to_string_pretty(&servers).unwrap());
    path
}

const MOVE: [&str; 6] = ["install", "cursor", "--approve", "client", "--move", "--json"];

#[test]
fn a_server_whose_name_is_taken_stays_where_it_is_and_is_told_of() {
    let place = Place::new();
    let path = with_a_name_we_have(&place, "[servers.b]\ncommand = \"another\"\n");
    let said = run(&mut verb(&place, &MOVE));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()[0]["moved"], serde_json::json!(["a"]), "{said:?}");
    assert_eq!(said.json()[0]["direct"], serde_json::json!(["b"]), "{said:?}");
    assert!(said.err.contains("another server of this name is already declared"), "{said:?}");
    let left = std::fs::read_to_string(&path).unwrap();
    assert!(left.contains("second") && !left.contains("first"), "{left}");
    let ours = std::fs::read_to_string(place.home().join("config.toml")).unwrap();
    assert!(ours.contains("another") && ours.contains("first"), "{ours}");
}

#[test]
fn moved_credentials_go_into_the_secret_store_and_leave_it_again() {
    let place = Place::new();
    let path = with_a_name_we_have(&place, "[servers.b]\ncommand = \"second\"\n");
    let before = std::fs::read_to_string(&path).unwrap();
    let said = run(&mut verb(&place, &[&MOVE[..], &["--to-secrets"]].concat()));
    assert_eq!(said.json()[0]["moved"], serde_json::json!(["a", "b"]), "{said:?}");
    let config = place.home().join("config.toml");
    let ours = std::fs::read_to_string(&config).unwrap();
    assert!(ours.contains("${secret:a.API_KEY}") && !ours.contains("canary"), "{ours}");
    let secrets = || run(&mut verb(&place, &["secret", "list"])).out;
    assert!(secrets().contains("a.API_KEY"), "{}", secrets());

    // Changed since: the entry goes, and what was moved comes back.
    let edited = std::fs::read_to_string(&path).unwrap().replacen('{', "{ \"later\": 1,", 1);
    std::fs::write(&path, edited).unwrap();
    let said = run(&mut verb(&place, &["uninstall", "cursor"]));
    assert_eq!(said.code, 0, "{said:?}");
    let left: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let before: Value = serde_json::from_str(&before).unwrap();
    assert_eq!((&left["later"], &left["mcpServers"]), (&1.into(), &before["mcpServers"]));
    assert!(!secrets().contains("a.API_KEY"), "{}", secrets());
    let ours = std::fs::read_to_string(&config).unwrap();
    assert!(!ours.contains("servers.a") && ours.contains("[servers.b]"), "b was ours: {ours}");
}

#[test]
fn servers_that_stay_beside_the_gateway_are_named_in_a_warning() {
    let place = Place::new();
    with_a_name_we_have(&place, "");
    let said = run(&mut place.verb(&["install", "cursor", "--approve", "client"]));
    assert_eq!(said.code, 0, "{said:?}");
    let warning = said.err.lines().find(|line| line.starts_with("warning:")).unwrap_or_default();
    assert!(warning.contains(" a in ") && warning.contains(" b in "), "{said:?}");
    assert!(said.err.contains("bypass every rule"), "{said:?}");
}

#[test]
fn a_move_is_shown_first_and_changes_nothing() {
    let place = Place::new();
    let path = with_a_name_we_have(&place, "");
    let before = std::fs::read_to_string(&path).unwrap();
    let said = run(&mut verb(&place, &["install", "cursor", "--move", "--dry-run"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("+[servers.a]") && said.out.contains("-    \"a\""), "{said:?}");
    assert!(!said.out.contains("canary"), "{said:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    assert_eq!(std::fs::read_to_string(place.home().join("config.toml")).unwrap(), "");
}

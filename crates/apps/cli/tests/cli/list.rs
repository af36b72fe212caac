//! `list` and `get`: who is declared where, and nothing that is secret.

use serde_json::json;

use crate::support::{Place, Running, TOOLGATE, processes_with, run};

/// One for every place a secret can stand in.
const CANARIES: [&str; 6] = [
    "canary-env-1a",
    "canary-header-2b",
    "canary-flag-3c",
    "canary-user-4d",
    "canary-query-5e",
    "canary-oauth-6f",
];

fn written(place: &Place) {
    let [env, header, flag, user, query, oauth] = CANARIES;
    std::fs::create_dir_all(place.home()).unwrap();
    let user_file = format!(
        "[servers.stdio]\ncommand = \"npx\"\nargs = [\"-y\", \"--api-key\", \"{flag}\", \"--token={flag}\"]\n\
         env = {{ TOKEN = \"{env}\" }}\ntags = [\"a\"]\ndescription = \"files\"\n\n\
         [servers.http]\nurl = \"https://{user}@x.test/mcp?key={query}\"\n\
         headers = {{ Authorization = \"Bearer {header}\" }}\n"
    );
    std::fs::write(place.home().join("config.toml"), user_file).unwrap();
    let gemini = json!({ "mcpServers": { "login": {
        "httpUrl": "https://y.test", "oauth": { "clientId": "me", "clientSecret": oauth },
    } } });
    std::fs::create_dir_all(place.work().join(".gemini")).unwrap();
    std::fs::write(place.work().join(".gemini/settings.json"), gemini.to_string()).unwrap();
    let project = json!({ "mcpServers": { "stdio": { "command": "node", "args": ["x.js"] } } });
    std::fs::write(place.work().join(".mcp.json"), project.to_string()).unwrap();
}

#[test]
fn the_list_says_who_wins_and_hides_every_secret() {
    let place = Place::new();
    written(&place);
    let said = run(&mut place.verb(&["list", "--offline", "--json"]));
    let rows = said.json()["servers"].clone();
    let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["http", "login", "stdio"]);
    let file = place.work().join(".mcp.json").display().to_string();
    assert_eq!(rows[2]["origin"], format!("{file}:1:16"));
    let loser = place.home().join("config.toml").display().to_string();
    assert_eq!(rows[2]["shadows"], json!([format!("{loser}:1:10")]));
    let expected = json!({
        "name": "http", "enabled": true, "transport": "http", "url": "https://***@x.test/mcp?key=***",
        "scope": "user", "origin": format!("{loser}:8:10"), "shadows": [],
    });
    assert_eq!(rows[0], expected);
    let table = run(&mut place.verb(&["list", "--offline"]));
    assert!(table.out.contains("NAME"), "{table:?}");
    assert!(table.out.contains("wins over ~/home/config.toml:1\n"), "{table:?}");
    assert!(table.out.contains("  .mcp.json:1\n"), "{table:?}");
}

#[test]
fn no_secret_is_in_any_output() {
    let place = Place::new();
    written(&place);
    for words in [
        &["list", "--offline"][..],
        &["list", "--offline", "--json"],
        &["list"],
        &["list", "--json"],
        &["get", "stdio"],
        &["get", "stdio", "--json"],
        &["get", "http"],
        &["get", "http", "--json"],
        &["get", "login", "--json"],
        &["config", "check"],
        &["config", "check", "--json"],
        &["config", "files"],
        &["consent"],
        &["consent", "--json"],
        &["add", "http", "npx", "-s", "user"],
        &["add", "stdio", "npx", "-s", "user"],
        &["add", "stdio", "npx", "-s", "user", "--force", "--dry-run"],
        &["--debug", "list", "--offline"],
        &["disable", "http"],
        &["remove", "http"],
    ] {
        let said = run(&mut place.verb(words));
        for canary in CANARIES {
            assert!(!format!("{said:?}").contains(canary), "{words:?}: {said:?}");
        }
    }
}

#[test]
fn one_server_is_told_in_full() {
    let place = Place::new();
    written(&place);
    let said = run(&mut place.verb(&["get", "http", "--json"]));
    let http = said.json();
    assert_eq!(http["headers"], json!(["Authorization"]));
    assert_eq!((&http["dialect"], &http["standing"]), (&json!("toolgate"), &json!("ready")));
    // A call may be silent for as long as it may take.
    assert_eq!(http["timeouts"], json!({ "start_ms": 30_000, "max_ms": 3_600_000 }));
    let login = run(&mut place.verb(&["get", "login", "--json"])).json();
    assert_eq!(login["auth"]["client_id"], "me");
    assert_eq!(login["standing"], "needs_consent");
    let stdio = run(&mut place.verb(&["get", "stdio", "--json"])).json();
    assert_eq!(stdio["losers"][0]["dialect"], "toolgate");
    let text = run(&mut place.verb(&["get", "stdio"])).out;
    for part in ["needs_consent", "node x.js", "wins over:", "mcp-json", "command: \"node\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_unknown_name_finds_the_nearest() {
    let place = Place::new();
    written(&place);
    for words in [&["get", "stido"][..], &["remove", "stido"], &["disable", "stido"]] {
        let said = run(&mut place.verb(words));
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.err.contains("did you mean `stdio`?"), "{said:?}");
    }
}

#[test]
fn connected_servers_are_told_apart_from_those_that_do_not_answer() {
    let place = Place::new();
    let mark = format!("mark-{}", std::process::id());
    std::fs::create_dir_all(place.home()).unwrap();
    // A verb that waits as long as this server has to start finds it failed.
    let config = format!(
        "[servers.good]\ncommand = {TOOLGATE:?}\nargs = [\"sample-server\"]\n\
         [servers.slow]\ncommand = \"sleep\"\nargs = [\"600\"]\nenv = {{ MARK = \"{mark}\" }}\n\
         timeouts = {{ start = \"10s\" }}\n\
         [servers.bad]\ncommand = \"/nonexistent/server\"\n\
         [servers.off]\ncommand = \"npx\"\nenabled = false\n"
    );
    std::fs::write(place.home().join("config.toml"), config).unwrap();
    let said = run(&mut place.verb(&["list", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    let servers = said.json()["servers"].clone();
    let states: Vec<_> =
        servers.as_array().unwrap().iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["failed", "connected", "disabled", "connecting"], "{said:?}");
    assert!(said.err.contains("did not answer within 5 seconds: slow"), "{said:?}");
    assert_eq!(processes_with(&mark), 0, "it was ended with the verb");
}

#[test]
fn a_living_gateway_answers_for_its_servers() {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let config = format!("[servers.s]\ncommand = {TOOLGATE:?}\nargs = [\"sample-server\"]\n");
    std::fs::write(place.home().join("config.toml"), config).unwrap();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let said = run(&mut place.verb(&["list", "--json"]));
    assert_eq!(said.json()["servers"][0]["state"], "connected", "{said:?}");
}

#[test]
fn offline_starts_nothing_and_writes_nothing() {
    let place = Place::new();
    let witness = place.work().join("started");
    let server = json!({ "command": "touch", "args": [witness] });
    let config = place.work().join("servers.json");
    std::fs::write(&config, json!({ "mcpServers": { "s": server } }).to_string()).unwrap();
    let said = run(place.verb(&["list", "--offline", "--json", "--config"]).arg(&config));
    assert_eq!(said.json()["servers"].as_array().unwrap().len(), 1, "{said:?}");
    assert!(!witness.exists());
    assert!(!place.home().exists(), "not even a home");
}

#[test]
fn nothing_declared_is_no_failure() {
    let place = Place::new();
    let said = run(&mut place.verb(&["list", "--offline", "--json"]));
    assert_eq!((said.code, said.json()), (0, json!({ "servers": [] })), "{said:?}");
    let said = run(&mut place.verb(&["list", "--offline"]));
    assert!(said.out.is_empty() && said.err.contains("toolgate add"), "{said:?}");
    // What is built in is there anyway.
    let said = run(&mut place.verb(&["list"]));
    assert!(
        said.out.contains("context  connected") && said.err.contains("toolgate add"),
        "{said:?}"
    );
}

#[test]
fn what_is_as_it_should_be_is_told_only_to_who_asks() {
    let place = Place::new();
    std::fs::create_dir_all(place.work().join(".cursor")).unwrap();
    let gateway = json!({ "command": "toolgate", "args": ["serve", "--stdio"] });
    let entries =
        json!({ "toolgate": gateway, "s": { "command": TOOLGATE, "args": ["sample-server"] } });
    let file = place.work().join(".cursor/mcp.json");
    std::fs::write(&file, json!({ "mcpServers": entries }).to_string()).unwrap();
    run(&mut place.verb(&["consent", "s", "--yes"]));
    for words in
        [&["list", "--offline"][..], &["list"], &["servers"], &["call", "s", "echo", "text=hi"]]
    {
        let said = run(&mut place.verb(words));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{words:?}: {said:?}");
    }
    for words in [&["list", "--offline", "-v"][..], &["config", "check"], &["doctor"]] {
        let said = run(&mut place.verb(words));
        let all = format!("{}{}", said.out, said.err);
        assert!(
            all.contains("note: server \"toolgate\" would start a gateway"),
            "{words:?}: {said:?}"
        );
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
    }
    let counted = run(&mut place.verb(&["config", "check", "--json"])).json();
    assert_eq!(
        (&counted["warnings"], &counted["diagnostics"][0]["severity"]),
        (&0.into(), &"note".into())
    );
}

#[test]
fn remarks_on_files_are_counted_and_errors_are_short() {
    let place = Place::new();
    let entries =
        json!({ "s": { "command": TOOLGATE, "args": ["sample-server"], "colour": 1, "sound": 2 } });
    let file = place.work().join(".mcp.json");
    std::fs::write(&file, json!({ "mcpServers": entries }).to_string()).unwrap();
    run(&mut place.verb(&["consent", "s", "--yes"]));
    for words in
        [&["list", "--offline"][..], &["list"], &["servers"], &["call", "s", "echo", "text=hi"]]
    {
        let said = run(&mut place.verb(words));
        let told =
            "hint: 2 warnings in the config files: run `toolgate config check` for details\n";
        assert_eq!((said.code, said.err.as_str()), (0, told), "{words:?}");
    }
    let entries =
        json!({ "s": { "command": TOOLGATE, "args": ["sample-server"] }, "bad": { "args": 3 } });
    std::fs::write(&file, json!({ "mcpServers": entries }).to_string()).unwrap();
    let said = run(&mut place.verb(&["list", "--offline"]));
    let lines: Vec<_> = said.err.lines().collect();
    let errors = &lines[..lines.len() - 1];
    assert!(
        !errors.is_empty()
            && errors.iter().all(|it| it.contains(".mcp.json:1:") && it.contains(": error: ")),
        "{said:?}"
    );
    assert_eq!(lines.last(), Some(&"hint: run `toolgate config check` for details"), "{said:?}");
}

#[test]
fn which_of_two_equal_servers_counts_is_the_same_for_every_verb() {
    let place = Place::new();
    let entries = json!({ "theirs": { "command": TOOLGATE, "args": ["sample-server"] } });
    std::fs::write(place.work().join(".mcp.json"), json!({ "mcpServers": entries }).to_string())
        .unwrap();
    let said = run(&mut place.verb(&["add", "mine", TOOLGATE, "sample-server", "-s", "user"]));
    assert_eq!(said.code, 0, "{said:?}");
    let said = run(&mut place.verb(&["list", "--json"]));
    let is_mine = |row: &serde_json::Value| row["name"] == "mine" && row["state"] == "connected";
    assert!(said.json()["servers"].as_array().unwrap().iter().any(is_mine), "{said:?}");
    let said = run(&mut place.verb(&["disable", "mine"]));
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn a_table_fits_80_columns_and_loses_nothing() {
    let place = Place::new();
    let long = "a-server-with-a-name-that-is-rather-long";
    let crash = "[servers.crash]\ncommand = \"/nonexistent/folder/with/a/long/path/to/a/server\"\n";
    let config = format!("[servers.{long}]\ncommand = \"npx\"\nenabled = false\n{crash}");
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), config).unwrap();
    let said = run(place.verb(&["list"]).env("COLUMNS", "80"));
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let columns: Vec<_> = said.out.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(columns, ["NAME", "STATE", "TRANSPORT", "TOOLS", "ORIGIN", "REASON"]);
    let whole = run(&mut place.verb(&["list"])).out;
    let letters = |text: &str| {
        let mut letters: Vec<_> = text.chars().filter(|c| !c.is_whitespace()).collect();
        letters.sort_unstable();
        letters
    };
    assert_eq!(letters(&said.out), letters(&whole));
    let row = whole.lines().find(|line| line.starts_with("crash")).unwrap();
    assert!(row.contains("failed") && row.contains("launch: "), "{whole}");
    // On a terminal the states have colours.
    let typed = run(&mut place.typed(&[], &["list"]));
    assert!(typed.out.contains("\u{1b}[31;1mfailed\u{1b}[0m"), "{typed:?}");
    assert!(typed.out.contains("\u{1b}[90mdisabled\u{1b}[0m"), "{typed:?}");
}

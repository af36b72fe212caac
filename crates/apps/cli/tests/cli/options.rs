//! What holds for every verb: help, exit codes, logs, and where words go.

use crate::support::{Place, Running, run, sample};

#[test]
fn the_help_says_what_there_is() {
    let place = Place::new();
    let said = run(&mut place.verb(&["--help"]));
    assert_eq!(said.code, 0);
    insta::assert_snapshot!("help", said.out);
}

#[test]
fn help_explains_a_verb_and_hides_what_is_hidden() {
    let place = Place::new();
    for words in [&["help", "call"][..], &["mcp", "help", "call"]] {
        let said = run(&mut place.verb(words));
        assert!(said.code == 0 && said.out.contains("KEY=VALUE"), "{said:?}");
    }
    let help = run(&mut place.verb(&["help"])).out;
    assert!(!help.contains("conformance-client") && !help.contains("\n  mcp "), "{help}");
}

#[test]
fn quiet_verbs_say_nothing_but_errors() {
    let place = Place::with(&format!("{}colour = 1\n", sample("s")));
    let said = run(&mut place.configured(&["-q", "list"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let said = run(&mut place.configured(&["-q", "approvals"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let said = run(&mut place.configured(&["-q", "discover", "nobody"]));
    assert!(
        said.code == 1 && said.err.contains("error[TG-SERVER-001]: no server named"),
        "{said:?}"
    );
}

#[test]
fn without_a_verb_the_help_is_told_as_bad_usage() {
    let place = Place::new();
    let help = run(&mut place.verb(&["--help"])).out;
    for words in [&[][..], &["--json"], &["mcp"]] {
        let said = run(&mut place.verb(words));
        assert_eq!((said.code, said.out.as_str(), &said.err), (2, "", &help), "{words:?}");
    }
}

#[test]
fn every_verb_explains_itself_with_an_example() {
    let place = Place::new();
    let verbs = [
        "serve",
        "discover",
        "search",
        "exposure",
        "call",
        "read-resource",
        "compile-resource",
        "context",
        "prompt",
        "doctor",
        "policy",
        "audit",
        "score",
        "report",
    ];
    let declaring = ["add", "add-json", "list", "get", "remove", "enable", "disable"];
    let others = ["consent", "config", "secret", "completions", "man", "sample-server"];
    let carrying = ["import", "export", "install", "uninstall"];
    for verb in verbs.into_iter().chain(declaring).chain(carrying).chain(others) {
        let said = run(&mut place.verb(&[verb, "--help"]));
        assert_eq!(said.code, 0, "{verb}");
        assert!(said.out.contains("Example"), "{verb}: {}", said.out);
        let pasted = run(&mut place.verb(&["mcp", verb, "--help"]));
        assert_eq!(pasted.code, 0, "mcp {verb}");
    }
    insta::assert_snapshot!("help_call", run(&mut place.verb(&["call", "--help"])).out);
}

#[test]
fn a_verb_may_be_written_with_mcp_before_it() {
    let place = Place::with(&sample("s"));
    let said = run(&mut place.configured(&["mcp", "call", "s", "echo", "text=hi"]));
    assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{said:?}");
}

#[test]
fn bad_usage_and_bad_config_end_with_2() {
    let place = Place::with("[servers.s]\ncommand = \"x\"\n");
    for words in [
        &["nonsense"][..],
        &["call"],
        &["--debug=nothing", "servers"],
        &["serve", "--protocol", "1999-01-01"],
        &["serve", "--listen", "0.0.0.0:0"],
        &["serve", "--listen", "nowhere"],
        &["--config", "missing.toml", "servers"],
    ] {
        let said = run(&mut place.verb(words));
        assert_eq!(said.code, 2, "{words:?}: {said:?}");
        assert!(said.out.is_empty() && !said.err.is_empty(), "{words:?}: {said:?}");
    }
    let said = run(&mut place.verb(&["--config", "missing.toml", "servers"]));
    assert!(
        said.err.contains("error[TG-CONFIG-002]: cannot read") && said.err.contains("missing.toml")
    );
}

#[test]
fn a_broken_entry_is_told_with_its_line_and_the_rest_goes_on() {
    let place = Place::with(&format!("{}[servers.bad]\nargs = 3\n", sample("s")));
    let said = run(&mut place.configured(&["servers", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("servers.toml:"), "{said:?}");
    assert_eq!(said.json()["servers"][0]["state"], "connected");
    let said = run(&mut place.configured(&["call", "bad", "echo"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("servers.toml:"), "the missing server is the broken one: {said:?}");
    let said = run(&mut place.configured(&["doctor"]));
    assert_eq!(said.code, 1, "a fault in a file is a fault: {said:?}");
    assert!(said.out.contains("s: ok") && said.err.contains("servers.toml:"), "{said:?}");
}

#[test]
fn logs_come_by_area_and_only_on_stderr() {
    let place = Place::with(&sample("s"));
    let quiet = run(&mut place.configured(&["servers"]));
    assert_eq!(quiet.err, "");
    let fleet = run(&mut place.configured(&["--debug=fleet", "servers"]));
    assert!(fleet.err.contains("Loaded 3 MCP tool(s)"), "{fleet:?}");
    assert!(!fleet.err.contains("configuration read"), "{fleet:?}");
    let config = run(place.configured(&["servers"]).env("TOOLGATE_LOG", "config"));
    assert!(config.err.contains("configuration read"), "{config:?}");
    assert!(!config.err.contains("Loaded"), "{config:?}");
    assert_eq!(quiet.out, config.out);
    assert!(!config.err.contains('\u{1b}'), "colours without a terminal: {config:?}");
}

/// The log lines that hold these words.
fn lines<'a>(said: &'a crate::support::Said, words: &str) -> Vec<&'a str> {
    said.err.lines().filter(|line| line.contains(words)).collect()
}

#[test]
fn a_verb_does_its_work_though_nobody_reads_its_logs() {
    let place = Place::with(&sample("s"));
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let mut call = place.configured(&["call", "s", "echo", "text=hi"]);
    let said = run(call.env("TOOLGATE_LOG", "*").stderr(closed));
    assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{said:?}");
}

#[test]
fn every_phase_of_a_server_is_logged_with_its_time_in_its_area() {
    let place = Place::with(&sample("s"));
    let call = ["call", "s", "echo", "text=hi"];
    let said = run(place.configured(&call).env("TOOLGATE_LOG", "*"));
    assert_eq!((said.code, said.out.as_str()), (0, "hi\n"), "{said:?}");
    for (area, phase) in [
        ("toolgate::config", "resolve: done"),
        ("toolgate::launch", "launch: process "),
        ("toolgate::transport", "connect: connected over stdio"),
        ("toolgate::session", "initialize: 20"),
        ("toolgate::session", "list: 3 tool(s)"),
        ("toolgate::session", "call: tools/call s__echo: answered"),
        ("toolgate::session", "close: its process ended"),
    ] {
        let found = lines(&said, phase);
        assert_eq!(found.len(), 1, "{phase}: {}", said.err);
        assert!(found[0].contains(area) && found[0].contains("took="), "{}", found[0]);
    }
    assert!(!lines(&said, "toolgate::gate: decided").is_empty(), "{said:?}");
    let said = run(place.configured(&call).env("TOOLGATE_LOG", "toolgate:transport,mcp:launch"));
    let areas = |line: &&str| line.contains("transport") || line.contains("launch");
    assert!(said.err.lines().all(|line| areas(&line)) && said.code == 0, "{said:?}");
    assert_eq!(lines(&said, "connect: connected over stdio").len(), 1, "{said:?}");
}

#[test]
fn a_connection_that_fails_is_logged_in_the_area_of_transports() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = Place::with(&format!("[servers.far]\nurl = \"http://{closed}/mcp?k=hush\"\n"));
    let said = run(&mut place.configured(&["--debug=transport", "servers"]));
    let began = lines(&said, "connect: begins");
    assert!(!began.is_empty(), "{said:?}");
    let failed = lines(&said, "connect: failed: ");
    assert!(!failed.is_empty() && failed[0].contains("took="), "{said:?}");
    assert!(!said.err.contains("hush"), "{said:?}");
}

#[test]
fn tools_that_the_declaration_hides_are_not_counted_as_loaded() {
    let place = Place::with(&format!("{}exclude = [\"now\"]\n", sample("s")));
    let said = run(&mut place.configured(&["--debug=fleet", "servers"]));
    assert!(said.err.contains("Loaded 2 MCP tool(s)"), "{said:?}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::with(&sample("s"));
    let mut command = std::process::Command::new("sh");
    // Whoever should read is gone before the verb writes: it finds out by writing.
    let line = "{ \"$0\" --config \"$1\" servers; echo \"code $?\" >&2; } | true";
    command.args(["-c", line, crate::support::TOOLGATE]).arg(place.config());
    let said = run(command.env("TOOLGATE_HOME", place.home()));
    assert_eq!(said.err, "code 0\n");
}

#[test]
fn the_sample_server_serves_on_its_own_stdio() {
    let place = Place::new();
    let mut server = Running::start(&mut place.verb(&["sample-server"]));
    for message in crate::support::opening() {
        server.send(&message);
    }
    assert!(server.line().contains("toolgate-sample"));
    server.close_stdin();
    assert_eq!(server.end().0, 0);
}

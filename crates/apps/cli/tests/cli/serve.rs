//! `serve`: the first run, one owner per home, and the end.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::json;

use crate::support::{
    Place, Running, TOOLGATE, calling, eventually, opening, processes_with, run, sample, witness,
};

#[test]
fn the_first_run_writes_a_config_and_the_next_leaves_it_alone() {
    let place = Place::new();
    let config = place.home().join("config.toml");
    let (gateway, endpoint) = Running::serve(&mut place.verb(&[]));
    assert!(endpoint.ends_with("/mcp"), "{endpoint}");
    assert!(std::fs::read_to_string(&config).unwrap().contains("sample-server"));
    let said = run(&mut place.verb(&["call", "context", "search_local_context", "query=hi"]));
    assert_eq!(said.code, 0, "{said:?}");
    let help = run(&mut place.verb(&["read-resource", "context", "toolgate://context/help"]));
    assert!(help.code == 0 && help.out.contains("context ingest"), "{help:?}");
    assert!(!place.home().join("context.db").exists(), "looking for it makes none");
    gateway.signal(Signal::TERM);
    let (code, err) = gateway.end();
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("created ") && err.contains("toolgate install claude-code"), "{err}");

    std::fs::write(&config, "# mine\n").unwrap();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    gateway.signal(Signal::INT);
    assert_eq!(gateway.end().0, 0);
    assert_eq!(std::fs::read_to_string(&config).unwrap(), "# mine\n");
}

#[test]
fn the_sample_of_the_first_run_starts_where_toolgate_is_on_no_path() {
    let place = Place::new();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    drop(gateway);
    for words in [&["enable", "sample"][..], &["call", "sample", "echo", "text=hi"]] {
        let said = run(place.verb(words).env("PATH", "/nowhere"));
        assert_eq!(said.code, 0, "{words:?}: {said:?}");
    }
}

#[test]
fn all_but_info_and_debug_lines_of_a_servers_stderr_appear_in_the_log() {
    let place = Place::new();
    let lines = "INFO: all is well\ncannot open database\nTraceback (most recent call last):\n  \
                 File \"server.py\", line 3, in debug\n[debug] a detail\n";
    std::fs::write(place.work().join("lines"), lines).unwrap();
    let script = format!("cat {}/lines >&2; exec {TOOLGATE} sample-server", place.work().display());
    let entry = format!("[servers.s]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n");
    std::fs::write(place.config(), entry).unwrap();
    let (gateway, _) = Running::serve(&mut place.configured(&[]));
    let said = run(&mut place.configured(&["call", "s", "echo", "text=hi"]));
    assert_eq!(said.code, 0, "{said:?}");
    gateway.signal(Signal::TERM);
    let (_, err) = gateway.end();
    for shown in ["cannot open database", "Traceback (most recent", "line 3, in debug"] {
        assert!(err.contains(shown), "{shown}: {err}");
    }
    for hidden in ["all is well", "a detail"] {
        assert!(!err.contains(hidden), "{hidden}: {err}");
    }
}

#[test]
fn an_elicitation_that_nobody_can_answer_is_told_once_per_server() {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let config = witness("w", &place.work()) + &witness("other", &place.home());
    std::fs::write(place.home().join("config.toml"), config).unwrap();
    let mut client = Running::start(&mut place.verb(&["serve", "--stdio"]));
    opening().iter().for_each(|message| client.send(message));
    client.answer(1);
    let mut lists = 100..;
    let list = json!({ "jsonrpc": "2.0", "method": "tools/list" });
    let mut listed = |tool: &str| {
        let (id, mut list) = (lists.next().unwrap(), list.clone());
        list["id"] = id.into();
        client.send(&list);
        client.answer(id).to_string().contains(tool)
    };
    eventually("the tools of both servers", || listed("w__ask") && listed("other__ask"));
    for (id, tool) in [(2, "w__ask"), (3, "w__visit"), (4, "other__ask")] {
        client.send(&calling(id, tool));
        let answer = client.answer(id);
        assert!(answer.to_string().contains("decline"), "{answer}");
    }
    client.close_stdin();
    let (_, err) = client.end();
    for server in ["server=w", "server=other"] {
        let told = err.lines().filter(|line| line.contains("declined an elicitation"));
        assert_eq!(told.filter(|line| line.ends_with(server)).count(), 1, "{err}");
    }
}

#[test]
fn a_server_that_is_the_local_context_of_another_home_is_no_gateway() {
    let elsewhere = Place::new();
    let home = elsewhere.home();
    let args = format!("[\"--home\", {:?}, \"context\", \"serve\"]", home.to_str().unwrap());
    let place = Place::with(&format!("[servers.mine]\ncommand = {TOOLGATE:?}\nargs = {args}\n"));
    let said = run(&mut place.configured(&["call", "mine", "recall", "query=hi"]));
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn the_local_context_of_a_gateway_has_the_names_the_config_says() {
    let place = Place::new();
    std::fs::create_dir_all(place.home()).unwrap();
    let config = place.home().join("config.toml");
    std::fs::write(&config, "[context]\nnames = \"secondbrain\"\n").unwrap();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let help = |scheme: &str| {
        let uri = format!("{scheme}://context/help");
        run(&mut place.verb(&["read-resource", "context", &uri]))
    };
    let said = help("secondbrain");
    assert!(said.code == 0 && said.out.contains("secondbrain://context/search"), "{said:?}");
    assert_eq!(help("toolgate").code, 1);
    std::fs::write(&config, "# as usual\n").unwrap();
    eventually("the usual names", || help("toolgate").code == 0);
}

#[test]
fn a_named_config_leaves_the_users_alone() {
    let place = Place::with(&sample("s"));
    let (_gateway, _) = Running::serve(&mut place.configured(&[]));
    assert!(!place.home().join("config.toml").exists());
}

#[test]
fn the_control_socket_is_for_its_user_alone() {
    let place = Place::new();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(place.home().join("control.sock")), 0o600);
    assert_eq!(mode(place.home()), 0o700);
}

#[test]
fn a_home_has_one_owner() {
    let place = Place::new();
    let (gateway, endpoint) = Running::serve(&mut place.verb(&[]));
    let second = run(&mut place.verb(&["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(second.code, 1, "{second:?}");
    assert!(second.err.contains(&endpoint), "{second:?}");
    assert!(second.err.contains(&gateway.pid().to_string()), "{second:?}");
    assert!(second.err.contains("hint: ") && second.err.contains("--home"), "{second:?}");
    let elsewhere = Place::new();
    let (_other, _) = Running::serve(&mut elsewhere.verb(&[]));
}

#[test]
fn a_killed_owner_leaves_nothing_that_stops_the_next() {
    let place = Place::new();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    drop(gateway);
    assert!(place.home().join("control.sock").exists(), "it had no time to clean up");
    let alone = run(&mut place.verb(&["servers"]));
    assert_eq!(alone.code, 0, "{alone:?}");
    let (_next, _) = Running::serve(&mut place.verb(&[]));
}

#[test]
fn a_taken_port_says_who_holds_it_and_what_to_do() {
    let (one, other) = (Place::new(), Place::new());
    let (gateway, endpoint) = Running::serve(&mut one.verb(&[]));
    let address = endpoint.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
    let said = run(&mut other.verb(&["serve", "--listen", address]));
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    let holder = format!("{address}: the port is used by toolgate (process {})", gateway.pid());
    assert!(said.err.contains(&holder), "{said:?}");
    assert!(said.err.contains("--listen 127.0.0.1:0"), "{said:?}");
}

#[test]
fn only_this_machine_may_come_in() {
    let place = Place::new();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let said = run(&mut place.verb(&["serve", "--listen", listen]));
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains("only loopback addresses are allowed"), "{said:?}");
    }
}

#[test]
fn a_terminated_gateway_takes_its_servers_along() {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    let mark = format!("WITNESS={}", place.work().display());
    let (gateway, _) = Running::serve(&mut place.configured(&[]));
    run(&mut place.configured(&["servers"]));
    assert_eq!(processes_with(&mark), 1);
    gateway.signal(Signal::TERM);
    let (code, err) = gateway.end();
    assert_eq!(code, 0, "{err}");
    assert_eq!(processes_with(&mark), 0);
    assert!(!place.home().join("control.sock").exists());
}

#[test]
fn a_second_signal_does_not_wait_for_calls() {
    let place = Place::with("");
    std::fs::write(place.config(), witness("w", &place.work())).unwrap();
    let mark = format!("WITNESS={}", place.work().display());
    let (gateway, _) = Running::serve(&mut place.configured(&[]));
    let _call = Running::start(&mut place.configured(&["call", "w", "slow"]));
    eventually("the call", || place.work().join("begun").exists());
    gateway.signal(Signal::TERM);
    // Two signals at once may count as one, so they are repeated until nobody is there.
    let connect = || std::os::unix::net::UnixStream::connect(place.home().join("control.sock"));
    eventually("the end", || {
        gateway.signal(Signal::TERM);
        connect().is_err()
    });
    assert_eq!(gateway.end().0, 130);
    eventually("the end of its servers", || processes_with(&mark) == 0);
}

#[test]
fn an_entry_that_leads_back_to_the_gateway_is_left_out() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let back = format!("[servers.me]\nurl = \"http://localhost:{}/mcp\"\n", free.port());
    let place = Place::with(&format!("{back}{}", sample("s")));
    let listen = ["-v", "serve", "--listen", &free.to_string()];
    let gateway = Running::start(&mut place.configured(&listen));
    assert_eq!(gateway.line(), format!("http://{free}/mcp"));
    let servers = run(&mut place.configured(&["servers", "--json"])).json();
    let servers = servers["servers"].as_array().unwrap();
    assert_eq!((servers.len(), &servers[0]["name"]), (1, &"s".into()), "{servers:?}");
    gateway.signal(Signal::TERM);
    let (code, err) = gateway.end();
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("servers.toml:1:"), "{err}");
    assert!(err.contains("\"me\" points at this gateway itself"), "{err}");
}

#[test]
fn a_config_without_anything_usable_is_not_served() {
    let place = Place::with("[servers.s]\ncommand = \"x\nargs = []\n");
    for words in [&["serve", "--listen", "127.0.0.1:0"][..], &["serve", "--stdio"]] {
        let said = run(&mut place.configured(words));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
        assert!(said.err.contains("servers.toml:2:"), "{said:?}");
        assert!(said.err.contains("hint: "), "{said:?}");
    }
    let said = run(&mut place.configured(&["servers"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("servers.toml:2:"), "{said:?}");
    let broken_project = Place::new();
    std::fs::write(broken_project.work().join(".mcp.json"), "{").unwrap();
    let (gateway, _) = Running::serve(&mut broken_project.verb(&[]));
    gateway.signal(Signal::TERM);
    assert!(gateway.end().1.contains(".mcp.json:1:1: error"));
}

//! Files change while the gateway serves: what they say now is taken over, what they do not touch
//! is not touched, and a slip of the pen tears nothing down.

mod load;
mod peace;
mod projects;

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_e2e::gateway::{GatewaySetup, stdio_entry, testkit};
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::{TestClient, within};

const SOON: Duration = Duration::from_secs(30);

/// The config of one moment.
#[derive(Clone, Default)]
struct Config {
    /// The server nobody touches.
    steady: String,
    /// The mark of the one that changes, and its state.
    mark: String,
    version: usize,
    extra: bool,
    comments: usize,
}

impl Config {
    fn text(&self) -> String {
        let fixture = testkit("fixture", &["--stdio"]).unwrap();
        let version = self.version.to_string();
        let env = [(marked_processes::VARIABLE, self.mark.as_str()), ("VERSION", version.as_str())];
        let mut text = "# a line more\n".repeat(self.comments);
        text += &self.steady;
        text += &stdio_entry("moving", &fixture, &env);
        if self.extra {
            let echo = testkit("echo", &["--stdio"]).unwrap();
            text += &stdio_entry("extra", &echo, &[(marked_processes::VARIABLE, &self.mark)]);
        }
        text
    }

    /// What a hasty writer leaves behind.
    fn broken(&self, round: usize) -> String {
        match round % 2 {
            0 => format!("{}\n[servers.more\n", self.text()),
            _ => self.text().replacen(
                "[servers.moving]\ncommand = ",
                "[servers.moving]\ncommand = 7 # ",
                1,
            ),
        }
    }
}

/// Writes the file in one of the ways files are written.
fn write(file: &Path, text: &str, round: usize) {
    let folder = file.parent().unwrap();
    match round % 3 {
        0 => std::fs::write(file, text).unwrap(),
        1 => {
            let beside = folder.join("toolgate.toml.tmp");
            std::fs::write(&beside, text).unwrap();
            std::fs::rename(beside, file).unwrap();
        }
        _ => {
            let target = folder.join(format!("version-{round}.toml"));
            std::fs::write(&target, text).unwrap();
            let link = folder.join("link.tmp");
            std::os::unix::fs::symlink(target, &link).unwrap();
            std::fs::rename(link, file).unwrap();
        }
    }
}

/// How the servers stand, by name.
fn states(setup: &GatewaySetup) -> Vec<(String, String)> {
    let output = setup.run(&["servers", "--json"]).unwrap();
    let overview: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let servers = overview["servers"].as_array().unwrap().iter();
    servers.map(|server| (text(&server["name"]), text(&server["state"]))).collect()
}

fn stand(setup: &GatewaySetup, expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect();
    let holds = within(SOON, || states(setup) == expected);
    assert!(holds, "{:?} are not {expected:?}", states(setup));
}

fn says(process: &TestProcess, text: &str) {
    assert!(within(SOON, || process.stderr().contains(text)), "no {text:?}:\n{}", process.stderr());
}

#[test]
fn a_bad_edit_keeps_the_old_state_and_says_why_until_it_is_put_right() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["moving__test_simple_text"]).unwrap();
    let pids = find_marked(&mark).unwrap();

    for round in 0..2 {
        write(&file, &config.broken(round), round);
        let why = ["unclosed table", "must be a"][round];
        says(&gateway.process, why);
        assert_eq!(find_marked(&mark).unwrap(), pids);
        let answer = client.call("moving__test_simple_text", &json!({})).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
        // Whoever asks is told.
        let doctor = setup.run(&["doctor", "--json"]).unwrap();
        let servers = setup.run(&["servers"]).unwrap();
        let (doctor, servers) =
            (text(&doctor.stderr) + &text(&doctor.stdout), text(&servers.stderr));
        for told in [doctor, servers] {
            assert!(told.contains(why) && told.contains("stays in force"), "{told}");
        }
    }
    write(&file, &Config { extra: true, ..config.clone() }.text(), 2);
    stand(&setup, &[("extra", "connected"), ("moving", "connected")]);
    assert_eq!(text(&setup.run(&["servers"]).unwrap().stderr), "");
    assert!(
        find_marked(&mark).unwrap().iter().any(|pid| pids.contains(pid)),
        "the process is the same"
    );

    // A file that was named must be there: without it everything stays as it was.
    std::fs::remove_file(&file).unwrap();
    says(&gateway.process, "not reloaded");
    stand(&setup, &[("extra", "connected"), ("moving", "connected")]);
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_call_under_way_finishes_on_the_old_process_and_clients_hear_of_changed_lists() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let mut config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["moving__test_slow"]).unwrap();
    let old = find_marked(&mark).unwrap();
    let heard = listen(&client);

    let other = gateway.client().unwrap();
    let (_, events) = other.begin("moving__test_slow", &json!({"seconds": 4}), "t").unwrap();
    config.version += 1;
    config.extra = true;
    write(&file, &config.text(), 1);
    says(&gateway.process, "reloaded: added extra; changed moving");
    let both = within(SOON, || find_marked(&mark).unwrap().len() > old.len());
    assert!(both && old.iter().all(|pid| find_marked(&mark).unwrap().contains(pid)));
    // Whoever comes now is served by the new one, and the old one answers what it was asked.
    let answer = client.call("moving__test_simple_text", &json!({})).unwrap();
    assert!(answer["result"].is_object(), "{answer}");
    let last = events.map(|event| event.unwrap().data).last().unwrap();
    assert!(last.contains("Worked for 4 s"), "{last}");
    let gone = within(SOON, || !find_marked(&mark).unwrap().iter().any(|pid| old.contains(pid)));
    assert!(gone, "the old process ends");
    hears(&heard, "notifications/tools/list_changed");
}

#[test]
fn a_task_under_way_ends_where_it_began() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let mut config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["moving__slow_compute"]).unwrap();
    let old = find_marked(&mark).unwrap();
    let arguments = json!({"seconds": 3, "label": "it"});
    let call = json!({"name": "moving__slow_compute", "arguments": arguments, "task": {}});
    let begun = client.request("tools/call", &call).unwrap();
    let task = json!({"taskId": begun["result"]["task"]["taskId"]});
    assert!(task["taskId"].is_string(), "{begun}");

    config.version += 1;
    write(&file, &config.text(), 1);
    says(&gateway.process, "reloaded: changed moving");
    let stands = client.request("tasks/get", &task).unwrap();
    assert_eq!(stands["result"]["status"], "working", "{stands}");
    assert!(find_marked(&mark).unwrap().iter().any(|pid| old.contains(pid)), "it is waited for");
    let ended = client.request("tasks/result", &task).unwrap();
    assert!(ended["result"]["content"].is_array(), "{ended}");
    // Long before the drain limit.
    let gone =
        within(SOON / 2, || !find_marked(&mark).unwrap().iter().any(|pid| old.contains(pid)));
    assert!(gone, "the old process ends once the outcome is fetched");
}

/// The methods of what a client is told outside any call.
fn listen(client: &TestClient) -> std::sync::mpsc::Receiver<String> {
    let headers: Vec<_> =
        client.headers().into_iter().chain([("Accept", "text/event-stream")]).collect();
    let response = client.endpoint.send("GET", &headers, b"").unwrap();
    assert!(response.streams(), "{}", response.status);
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for event in response.events().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&event.data).unwrap_or_default();
            if let Some(method) = message["method"].as_str() {
                let _ = sender.send(method.to_owned());
            }
        }
    });
    // What there is to say of the start is over before anything is changed.
    while heard.recv_timeout(Duration::from_millis(500)).is_ok() {}
    heard
}

fn hears(heard: &std::sync::mpsc::Receiver<String>, method: &str) {
    let told = std::iter::from_fn(|| heard.recv_timeout(SOON).ok()).find(|told| told == method);
    assert!(told.is_some(), "nobody said {method}");
}

#[test]
fn a_choice_of_tools_takes_effect_without_a_restart() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["moving__test_slow"]).unwrap();
    let (pids, heard) = (find_marked(&mark).unwrap(), listen(&client));
    write(&file, &(config.text() + "include = [\"test_simple_*\"]\n"), 1);
    hears(&heard, "notifications/tools/list_changed");
    says(&gateway.process, "reloaded: changed moving");
    assert_eq!(client.tools().unwrap(), ["moving__test_simple_text"]);
    let hidden = client.call("moving__test_slow", &json!({"seconds": 0})).unwrap();
    let unknown = client.call("moving__test_other", &json!({})).unwrap();
    assert_eq!(hidden["error"]["code"], unknown["error"]["code"], "{hidden}");
    let overview = setup.run(&["servers", "--json"]).unwrap();
    let overview: Value = serde_json::from_slice(&overview.stdout).unwrap();
    assert_eq!(overview["servers"][0]["tools"], 1);
    assert_eq!(find_marked(&mark).unwrap(), pids);
}

#[test]
fn sighup_reads_the_files_again_and_ends_nobody() {
    let echo = testkit("echo", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&stdio_entry("echo", &echo, &[])).unwrap();
    let gateway = setup.serve().unwrap();
    let client = gateway.client_with(&["echo__echo"]).unwrap();
    gateway.process.signal(Signal::HUP).unwrap();
    says(&gateway.process, "reloaded: nothing changed");
    // At once: long before the file would have been noticed.
    let file = setup.folder().join("toolgate.toml");
    std::fs::write(&file, stdio_entry("other", &echo, &[])).unwrap();
    gateway.process.signal(Signal::HUP).unwrap();
    client.await_tools(&["other__echo"], SOON).unwrap();
    says(&gateway.process, "reloaded: added other; removed echo");

    // Beside the owner another one only relays.
    let mut relay = setup.serve_stdio().unwrap();
    relay.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    relay.line(SOON).unwrap();
    relay.signal(Signal::HUP).unwrap();
    relay.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).unwrap();
    assert!(relay.line(SOON).unwrap().contains("\"id\":2"));
}

#[test]
fn sighup_and_edits_reach_a_gateway_on_stdio() {
    let echo = testkit("echo", &["--stdio"]).unwrap();
    let setup = GatewaySetup::new(&stdio_entry("echo", &echo, &[])).unwrap();
    let mut process = setup.serve_stdio().unwrap();
    process.send(&toolgate_e2e::mcp::initialize("2025-11-25", &json!({}))).unwrap();
    process.line(SOON).unwrap();
    process.signal(Signal::HUP).unwrap();
    says(&process, "reloaded: nothing changed");
    let file = setup.folder().join("toolgate.toml");
    write(&file, &stdio_entry("other", &echo, &[]), 1);
    says(&process, "reloaded: added other; removed echo");
    stand(&setup, &[("other", "connected")]);
    process.close_stdin();
    assert!(process.wait(SOON).unwrap().success());
}

/// A server and the rule about it come with one reload, beside so many other servers that taking all
/// of them over takes a while. Whoever calls meanwhile finds no such tool, or its rule.
#[test]
fn a_server_that_comes_with_a_rule_is_never_called_without_it() {
    let new = stdio_entry("aaa", &testkit("echo", &["--stdio"]).unwrap(), &[]);
    let setup = GatewaySetup::new(&new).unwrap();
    let file = setup.folder().join("toolgate.toml");
    // Its tools are known from an earlier run: they can be called as soon as it is there.
    let mut before = setup.serve().unwrap();
    before.client_with(&["aaa__echo"]).unwrap();
    before.process.signal(Signal::TERM).unwrap();
    assert!(before.process.wait(SOON).unwrap().success());

    write(&file, "", 0);
    let gateway = setup.serve().unwrap();
    let others = (0..400)
        .map(|number| format!("[servers.z{number}]\ncommand = \"true\"\nenabled = false\n"));
    let after = format!("{new}{}[policy]\ndeny = [\"mcp:aaa/*\"]\n", others.collect::<String>());
    let url = &gateway.url;
    let calls_until_refused = || {
        let client = TestClient::connect(url).unwrap();
        let mut passed = None;
        let refused = within(SOON, || {
            let answer = client.call("aaa__echo", &json!({"text": "called"})).unwrap();
            let text = answer.to_string();
            if text.contains("called") {
                passed = Some(text.clone());
            }
            text.contains("refused: ")
        });
        assert!(refused, "the rule holds in the end");
        assert_eq!(passed, None, "the call passed without the rule");
    };
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..3).map(|_| scope.spawn(calls_until_refused)).collect();
        write(&file, &after, 1);
        for caller in callers {
            caller.join().unwrap();
        }
    });
}

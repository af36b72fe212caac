//! The benchmark's tools against each other, as the processes the benchmark starts.
//!
//! They do NOT measure anything: they prove that a right answer counts and a wrong one does not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking
#![allow(clippy::disallowed_methods)] // the tools are started as processes, without `launch`

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const ECHO: &str = env!("CARGO_BIN_EXE_echo");
const FLOOR: &str = env!("CARGO_BIN_EXE_floor");
const LOAD: &str = env!("CARGO_BIN_EXE_load");
const HOSTILE: &str = env!("CARGO_BIN_EXE_hostile");

/// A server that ends with its test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut child =
            Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Served { child, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `load` and returns its report and whether it succeeded.
fn load(url: &str, arguments: &[&str]) -> (Value, bool) {
    let output = Command::new(LOAD).args(["--url", url]).args(arguments).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    });
    (report, output.status.success())
}

#[test]
fn every_case_passes_directly_and_through_the_floor() {
    every_case_passes(&[]);
}

#[test]
fn every_case_passes_in_the_modern_form() {
    every_case_passes(&["--modern"]);
}

fn every_case_passes(era: &[&str]) {
    let served = ["--http", "127.0.0.1:0", "--tools", "50"];
    let echo = Served::start(ECHO, &[&served[..], era].concat());
    let floor = Served::start(FLOOR, &["--to", &echo.url]);
    assert!(floor.url.ends_with("/mcp"), "{}", floor.url);
    for url in [&echo.url, &floor.url] {
        for case in ["echo", "blob", "list", "session"] {
            let plan = ["--case", case, "--concurrency", "4", "--calls", "40", "--warmup", "4"];
            let expected = ["--expect-tools", "50"];
            let (report, passed) = load(url, &[&plan[..], &expected, era].concat());
            assert!(passed, "{case} at {url}: {report}");
            assert_eq!((&report["calls"], &report["errors"]), (&40.into(), &0.into()), "{case}");
            assert!(report["p99_us"].as_f64() >= report["p50_us"].as_f64(), "{report}");
        }
    }
}

#[test]
fn a_wrong_answer_counts_as_an_error() {
    let echo = Served::start(ECHO, &["--http", "127.0.0.1:0", "--tools", "5"]);
    let (report, passed) =
        load(&echo.url, &["--case", "list", "--calls", "3", "--expect-tools", "6"]);
    assert!(!passed);
    assert_eq!((&report["calls"], &report["errors"]), (&0.into(), &3.into()), "{report}");
    let (report, _) = load(&echo.url, &["--calls", "2", "--tool-name", "no_such_tool"]);
    assert_eq!(report["errors"], 2, "{report}");

    let liar = Served::start(HOSTILE, &["wrongid", "--http", "127.0.0.1:0"]);
    let (report, _) = load(&liar.url, &["--calls", "2", "--tool-name", "trigger"]);
    assert_eq!(report["errors"], 2, "{report}");
    assert!(report["first_error"].as_str().unwrap().contains("answered with id"), "{report}");
}

#[test]
fn the_two_forms_do_not_understand_each_other() {
    for (served, asked) in [(&["--modern"][..], &[][..]), (&[], &["--modern"])] {
        let echo = Served::start(ECHO, &[&["--http", "127.0.0.1:0"], served].concat());
        let (report, passed) = load(&echo.url, &[&["--calls", "1"], asked].concat());
        assert!(!passed, "{report}");
    }
}

#[test]
fn a_stream_counts_unless_it_carries_strange_answers() {
    let changing = ["listchanged", "--count", "3", "--at", "list", "--http", "127.0.0.1:0"];
    let changing = Served::start(HOSTILE, &changing);
    let list = ["--case", "list", "--calls", "5", "--expect-tools", "2"];
    let (report, passed) = load(&changing.url, &list);
    assert!(passed, "{report}");

    let straying = Served::start(HOSTILE, &["unsolicited", "--http", "127.0.0.1:0"]);
    let (report, _) = load(&straying.url, &["--calls", "1", "--tool-name", "trigger"]);
    assert_eq!(report["errors"], 1, "{report}");
}

#[test]
fn pages_are_followed_when_asked() {
    let paged = Served::start(HOSTILE, &["emptycursor", "--http", "127.0.0.1:0"]);
    let list = ["--case", "list", "--calls", "2", "--expect-tools"];
    assert!(load(&paged.url, &[&list[..], &["2"]].concat()).1);
    assert!(load(&paged.url, &[&list[..], &["3", "--paginate"]].concat()).1);
}

#[test]
fn a_dead_endpoint_is_an_error_and_not_a_hang() {
    let gone = Served::start(ECHO, &["--http", "127.0.0.1:0"]).url.clone();
    let (report, passed) = load(&gone, &["--calls", "3"]);
    assert!(!passed);
    assert_eq!(report["errors"], 3, "{report}");
}

#[test]
fn a_waiting_run_measures_only_after_its_signal() {
    let echo = Served::start(ECHO, &["--http", "127.0.0.1:0"]);
    let mut run = Command::new(LOAD)
        .args(["--url", &echo.url, "--calls", "5", "--warmup", "5", "--wait"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(run.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    run.stdin.take().unwrap().write_all(b"\n").unwrap();
    let mut report = String::new();
    out.read_to_string(&mut report).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["calls"], &report["errors"]), (&5.into(), &0.into()));
    assert!(run.wait().unwrap().success());
}

#[test]
fn echo_answers_on_stdio_and_ends_with_its_input() {
    let mut echo = Command::new(ECHO)
        .args(["--stdio", "--tools", "4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = concat!(
        r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\r\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"blob","arguments":{"bytes":3}}}"#,
        "\n",
    );
    echo.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    let output = echo.wait_with_output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
    assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 4);
    assert_eq!(answers[2]["result"]["content"][0]["text"], "abc");
}

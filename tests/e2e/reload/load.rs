//! A hundred edits while calls run, over HTTP and over stdio.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_e2e::file_open_watcher::FileOpenWatcher;
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::mcp::initialize;
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::within;

use super::{Config, SOON, stand, write};
use crate::recorded;

const EDITS: usize = 100;

/// Clients that go on calling one tool until they are told to stop; none of their calls may fail.
struct Load {
    stop: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
    callers: Vec<JoinHandle<()>>,
}

impl Load {
    fn new(gateway: &TestGateway, callers: usize, tool: &'static str, arguments: &Value) -> Self {
        let (stop, calls) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let callers = (0..callers).map(|_| {
            let client = gateway.client().unwrap();
            let (stop, calls, arguments) = (stop.clone(), calls.clone(), arguments.clone());
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let answer = client.call(tool, &arguments).unwrap();
                    let well = answer["result"].is_object() && answer["result"]["isError"] != true;
                    assert!(well, "{tool}: {answer}");
                    calls.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(5));
                }
            })
        });
        let callers = callers.collect();
        Self { stop, calls, callers }
    }

    /// One more client, on stdin and stdout of a process of its own.
    fn join(&mut self, mut client: TestProcess, tool: &'static str) {
        let (stop, calls) = (self.stop.clone(), self.calls.clone());
        client.send(&initialize("2025-11-25", &json!({}))).unwrap();
        client.line(SOON).unwrap();
        self.callers.push(std::thread::spawn(move || {
            for id in 1_u64.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let params = json!({"name": tool, "arguments": {}});
                let call =
                    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
                client.send(&call.to_string()).unwrap();
                let answer = answer(&client, id);
                assert!(answer["result"].is_object(), "{tool}: {answer}");
                calls.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(5));
            }
        }));
    }

    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.callers.into_iter().for_each(|caller| caller.join().unwrap());
        self.calls.load(Ordering::Relaxed)
    }
}

/// The answer to a call, past what is told beside it.
fn answer(client: &TestProcess, id: u64) -> Value {
    loop {
        let message: Value = serde_json::from_str(&client.line(SOON).unwrap()).unwrap();
        if message["id"] == id {
            return message;
        }
    }
}

fn descriptors(process: &TestProcess) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", process.pid())).unwrap().count()
}

#[test]
fn a_hundred_edits_under_load_touch_only_what_they_change() {
    let (still, moving) = (marked_processes::new_mark(), marked_processes::new_mark() + "-moving");
    let (_still, _moving) = (MarkedProcessGuard(still.clone()), MarkedProcessGuard(moving.clone()));
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let recording = setup.folder().join("recording");
    let recorder = recorded::around(testkit("fixture", &["--stdio"]).unwrap(), &recording);
    let steady = stdio_entry("still", &recorder, &[(marked_processes::VARIABLE, &still)]);
    let mut config = Config { steady, mark: moving.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();

    let gateway = setup.serve().unwrap();
    let tools = ["still__test_simple_text", "moving__test_slow"];
    let client = gateway.client_with(&tools).unwrap();
    let pids = find_marked(&still).unwrap();
    let (began, alone) = (find_marked(&moving).unwrap(), descriptors(&gateway.process));
    let mut steadily = Load::new(&gateway, 3, tools[0], &json!({}));
    steadily.join(setup.serve_stdio().unwrap(), tools[0]);
    let slowly = Load::new(&gateway, 3, tools[1], &json!({"seconds": 0.4}));
    let mut resident = 0;
    let readers = FileOpenWatcher::of(setup.folder(), ".toml").unwrap();
    let reloads = || gateway.process.stderr().matches("reloaded: ").count();

    for round in 0..EDITS {
        match round % 5 {
            0 | 2 => config.version += 1,
            1 => config.extra = !config.extra,
            3 => config.comments += 1,
            _ => {}
        }
        let text = if round % 5 == 4 { config.broken(round / 5) } else { config.text() };
        // Every edit counts for itself. One that only adds a comment is read, and nothing is told.
        let before = reloads();
        write(&file, &text, round);
        match round % 5 {
            3 => readers.wait_for_open(SOON).unwrap(),
            _ => assert!(within(SOON, || reloads() > before), "{round}: nothing is told"),
        }
        if round == EDITS / 5 {
            resident = gateway.process.resident().unwrap();
        }
    }
    config.version += 1;
    config.extra = true;
    write(&file, &config.text(), 1);

    stand(&setup, &[("extra", "connected"), ("moving", "connected"), ("still", "connected")]);
    let (steady_calls, slow_calls) = (steadily.end(), slowly.end());
    println!("{steady_calls} and {slow_calls} calls");
    assert!(steady_calls > EDITS && slow_calls > EDITS / 5);
    // The server nobody touched is the same, and did what it was asked, once.
    assert_eq!(find_marked(&still).unwrap(), pids);
    let said = recorded::said_to_servers(&recording);
    let calls = said.iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, steady_calls);
    let starts = said.iter().filter(|message| message["method"] == "initialize").count();
    assert_eq!(starts, 1);

    // The others are what the file says, and nothing is left of what they were.
    let version = format!("VERSION={}\0", config.version);
    let lives = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&version)
    };
    let one_each = || {
        let now = find_marked(&moving).unwrap();
        now.iter().any(lives) && now.len() == began.len() * 2
    };
    assert!(within(SOON, one_each), "{:?} of {began:?}", find_marked(&moving).unwrap());
    client.await_tools(&["extra__echo", "moving__test_slow"], SOON).unwrap();
    // Three pipes and a little more belong to the server that was added.
    let flat = within(SOON, || descriptors(&gateway.process) <= alone + 16);
    assert!(flat, "{alone} descriptors became {}", descriptors(&gateway.process));
    let grown = gateway.process.resident().unwrap().saturating_sub(resident);
    assert!(grown < 16 << 20, "{grown} bytes more");
    let told = gateway.process.stderr();
    for line in ["reloaded: changed moving", "reloaded: added extra", "reloaded: removed extra"] {
        assert!(told.contains(line), "{line}:\n{told}");
    }
    assert!(told.contains("1 error") && told.contains("stays in force"), "{told}");
}

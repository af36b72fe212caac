//! What watching files costs: nothing while nothing happens, and little when much does.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;
use toolgate_e2e::file_open_watcher::FileOpenWatcher;
use toolgate_e2e::gateway::{GatewaySetup, TestGateway};
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::process::TestProcess;
use toolgate_e2e::within;

use super::projects::Project;
use super::{Config, SOON, says, write};

/// The CPU time a process has used.
fn used(process: &TestProcess) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = [11, 12].into_iter().map(|at| fields[at].parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// The CPU time a process uses in so much time.
fn used_in(process: &TestProcess, time: Duration) -> Duration {
    let before = used(process);
    std::thread::sleep(time);
    used(process) - before
}

/// Asked to read the files again, which it does when it is done with what it noticed by itself, a
/// gateway says that nothing changed, and has said nothing else since.
fn tells_nothing_more(gateway: &TestProcess, said: &str) {
    gateway.signal(Signal::HUP).unwrap();
    let all = format!("{said}reloaded: nothing changed\n");
    within(SOON, || gateway.stderr().len() >= all.len());
    assert_eq!(gateway.stderr(), all, "nothing else is told");
}

#[test]
fn a_home_in_the_project_stirs_nothing_and_a_storm_costs_little() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    // Its state lies in the folder that is watched.
    let project = Project { folder: TempDir::new().unwrap() };
    project.write("ONE", &mark);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let gateway = TestGateway::start(&mut project.command(&serve)).unwrap();
    project.consent();
    let client = gateway.client_with(&["it__test_simple_text"]).unwrap();
    client.call("it__test_simple_text", &json!({})).unwrap();
    // What was begun is over once a second costs nothing.
    let rests = || used_in(&gateway.process, Duration::from_secs(1)) == Duration::ZERO;
    assert!(within(SOON, rests), "it never comes to rest");
    let said = gateway.process.stderr();
    let idle = used_in(&gateway.process, Duration::from_secs(4));
    assert!(idle <= Duration::from_millis(20), "{idle:?} for nothing");

    // A thousand times in a second: what the file says is the same, and beside it much happens.
    let (text, before) = (std::fs::read(project.file()).unwrap(), used(&gateway.process));
    let readers = FileOpenWatcher::of(project.folder.path(), ".mcp.json").unwrap();
    for round in 0..1000 {
        std::fs::write(project.file(), &text).unwrap();
        std::fs::write(project.folder.path().join(format!("beside-{}", round % 10)), "x").unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    readers.wait_for_open(SOON).unwrap();
    tells_nothing_more(&gateway.process, &said);
    let stormy = used(&gateway.process) - before;
    assert!(stormy <= Duration::from_millis(1000), "{stormy:?} for the same text");
    client.call("it__test_simple_text", &json!({})).unwrap();
}

/// Most programs empty a file before they write it. Here one does it slowly, and for longer than a
/// change is waited for.
#[test]
fn a_file_that_is_emptied_and_written_takes_nothing_away_until_it_stays_empty() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let text = Config { mark: mark.clone(), ..Config::default() }.text();
    std::fs::write(&file, &text).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["moving__test_slow"]).unwrap();
    let (pids, said) = (find_marked(&mark).unwrap(), gateway.process.stderr());
    let readers = FileOpenWatcher::of(setup.folder(), "toolgate.toml").unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(6) {
        for part in ["", &text[..text.len() / 2], &text] {
            std::fs::write(&file, part).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    readers.wait_for_open(SOON).unwrap();
    tells_nothing_more(&gateway.process, &said);
    assert_eq!(find_marked(&mark).unwrap(), pids);
    std::fs::write(&file, "").unwrap();
    // Where nothing else is left, the local context is offered.
    says(&gateway.process, "reloaded: added context; removed moving");
    assert!(
        within(SOON, || find_marked(&mark).unwrap().is_empty()),
        "{:?}",
        find_marked(&mark).unwrap()
    );
}

#[test]
fn what_is_written_back_before_anybody_looked_touches_nothing() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let gateway = setup.serve().unwrap();
    gateway.client_with(&["moving__test_slow"]).unwrap();
    let (pids, said) = (find_marked(&mark).unwrap(), gateway.process.stderr());
    let other = Config { version: 7, extra: true, ..config.clone() };
    let readers = FileOpenWatcher::of(setup.folder(), ".toml").unwrap();
    // Who is stopped looks at nothing.
    gateway.process.signal(Signal::STOP).unwrap();
    for (round, now) in [&other, &config, &other, &config].into_iter().enumerate() {
        write(&file, &now.text(), round);
    }
    gateway.process.signal(Signal::CONT).unwrap();
    readers.wait_for_open(SOON).unwrap();
    tells_nothing_more(&gateway.process, &said);
    assert_eq!(find_marked(&mark).unwrap(), pids);
}

#[test]
fn an_end_while_replaced_servers_drain_leaves_no_process() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let setup = GatewaySetup::new("").unwrap();
    let file = setup.folder().join("toolgate.toml");
    let mut config = Config { mark: mark.clone(), ..Config::default() };
    std::fs::write(&file, config.text()).unwrap();
    let mut gateway = setup.serve().unwrap();
    gateway.client_with(&["moving__test_slow"]).unwrap();
    // Three edits, a call under way on each of the servers they replace.
    let calls: Vec<_> = (1..=3)
        .map(|round| {
            let client = gateway.client_with(&["moving__test_slow"]).unwrap();
            let mut call = client.begin("moving__test_slow", &json!({"seconds": 5}), "t").unwrap();
            // A word of progress: it is with its server.
            let progress = call.1.find(|it| it.as_ref().unwrap().data.contains("progress"));
            assert!(progress.is_some(), "the call ended without a word");
            config.version += 1;
            write(&file, &config.text(), 1);
            let changed = "reloaded: changed moving";
            let told = || gateway.process.stderr().matches(changed).count() >= round;
            assert!(within(SOON, told), "{}", gateway.process.stderr());
            (client, call)
        })
        .collect();
    gateway.process.signal(Signal::TERM).unwrap();
    says(&gateway.process, "ending: calls in flight may finish");
    for (_client, (_, events)) in calls {
        let last = events.map(|event| event.unwrap().data).last().unwrap();
        assert!(last.contains("Worked for 5 s"), "{last}");
    }
    assert!(gateway.process.wait(SOON).unwrap().success());
    assert!(
        within(SOON, || find_marked(&mark).unwrap().is_empty()),
        "{:?}",
        find_marked(&mark).unwrap()
    );
}

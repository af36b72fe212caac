//! No process outlives the gateway, however either of them ends.
//!
//! Servers are found by a mark in their environment (`census`), which a daemonized grandchild keeps
//! when it leaves everything else behind.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, geteuid};
use toolgate_e2e::gateway::{GatewaySetup, TestGateway, stdio_entry, testkit};
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::{binaries, within};

const SERVERS: usize = 20;

/// How the twenty servers behave, in turn.
const KINDS: [(&str, &[&str]); 5] = [
    ("hostile", &["daemonize"]),
    ("hostile", &["ignoreterm"]),
    ("fixture", &["--stdio"]),
    ("hostile", &["stderrflood"]),
    ("hostile", &["hanginit"]),
];

/// Every fifth server leaves a grandchild of its own.
const PROCESSES: usize = SERVERS + SERVERS / KINDS.len();

fn config(mark: &str, folder: &Path) -> String {
    let entries = (0..SERVERS).map(|number| {
        let (program, arguments) = KINDS[number % KINDS.len()];
        let mut words = testkit(program, arguments).unwrap();
        words[0] = folder.join(program).display().to_string();
        // The same command twice would be one server under two names.
        let own = number.to_string();
        stdio_entry(
            &format!("s{number}"),
            &words,
            &[(marked_processes::VARIABLE, mark), ("NUMBER", &own)],
        )
    });
    entries.collect()
}

/// Starts a gateway with the twenty servers and waits until all their processes live.
fn with_twenty_servers(
    mark: &str,
    start: impl Fn(&GatewaySetup) -> TestGateway,
    folder: &Path,
) -> TestGateway {
    let setup = GatewaySetup::new(&config(mark, folder)).unwrap();
    let gateway = start(&setup);
    let all = within(Duration::from_secs(60), || find_marked(mark).unwrap().len() >= PROCESSES);
    assert!(all, "{} of {PROCESSES} processes live", find_marked(mark).unwrap().len());
    gateway
}

fn leaves_nothing(mark: &str) {
    let gone = within(Duration::from_secs(5), || find_marked(mark).unwrap().is_empty());
    assert!(gone, "left behind: {:?}", described(mark));
}

fn described(mark: &str) -> Vec<String> {
    let command_line = |pid| std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = |pid| String::from_utf8_lossy(&command_line(pid)).replace('\0', " ");
    find_marked(mark).unwrap().into_iter().map(|pid| format!("{pid}: {}", line(pid))).collect()
}

#[test]
fn a_killed_gateway_takes_every_process_with_it() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let here = binaries::folder().unwrap();
    let mut gateway = with_twenty_servers(&mark, |setup| setup.serve().unwrap(), &here);
    gateway.process.signal(Signal::KILL).unwrap();
    gateway.process.wait(Duration::from_secs(5)).unwrap();
    leaves_nothing(&mark);
}

#[test]
fn a_killed_gateway_of_an_ordinary_user_takes_every_process_with_it() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    // A checkout may lie where only its owner can look.
    let shared = shared_programs();
    let mut gateway = with_twenty_servers(&mark, |s| as_nobody(s, shared.path()), shared.path());
    gateway.process.signal(Signal::KILL).unwrap();
    gateway.process.wait(Duration::from_secs(5)).unwrap();
    leaves_nothing(&mark);
}

#[test]
fn a_terminated_gateway_takes_every_process_with_it_and_says_so() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let here = binaries::folder().unwrap();
    let mut gateway = with_twenty_servers(&mark, |setup| setup.serve().unwrap(), &here);
    gateway.process.signal(Signal::TERM).unwrap();
    let status = gateway.process.wait(Duration::from_secs(15)).unwrap();
    assert!(status.success(), "{status}: {}", gateway.process.stderr());
    leaves_nothing(&mark);
}

/// The programs, where everybody can run them.
fn shared_programs() -> tempfile::TempDir {
    let folder = tempfile::TempDir::new().unwrap();
    open_to_all(folder.path());
    for program in ["toolgate", "fixture", "hostile"] {
        std::fs::copy(binaries::find(program).unwrap(), folder.path().join(program)).unwrap();
    }
    folder
}

/// Starts `serve` as the user nobody; whoever is not root is an ordinary user already.
fn as_nobody(setup: &GatewaySetup, programs: &Path) -> TestGateway {
    open_to_all(setup.folder());
    open_to_all(&setup.home());
    let mut words = setup.words(&["serve", "--listen", "127.0.0.1:0"]);
    words[0] = programs.join("toolgate").display().to_string();
    if geteuid().is_root() {
        let drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        words.splice(0..0, drop.map(str::to_owned));
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(setup.folder()).env("HOME", setup.home());
    TestGateway::start(&mut command).unwrap()
}

fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}

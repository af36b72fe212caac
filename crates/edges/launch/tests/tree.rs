//! A server's process tree ends with it, with its handle, and with us, daemons included.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "the gateway to be killed is a process of its own")]

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::{
    ALL, GUARDED, OrdinaryUser, PROBE, gone, launcher, line, marked, marker, shell, stat_field,
};
use toolgate_launch::{ChildProcess, SHUTDOWN_GRACE, TreeGuarantee};

/// Leaves its group and session and is orphaned, as daemons do; says `up` when that is done.
const DAEMONISES: &str = "setsid sh -c '(sleep 300 </dev/null >/dev/null 2>&1 &)'; echo up; cat";
/// Like `npx`: the server is a grandchild.
const CHAIN: &str = "sh -c 'sh -c \"echo up; cat; sleep 300\"; true'; true";
/// Nothing but SIGKILL ends it.
const IGNORES_TERM: &str = "trap '' TERM; echo up; while :; do sleep 300; done";
/// Ends by itself when its input does.
const POLITE: &str = "echo up; cat";

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_daemon_dies_on_shutdown() {
    for guarantee in GUARDED {
        let marker = marker("daemon");
        let mut child = launcher(guarantee).start(&shell(&marker, DAEMONISES)).await.unwrap();
        assert_eq!(line(&mut child).await, "up");
        assert!(marked(&marker).len() >= 4, "guard, sh, cat and the daemon");
        let ChildProcess { stdin, stdout, handle } = child;
        drop((stdin, stdout));
        handle.shutdown(SHUTDOWN_GRACE).await;
        // No waiting: the end that was reported is the end of the whole tree.
        assert_eq!(marked(&marker), [0_u32; 0], "{guarantee:?}");
    }
}

#[tokio::test]
async fn the_end_of_stdin_alone_lets_a_server_clean_up() {
    for guarantee in ALL {
        let script = "trap 'echo terminated >&2' TERM; cat; echo clean >&2; exit 7";
        let child = launcher(guarantee).start(&shell("polite", script)).await.unwrap();
        let ChildProcess { stdin, stdout, handle } = child;
        drop((stdin, stdout));
        assert_eq!(handle.shutdown(SHUTDOWN_GRACE).await.code(), Some(7));
        assert_eq!(handle.stderr().tail(), "clean\n");
    }
}

#[tokio::test]
async fn the_whole_tree_gets_sigterm() {
    for guarantee in ALL {
        // `sleep` ends only if the signal reaches it too, and the traps run only after it has.
        let script = "trap 'wait; echo outer >&2; exit 3' TERM; \
                      sh -c 'trap \"echo inner >&2; exit\" TERM; echo up; sleep 300' & wait";
        let mut child = launcher(guarantee).start(&shell("term", script)).await.unwrap();
        assert_eq!(line(&mut child).await, "up");
        assert_eq!(child.handle.shutdown(SHUTDOWN_GRACE).await.code(), Some(3), "{guarantee:?}");
        assert!(child.handle.stderr().tail().ends_with("inner\nouter\n"), "{guarantee:?}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_sigterm_is_killed_after_the_grace() {
    for guarantee in ALL {
        let marker = marker("ignore");
        let mut child = launcher(guarantee).start(&shell(&marker, IGNORES_TERM)).await.unwrap();
        assert_eq!(line(&mut child).await, "up");
        let (start, grace) = (Instant::now(), Duration::from_secs(1));
        let status = child.handle.shutdown(grace).await;
        assert_eq!(status.signal(), Some(9));
        assert!(start.elapsed() >= grace && start.elapsed() < grace + SOON, "{guarantee:?}");
        assert!(gone(&marker, SOON).await);
    }
}

#[tokio::test]
async fn dropping_the_handle_kills_the_tree() {
    for guarantee in GUARDED {
        let marker = marker("drop");
        for script in [DAEMONISES, CHAIN, IGNORES_TERM] {
            let mut child = launcher(guarantee).start(&shell(&marker, script)).await.unwrap();
            assert_eq!(line(&mut child).await, "up");
        }
        assert!(gone(&marker, SOON).await, "{guarantee:?}: {:?}", marked(&marker));
    }
}

#[test]
fn the_end_of_the_runtime_kills_the_tree() {
    let marker = marker("runtime");
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for guarantee in GUARDED {
        let first = runtime();
        let mut child =
            first.block_on(launcher(guarantee).start(&shell(&marker, DAEMONISES))).unwrap();
        first.block_on(line(&mut child));
        drop(first);
        assert!(runtime().block_on(gone(&marker, SOON)), "{guarantee:?}");
        assert_eq!(runtime().block_on(child.handle.wait()).signal(), Some(9));
    }
}

#[tokio::test]
async fn what_a_server_leaves_behind_ends_when_it_ends() {
    for guarantee in GUARDED {
        let marker = marker("leaves");
        let script = "setsid sh -c '(sleep 300 </dev/null >/dev/null 2>&1 &)'; exit 5";
        let child = launcher(guarantee).start(&shell(&marker, script)).await.unwrap();
        assert_eq!(child.handle.wait().await.code(), Some(5));
        assert_eq!(marked(&marker), [0_u32; 0], "{guarantee:?}");
    }
}

#[tokio::test]
async fn every_waiter_learns_how_a_killed_server_ended() {
    for guarantee in ALL {
        let child = launcher(guarantee).start(&shell("waited", POLITE)).await.unwrap();
        let pid = Pid::from_raw(child.handle.pid().cast_signed()).unwrap();
        let waiting = async {
            tokio::join!(child.handle.wait(), child.handle.wait(), async {
                kill_process(pid, Signal::SEGV).unwrap();
            })
        };
        let (first, second, ()) = waiting.await;
        assert_eq!((first.signal(), second.signal()), (Some(11), Some(11)), "{guarantee:?}");
        assert_eq!(child.handle.exit_status(), Some(first));
    }
}

#[tokio::test]
async fn orphans_are_reaped_while_the_server_runs() {
    for guarantee in GUARDED {
        let script = "for n in 1 2 3 4 5 6 7 8; do sh -c '(exit 0 &)'; done; echo up; cat";
        let mut child = launcher(guarantee).start(&shell("orphans", script)).await.unwrap();
        assert_eq!(line(&mut child).await, "up");
        let pid = child.handle.pid();
        let reaper = stat_field(pid, 1);
        let only_the_server = || children_of(&reaper) == [pid];
        let start = Instant::now();
        while !only_the_server() && start.elapsed() < SOON {
            tokio::task::yield_now().await;
        }
        assert_eq!(children_of(&reaper), [pid], "{guarantee:?}");
    }
}

#[tokio::test]
async fn the_end_of_the_guard_is_the_end_of_a_namespace() {
    let marker = marker("guard");
    let mut child =
        launcher(TreeGuarantee::Namespace).start(&shell(&marker, DAEMONISES)).await.unwrap();
    assert_eq!(line(&mut child).await, "up");
    let reaper = stat_field(child.handle.pid(), 1);
    let guard = stat_field(reaper.parse().unwrap(), 1).parse().unwrap();
    kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
    assert!(gone(&marker, SOON).await, "{:?}", marked(&marker));
    assert_eq!(child.handle.wait().await.signal(), Some(9));
}

#[tokio::test]
async fn what_happens_in_a_namespace_is_not_seen_outside() {
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let mut child =
        launcher(TreeGuarantee::Namespace).start(&shell("mounts", POLITE)).await.unwrap();
    assert_eq!(line(&mut child).await, "up");
    assert_eq!(mounts(), before);
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_any_more_leaves_nothing() {
    for guarantee in GUARDED {
        let (launcher, marker) = (launcher(guarantee), marker("cancelled"));
        for _ in 0..10 {
            let command = shell(&marker, DAEMONISES);
            tokio::select! {
                biased;
                _started = launcher.start(&command) => panic!("it cannot have started yet"),
                () = tokio::task::yield_now() => {}
            }
        }
        assert!(gone(&marker, SOON).await, "{guarantee:?}: {:?}", marked(&marker));
    }
}

#[tokio::test]
async fn a_killed_gateway_leaves_nothing_as_root_or_as_whoever_runs_this() {
    for guarantee in GUARDED {
        killed_gateway_leaves_nothing(std::process::Command::new(PROBE), guarantee).await;
    }
}

#[tokio::test]
async fn a_killed_gateway_leaves_nothing_as_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        // The test above has just done it: this user is an ordinary one.
        return;
    }
    let ordinary = OrdinaryUser::new();
    for guarantee in GUARDED {
        killed_gateway_leaves_nothing(ordinary.probe(), guarantee).await;
    }
}

/// Twenty servers of every kind; SIGKILL; five seconds later there must be nothing.
async fn killed_gateway_leaves_nothing(
    mut gateway: std::process::Command,
    guarantee: TreeGuarantee,
) {
    let marker = marker("killed-gateway");
    let kinds = [DAEMONISES, CHAIN, IGNORES_TERM, POLITE];
    let mut gateway = gateway
        .args(["gateway", guarantee.name(), &marker])
        .args(kinds.into_iter().cycle().take(20))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(gateway.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    let before = marked(&marker).len();
    assert!(before >= 20 * 3, "a guard, a reaper and a server each: {before}");

    gateway.kill().unwrap();
    gateway.wait().unwrap();
    assert!(gone(&marker, SOON).await, "{guarantee:?}: {} of {before}", marked(&marker).len());
}

/// Finds its guard, which works without a namespace, stops or kills it, and becomes another program.
fn attack(signal: &str) -> String {
    format!("guard=$(cut -d' ' -f4 /proc/$PPID/stat); kill -{signal} $guard; exec sleep 300")
}

#[tokio::test]
async fn a_server_that_stops_or_kills_its_guard_ends_with_a_killed_gateway() {
    for signal in ["STOP", "KILL"] {
        let marker = marker(&format!("attacked-{signal}"));
        let script = format!("echo up; read go; {}", attack(signal));
        let mut gateway = std::process::Command::new(PROBE)
            .args(["gateway", TreeGuarantee::Subreaper.name(), &marker, &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(gateway.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n");
        let attacked =
            || signal == "KILL" || marked(&marker).into_iter().any(|pid| stat_field(pid, 0) == "T");
        let start = Instant::now();
        while !attacked() {
            assert!(start.elapsed() < SOON, "the guard is not stopped");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        gateway.kill().unwrap();
        gateway.wait().unwrap();
        assert!(gone(&marker, SOON).await, "{signal}: {:?} are left", marked(&marker));
    }
}

/// The guard may be stopped before it reports that the server has started.
#[tokio::test]
async fn a_server_that_stops_its_guard_at_once_does_not_hang_the_start() {
    let marker = marker("stopped-at-once");
    let spec = shell(&marker, &attack("STOP"));
    let start = launcher(TreeGuarantee::Subreaper);
    for _ in 0..20 {
        let started = tokio::time::timeout(Duration::from_secs(30), start.start(&spec)).await;
        drop(started.expect("an answer in time"));
    }
    assert!(gone(&marker, SOON).await, "{:?} are left", marked(&marker));
}

fn children_of(pid: &str) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    list.split_ascii_whitespace().map(|child| child.parse().unwrap()).collect()
}

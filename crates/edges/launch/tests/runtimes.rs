//! The interpreters that servers are written in work in a tree of ours as they do elsewhere.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use support::{GUARDED, OrdinaryUser, launcher, output};
use toolgate_launch::LaunchSpec;

async fn prints_works(command: LaunchSpec) {
    for guarantee in GUARDED {
        let mut child = launcher(guarantee).start(&command).await.unwrap();
        let printed = output(&mut child).await;
        child.handle.wait().await;
        assert_eq!(printed.trim(), "works", "{guarantee:?}: {}", child.handle.stderr().tail());
    }
}

const NODE: &str = "
    const { readlinkSync, readFileSync } = require('fs');
    const { execFileSync } = require('child_process');
    if (readlinkSync('/proc/self') !== String(process.pid)) throw new Error('/proc/self');
    readFileSync('/proc/' + process.pid + '/status');
    process.stdout.write(execFileSync('echo', ['works']));";

const PYTHON: &str = "
import multiprocessing, os, subprocess
assert os.readlink('/proc/self') == str(os.getpid())
open(f'/proc/{os.getpid()}/status').read()
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
print(subprocess.check_output(['echo', 'works'], text=True))";

#[tokio::test]
async fn node_finds_itself_in_proc_and_starts_programs() {
    prints_works(LaunchSpec::new("node").args(["-e", NODE])).await;
}

#[tokio::test]
async fn python_finds_itself_in_proc_and_starts_programs() {
    prints_works(LaunchSpec::new("python3").args(["-c", PYTHON])).await;
}

#[tokio::test]
async fn npx_starts_its_chain() {
    prints_works(LaunchSpec::new("npx").args(["-c", "node -e 'console.log(\"works\")'"])).await;
}

#[test]
fn interpreters_work_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        // The tests above have just done it: this user is an ordinary one.
        return;
    }
    let ordinary = OrdinaryUser::new();
    let quoted = |script: &str| script.replace('\'', "'\\''");
    let node = format!("node -e '{}' >&2 && echo up && cat", quoted(NODE));
    let python = format!("python3 -c '{}' >&2 && echo up && cat", quoted(PYTHON));
    for guarantee in GUARDED {
        let gateway = ordinary
            .probe()
            .args(["gateway", guarantee.name(), "ordinary", &node, &python])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&gateway.stderr);
        assert_eq!(String::from_utf8_lossy(&gateway.stdout), "ready\n", "{guarantee:?}: {said}");
    }
}

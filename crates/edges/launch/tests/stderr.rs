//! Stderr is always drained, and costs a bounded amount of memory.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use support::{ALL, launcher, output, shell};

#[tokio::test]
async fn a_flood_neither_blocks_the_server_nor_costs_memory() {
    const FLOOD: u64 = 32 * 1024 * 1024;
    for guarantee in ALL {
        let before = resident();
        let script = format!("head -c {FLOOD} /dev/zero >&2; echo done; echo last words >&2");
        let mut child = launcher(guarantee).start(&shell("flood", &script)).await.unwrap();
        assert_eq!(output(&mut child).await, "done\n");
        child.handle.wait().await;
        let ring = child.handle.stderr();
        assert!(ring.tail().len() <= 64 * 1024);
        assert!(ring.tail().ends_with("last words\n"));
        let grown = resident().saturating_sub(before);
        assert!(grown < 8 * 1024, "{grown} KiB more than before the flood");
    }
}

#[tokio::test]
async fn the_last_words_of_a_failing_server_are_complete_when_its_end_is_known() {
    for guarantee in ALL {
        let script = "echo one >&2; printf 'two, unfinished' >&2; exit 1";
        let child = launcher(guarantee).start(&shell("words", script)).await.unwrap();
        assert_eq!(child.handle.wait().await.code(), Some(1));
        assert_eq!(child.handle.stderr().tail(), "one\ntwo, unfinished");
    }
}

/// Resident memory of this process in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

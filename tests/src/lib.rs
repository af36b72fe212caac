//! What the end-to-end tests stand on: the real `toolgate` binary with a home of its own, a raw
//! HTTP client that can also misbehave, and the released peers.
//!
//! It uses nothing of the product's crates: what a test sees is what a stranger's program sees.
//! Everything here blocks; a test that waits for something waits for the event itself.

#![expect(
    clippy::disallowed_methods,
    reason = "tests start the programs they test; the product's rule is for the product"
)]

pub mod agents;
pub mod binaries;
pub mod bm25;
pub mod corpus;
pub mod file_open_watcher;
pub mod gateway;
pub mod http;
pub mod labelled_requests;
pub mod marked_processes;
pub mod mcp;
pub mod peers;
pub mod process;
pub mod readmes;
pub mod stateless_client;

pub use gateway::{GatewaySetup, TestGateway};
pub use mcp::TestClient;
pub use stateless_client::StatelessTestClient;

use std::io;
use std::time::{Duration, Instant};

/// How often a counted test repeats: a tenth in `cargo xtask test`, the whole in `cargo xtask soak`.
pub fn count(whole: usize) -> usize {
    counts(whole.div_ceil(10), whole)
}

/// The same where a tenth is too many: so often in `cargo xtask test`, and so often in the soak.
pub fn counts(usual: usize, soak: usize) -> usize {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { soak } else { usual }
}

/// Waits until `holds`, looking every few milliseconds; says whether it came to hold in time.
///
/// For states of the machine (a process gone, a socket closed) that announce themselves to nobody.
pub fn within(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An error with a reason a person can read.
fn broken(reason: impl Into<String>) -> io::Error {
    io::Error::other(reason.into())
}

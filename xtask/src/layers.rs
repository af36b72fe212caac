//! `cargo xtask layers`: checks that the source tree follows the architecture.
//!
//! `graph` checks dependencies between crates, `sources` checks the files. Clippy checks the rest,
//! such as spawning outside `launch` and unwrap outside tests.

mod graph;
mod sources;

pub use sources::rust_files;

use crate::VerbResult;
use crate::workspace;

/// Checks the whole workspace and reports every fault, not only the first.
pub fn check() -> VerbResult {
    let members = workspace::members()?;
    let mut faults = graph::faults(&members);
    faults.extend(sources::faults(&workspace::root(), &members)?);
    if faults.is_empty() {
        eprintln!("layers: {} crates in order", members.len());
        return Ok(());
    }
    faults.sort();
    Err(format!("{} faults\n  {}", faults.len(), faults.join("\n  ")))
}

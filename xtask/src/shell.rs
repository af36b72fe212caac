//! Runs other programs: prints the command, runs it, and returns a failure as an error message.
//!
//! It uses no shell, so arguments are passed unchanged.

#![expect(clippy::disallowed_methods, reason = "a build tool starts tools; it is not the product")]

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::VerbResult;
use crate::workspace;

/// A command that runs in the workspace's root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}

/// The cargo that started us. On CI nothing is built twice, so incremental state is only cost.
///
/// What `cargo run` tells us about our own package would count as a change for build scripts that
/// read such variables, and they would run again whenever somebody else's cargo ran in between.
pub fn cargo() -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let own = |prefix: &str| name.as_encoded_bytes().starts_with(prefix.as_bytes());
        if own("CARGO_PKG_") || own("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    if std::env::var("CI").is_ok_and(|value| value == "true") {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Runs a command with our own output streams.
pub fn run(command: &mut Command) -> VerbResult {
    let shown = shown(command);
    eprintln!("$ {shown}");
    let status = command.status().map_err(|error| cannot_start(&shown, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}

/// Runs a command and gives back what it printed; its stderr is shown only when it fails.
pub fn capture(command: &mut Command) -> Result<String, String> {
    let shown = shown(command);
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| cannot_start(&shown, &error))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` ended with {}: {}", output.status, stderr.trim()));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("`{shown}` printed text that is not UTF-8"))
}

fn cannot_start(shown: &str, error: &std::io::Error) -> String {
    format!("cannot start `{shown}`: {error}")
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

//! `cargo xtask schema`: writes or checks the JSON Schema file of the Toolgate configuration, which
//! editors can use. `toolgate-dialects` defines its content.

use std::fs;
use std::path::Path;

use crate::VerbResult;
use crate::workspace;

/// Where it lies, from the root of the workspace.
const FILE: &str = "schemas/toolgate.schema.json";

/// Writes the file, or with `--check` only says whether it is stale.
pub fn run(arguments: &[String]) -> VerbResult {
    let path = workspace::root().join(FILE);
    match arguments {
        [] => write(&path),
        [option] if option == "--check" => check(&path),
        _ => Err("usage: schema [--check]".to_owned()),
    }
}

fn write(path: &Path) -> VerbResult {
    let failed = |error| format!("cannot write {FILE}: {error}");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, toolgate_dialects::schema()).map_err(failed)?;
    eprintln!("wrote {FILE}");
    Ok(())
}

fn check(path: &Path) -> VerbResult {
    let written = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {FILE}: {error}; run `cargo xtask schema`"))?;
    match written == toolgate_dialects::schema() {
        true => Ok(()),
        false => Err(format!("{FILE} is stale; run `cargo xtask schema`")),
    }
}

//! `cargo xtask schema`: the JSON Schema of our own configuration, as a file that editors can be
//! pointed at. What it says is decided in `toolgate-dialects`; here it is only written or compared.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::workspace;

/// Where it lies, from the root of the workspace.
const FILE: &str = "schemas/toolgate.schema.json";

/// Writes the file, or with `--check` only says whether it is stale.
pub fn run(arguments: &[String]) -> Outcome {
    let path = workspace::root().join(FILE);
    match arguments {
        [] => write(&path),
        [option] if option == "--check" => check(&path),
        _ => Err("usage is `schema [--check]`".to_owned()),
    }
}

fn write(path: &Path) -> Outcome {
    let failed = |error| format!("failed to write {FILE}: {error}");
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, toolgate_dialects::schema()).map_err(failed)?;
    eprintln!("wrote {FILE}");
    Ok(())
}

fn check(path: &Path) -> Outcome {
    let written = fs::read_to_string(path)
        .map_err(|error| format!("failed to read {FILE}: {error}; run `cargo xtask schema`"))?;
    match written == toolgate_dialects::schema() {
        true => Ok(()),
        false => Err(format!("{FILE} is stale; run `cargo xtask schema`")),
    }
}

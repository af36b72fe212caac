//! `cargo xtask conformance`: the official suite against the gateway, in both directions.
//!
//! As a server, the gateway stands in front of the testkit's fixture in each of its five shapes, and
//! is measured by the requirements of both eras; as a client, `toolgate conformance-client` meets
//! the suite's mock servers. There is no list of expected failures, and scenarios the suite runs
//! without scoring count like all others.

mod cells;
mod report;
mod suite;

use std::path::PathBuf;

use toolgate_e2e::{binaries, peers as installed};

use crate::Outcome;
use crate::{peers, shell, stages, workspace};
use report::Row;
use suite::Suite;

/// Authorization comes with its own crate; until then these are all the client scenarios there are.
const CLIENT: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "initialize",
            "tools_call",
            "elicitation-sep1034-client-defaults",
            "sse-retry",
            "json-schema-2020-12-preservation",
        ],
    ),
    (
        "2026-07-28",
        &[
            "tools_call",
            "request-metadata",
            "sep-2322-client-request-state",
            "http-standard-headers",
            "http-custom-headers",
            "http-invalid-tool-headers",
            "json-schema-ref-no-deref",
            "json-schema-2020-12-preservation",
        ],
    ),
];

/// The verb: builds what it needs, then runs the matrix.
pub fn run(arguments: &[String]) -> Outcome {
    let write = match arguments {
        [] => false,
        [option] if option == "--write" => true,
        _ => return Err("usage: conformance [--write]".to_owned()),
    };
    stages::build()?;
    peers::install()?;
    let rows = matrix()?;
    if write {
        let docs = workspace::root().join("docs");
        std::fs::create_dir_all(&docs)
            .and_then(|()| std::fs::write(docs.join("conformance.md"), report::document(&rows)))
            .map_err(|error| format!("docs/conformance.md: {error}"))?;
    }
    judge(&rows)
}

/// The stage of `cargo xtask test`, where everything is built and installed already.
pub fn check() -> Outcome {
    judge(&matrix()?)
}

fn judge(rows: &[Row]) -> Outcome {
    println!("{}", report::table(rows));
    let faults: Vec<String> = rows.iter().flat_map(Row::faults).collect();
    if faults.is_empty() { Ok(()) } else { Err(format!("\n  {}", faults.join("\n  "))) }
}

fn matrix() -> Result<Vec<Row>, String> {
    let newest = Suite::new("0.2.0-alpha.12", "npm")?;
    let released = Suite::new("0.1.16", "npm-conformance-0.1")?;
    let mut rows = cells::run(&newest, &released)?;
    for (revision, scenarios) in CLIENT {
        rows.push(client_row(&newest, revision, scenarios)?);
    }
    Ok(rows)
}

fn client_row(suite: &Suite, revision: &str, scenarios: &[&str]) -> Result<Row, String> {
    let toolgate = binaries::find("toolgate").map_err(text)?;
    let client = format!("{} conformance-client", toolgate.display());
    let preload = format!("--require {}", installed::script("loopback.cjs").display());
    let mut played = Vec::new();
    let mut refusals = Vec::new();
    for scenario in scenarios {
        let out = output(&format!("client-{revision}-{scenario}"))?;
        let mut command = suite.command("client", &out);
        command.env("NODE_OPTIONS", &preload).args(["--command", &client]);
        command.args(["--scenario", scenario, "--spec-version", revision]);
        refusals.extend(shell::capture(&mut command).err());
        played.extend(suite::results(&out)?);
    }
    Ok(Row {
        suite: suite.version,
        set: format!("client {revision}, without authorization"),
        upstream: None,
        expected: scenarios.len(),
        scenarios: played,
        refusal: (!refusals.is_empty()).then(|| refusals.join("; ")),
    })
}

/// An empty folder for a run's results; they stay there to be looked at.
fn output(name: &str) -> Result<PathBuf, String> {
    let folder = workspace::root().join("target").join("conformance").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(text)?;
    }
    std::fs::create_dir_all(&folder).map_err(text)?;
    Ok(folder)
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

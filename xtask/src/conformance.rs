//! `cargo xtask conformance`: the official suite against the gateway, in both directions.
//!
//! As a server, the gateway runs in front of each of the five variants of the testkit's fixture and
//! must meet the requirements of both eras. As a client, `toolgate conformance-client` talks to the
//! suite's mock servers. There is no list of expected failures, and scenarios that the suite does
//! not score count like all others.

mod cells;
mod report;
mod suite;

use std::path::PathBuf;

use toolgate_e2e::{binaries, peers as installed};

use crate::VerbResult;
use crate::{peers, shell, stages, workspace};
use report::ConformanceRow;
use suite::ConformanceSuite;

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
pub fn run(arguments: &[String]) -> VerbResult {
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
pub fn check() -> VerbResult {
    judge(&matrix()?)
}

fn judge(rows: &[ConformanceRow]) -> VerbResult {
    println!("{}", report::table(rows));
    let faults: Vec<String> = rows.iter().flat_map(ConformanceRow::faults).collect();
    if faults.is_empty() { Ok(()) } else { Err(format!("\n  {}", faults.join("\n  "))) }
}

fn matrix() -> Result<Vec<ConformanceRow>, String> {
    let newest = ConformanceSuite::new("0.2.0-alpha.12", "npm")?;
    let released = ConformanceSuite::new("0.1.16", "npm-conformance-0.1")?;
    let mut rows = cells::run(&newest, &released)?;
    for (revision, scenarios) in CLIENT {
        rows.push(client_row(&newest, revision, scenarios)?);
    }
    Ok(rows)
}

fn client_row(
    suite: &ConformanceSuite,
    revision: &str,
    scenarios: &[&str],
) -> Result<ConformanceRow, String> {
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
    Ok(ConformanceRow {
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

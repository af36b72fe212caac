//! `cargo xtask conformance`: the official suite against the gateway, in both directions.
//!
//! As a server, the gateway stands in front of the testkit's fixture, over stdio and over HTTP; as a
//! client, `toolgate conformance-client` meets the suite's mock servers. There is no list of
//! expected failures, and scenarios the suite runs without scoring count like all others.

mod report;
mod suite;

use std::path::PathBuf;

use toolgate_e2e::gateway::{Listening, Setup, http_entry, stdio_entry, testkit};
use toolgate_e2e::{binaries, peers as installed};

use crate::Outcome;
use crate::{peers, shell, stages, workspace};
use report::Row;
use suite::Suite;

const REVISION: &str = "2025-11-25";

/// Authorization comes with its own crate; until then these are all the client scenarios there are.
const CLIENT_SCENARIOS: &[&str] = &[
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
];

/// How the gateway reaches the fixture.
#[derive(Clone, Copy)]
enum Upstream {
    Stdio,
    Http,
}

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
    let mut rows = Vec::new();
    for upstream in [Upstream::Stdio, Upstream::Http] {
        rows.push(server_row(&newest, &["--requirements", REVISION], 33, upstream)?);
        rows.push(server_row(&released, &["--suite", "active"], 30, upstream)?);
    }
    rows.push(client_row(&newest)?);
    Ok(rows)
}

fn server_row(
    suite: &Suite,
    set: &[&str],
    expected: usize,
    upstream: Upstream,
) -> Result<Row, String> {
    // The fixture must outlive the run, whichever way it is reached.
    let (entry, _fixture) = match upstream {
        Upstream::Stdio => {
            (stdio_entry("fixture", &testkit("fixture", &["--stdio"]).map_err(text)?, &[]), None)
        }
        Upstream::Http => {
            let fixture = Listening::start("fixture").map_err(text)?;
            (http_entry("fixture", &fixture.url), Some(fixture))
        }
    };
    // The suite knows the fixture's names as they are.
    let setup = Setup::new(&format!("prefix = \"never\"\n\n{entry}")).map_err(text)?;
    let gateway = setup.serve().map_err(text)?;
    gateway.client_with(&["test_simple_text"]).map_err(text)?;
    let out = output(&format!("server-{}-{}", suite.version, upstream.name()))?;
    let mut command = suite.command("server", &out);
    let passed = shell::capture(command.args(["--url", &gateway.url]).args(set));
    Ok(Row {
        suite: suite.version,
        set: format!("server {}", set.join(" ")),
        upstream: Some(upstream.name()),
        expected,
        scenarios: suite::results(&out)?,
        refusal: passed.err(),
    })
}

fn client_row(suite: &Suite) -> Result<Row, String> {
    let toolgate = binaries::find("toolgate").map_err(text)?;
    let client = format!("{} conformance-client", toolgate.display());
    let preload = format!("--require {}", installed::script("loopback.cjs").display());
    let mut scenarios = Vec::new();
    let mut refusals = Vec::new();
    for scenario in CLIENT_SCENARIOS {
        let out = output(&format!("client-{scenario}"))?;
        let mut command = suite.command("client", &out);
        command.env("NODE_OPTIONS", &preload).args(["--command", &client]);
        command.args(["--scenario", scenario, "--spec-version", REVISION]);
        refusals.extend(shell::capture(&mut command).err());
        scenarios.extend(suite::results(&out)?);
    }
    Ok(Row {
        suite: suite.version,
        set: format!("client {REVISION}, without authorization"),
        upstream: None,
        expected: CLIENT_SCENARIOS.len(),
        scenarios,
        refusal: (!refusals.is_empty()).then(|| refusals.join("; ")),
    })
}

impl Upstream {
    fn name(self) -> &'static str {
        match self {
            Upstream::Stdio => "stdio",
            Upstream::Http => "http",
        }
    }
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

//! The cells of the matrix: one set of requirements with one variant of the fixture.
//!
//! Two cells run concurrently, because the gateway, the fixture and the suite of a cell mostly wait
//! for each other.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate_e2e::gateway::{GatewaySetup, TestServer, http_entry, sampling, stdio_entry, testkit};
use toolgate_e2e::{binaries, peers};

use super::report::ConformanceRow;
use super::suite::{self, ConformanceSuite};
use super::{output, text};
use crate::shell;

/// Cells under way at once.
const WORKERS: usize = 2;

/// A variant of the fixture.
#[derive(Clone, Copy)]
enum FixtureVariant {
    Stdio,
    Http,
    Sse,
    ModernHttp,
    ModernStdio,
}

const UPSTREAMS: [FixtureVariant; 5] = [
    FixtureVariant::Stdio,
    FixtureVariant::Http,
    FixtureVariant::Sse,
    FixtureVariant::ModernHttp,
    FixtureVariant::ModernStdio,
];

/// One run of a suite with one variant of the fixture.
struct ConformanceRun<'a> {
    suite: &'a ConformanceSuite,
    set: [&'static str; 2],
    /// How many scenarios there are, scored or not.
    expected: usize,
    upstream: FixtureVariant,
}

/// Runs them all, in the order of the table.
pub fn run(
    newest: &ConformanceSuite,
    released: &ConformanceSuite,
) -> Result<Vec<ConformanceRow>, String> {
    let cell = |suite, set, expected| {
        move |upstream| ConformanceRun { suite, set: ["--requirements", set], expected, upstream }
    };
    let legacy = UPSTREAMS.map(cell(newest, "2025-11-25", 33));
    let modern = UPSTREAMS.map(cell(newest, "2026-07-28", 50));
    let older = [FixtureVariant::Stdio, FixtureVariant::Http].map(|upstream| ConformanceRun {
        suite: released,
        set: ["--suite", "active"],
        expected: 30,
        upstream,
    });
    all(&legacy.into_iter().chain(modern).chain(older).collect::<Vec<_>>())
}

fn all(cells: &[ConformanceRun<'_>]) -> Result<Vec<ConformanceRow>, String> {
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(at) else { return };
                    let row = cell.run();
                    rows.lock().unwrap_or_else(|poison| poison.into_inner()).push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(|poison| poison.into_inner());
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}

impl ConformanceRun<'_> {
    fn run(&self) -> Result<ConformanceRow, String> {
        let [_, set] = self.set;
        let name = self.upstream.name().replace(' ', "-");
        let out = output(&format!("server-{}-{set}-{name}", self.suite.version))?;
        let recording = out.join("upstream.jsonl");
        // What listens must outlive the run.
        let (entry, _listening) = self.upstream.start(&recording).map_err(text)?;
        // The suite knows the fixture's names as they are.
        let setup = GatewaySetup::new(&format!("prefix = \"never\"\n\n{entry}")).map_err(text)?;
        let gateway = setup.serve().map_err(text)?;
        gateway.client_with(&["test_simple_text"]).map_err(text)?;
        let mut command = self.suite.command("server", &out);
        let passed = shell::capture(command.args(["--url", &gateway.url]).args(self.set));
        Ok(ConformanceRow {
            suite: self.suite.version,
            set: format!("server {}", self.set.join(" ")),
            upstream: Some(self.upstream.name()),
            expected: self.expected,
            scenarios: suite::results(&out)?,
            refusal: passed.err().or(check(&recording).err()),
        })
    }
}

/// Every message the gateway sent upstream is valid in its revision.
fn check(recording: &Path) -> Result<(), String> {
    let recorder = binaries::find("recorder").map_err(text)?;
    let mut command = shell::command(&recorder);
    command.arg("--log").arg(recording).args(["--check", "client", "--schemas"]);
    shell::capture(command.arg(peers::root().join("schemas"))).map(drop)
}

impl FixtureVariant {
    fn name(self) -> &'static str {
        match self {
            FixtureVariant::Stdio => "legacy stdio",
            FixtureVariant::Http => "legacy HTTP",
            FixtureVariant::Sse => "HTTP+SSE",
            FixtureVariant::ModernHttp => "modern HTTP",
            FixtureVariant::ModernStdio => "modern stdio",
        }
    }

    /// A config entry for the fixture in this shape, behind a recorder, and what listens.
    fn start(self, recording: &Path) -> std::io::Result<(String, Vec<TestServer>)> {
        let log = recording.display().to_string();
        let stdio = |options: &[&str]| {
            let mut command = testkit("recorder", &["--log", &log, "--"])?;
            command.extend(testkit("fixture", options)?);
            Ok((sampling(&stdio_entry("fixture", &command, &[])), Vec::new()))
        };
        let listening = |options: &[&str]| {
            let fixture = TestServer::start_as("fixture", options)?;
            let recorder =
                TestServer::start_as("recorder", &["--log", &log, "--to", &fixture.url])?;
            Ok((sampling(&http_entry("fixture", &recorder.url)), vec![recorder, fixture]))
        };
        match self {
            FixtureVariant::Stdio => stdio(&["--stdio"]),
            FixtureVariant::ModernStdio => stdio(&["--stdio", "--modern"]),
            FixtureVariant::Http => listening(&["--http", "127.0.0.1:0"]),
            FixtureVariant::ModernHttp => listening(&["--http", "127.0.0.1:0", "--modern"]),
            FixtureVariant::Sse => listening(&["--sse", "127.0.0.1:0"]),
        }
    }
}

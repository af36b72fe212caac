//! The cells of the matrix: a set of requirements, in front of the fixture in one shape.
//!
//! Two cells run at a time: each is a gateway, a fixture and the suite, which mostly wait for each
//! other.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate_e2e::gateway::{Listening, Setup, http_entry, sampling, stdio_entry, testkit};
use toolgate_e2e::{binaries, peers};

use super::report::Row;
use super::suite::{self, Suite};
use super::{output, text};
use crate::shell;

/// Cells under way at once.
const WORKERS: usize = 2;

/// The fixture's shapes.
#[derive(Clone, Copy)]
enum Upstream {
    Stdio,
    Http,
    Sse,
    ModernHttp,
    ModernStdio,
}

const UPSTREAMS: [Upstream; 5] =
    [Upstream::Stdio, Upstream::Http, Upstream::Sse, Upstream::ModernHttp, Upstream::ModernStdio];

/// One run of a suite in front of one shape.
struct Cell<'a> {
    suite: &'a Suite,
    set: [&'static str; 2],
    /// How many scenarios there are, scored or not.
    expected: usize,
    upstream: Upstream,
}

/// Runs them all, in the order of the table.
pub fn run(newest: &Suite, released: &Suite) -> Result<Vec<Row>, String> {
    let cell = |suite, set, expected| {
        move |upstream| Cell { suite, set: ["--requirements", set], expected, upstream }
    };
    let legacy = UPSTREAMS.map(cell(newest, "2025-11-25", 33));
    let modern = UPSTREAMS.map(cell(newest, "2026-07-28", 50));
    let older = [Upstream::Stdio, Upstream::Http].map(|upstream| Cell {
        suite: released,
        set: ["--suite", "active"],
        expected: 30,
        upstream,
    });
    all(&legacy.into_iter().chain(modern).chain(older).collect::<Vec<_>>())
}

fn all(cells: &[Cell<'_>]) -> Result<Vec<Row>, String> {
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

impl Cell<'_> {
    fn run(&self) -> Result<Row, String> {
        let [_, set] = self.set;
        let name = self.upstream.name().replace(' ', "-");
        let out = output(&format!("server-{}-{set}-{name}", self.suite.version))?;
        let recording = out.join("upstream.jsonl");
        // What listens must outlive the run.
        let (entry, _listening) = self.upstream.start(&recording).map_err(text)?;
        // The suite knows the fixture's names as they are.
        let setup = Setup::new(&format!("prefix = \"never\"\n\n{entry}")).map_err(text)?;
        let gateway = setup.serve().map_err(text)?;
        gateway.client_with(&["test_simple_text"]).map_err(text)?;
        let mut command = self.suite.command("server", &out);
        let passed = shell::capture(command.args(["--url", &gateway.url]).args(self.set));
        Ok(Row {
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

impl Upstream {
    fn name(self) -> &'static str {
        match self {
            Upstream::Stdio => "legacy stdio",
            Upstream::Http => "legacy HTTP",
            Upstream::Sse => "HTTP+SSE",
            Upstream::ModernHttp => "modern HTTP",
            Upstream::ModernStdio => "modern stdio",
        }
    }

    /// A config entry for the fixture in this shape, behind a recorder, and what listens.
    fn start(self, recording: &Path) -> std::io::Result<(String, Vec<Listening>)> {
        let log = recording.display().to_string();
        let stdio = |options: &[&str]| {
            let mut command = testkit("recorder", &["--log", &log, "--"])?;
            command.extend(testkit("fixture", options)?);
            Ok((sampling(&stdio_entry("fixture", &command, &[])), Vec::new()))
        };
        let listening = |options: &[&str]| {
            let fixture = Listening::start_as("fixture", options)?;
            let recorder = Listening::start_as("recorder", &["--log", &log, "--to", &fixture.url])?;
            Ok((sampling(&http_entry("fixture", &recorder.url)), vec![recorder, fixture]))
        };
        match self {
            Upstream::Stdio => stdio(&["--stdio"]),
            Upstream::ModernStdio => stdio(&["--stdio", "--modern"]),
            Upstream::Http => listening(&["--http", "127.0.0.1:0"]),
            Upstream::ModernHttp => listening(&["--http", "127.0.0.1:0", "--modern"]),
            Upstream::Sse => listening(&["--sse", "127.0.0.1:0"]),
        }
    }
}

//! The load generator: a closed loop of callers that verify every answer.
//!
//! Workers compare the id and the content of every answer with the request; a wrong answer counts
//! as an error, not as a call. Each worker keeps one HTTP/1.1 connection. The benchmark measures
//! the CPU and memory of the server.

mod answers;
mod cases;
mod connection;
mod report;
mod workers;

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use http::Uri;

use crate::echo::TestEra;

pub use report::LoadReport;
pub use workers::drive;

/// The operation of one iteration of a worker.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LoadCase {
    /// One `tools/call` with a text of 100 bytes.
    Echo,
    /// One `tools/call` that returns a text of 64 KiB.
    Blob,
    /// One `tools/list`, its tools counted.
    List,
    /// A whole session: initialize, initialized, `tools/list`, DELETE; in the modern form discovery
    /// and `tools/list`.
    Session,
}

/// The command line of the `load` binary, which is the plan of one run.
#[derive(Clone, Debug, Parser)]
#[command(name = "load", about = "Drives an MCP endpoint over HTTP and checks every answer")]
pub struct Options {
    /// The endpoint.
    #[arg(long)]
    pub url: Uri,
    /// More endpoints: the connections take turns among all of them.
    #[arg(long, value_name = "URL")]
    pub also: Vec<Uri>,
    /// What to do.
    #[arg(long, value_enum, default_value = "echo")]
    pub case: LoadCase,
    /// How many connections work at the same time.
    #[arg(long, default_value = "1")]
    pub concurrency: NonZeroU32,
    /// How many measured iterations, over all connections.
    #[arg(long, default_value_t = 10_000)]
    pub calls: u64,
    /// Measure for this long instead of counting iterations.
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Iterations before measuring, over all connections.
    #[arg(long, default_value_t = 0)]
    pub warmup: u64,
    /// The tool to call, as this endpoint names it; by default `echo` or `blob`.
    #[arg(long)]
    pub tool_name: Option<String>,
    /// How many tools a list must have; by default any number above zero.
    #[arg(long)]
    pub expect_tools: Option<usize>,
    /// Follow `nextCursor` and count the tools of all pages.
    #[arg(long)]
    pub paginate: bool,
    /// Speak 2026-07-28: no session, every request with its envelope and its headers.
    #[arg(long)]
    pub modern: bool,
    /// After the warm-up print `ready` and wait for a line on stdin, so that whoever measures the
    /// server can start its clock exactly there.
    #[arg(long)]
    pub wait: bool,
}

impl Options {
    /// A plan with the defaults of the command line.
    pub fn new(url: Uri, case: LoadCase) -> Self {
        Options {
            url,
            also: Vec::new(),
            case,
            concurrency: NonZeroU32::MIN,
            calls: 10_000,
            seconds: None,
            warmup: 0,
            tool_name: None,
            expect_tools: None,
            paginate: false,
            modern: false,
            wait: false,
        }
    }

    /// The endpoint of one of the connections.
    fn endpoint(&self, number: u32) -> &Uri {
        let turn = number as usize % (self.also.len() + 1);
        turn.checked_sub(1).map_or(&self.url, |index| &self.also[index])
    }

    fn era(&self) -> TestEra {
        if self.modern { TestEra::Modern } else { TestEra::Legacy }
    }

    fn duration(&self) -> Option<Duration> {
        self.seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    }
}

/// Runs the plan and prints its report as one line of JSON; errors make the run fail.
pub fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let wait = options.wait;
    let report = runtime.block_on(drive(options, || if wait { ready() } else { Ok(()) }))?;
    println!("{}", serde_json::to_string(&report)?);
    match report.first_error {
        Some(error) => Err(io::Error::other(format!("{} errors, first: {error}", report.errors))),
        None => Ok(()),
    }
}

fn ready() -> io::Result<()> {
    println!("ready");
    io::stdout().flush()?;
    io::stdin().read_line(&mut String::new()).map(drop)
}

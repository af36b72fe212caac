//! The benchmark's upstream: the cheapest MCP server that still answers properly.
//!
//! It speaks the legacy revisions or the modern one, over stdio or Streamable HTTP, keeps its tool
//! list as bytes prepared at start, and answers a POST with plain JSON. It deliberately does NOT
//! check sessions, envelopes or headers, stream, paginate or keep any state: whatever it spent would
//! blur the gateway's figures.

mod answer;
mod catalog;
mod era;
mod http;
mod stdio;

pub use answer::Echo;
pub use catalog::{Catalog, blob_text};
pub use era::Era;
pub use http::serve;

use std::io;
use std::net::SocketAddr;

use clap::Parser;

/// The command line of the `echo` binary.
#[derive(Debug, Parser)]
#[command(name = "echo", about = "The benchmark's upstream MCP server")]
pub struct Options {
    /// Serve on stdin and stdout.
    #[arg(long, conflicts_with = "http", required_unless_present = "http")]
    pub stdio: bool,
    /// Serve Streamable HTTP on this address; the first line on stdout is the endpoint.
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<SocketAddr>,
    /// How many tools to list in all, `echo` and `blob` among them.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub tools: u32,
    /// Speak 2026-07-28 and nothing older.
    #[arg(long)]
    pub modern: bool,
}

/// Runs the server that the options describe until its input ends or it is stopped.
pub fn run(options: &Options) -> io::Result<()> {
    let era = if options.modern { Era::Modern } else { Era::Legacy };
    let echo = Echo::new(Catalog::of(options.tools, era));
    let Some(address) = options.http else {
        return stdio::serve(&echo, io::stdin().lock(), io::stdout().lock());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        println!("http://{}/mcp", listener.local_addr()?);
        serve(listener, echo).await
    })
}

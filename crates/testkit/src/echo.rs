//! The upstream server of the benchmark: the cheapest MCP server that still answers correctly.
//!
//! It speaks the legacy revisions or the modern one, over stdio or Streamable HTTP, keeps its tool
//! list as bytes prepared at start, and answers a POST with plain JSON. It deliberately does not
//! check sessions, envelopes or headers, and does not stream, paginate or keep state: its own cost
//! would distort the figures of the gateway.

mod answer;
mod catalog;
mod era;
mod http;
mod stdio;

pub use answer::EchoServer;
pub use catalog::{EchoCatalog, blob_text};
pub use era::TestEra;
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
    let era = if options.modern { TestEra::Modern } else { TestEra::Legacy };
    let echo = EchoServer::new(EchoCatalog::of(options.tools, era));
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

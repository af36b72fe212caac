//! The floor: a bare HTTP proxy, which costs the minimum that any gateway must cost.
//!
//! It forwards method, path, headers and body with the same HTTP library, runtime and allocator as
//! the gateway. It deliberately does not read bodies, know MCP, retry or buffer. It must be as fast
//! as possible, because every ratio of the benchmark is relative to it.

mod forward;

use std::io;
use std::net::SocketAddr;

use clap::Parser;
use http::Uri;

pub use forward::serve;
pub(crate) use forward::strip_hop_by_hop;

/// The command line of the `floor` binary.
#[derive(Debug, Parser)]
#[command(name = "floor", about = "A bare forwarding HTTP proxy, the benchmark's floor")]
pub struct Options {
    /// Listen here; the first line on stdout is the proxy's own URL.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Forward every request to this server.
    #[arg(long, value_name = "URL")]
    pub to: Uri,
}

/// Runs the proxy until it is stopped.
pub fn run(options: &Options) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(options.listen).await?;
        println!("http://{}{}", listener.local_addr()?, options.to.path());
        serve(listener, &options.to).await
    })
}

//! A hostile MCP server: ordinary in everything except the one thing its mode names.
//!
//! `modes` is the table of modes; each family of modes is a file. A mode is a list of hooks, and a
//! hook gives the acts that replace the ordinary answer at one phase. The carriers, stdio and
//! HTTP, perform acts and know no mode. Every mode has the tools `echo`, which always behaves, and
//! `trigger`, which starts what the mode does at calls.
//! It does NOT reach outside its own process tree and loopback, and ends by itself after ten
//! minutes, its grandchildren too, so that a test that loses it leaves nothing behind.

mod act;
mod http;
mod modes;
mod ordinary;
mod scene;
mod server;
mod stdio;

mod asks;
mod changes;
mod endings;
mod floods;
mod grammar;
mod hangs;
mod ids;
mod leaks;
mod paging;
mod schemas;
mod texts;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;

pub use modes::{Carrier, MODES, Mode, Phase};

use scene::World;
use server::Server;

/// The command line of the `hostile` binary.
#[derive(Clone, Debug, Parser)]
#[command(name = "hostile", about = "An MCP server that misbehaves in one chosen way")]
pub struct Options {
    /// The misbehaviour; `--list` names them all.
    #[arg(required_unless_present_any = ["list", "grandchild"])]
    pub mode: Option<String>,
    /// Print every mode with the phase it starts at, its carriers and what it does.
    #[arg(long)]
    pub list: bool,
    /// Serve on stdin and stdout, which is the default.
    #[arg(long, conflicts_with = "http")]
    pub stdio: bool,
    /// Serve Streamable HTTP on this address; the first line on stdout is the endpoint.
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<SocketAddr>,
    /// Misbehave at this phase instead of the mode's own.
    #[arg(long, value_enum)]
    pub at: Option<Phase>,
    /// The size of an oversized answer.
    #[arg(long, default_value_t = 72 * 1024 * 1024)]
    pub bytes: usize,
    /// The number of messages in a storm that ends.
    #[arg(long, default_value_t = 1000)]
    pub count: u64,
    /// A word for the grandchild's command line, so that a test finds it among all processes.
    #[arg(long, default_value = "unmarked")]
    pub mark: String,
    /// The longest that any process of this server lives, in seconds.
    #[arg(long, default_value_t = 600)]
    pub lifetime: u64,
    /// How the daemonized grandchild starts itself again.
    #[arg(long, value_enum, hide = true)]
    pub grandchild: Option<endings::Stage>,
}

/// Runs the server that the options describe.
pub fn run(options: Options) -> io::Result<()> {
    if options.list {
        return list(&mut io::stdout().lock());
    }
    if let Some(stage) = options.grandchild {
        return endings::play_grandchild(stage, &options);
    }
    let mode = mode_named(options.mode.as_deref().unwrap_or_default(), options.http.is_some())?;
    let (address, lifetime) = (options.http, Duration::from_secs(options.lifetime));
    // Before the runtime opens descriptors of its own.
    let world = World::new(options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Server::new(mode, world);
    let served = runtime.block_on(async {
        let serving = async {
            match address {
                Some(address) => http::serve(server, address).await,
                None => stdio::serve(server).await,
            }
        };
        tokio::time::timeout(lifetime, serving).await.unwrap_or(Ok(()))
    });
    // A read of stdin may still be under way on a thread; it must not hold the process.
    runtime.shutdown_background();
    served
}

fn mode_named(name: &str, over_http: bool) -> io::Result<&'static Mode> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let mode = MODES
        .iter()
        .find(|mode| mode.name == name)
        .ok_or_else(|| invalid(format!("no mode {name:?}; --list names them all")))?;
    if over_http && mode.carrier == Carrier::Stdio {
        return Err(invalid(format!("mode {name} makes sense on stdio only")));
    }
    Ok(mode)
}

fn list(out: &mut impl io::Write) -> io::Result<()> {
    for mode in MODES {
        let (carrier, phase) = (mode.carrier.to_string(), mode.starts().to_string());
        writeln!(out, "{:<13} {phase:<11} {carrier:<6} {}", mode.name, mode.about)?;
    }
    Ok(())
}

#[cfg(test)]
fn ordinary_scene(id: &str) -> scene::Scene {
    let options = Options::parse_from(["hostile", "hang"]);
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"trigger"}}}}"#
    );
    scene::Scene { request: serde_json::from_str(&request).unwrap(), world: World::new(options) }
}

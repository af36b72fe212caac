//! A hostile MCP server, which misbehaves only in the one way that its mode names.
//!
//! `modes` is the table of modes; each family of modes has a file. A mode is a list of hooks, and a
//! hook returns the actions that replace the ordinary answer in one phase. The stdio and HTTP
//! transports perform actions and know no modes. Every mode has two tools: `echo` always behaves,
//! and `trigger` starts what the mode does on calls.
//!
//! The server stays within its own process tree and loopback. It ends after ten minutes, together
//! with its grandchildren, so that a test that loses it leaves nothing behind.

mod action;
mod context;
mod http;
mod modes;
mod ordinary;
mod server;
mod stdio;

mod changes;
mod floods;
mod grammar;
mod hangs;
mod ids;
mod leaks;
mod paging;
mod processes;
mod questions;
mod schemas;
mod texts;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Parser;

pub use modes::{HostileMode, HostilePhase, MODES, ModeTransports};

use context::HostileState;
use server::HostileServer;

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
    pub at: Option<HostilePhase>,
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
    pub grandchild: Option<processes::GrandchildStage>,
}

/// Runs the server that the options describe.
pub fn run(options: Options) -> io::Result<()> {
    if options.list {
        return list(&mut io::stdout().lock());
    }
    if let Some(stage) = options.grandchild {
        return processes::play_grandchild(stage, &options);
    }
    let mode = mode_named(options.mode.as_deref().unwrap_or_default(), options.http.is_some())?;
    let (address, lifetime) = (options.http, Duration::from_secs(options.lifetime));
    // Before the runtime opens descriptors of its own.
    let world = HostileState::new(options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = HostileServer::new(mode, world);
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

fn mode_named(name: &str, over_http: bool) -> io::Result<&'static HostileMode> {
    let invalid = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let mode = MODES
        .iter()
        .find(|mode| mode.name == name)
        .ok_or_else(|| invalid(format!("no mode {name:?}; --list names them all")))?;
    if over_http && mode.carrier == ModeTransports::Stdio {
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
fn ordinary_scene(id: &str) -> context::HookContext {
    let options = Options::parse_from(["hostile", "hang"]);
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"trigger"}}}}"#
    );
    context::HookContext {
        request: serde_json::from_str(&request).unwrap(),
        shared: HostileState::new(options),
    }
}

//! The recording proxy: it stands between two peers, passes everything on as it comes and writes
//! down every message; and the checker that holds a recording against the protocol's schemas.
//!
//! Over HTTP it is a proxy, on stdio a wrapper around the server's command. It deliberately does
//! NOT change, delay or repair a message, and it trusts neither side: what is not JSON is written
//! down as text.

mod body;
mod check;
mod conversation;
mod events;
mod headers;
mod http;
mod judge;
mod log;
mod mirrors;
mod recording;
mod schemas;
mod stdio;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ::http::Uri;
use clap::Parser;

pub use check::{Checked, Side, Violation};
pub use log::{Carrier, Direction, Entry, Head, Log};
pub use recording::Recording;
pub use schemas::{Revision, Schemas};

/// The command line of the `recorder` binary.
#[derive(Debug, Parser)]
#[command(name = "recorder", about = "Records what two MCP peers say, and checks it")]
#[command(group = clap::ArgGroup::new("what").required(true).args(["to", "check", "command"]))]
pub struct Options {
    /// Append to this file, or read it with `--check`.
    #[arg(long, value_name = "FILE")]
    pub log: PathBuf,
    /// Listen here for `--to`; the first line on stdout is the recorder's own URL.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Forward every HTTP request to the server of this URL.
    #[arg(long, value_name = "URL")]
    pub to: Option<Uri>,
    /// Check what this side of the recording sent.
    #[arg(long, value_name = "SIDE", requires = "schemas")]
    pub check: Option<Side>,
    /// The folder of the schemas, one `<revision>.json` each.
    #[arg(long, value_name = "FOLDER")]
    pub schemas: Option<PathBuf>,
    /// Run this server and record what passes over its stdin and stdout.
    #[arg(last = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
}

/// Records or checks, as the options say.
pub fn run(options: &Options) -> io::Result<ExitCode> {
    if let (Some(side), Some(schemas)) = (options.check, &options.schemas) {
        let checked = Recording::read(&options.log)?.check(&Schemas::load(schemas)?, side);
        println!("{checked}");
        return Ok(ExitCode::from(u8::from(!checked.violations.is_empty())));
    }
    let log = Arc::new(Log::open(&options.log)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let Some(to) = &options.to else {
            return stdio::wrap(&log, &options.command).await;
        };
        let listener = tokio::net::TcpListener::bind(options.listen).await?;
        println!("http://{}{}", listener.local_addr()?, to.path());
        http::serve(listener, to, log).await.map(|()| ExitCode::SUCCESS)
    });
    // A read of our stdin may still be blocked, and nobody waits for its outcome.
    runtime.shutdown_background();
    ended
}

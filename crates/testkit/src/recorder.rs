//! The recording proxy, which forwards everything between two peers and records every message, and
//! the checker, which validates a recording against the schemas of the protocol.
//!
//! Over HTTP it is a proxy, on stdio a wrapper around the server's command. It never changes,
//! delays or repairs a message. It trusts neither side: anything that is not JSON is recorded as
//! text.

mod body;
mod check;
mod conversation;
mod events;
mod expected_headers;
mod headers;
mod http;
mod log;
mod schemas;
mod stdio;
mod traffic;
mod validator;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ::http::Uri;
use clap::Parser;

pub use check::{ProtocolViolation, RecordedSide, RecordingReport};
pub use log::{HttpHead, MessageDirection, RecordedTransportKind, RecordingEntry, RecordingWriter};
pub use schemas::{ProtocolSchemas, SchemaRevision};
pub use traffic::RecordedTraffic;

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
    pub check: Option<RecordedSide>,
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
        let checked =
            RecordedTraffic::read(&options.log)?.check(&ProtocolSchemas::load(schemas)?, side);
        println!("{checked}");
        return Ok(ExitCode::from(u8::from(!checked.violations.is_empty())));
    }
    let log = Arc::new(RecordingWriter::open(&options.log)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let Some(to) = &options.to else {
            return stdio::wrap(&log, &options.command).await;
        };
        let listener = tokio::net::TcpListener::bind(options.listen).await?;
        println!("http://{}{}", listener.local_addr()?, to.path());
        http::serve(listener, to, log).await.map(|()| ExitCode::SUCCESS)
    });
    // A read of stdin may still be blocked; its result is not needed.
    runtime.shutdown_background();
    ended
}

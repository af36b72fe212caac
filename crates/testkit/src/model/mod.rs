//! A model endpoint that follows a script, so that released agents can be run without a vendor.
//!
//! It speaks the four APIs agents use (`apis`): Anthropic Messages, OpenAI Responses, OpenAI chat
//! completions and Gemini `generateContent`, whole or as a stream, as the request asks. Whatever API
//! a request comes by, its answer is the same: call the next tool of the script, or repeat the last
//! tool result. It keeps no state: how far a conversation is stands in its own request.

mod apis;
mod http;
mod record;
mod script;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

use record::Record;
pub use script::{Script, Step};

/// The command line of the `model` binary.
#[derive(Debug, Parser)]
#[command(name = "model", about = "A model endpoint that follows a script")]
pub struct Options {
    /// Listen here; the first line on stdout is the address.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// The script, as JSON.
    #[arg(long, value_name = "FILE")]
    pub script: PathBuf,
    /// Write down here what every request offered, one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub record: PathBuf,
}

/// Serves until it is stopped.
pub fn run(options: &Options) -> io::Result<()> {
    let script: Script = serde_json::from_slice(&std::fs::read(&options.script)?)?;
    let record = Record::create(&options.record)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(options.listen).await?;
        println!("http://{}", listener.local_addr()?);
        http::serve(listener, script, record).await
    })
}

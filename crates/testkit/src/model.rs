//! A model endpoint that follows a script, so that released agents can run without a provider.
//!
//! It speaks the four APIs agents use (`apis`): Anthropic Messages, OpenAI Responses, OpenAI chat
//! completions and Gemini `generateContent`, streaming or not, as the request asks. The answer is
//! the same for every API: call the next tool of the script, or repeat the last tool result. The
//! endpoint keeps no state, because each request contains its whole conversation.

mod apis;
mod http;
mod request_log;
mod script;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

use request_log::ModelRequestLog;
pub use script::{ModelScript, ScriptedCall};

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
    let script: ModelScript = serde_json::from_slice(&std::fs::read(&options.script)?)?;
    let record = ModelRequestLog::create(&options.record)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(options.listen).await?;
        println!("http://{}", listener.local_addr()?);
        http::serve(listener, script, record).await
    })
}

//! The verbs, one file each.

pub mod call;
pub mod conformance_client;
pub mod consent;
pub mod discover;
pub mod doctor;
mod exchange;
pub mod prompt;
pub mod read_resource;
mod relay;
mod sample_server;
pub mod serve;
pub mod servers;
mod stdio;

use crate::cli::{Cli, Verb};
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Does what the command line asks for.
pub async fn run(cli: Cli) -> Result<Exit, Failure> {
    let context = || Context::new(&cli.globals);
    match cli.verb() {
        Verb::Serve(options) => serve::run(&context()?, options).await,
        Verb::Servers(options) => servers::run(&context()?, options).await,
        Verb::Discover(options) => discover::run(&context()?, options).await,
        Verb::Call(options) => call::run(&context()?, options).await,
        Verb::ReadResource(options) => read_resource::run(&context()?, options).await,
        Verb::Prompt(options) => prompt::run(&context()?, options).await,
        Verb::Doctor(options) => doctor::run(&context()?, options).await,
        Verb::Consent(options) => consent::run(&context()?, options).await,
        Verb::SampleServer => sample_server::run().await,
        Verb::ConformanceClient(options) => conformance_client::run(options).await,
    }
}

//! The verbs of the command line, one module each.

pub mod add;
pub mod add_json;
pub mod approvals;
pub mod audit;
pub mod call;
pub mod compile_resource;
pub mod completions;
pub mod config;
pub mod conformance_client;
pub mod consent;
pub mod context;
mod declaration;
mod diagnostics;
pub mod discover;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod exposure;
pub mod get;
pub mod import;
pub mod install;
pub mod keys;
pub mod list;
pub mod lock;
pub mod man;
mod mcp_request;
pub mod pins;
pub mod policy;
pub mod prompt;
pub mod read_resource;
mod relay;
pub mod remove;
pub mod report;
mod result_file;
mod sample_server;
pub mod score;
pub mod search;
pub mod secret;
pub mod serve;
mod since;
mod stdio;
pub mod switch;
pub mod uninstall;

use crate::cli::{Cli, VerbCommand};
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};

/// Runs the verb of a command line.
pub async fn run(cli: Cli) -> Result<Exit> {
    let context = || CliContext::new(&cli.globals);
    match cli.verb() {
        VerbCommand::Serve(options) => serve::run(&context()?, options).await,
        VerbCommand::Discover(options) => discover::run(&context()?, options).await,
        VerbCommand::Search(options) => search::run(&context()?, options).await,
        VerbCommand::Exposure(options) => exposure::run(&context()?, options).await,
        VerbCommand::Call(options) => call::run(&context()?, options).await,
        VerbCommand::ReadResource(options) => read_resource::run(&context()?, options).await,
        VerbCommand::CompileResource(options) => compile_resource::run(&context()?, options).await,
        VerbCommand::Context(command) => context::run(&context()?, command).await,
        VerbCommand::Prompt(options) => prompt::run(&context()?, options).await,
        VerbCommand::Policy(command) => policy::run(&context()?, command).await,
        VerbCommand::Doctor(options) => doctor::run(&context()?, options).await,
        VerbCommand::Score(options) => score::run(&context()?, options).await,
        VerbCommand::Report(options) => report::run(&context()?, options).await,
        VerbCommand::Audit(command) => audit::run(&context()?, command).await,
        VerbCommand::Approvals(options) => approvals::run(&context()?, options).await,
        VerbCommand::Keys(options) => keys::run(&context()?, options).await,
        VerbCommand::Pins(options) => pins::run(&context()?, options).await,
        VerbCommand::Lock(options) => lock::run(&context()?, options).await,
        VerbCommand::Add(options) => add::run(&context()?, options).await,
        VerbCommand::AddJson(options) => add_json::run(&context()?, options).await,
        VerbCommand::List(options) => list::run(&context()?, options).await,
        VerbCommand::Get(options) => get::run(&context()?, options).await,
        VerbCommand::Remove(options) => remove::run(&context()?, options).await,
        VerbCommand::Enable(options) => switch::run(&context()?, options, true).await,
        VerbCommand::Disable(options) => switch::run(&context()?, options, false).await,
        VerbCommand::Import(options) => import::run(&context()?, options).await,
        VerbCommand::Export(options) => export::run(&context()?, options).await,
        VerbCommand::Install(options) => install::run(&context()?, options).await,
        VerbCommand::Uninstall(options) => uninstall::run(&context()?, options).await,
        VerbCommand::Config(command) => config::run(&context()?, command),
        VerbCommand::Secret(command) => secret::run(&context()?, command),
        VerbCommand::Explain(options) => explain::run(cli.globals.json, options),
        VerbCommand::Completions(options) => completions::run(options),
        VerbCommand::Man(options) => man::run(options),
        VerbCommand::Consent(options) => consent::run(&context()?, options).await,
        VerbCommand::SampleServer => sample_server::run().await,
        VerbCommand::ConformanceClient(options) => conformance_client::run(options).await,
    }
}

//! The verbs, one file each.

pub mod add;
pub mod add_json;
pub mod approvals;
pub mod audit;
pub mod call;
mod change;
pub mod compile_resource;
pub mod completions;
pub mod config;
pub mod conformance_client;
pub mod consent;
pub mod context;
pub mod discover;
pub mod doctor;
mod exchange;
pub mod export;
pub mod exposure;
pub mod get;
pub mod import;
pub mod install;
pub mod keys;
pub mod list;
pub mod lock;
pub mod man;
pub mod pins;
pub mod policy;
pub mod prompt;
pub mod read_resource;
mod relay;
pub mod remove;
pub mod report;
mod sample_server;
pub mod score;
pub mod search;
pub mod secret;
pub mod serve;
pub mod servers;
mod since;
mod stdio;
pub mod switch;
pub mod uninstall;

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
        Verb::Search(options) => search::run(&context()?, options).await,
        Verb::Exposure(options) => exposure::run(&context()?, options).await,
        Verb::Call(options) => call::run(&context()?, options).await,
        Verb::ReadResource(options) => read_resource::run(&context()?, options).await,
        Verb::CompileResource(options) => compile_resource::run(&context()?, options).await,
        Verb::Context(options) => context::run(&context()?, options).await,
        Verb::Prompt(options) => prompt::run(&context()?, options).await,
        Verb::Policy(options) => policy::run(&context()?, options).await,
        Verb::Doctor(options) => doctor::run(&context()?, options).await,
        Verb::Score(options) => score::run(&context()?, options).await,
        Verb::Report(options) => report::run(&context()?, options).await,
        Verb::Audit(options) => audit::run(&context()?, options).await,
        Verb::Approvals(options) => approvals::run(&context()?, options).await,
        Verb::Keys(options) => keys::run(&context()?, options).await,
        Verb::Pins(options) => pins::run(&context()?, options).await,
        Verb::Lock(options) => lock::run(&context()?, options).await,
        Verb::Add(options) => add::run(&context()?, options).await,
        Verb::AddJson(options) => add_json::run(&context()?, options).await,
        Verb::List(options) => list::run(&context()?, options).await,
        Verb::Get(options) => get::run(&context()?, options).await,
        Verb::Remove(options) => remove::run(&context()?, options).await,
        Verb::Enable(options) => switch::run(&context()?, options, true).await,
        Verb::Disable(options) => switch::run(&context()?, options, false).await,
        Verb::Import(options) => import::run(&context()?, options).await,
        Verb::Export(options) => export::run(&context()?, options).await,
        Verb::Install(options) => install::run(&context()?, options).await,
        Verb::Uninstall(options) => uninstall::run(&context()?, options).await,
        Verb::Config(options) => config::run(&context()?, options),
        Verb::Secret(options) => secret::run(&context()?, options),
        Verb::Completions(options) => completions::run(options),
        Verb::Man(options) => man::run(options),
        Verb::Consent(options) => consent::run(&context()?, options).await,
        Verb::SampleServer => sample_server::run().await,
        Verb::ConformanceClient(options) => conformance_client::run(options).await,
    }
}

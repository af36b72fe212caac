//! `toolgate`: the operator's command line, and the gateway it serves.
//!
//! One file per verb in [`verbs`]; what they share stands beside it. Every verb that needs servers
//! reaches them through [`reach`]: the living `serve` of the home, or a host of its own. Nothing
//! here talks to a server except through the gate.

mod arguments;
mod ask;
mod base64;
mod carry;
mod cli;
mod context;
mod control;
mod ending;
mod exit;
mod following;
mod holder;
mod log_limit;
mod logs;
mod offered;
mod operator;
mod out;
mod owner;
mod profiles;
mod reach;
mod reload;
mod station;
mod stock;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::Cli;
use exit::{Exit, Failure};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A helper must not have threads, nor read a command line that is not for people.
    if let Some(code) = toolgate_host::helper_main().or_else(toolgate_context::helper_main) {
        return code;
    }
    match run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.report();
            failure.exit.into()
        }
    }
}

fn run() -> Result<Exit, Failure> {
    let argv = verbs::add::arranged(Cli::command, std::env::args_os().collect());
    let cli = match Cli::try_parse_from(argv) {
        Ok(cli) => cli,
        Err(error) => return cli::refused(&error),
    };
    logs::begin(&cli);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("start: {error}")))?;
    let outcome = runtime.block_on(verbs::run(cli));
    // A thread that still reads the terminal would never let go.
    runtime.shutdown_background();
    outcome
}

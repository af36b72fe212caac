//! `toolgate`: the operator's command line, and the gateway it serves.
//!
//! [`verbs`] has one file per verb; the code they share is beside it. A verb that needs servers
//! reaches them through [`server_access`]: the running gateway of the home, or a gateway embedded
//! in this process. All requests to servers go through the gate.

mod arguments;
mod blocking;
mod cli;
mod cli_context;
mod complete;
mod context_folders;
mod control;
mod embedded_gateway;
mod exit;
mod home_claim;
mod interactor;
mod listening_process;
mod local_context;
mod log_limit;
mod logs;
mod operator;
mod out;
mod prompt;
mod reload;
mod review;
mod server_access;
mod shutdown;
mod suggest;
mod suggesting_parser;
mod transfer;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;

use cli::Cli;
use exit::{ErrorCode, Exit, OrFail as _, Result};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A helper process must not start threads, and its arguments are not a command line for clap.
    if let Some(code) = toolgate_host::helper_main().or_else(toolgate_context::helper_main) {
        return code;
    }
    complete::answer_shell();
    let arguments: Vec<_> = std::env::args_os().collect();
    // Everything after `--` belongs to the command of a server.
    let json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let exit = run(arguments, json).unwrap_or_else(|failure| {
        failure.report(json);
        failure.exit()
    });
    ExitCode::from(exit as u8)
}

fn run(arguments: Vec<OsString>, json: bool) -> Result<Exit> {
    let argv = verbs::add::reorder_add_options(cli::command, arguments);
    let cli = match Cli::parse_words(argv) {
        Ok(cli) => cli,
        Err(error) => return cli::handle_parse_error(&error, json),
    };
    out::set_quiet(cli.globals.quiet);
    logs::init_logging(&cli);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .or_fail(ErrorCode::CliInternal, "cannot start the async runtime")?;
    let outcome = runtime.block_on(verbs::run(cli));
    // A thread that still reads the terminal would block an orderly shutdown forever.
    runtime.shutdown_background();
    outcome
}

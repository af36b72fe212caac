//! Shell completion of the names of servers, tools and profiles. It reads config files and cached
//! catalogs and starts no server.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use toolgate_host::Plan;

use crate::cli;
use crate::cli_context::CliContext;
use crate::exit::{ErrorCode, OrFail as _, Result};

/// The variable by which the completion script asks for completions.
pub const REQUEST_VARIABLE: &str = "TOOLGATE_COMPLETE";

/// Answers the completion script and exits, if this run is a request of the script.
pub fn answer_shell() {
    CompleteEnv::with_factory(cli::command).var(REQUEST_VARIABLE).complete();
}

/// Completes the names of declared servers.
pub fn server_names() -> ArgValueCandidates {
    candidates(|| {
        let plan = PartialCommandLine::read()?.plan()?;
        Ok(plan.entries.iter().map(|entry| entry.spec.name.to_string()).collect())
    })
}

/// Completes the names of profiles.
pub fn profile_names() -> ArgValueCandidates {
    candidates(|| {
        let plan = PartialCommandLine::read()?.plan()?;
        Ok(plan.settings.profiles.names().into_iter().map(str::to_owned).collect())
    })
}

/// Completes the tools of the server that is typed before, from its cached catalog.
pub fn tool_names() -> ArgValueCandidates {
    candidates(|| {
        let line = PartialCommandLine::read()?;
        // Completion must not create the home.
        if line.server.is_none() || !line.context.home.state_dir().exists() {
            return Ok(Vec::new());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.or_fail(ErrorCode::CliInternal, "cannot start the async runtime")?;
        runtime.block_on(async {
            let setup = line.context.load_setup().await?;
            Ok(setup.cached_tools(&line.server.unwrap_or_default()).await?)
        })
    })
}

/// Returns candidates that are computed when the shell asks for them. Errors give no candidates.
fn candidates(names: fn() -> Result<Vec<String>>) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        names().unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
    })
}

/// The command line that is being completed.
struct PartialCommandLine {
    context: CliContext,
    /// The server, if it is already typed.
    server: Option<String>,
}

impl PartialCommandLine {
    fn read() -> Result<Self> {
        let words: Vec<OsString> =
            std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
        let matches = cli::command().ignore_errors(true).try_get_matches_from(words);
        let matches = matches.or_fail(ErrorCode::CliInternal, "cannot read the line")?;
        let path = |name: &str| matches.get_one::<PathBuf>(name).cloned();
        let context = CliContext::of_files(path("home"), path("config"))?;
        Ok(Self { context, server: typed_server(&matches) })
    }

    fn plan(&self) -> Result<Plan> {
        Ok(toolgate_host::read_files(&self.context.setup_options()?)?)
    }
}

/// Returns the value of `server` of the innermost subcommand.
fn typed_server(matches: &ArgMatches) -> Option<String> {
    let inner = matches.subcommand().and_then(|(_, inner)| typed_server(inner));
    inner.or_else(|| matches.try_get_one::<String>("server").ok().flatten().cloned())
}

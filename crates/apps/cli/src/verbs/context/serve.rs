//! `context serve`: runs an MCP server on stdin and stdout that offers only the local context.
//!
//! It is a gateway in front of the local context: it supports both eras and uses the policy and the
//! journal of the home. It starts no other servers, reads no project files and does not claim the
//! home; several processes may have the library open.

use clap::{Args, ValueEnum};
use tokio::io::{stdin, stdout};
use toolgate_context::ingest::IngestOptions as What;
use toolgate_context::{IngestPermissions, Names, tools_server};
use toolgate_gateway::{Gateway, Options};
use toolgate_host::{Host, Setup};

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::shutdown;

/// The arguments of `toolgate context serve`.
#[derive(Debug, Args)]
#[command(after_help = "Entry for a client's config: \
    { \"command\": \"toolgate\", \"args\": [\"context\", \"serve\"] }\n\n\
    Example: toolgate context serve --names secondbrain")]
pub struct ContextServeArgs {
    /// Naming scheme of tools and resources [default: `context.names` in the config]
    #[arg(long, value_name = "SCHEME", value_enum)]
    names: Option<ContextNamingArg>,
}

/// A value of `--names`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ContextNamingArg {
    /// ask, recall, …; toolgate://context/…
    Toolgate,
    /// sb_ask, sb_recall, …; secondbrain://context/…
    Secondbrain,
}

pub async fn run(context: &CliContext, options: &ContextServeArgs) -> Result<Exit> {
    let setup = context.load_user_setup().await?;
    let names = match options.names {
        Some(ContextNamingArg::Toolgate) => Names::Toolgate,
        Some(ContextNamingArg::Secondbrain) => Names::SecondBrain,
        None => setup.plan().settings.context.names,
    };
    let server = tools_server(context.shelf(), names, allowed_intake(&setup));
    let host = Host::builder().setup(setup).context_only(server).start().await?;
    // The context server connects at once, and a client's first list must contain its tools.
    host.wait_settled().await;
    let gateway = Gateway::new(host.gate().clone(), Options::default());
    let ending = shutdown::on_signal()?;
    let gateway = gateway.with_default_profile(context.profile.as_deref());
    let served = gateway.serve_lines(stdin(), stdout(), ending.wait()).await;
    ending.trigger();
    host.close().await;
    served?;
    Ok(Exit::Done)
}

/// Returns what a client may ingest: files in the current folder and in the configured folders.
fn allowed_intake(setup: &Setup) -> IngestPermissions {
    let settings = &setup.plan().settings.context;
    let folders = settings.folders.iter().cloned().chain(std::env::current_dir());
    let options = What { trusted: settings.trusted.clone(), ..What::default() };
    IngestPermissions::new(folders, std::env::home_dir().as_deref()).options(options)
}

//! `context serve`: an MCP server of its own on stdin and stdout, for clients of a project.
//!
//! It is a gateway in front of the local context alone: both eras, and the decisions and the journal
//! of the home. It starts no other server, reads no project's files, and leaves the home to whoever
//! owns it: the library may be open in several processes.

use clap::{Args, ValueEnum};
use tokio::io::{stdin, stdout};
use toolgate_context::ingest::Options as What;
use toolgate_context::{Intake, Names, tools_server};
use toolgate_gateway::{Gateway, Options};
use toolgate_host::{Host, Setup, SetupOptions};

use crate::context::Context;
use crate::ending;
use crate::exit::{Exit, Failure, chain};

#[derive(Debug, Args)]
#[command(after_help = "A client that starts its servers has it as \
    { \"command\": \"toolgate\", \"args\": [\"context\", \"serve\"] }\n\n\
    Example: toolgate context serve --names secondbrain")]
pub struct Serve {
    /// Whose names tools and resources have; without it, as the config says (`context.names`)
    #[arg(long, value_name = "WHOSE", value_enum)]
    names: Option<Whose>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Whose {
    /// ask, recall, …; toolgate://context/…
    Toolgate,
    /// sb_ask, sb_recall, …; secondbrain://context/…
    Secondbrain,
}

pub async fn run(context: &Context, options: &Serve) -> Result<Exit, Failure> {
    let setup = setup(context).await?;
    let names = match options.names {
        Some(Whose::Toolgate) => Names::Toolgate,
        Some(Whose::Secondbrain) => Names::SecondBrain,
        None => setup.plan().settings.context.names,
    };
    let server = tools_server(context.shelf(), names, intake(&setup));
    let host = Host::builder().setup(setup).context_alone(server).start().await?;
    // It is there at once, and a client's first list is to have it.
    host.settled().await;
    let gateway = Gateway::new(host.gate().clone(), Options::default());
    let (stop, ending) = ending::on_signal()?;
    let gateway = gateway.showing(context.profile.as_deref());
    let served = gateway.serve_lines(stdin(), stdout(), ending.reached()).await;
    stop.now();
    host.close().await;
    served.map_err(|error| Failure::failed(chain(&error)))?;
    Ok(Exit::Done)
}

/// What is decided and journalled: the user's word and the system's, never a project's.
async fn setup(context: &Context) -> Result<Setup, Failure> {
    let (home, config) = (context.home.clone(), context.config.clone());
    let options = SetupOptions { home, config, project_dir: None, own_endpoints: Vec::new() };
    Ok(Setup::load(options).await?)
}

/// What a client may take in: what lies where it was started, and in the user's own folders.
fn intake(setup: &Setup) -> Intake {
    let said = &setup.plan().settings.context;
    let folders = said.folders.iter().cloned().chain(std::env::current_dir());
    let options = What { trusted: said.trusted.clone(), ..What::default() };
    Intake::new(folders, std::env::home_dir().as_deref()).options(options)
}

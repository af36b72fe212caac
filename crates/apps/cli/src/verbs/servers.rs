//! `servers`: shows the state of every server.

use std::time::Duration;

use clap::Args;

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ServersReport};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Exit};
use crate::out::{self, Spinner, TextTable, escape_invisible};
use crate::server_access::ServerAccess;

/// The arguments of `toolgate servers`.
#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate servers --json")]
pub struct ServersArgs {
    /// Seconds to wait for servers that are starting
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u32,
}

pub async fn run(context: &CliContext, options: &ServersArgs) -> Result<Exit, CliError> {
    let spinner = Spinner::new("waiting for servers");
    let access = ServerAccess::find(
        context,
        EmbeddedGatewayOptions { quiet: true, ..EmbeddedGatewayOptions::default() },
    )
    .await?;
    let wait = Duration::from_secs(options.wait.into());
    let wait_ms = wait.as_millis().try_into().unwrap_or(u64::MAX);
    let overview = access.ask::<ServersReport>(&ControlRequest::Servers { wait_ms }).await;
    access.close().await;
    drop(spinner);
    let mut overview = overview?;
    out::print_findings_summary(&std::mem::take(&mut overview.findings), context.verbose);
    out::print_notes(&overview.notes);
    if context.json {
        out::json(&overview)?;
    } else {
        out::data(table(&overview).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn table(overview: &ServersReport) -> String {
    let mut table = TextTable::new(&[
        "NAME",
        "STATE",
        "TRANSPORT",
        "PROTOCOL",
        "TOOLS",
        "RESOURCES",
        "PROMPTS",
        "ORIGIN",
    ]);
    for server in &overview.servers {
        table.row([
            escape_invisible(&server.name),
            server.state.clone(),
            server.transport.clone(),
            server.protocol.clone().unwrap_or_else(|| "-".to_owned()),
            server.tools.to_string(),
            server.resources.to_string(),
            server.prompts.to_string(),
            escape_invisible(&server.origin),
        ]);
        if let Some(reason) = &server.reason {
            table.remark(escape_invisible(reason));
        }
    }
    table.text()
}

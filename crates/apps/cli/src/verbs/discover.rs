//! `discover`: shows what servers offer, with the exposed names.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::{CapabilityInventoryEntry, ControlRequest, ServerCapabilityInventory};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result};
use crate::out::{self, Spinner, escape_invisible, escape_invisible_lines};
use crate::server_access::ServerAccess;

/// How long to wait for starting servers when all servers are shown.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The arguments of `toolgate discover`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate discover\n  toolgate discover sample --schema\n  \
    toolgate discover sample --as research")]
pub struct DiscoverArgs {
    /// Name of the server [default: all servers]
    #[arg(add = server_names())]
    server: Option<String>,
    /// Show the input and output schemas of tools
    #[arg(long)]
    schema: bool,
}

pub async fn run(context: &CliContext, options: &DiscoverArgs) -> Result<Exit> {
    match &options.server {
        Some(server) => discover_one(context, server, options.schema).await,
        None => discover_all(context, options.schema).await,
    }
}

async fn discover_one(context: &CliContext, server: &str, schema: bool) -> Result<Exit> {
    let spinner = Spinner::new(&format!("waiting for {server}"));
    let profile = context.profile_or_default().to_owned();
    let question = ControlRequest::Discover { server: server.to_owned(), profile };
    let options = EmbeddedGatewayOptions::single_server(server);
    let inventory: ServerCapabilityInventory =
        ServerAccess::ask_once(context, options, &question).await?;
    drop(spinner);
    inventory.check_usable()?;
    out::print(context, &inventory, || inventory_text(&inventory, schema))
}

/// Shows all servers. A server that cannot be used is shown with the reason.
async fn discover_all(context: &CliContext, schema: bool) -> Result<Exit> {
    let spinner = Spinner::new("waiting for servers");
    let wait_ms = START_TIMEOUT.as_millis().try_into().unwrap_or(u64::MAX);
    let profile = context.profile_or_default().to_owned();
    let question = ControlRequest::DiscoverAll { profile, wait_ms };
    let options = EmbeddedGatewayOptions::default();
    let all: Vec<ServerCapabilityInventory> =
        ServerAccess::ask_once(context, options, &question).await?;
    drop(spinner);
    out::print(context, &all, || {
        all.iter().map(|it| inventory_text(it, schema)).collect::<Vec<_>>().join("\n")
    })
}

fn inventory_text(inventory: &ServerCapabilityInventory, schema: bool) -> String {
    let mut text = format!("{}: {}\n", escape_invisible(&inventory.server), inventory.state);
    if let Some(reason) = &inventory.reason {
        text.push_str(&format!("    {}\n", escape_invisible(reason)));
    }
    if let Some(instructions) = &inventory.instructions {
        text.push_str(&format!("{}\n", escape_invisible(first_line(instructions))));
    }
    for (heading, offers) in [
        ("Tools", &inventory.tools),
        ("Resources", &inventory.resources),
        ("Templates", &inventory.templates),
        ("Prompts", &inventory.prompts),
    ] {
        if !offers.is_empty() {
            text.push_str(&format!("\n{heading}\n"));
            let seen = offers.iter().filter(|offer| offer.hidden.is_none());
            text.extend(seen.map(|offer| entry_text(offer, schema)));
            text.push_str(&hidden_text(offers));
        }
    }
    text
}

fn entry_text(offer: &CapabilityInventoryEntry, schema: bool) -> String {
    let exposed = match &offer.exposed {
        Some(exposed) if *exposed != offer.name => format!(" (as {})", escape_invisible(exposed)),
        _ => String::new(),
    };
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap_or_default();
    let mut text = format!("  {}{exposed}\n", escape_invisible(&offer.name));
    match first_line(definition["description"].as_str().unwrap_or_default()) {
        "" => {}
        description => text.push_str(&format!("      {}\n", escape_invisible(description))),
    }
    if schema {
        for (label, key) in [("input", "inputSchema"), ("output", "outputSchema")] {
            if let Some(schema) = definition.get(key) {
                let schema = serde_json::to_string_pretty(schema).unwrap_or_default();
                let schema = escape_invisible_lines(&schema).replace('\n', "\n      ");
                text.push_str(&format!("      {label} {schema}\n"));
            }
        }
    }
    text
}

/// Returns the hidden capabilities, grouped by reason.
fn hidden_text(offers: &[CapabilityInventoryEntry]) -> String {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for offer in offers {
        if let Some(why) = &offer.hidden {
            reasons.entry(why).or_default().push(escape_invisible(&offer.name));
        }
    }
    let line = |(why, names): (&str, Vec<String>)| {
        format!("  hidden: {}\n      {}\n", names.join(", "), escape_invisible(why))
    };
    reasons.into_iter().map(line).collect()
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

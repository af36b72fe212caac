//! `discover`: what servers offer, under the names callers see.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::context::Context;
use crate::control::{Inventory, Offer, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible, visible_lines};
use crate::reach::Reach;
use crate::station::Terms;

/// How long servers may take that are still starting, where all are looked at.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate discover\n  toolgate discover sample --schema\n  \
    toolgate discover sample --as research")]
pub struct Discover {
    /// Which server; all of them if none is named
    server: Option<String>,
    /// Show what each tool takes and gives
    #[arg(long)]
    schema: bool,
}

pub async fn run(context: &Context, options: &Discover) -> Result<Exit, Failure> {
    match &options.server {
        Some(server) => one(context, server, options.schema).await,
        None => all(context, options.schema).await,
    }
}

async fn one(context: &Context, server: &str, schema: bool) -> Result<Exit, Failure> {
    let spinner = Spinner::new(&format!("waiting for {server}"));
    let reach = Reach::find(context, Terms::only(server)).await?;
    let (server, profile) = (server.to_owned(), context.seeing().to_owned());
    let inventory = reach.ask::<Inventory>(&Question::Discover { server, profile }).await;
    reach.close().await;
    drop(spinner);
    let inventory = inventory?;
    inventory.usable()?;
    match context.json {
        true => out::json(&inventory)?,
        false => out::data(shown(&inventory, schema).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Each of them; one that cannot be used is shown with its reason, and hides no other.
async fn all(context: &Context, schema: bool) -> Result<Exit, Failure> {
    let spinner = Spinner::new("waiting for servers");
    let reach = Reach::find(context, Terms::default()).await?;
    let wait_ms = PATIENCE.as_millis().try_into().unwrap_or(u64::MAX);
    let question = Question::DiscoverAll { profile: context.seeing().to_owned(), wait_ms };
    let inventories = reach.ask::<Vec<Inventory>>(&question).await;
    reach.close().await;
    drop(spinner);
    let inventories = inventories?;
    if context.json {
        out::json(&inventories)?;
        return Ok(Exit::Done);
    }
    let shown: Vec<_> = inventories.iter().map(|it| shown(it, schema)).collect();
    out::data(shown.join("\n").as_bytes())?;
    Ok(Exit::Done)
}

fn shown(inventory: &Inventory, schema: bool) -> String {
    let mut text = format!("{}: {}\n", visible(&inventory.server), inventory.state);
    if let Some(reason) = &inventory.reason {
        text.push_str(&format!("    {}\n", visible(reason)));
    }
    if let Some(instructions) = &inventory.instructions {
        text.push_str(&format!("{}\n", visible(first_line(instructions))));
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
            text.extend(seen.map(|offer| described(offer, schema)));
            text.push_str(&hidden(offers));
        }
    }
    text
}

fn described(offer: &Offer, schema: bool) -> String {
    let exposed = match &offer.exposed {
        Some(exposed) if *exposed != offer.name => format!(" (as {})", visible(exposed)),
        _ => String::new(),
    };
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap_or_default();
    let mut text = format!("  {}{exposed}\n", visible(&offer.name));
    match first_line(definition["description"].as_str().unwrap_or_default()) {
        "" => {}
        description => text.push_str(&format!("      {}\n", visible(description))),
    }
    if schema {
        for (label, key) in [("takes", "inputSchema"), ("gives", "outputSchema")] {
            if let Some(schema) = definition.get(key) {
                text.push_str(&format!("      {label} {}\n", indented(schema)));
            }
        }
    }
    text
}

fn indented(schema: &Value) -> String {
    let text = serde_json::to_string_pretty(schema).unwrap_or_default();
    visible_lines(&text).replace('\n', "\n      ")
}

/// What is not seen, in a line for each reason.
fn hidden(offers: &[Offer]) -> String {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for offer in offers {
        if let Some(why) = &offer.hidden {
            reasons.entry(why).or_default().push(visible(&offer.name));
        }
    }
    let line = |(why, names): (&str, Vec<String>)| {
        format!("  hidden: {}\n      {}\n", names.join(", "), visible(why))
    };
    reasons.into_iter().map(line).collect()
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

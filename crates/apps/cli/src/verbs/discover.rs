//! `discover`: what one server offers, under the names clients see.

use clap::Args;
use serde_json::Value;

use crate::context::Context;
use crate::control::{Inventory, Offer, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate discover sample")]
pub struct Discover {
    /// Which server
    server: String,
}

pub async fn run(context: &Context, options: &Discover) -> Result<Exit, Failure> {
    let spinner = Spinner::new(&format!("waiting for {}", options.server));
    let reach = Reach::find(context, Terms::only(&options.server)).await?;
    let question = Question::Discover { server: options.server.clone() };
    let inventory = reach.ask::<Inventory>(&question).await;
    reach.close().await;
    drop(spinner);
    let inventory = inventory?;
    inventory.usable()?;
    if context.json {
        out::json(&inventory)?;
    } else {
        out::data(shown(&inventory).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn shown(inventory: &Inventory) -> String {
    let mut text = format!("{}: {}\n", visible(&inventory.server), inventory.state);
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
            text.extend(offers.iter().map(described));
        }
    }
    text
}

fn described(offer: &Offer) -> String {
    let exposed = match &offer.exposed {
        Some(exposed) if *exposed == offer.name => String::new(),
        Some(exposed) => format!(" (as {})", visible(exposed)),
        None => " (hidden: its name may not be shown)".to_owned(),
    };
    let definition: Value = serde_json::from_str(offer.definition.get()).unwrap_or_default();
    let description = first_line(definition["description"].as_str().unwrap_or_default());
    let line = format!("  {}{exposed}\n", visible(&offer.name));
    match description {
        "" => line,
        description => format!("{line}      {}\n", visible(description)),
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}

//! Who approves the calls of a client: asked for at a terminal, recorded in the user's config.

use clap::ValueEnum;
use serde::Serialize;
use toolgate_host::config::{Dialect, Document};
use toolgate_model::Data;

use crate::carry::asked;
use crate::context::Context;
use crate::exit::{Failure, chain};
use crate::out;

/// Who approves calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approver {
    /// The client asks you itself, and what it sends is allowed
    Client,
    /// Toolgate asks you through the client
    Elicitation,
    /// Toolgate waits for `toolgate approvals`
    Operator,
}

impl Approver {
    const ALL: [Self; 3] = [Self::Client, Self::Elicitation, Self::Operator];

    fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Elicitation => "elicitation",
            Self::Operator => "operator",
        }
    }

    fn explained(self) -> &'static str {
        match self {
            Self::Client => "the client asks you itself, and what it sends is allowed",
            Self::Elicitation => "Toolgate asks you, through the client",
            Self::Operator => "Toolgate waits until you say so with `toolgate approvals`",
        }
    }
}

/// Where the choice is kept.
fn keys(client: &str) -> [&str; 4] {
    ["approvals", "clients", client, "via"]
}

/// What was chosen, or is now.
pub fn chosen(said: Option<Approver>, clients: &[String], yes: bool) -> Result<Approver, Failure> {
    if let Some(said) = said {
        return Ok(said);
    }
    if yes || !out::can_ask() {
        return Err(Failure::usage(format!(
            "install into {}: nobody said who approves calls",
            clients.join(", ")
        ))
        .hint("say it with --approve client, --approve elicitation or --approve operator"));
    }
    out::note(&format!("Who approves calls of {}?", clients.join(", ")));
    for (number, approver) in Approver::ALL.iter().enumerate() {
        out::note(&format!("  {}: {:<12} {}", number + 1, approver.as_str(), approver.explained()));
    }
    loop {
        let answer = asked("Which? [1-3]")?;
        let numbered = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_number = numbered.and_then(|number| Approver::ALL.get(number));
        let named = Approver::ALL.iter().find(|approver| approver.as_str() == answer);
        match by_number.or(named) {
            Some(approver) => return Ok(*approver),
            None if answer.is_empty() => {
                return Err(Failure::failed("install: you did not say who approves calls"));
            }
            None => out::note("Answer with a number or a word of the list."),
        }
    }
}

/// Records the choice, or takes it back.
pub fn record(
    context: &Context,
    approver: Option<Approver>,
    clients: &[String],
) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| Failure::failed(chain(error));
    if approver.is_some() {
        context.first_run()?;
    }
    let document = Document::of_user(&context.home);
    let changed = document.change(|text| {
        let mut text = text.to_owned();
        for client in clients {
            text = match approver {
                Some(approver) => {
                    let via = Data::text(approver.as_str());
                    Dialect::Toolgate.set_value(&text, &keys(client), &via)?
                }
                None => forgotten(&text, client)?,
            };
        }
        Ok(Some(text))
    });
    let changed = changed.map_err(|error| failed(&error))?;
    if approver.is_some() && changed.changed {
        out::note(&format!("who approves is recorded in {}", document.path().display()));
    }
    Ok(())
}

/// The text without what was recorded for a client, and without tables that holds nothing else.
fn forgotten(text: &str, client: &str) -> Result<String, toolgate_host::config::EditError> {
    let without = |text: &str, keys: &[&str]| Dialect::Toolgate.remove_value(text, keys);
    Ok(without(text, &keys(client)[..3])?.unwrap_or_else(|| text.to_owned()))
}

//! `policy explain`: what would be decided about one call, and every word for and against it.

use std::io;

use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::control::{Question, Supposed, Told};
use crate::exit::{Exit, Failure};
use crate::out::{self, visible};
use crate::reach::Reach;
use crate::station::Terms;

/// Who is supposed to call where nobody is named.
pub(super) const SOME_CLIENT: &str = "some-client";

#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is called. Who would be asked is told for a client that shows forms.\n\n\
    Examples:\n  toolgate policy explain git push\n  \
    toolgate policy explain filesystem write_file --arguments '{\"path\":\"/etc/hosts\"}'\n  \
    toolgate policy explain git push --client claude-code --json"
)]
pub struct Explain {
    /// The server
    server: String,
    /// The tool, by its server's own name for it
    #[arg(value_name = "TOOL")]
    name: String,
    /// The arguments of the call: a JSON object, or - to read it from stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// The client that calls, as it calls itself
    #[arg(long, value_name = "NAME", default_value = SOME_CLIENT)]
    client: String,
    /// Explain a resource, by its URI, instead of a tool
    #[arg(long, group = "kind")]
    resource: bool,
    /// Explain a prompt instead of a tool
    #[arg(long, group = "kind")]
    prompt: bool,
    /// Explain a method of an extension instead of a tool; --arguments are its params
    #[arg(long, group = "kind")]
    method: bool,
}

pub async fn run(context: &Context, options: &Explain) -> Result<Exit, Failure> {
    let words = [options.arguments.clone()];
    let arguments = crate::arguments::read(&words, &json!({}), io::stdin().lock())?;
    let kind = match options {
        Explain { resource: true, .. } => "resource",
        Explain { prompt: true, .. } => "prompt",
        Explain { method: true, .. } => "method",
        _ => "tool",
    };
    let supposed = Supposed {
        server: options.server.clone(),
        kind: kind.to_owned(),
        name: options.name.clone(),
        client: options.client.clone(),
        profile: context.seeing().to_owned(),
        arguments,
    };
    let reach = Reach::find(context, Terms { idle: true, ..Terms::default() }).await?;
    let told = ask(&reach, &supposed).await;
    reach.close().await;
    let told = told?;
    match context.json {
        true => out::json(&told)?,
        false => out::data(shown(&told).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// What would be decided, as whoever has the servers tells it.
pub(super) async fn ask(reach: &Reach, supposed: &Supposed) -> Result<Told, Failure> {
    reach.ask(&Question::Explain(supposed.clone())).await
}

fn shown(told: &Told) -> String {
    let Told { server, kind, name, effect, outcome, because, step, .. } = told;
    let mut text = format!(
        "{}/{} ({kind}): {effect}\n  outcome  {}\n  because  {}\n  step     {step}\n",
        visible(server),
        visible(name),
        in_words(outcome),
        visible(because),
    );
    text += &format!("  tags     {}\n", visible(&told.tags.join(", ")));
    if told.read_only {
        text += "  reads    it only reads\n";
    }
    if !told.offered {
        text += "  offered  not by its server, as far as is known\n";
    }
    if let Some(hidden) = &told.hidden {
        text += &format!("  hidden   {}\n", visible(hidden));
    }
    for layer in ["admin", "server", "user", "project"] {
        let said = told.said.iter().filter(|said| said.layer == layer);
        let lines: Vec<_> = said.map(spoken).collect();
        match lines.is_empty() {
            true => text += &format!("{layer}: nothing\n"),
            false => text += &format!("{layer}:\n{}", lines.concat()),
        }
    }
    text
}

fn in_words(outcome: &str) -> &str {
    match outcome {
        "allowed" => "it passes",
        "client-approves" => "it passes: the client asks its user by itself",
        "form" => "the client shows its user a form",
        "operator" => "it waits for an operator: `toolgate approvals`",
        "refused" => "it is refused",
        other => other,
    }
}

fn spoken(said: &crate::control::Spoken) -> String {
    let remark = match (said.decided, said.holds) {
        (true, _) => "  <- decides",
        (false, true) => "",
        (false, false) => "  (does not hold)",
    };
    let (rule, origin) = (visible(&said.rule), visible(&said.origin));
    format!("  {:5}  {rule}  {origin}{remark}\n", said.effect)
}

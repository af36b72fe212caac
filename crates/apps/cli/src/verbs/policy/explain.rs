//! `policy explain`: shows the decision about one call and all rules that match it.

use std::io;

use clap::Args;
use serde_json::json;

use crate::cli_context::CliContext;
use crate::complete::{server_names, tool_names};
use crate::control::{ControlRequest, ExplanationJson, HypotheticalCallJson};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result};
use crate::out::{self, escape_invisible};
use crate::server_access::ServerAccess;

/// The client name that is assumed if none is given.
pub(super) const DEFAULT_CLIENT: &str = "some-client";

/// The arguments of `toolgate policy explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is called. The approver is shown for a client that supports forms.\n\n\
    Examples:\n  toolgate policy explain git push\n  \
    toolgate policy explain filesystem write_file --arguments '{\"path\":\"/etc/hosts\"}'\n  \
    toolgate policy explain git push --client claude-code --json"
)]
pub struct PolicyExplainArgs {
    /// Name of the server
    #[arg(add = server_names())]
    server: String,
    /// Name of the tool on its server
    #[arg(value_name = "TOOL", add = tool_names())]
    name: String,
    /// Arguments of the call as a JSON object, or - to read them from stdin
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Name that the calling client reports
    #[arg(long, value_name = "NAME", default_value = DEFAULT_CLIENT)]
    client: String,
    /// Explain a resource instead of a tool; TOOL is its URI
    #[arg(long, group = "kind")]
    resource: bool,
    /// Explain a prompt instead of a tool
    #[arg(long, group = "kind")]
    prompt: bool,
    /// Explain an extension method instead of a tool; --arguments are its params
    #[arg(long, group = "kind")]
    method: bool,
}

pub async fn run(context: &CliContext, options: &PolicyExplainArgs) -> Result<Exit> {
    let words = [options.arguments.clone()];
    let arguments = crate::arguments::read(&words, &json!({}), io::stdin().lock())?;
    let kind = match options {
        PolicyExplainArgs { resource: true, .. } => "resource",
        PolicyExplainArgs { prompt: true, .. } => "prompt",
        PolicyExplainArgs { method: true, .. } => "method",
        _ => "tool",
    };
    let hypothetical = HypotheticalCallJson {
        server: options.server.clone(),
        kind: kind.to_owned(),
        name: options.name.clone(),
        client: options.client.clone(),
        profile: context.profile_or_default().to_owned(),
        arguments,
    };
    let question = ControlRequest::Explain(hypothetical);
    let idle = EmbeddedGatewayOptions::idle();
    let explanation: ExplanationJson = ServerAccess::ask_once(context, idle, &question).await?;
    out::print(context, &explanation, || explanation_text(&explanation))
}

fn explanation_text(explanation: &ExplanationJson) -> String {
    let ExplanationJson { server, kind, name, effect, outcome, because, step, .. } = explanation;
    let mut text = format!(
        "{}/{} ({kind}): {effect}\n  outcome  {}\n  because  {}\n  step     {step}\n",
        escape_invisible(server),
        escape_invisible(name),
        outcome_text(outcome),
        escape_invisible(because),
    );
    text += &format!("  tags     {}\n", escape_invisible(&explanation.tags.join(", ")));
    if explanation.read_only {
        text += "  reads    read-only\n";
    }
    if !explanation.offered {
        text += "  offered  no, as far as is known\n";
    }
    if let Some(hidden) = &explanation.hidden {
        text += &format!("  hidden   {}\n", escape_invisible(hidden));
    }
    for layer in ["admin", "server", "user", "project"] {
        let rules = explanation.said.iter().filter(|rule| rule.layer == layer);
        let lines: Vec<_> = rules.map(rule_text).collect();
        match lines.is_empty() {
            true => text += &format!("{layer}: no rules\n"),
            false => text += &format!("{layer}:\n{}", lines.concat()),
        }
    }
    text
}

fn outcome_text(outcome: &str) -> &str {
    match outcome {
        "client_approves" => "allowed; the client asks its user itself",
        "form" => "the client asks its user with a form",
        "operator" => "waits for an operator (`toolgate approvals`)",
        other => other,
    }
}

fn rule_text(explained: &crate::control::ExplainedRuleJson) -> String {
    let remark = match (explained.decided, explained.holds) {
        (true, _) => "  <- decides",
        (false, true) => "",
        (false, false) => "  (does not apply)",
    };
    let (rule, origin) = (escape_invisible(&explained.rule), escape_invisible(&explained.origin));
    format!("  {:5}  {rule}  {origin}{remark}\n", explained.effect)
}

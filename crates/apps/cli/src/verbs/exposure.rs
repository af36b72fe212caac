//! `exposure`: shows what callers with a profile see, under which names, at what cost, and why.
//!
//! It prints the decisions of the gate and starts no server.

use clap::Args;
use serde_json::{Value, json};

use super::search::print_unknown_servers;
use crate::cli_context::CliContext;
use crate::control::{
    ControlRequest, DecisionJson, ExposureReport, ExposureRowJson, TokenSum, TokenTotals,
};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out::{self, TextTable, escape_invisible};
use crate::server_access::ServerAccess;
use crate::suggest::did_you_mean;

/// The arguments of `toolgate exposure`.
#[derive(Debug, Args)]
#[command(after_help = "No server is started: the output shows what servers last offered.\n\n\
    Examples:\n  toolgate exposure\n  toolgate exposure --as research --json\n  \
    toolgate exposure --why sample/echo\n  toolgate exposure --totals")]
pub struct ExposureArgs {
    /// Explain one capability, by its name, alias, exposed name or SERVER/NAME
    #[arg(long, value_name = "NAME")]
    why: Option<String>,
    /// Show only the token cost of the tool list, in each exposure mode
    #[arg(long, conflicts_with = "why")]
    totals: bool,
}

pub async fn run(context: &CliContext, options: &ExposureArgs) -> Result<Exit> {
    let question = ControlRequest::Exposure { profile: context.profile_or_default().to_owned() };
    let idle = EmbeddedGatewayOptions::idle();
    let exposed: ExposureReport = ServerAccess::ask_once(context, idle, &question).await?;
    if let Some(name) = &options.why {
        return explain(context, &exposed, name);
    }
    print_notes(&exposed);
    if options.totals {
        return out::print(context, &exposed.totals, || totals_table(&exposed.totals));
    }
    let rows: Vec<_> = exposed.lines.iter().map(row_json).collect();
    out::print(context, &rows, || {
        format!("{}\n{}", table(&exposed.lines), totals_table(&exposed.totals))
    })
}

/// Returns a row in its stable JSON form; `--why` shows more.
fn row_json(line: &ExposureRowJson) -> Value {
    let ExposureRowJson { server, kind, name, exposed, visible, because, tokens, decision, .. } =
        line;
    json!({
        "server": server, "kind": kind, "name": name, "exposed": exposed,
        "visible": visible, "because": because, "tokens": tokens, "decision": decision,
    })
}

/// Prints which servers are not shown, and other findings.
fn print_notes(exposed: &ExposureReport) {
    print_unknown_servers(&exposed.unknown);
    for unknown in exposed.unknown.iter().filter(|it| !it.usable) {
        out::remark(&format!("{} is not shown: {}", unknown.server, unknown.state));
    }
    out::print_notes(&exposed.findings);
}

fn table(lines: &[ExposureRowJson]) -> String {
    let headings = ["SERVER", "KIND", "NAME", "EXPOSED", "CALLS", "TOKENS", "BECAUSE"];
    let mut table = TextTable::new(&headings).with_states(4);
    for line in lines {
        let ExposureRowJson { server, kind, name, exposed, visible, because, .. } = line;
        let exposed = exposed.as_deref().filter(|_| *visible).unwrap_or("(hidden)");
        let decision = line.decision.as_ref().filter(|_| *visible);
        let effect = decision.map_or("–", |decision| &decision.effect);
        table.row([server, kind, name, exposed, effect, &line.tokens.to_string(), because]);
    }
    table.text()
}

/// Returns a table of the tokens of all tools, per server and in total, in each exposure mode.
fn totals_table(totals: &TokenTotals) -> String {
    let mut table = TextTable::new(&["TOKENS OF", "TOOLS", "SENT", "ALL", "SEARCH", "AUTO"]);
    for sum in totals.servers.iter().chain([&totals.list]) {
        let TokenSum { server, tools, all, search, auto, sent } = sum;
        let profile = || format!("profile {} ({})", totals.profile, totals.expose);
        let whose = server.clone().unwrap_or_else(profile);
        let numbers = [*sent, *all, *search, *auto].map(|number| number.to_string());
        table.row([whose, tools.to_string()].into_iter().chain(numbers));
    }
    table.text()
}

/// Explains every capability that a name matches; several servers may have the same name.
fn explain(context: &CliContext, exposed: &ExposureReport, name: &str) -> Result<Exit> {
    let found: Vec<_> = exposed.lines.iter().filter(|line| matches_name(line, name)).collect();
    if found.is_empty() {
        return Err(unknown_name_error(exposed, name));
    }
    out::print(context, &found, || {
        found.iter().map(|line| explanation_text(line)).collect::<Vec<_>>().join("\n")
    })
}

fn matches_name(line: &ExposureRowJson, name: &str) -> bool {
    let of_server = name.strip_prefix(&line.server).and_then(|rest| rest.strip_prefix('/'));
    let named = |name: &str| line.name == name || line.alias.as_deref() == Some(name);
    named(name) || line.exposed.as_deref() == Some(name) || of_server.is_some_and(named)
}

fn explanation_text(line: &ExposureRowJson) -> String {
    let seen = match (&line.exposed, line.visible, line.listed) {
        (Some(exposed), true, true) => format!("listed as {exposed}"),
        (Some(exposed), true, false) => format!("found by search as {exposed}"),
        _ => "hidden".to_owned(),
    };
    let mut text = escape_invisible(&format!("{}/{} ({})", line.server, line.name, line.kind));
    text.push('\n');
    for (label, value) in [
        ("seen", seen),
        ("because", line.because.clone()),
        ("calls", line.decision.as_ref().map(decision_text).unwrap_or_default()),
        ("alias", line.alias.clone().unwrap_or_default()),
        ("tags", line.tags.join(", ")),
        ("tokens", line.tokens.to_string()),
    ] {
        if !value.is_empty() {
            text += &format!("  {label:<8} {}\n", escape_invisible(&value));
        }
    }
    text
}

/// Returns the decision about a call, with the approver and the reason.
fn decision_text(decision: &DecisionJson) -> String {
    let DecisionJson { effect, because, via, .. } = decision;
    let approver = match via.as_deref() {
        Some("client") => ", approved in the client",
        Some("elicitation") => ", approved with a form in the client",
        Some(_) => ", approved by the operator",
        None => "",
    };
    format!("{effect}{approver}: {because}")
}

/// Returns the error for an unknown name, with similar names or servers without known capabilities.
fn unknown_name_error(exposed: &ExposureReport, name: &str) -> CliError {
    let names = exposed.lines.iter().flat_map(|line| {
        let whole = format!("{}/{}", line.server, line.name);
        [Some(line.name.clone()), line.alias.clone(), line.exposed.clone(), Some(whole)]
    });
    let known: Vec<_> = names.flatten().collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    let unknown = exposed.unknown.iter().filter(|it| it.usable);
    let unknown: Vec<_> = unknown.map(|it| it.server.as_str()).collect();
    let otherwise = match &unknown[..] {
        [] => "run `toolgate exposure` to list all capabilities".to_owned(),
        unknown => format!(
            "run `toolgate exposure` to list all known capabilities; those of {} are not known yet",
            unknown.join(", ")
        ),
    };
    cli_error!(CallUnknown, "no capability named `{name}`")
        .hint(did_you_mean(name, &known, otherwise))
}

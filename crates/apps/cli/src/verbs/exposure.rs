//! `exposure`: what callers with a profile see, under which names, at what cost, and why.
//!
//! It prints what the gate decided, and starts no server.

use clap::Args;
use serde_json::{Value, json};
use toolgate_host::config::nearest;

use super::search::tell_unknown;
use crate::context::Context;
use crate::control::{Decision, Exposed, Line, Question, Sum, Totals};
use crate::exit::{Exit, Failure};
use crate::out::{self, Cut, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(after_help = "No server is started: what they offered last is shown.\n\n\
    Examples:\n  toolgate exposure\n  toolgate exposure --as research --json\n  \
    toolgate exposure --why sample/echo\n  toolgate exposure --totals")]
pub struct Exposure {
    /// Explain one capability: by its own name, its alias, the name it is seen under, or SERVER/NAME
    #[arg(long, value_name = "NAME")]
    why: Option<String>,
    /// Show what the list of tools costs, as it is sent and as it could be, and nothing else
    #[arg(long, conflicts_with = "why")]
    totals: bool,
}

pub async fn run(context: &Context, options: &Exposure) -> Result<Exit, Failure> {
    let terms = Terms { idle: true, ..Terms::default() };
    let reach = Reach::find(context, terms).await?;
    let question = Question::Exposure { profile: context.seeing().to_owned() };
    let exposed = reach.ask::<Exposed>(&question).await;
    reach.close().await;
    let exposed = exposed?;
    match &options.why {
        Some(name) => explain(context, &exposed, name)?,
        None if options.totals => show_totals(context, &exposed)?,
        None => show(context, &exposed)?,
    }
    Ok(Exit::Done)
}

fn show(context: &Context, exposed: &Exposed) -> Result<(), Failure> {
    tell(exposed);
    match context.json {
        true => out::json(&exposed.lines.iter().map(shape).collect::<Vec<_>>()),
        false => {
            let (lines, sums) = (table(&exposed.lines), totals(&exposed.totals));
            out::data(format!("{lines}\n{sums}").as_bytes())
        }
    }
}

/// The stable shape; `--why` tells more.
fn shape(line: &Line) -> Value {
    let Line { server, kind, name, exposed, visible, because, tokens, decision, .. } = line;
    json!({
        "server": server, "kind": kind, "name": name, "exposed": exposed,
        "visible": visible, "because": because, "tokens": tokens, "decision": decision,
    })
}

fn show_totals(context: &Context, exposed: &Exposed) -> Result<(), Failure> {
    tell(exposed);
    match context.json {
        true => out::json(&exposed.totals),
        false => out::data(totals(&exposed.totals).as_bytes()),
    }
}

/// What is beside the data.
fn tell(exposed: &Exposed) {
    tell_unknown(&exposed.unknown);
    for unknown in exposed.unknown.iter().filter(|it| !it.usable) {
        let (server, state) = (visible(&unknown.server), visible(&unknown.state));
        out::note(&format!("{} nothing is shown of {server}: {state}", out::cyan("note:")));
    }
    out::remarks(&exposed.findings);
}

fn table(lines: &[Line]) -> String {
    let headings = ["SERVER", "KIND", "NAME", "EXPOSED", "CALLS", "TOKENS", "BECAUSE"];
    let mut table = Table::new(&headings).soft(2, Cut::End).soft(3, Cut::End).soft(6, Cut::End);
    for line in lines {
        table.row([
            visible(&line.server),
            line.kind.clone(),
            visible(&line.name),
            seen_as(line),
            effect(line),
            line.tokens.to_string(),
            visible(&line.because),
        ]);
    }
    table.fitted()
}

/// What the tools cost, of each server and in all, in each way they could be exposed.
fn totals(totals: &Totals) -> String {
    let mut table = Table::new(&["TOKENS OF", "TOOLS", "SENT", "ALL", "SEARCH", "AUTO"]);
    for sum in totals.servers.iter().chain([&totals.list]) {
        let Sum { server, tools, all, search, auto, sent } = sum;
        let whose = server.as_deref().map_or_else(
            || format!("profile {} ({})", visible(&totals.profile), totals.expose),
            visible,
        );
        let numbers = [*sent, *all, *search, *auto].map(|number| number.to_string());
        table.row([whose, tools.to_string()].into_iter().chain(numbers));
    }
    table.text()
}

fn seen_as(line: &Line) -> String {
    match &line.exposed {
        Some(exposed) if line.visible => visible(exposed),
        _ => "(hidden)".to_owned(),
    }
}

/// What a call would be decided as, in a word.
fn effect(line: &Line) -> String {
    match &line.decision {
        Some(decision) if line.visible => decision.effect.clone(),
        _ => "–".to_owned(),
    }
}

/// Explains what is meant by a name: more than one where several servers have it.
fn explain(context: &Context, exposed: &Exposed, name: &str) -> Result<(), Failure> {
    let found: Vec<_> = exposed.lines.iter().filter(|line| is_meant(line, name)).collect();
    if found.is_empty() {
        return Err(unknown(exposed, name));
    }
    if context.json {
        return out::json(&found);
    }
    let explained: Vec<_> = found.iter().map(|line| explained(line)).collect();
    out::data(explained.join("\n").as_bytes())
}

fn is_meant(line: &Line, name: &str) -> bool {
    let of_server = name.strip_prefix(&line.server).and_then(|rest| rest.strip_prefix('/'));
    let named = |name: &str| line.name == name || line.alias.as_deref() == Some(name);
    named(name) || line.exposed.as_deref() == Some(name) || of_server.is_some_and(named)
}

fn explained(line: &Line) -> String {
    let (server, name) = (visible(&line.server), visible(&line.name));
    let seen = match (&line.exposed, line.visible, line.listed) {
        (Some(exposed), true, true) => format!("listed as {}", visible(exposed)),
        (Some(exposed), true, false) => format!("found by searching, as {}", visible(exposed)),
        _ => "hidden".to_owned(),
    };
    let alias = match &line.alias {
        Some(alias) => format!("  alias    {}\n", visible(alias)),
        None => String::new(),
    };
    let tags = match &line.tags[..] {
        [] => String::new(),
        tags => format!("  tags     {}\n", visible(&tags.join(", "))),
    };
    let decided = line.decision.as_ref().map(decided).unwrap_or_default();
    format!(
        "{server}/{name} ({})\n  seen     {seen}\n  because  {}\n{decided}{alias}{tags}  tokens   {}\n",
        line.kind,
        visible(&line.because),
        line.tokens,
    )
}

/// What a call would be decided as, and why.
fn decided(decision: &Decision) -> String {
    let Decision { effect, because, via, .. } = decision;
    let asked = match via.as_deref() {
        Some("client") => ", approved by the client itself",
        Some("elicitation") => ", in a client that shows forms",
        Some(_) => ", of whoever runs the gateway",
        None => "",
    };
    format!("  calls    {effect}{asked}: {}\n", visible(because))
}

/// Nothing has this name; which are near, and of which servers nothing is known.
fn unknown(exposed: &Exposed, name: &str) -> Failure {
    let known: Vec<_> = exposed
        .lines
        .iter()
        .flat_map(|line| {
            let whole = format!("{}/{}", line.server, line.name);
            [Some(line.name.clone()), line.alias.clone(), line.exposed.clone(), Some(whole)]
        })
        .flatten()
        .collect();
    let known: Vec<_> = known.iter().map(String::as_str).collect();
    let unknown = exposed.unknown.iter().filter(|it| it.usable);
    let unknown: Vec<_> = unknown.map(|it| it.server.as_str()).collect();
    let hint = match (nearest(name, &known), &unknown[..]) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "`toolgate exposure` lists everything".to_owned(),
        (None, unknown) => format!(
            "`toolgate exposure` lists everything that is known; of {} nothing is yet",
            unknown.join(", ")
        ),
    };
    Failure::failed(format!("find anything named `{name}`")).hint(hint)
}

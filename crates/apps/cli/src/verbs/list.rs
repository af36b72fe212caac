//! `list`: every declared server, where it is declared, and how it stands.
//!
//! With `--offline` only files are read: nothing is started, no state is opened, no network is used.
//! Otherwise servers are brought up in parallel, and whoever takes too long is named.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use toolgate_host::{Entry, Standing, TransportSpec};
use toolgate_model::{Origin, Scope, shown_args, shown_url};

use crate::context::Context;
use crate::control::{Finding, Overview, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Cut, Spinner, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

/// How long servers may take to answer, and how long their end may take: five seconds in all.
const ANSWERS: Duration = Duration::from_millis(4600);
const GOODBYE: Duration = Duration::from_millis(400);
/// How much sooner the gateway is to answer than we stop listening.
const MARGIN: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "Waits five seconds for servers at most, and says who did not answer.\n\n\
    Examples:\n  toolgate list\n  toolgate list --offline --json")]
pub struct List {
    /// Read the files and nothing else: start no server, use no network
    #[arg(long)]
    offline: bool,
}

/// One server: the stable shape of `list --json`.
#[derive(Debug, Serialize)]
pub struct Row {
    pub name: String,
    pub enabled: bool,
    pub transport: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub scope: Scope,
    pub origin: String,
    pub shadows: Vec<String>,
    /// The file and line, as they are told to people.
    #[serde(skip)]
    pub place: String,
    /// The same of whom it wins over.
    #[serde(skip)]
    pub losers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Row {
    /// What may be shown of an entry: no value of a variable, a header or a login.
    pub fn of(entry: &Entry) -> Self {
        let spec = &entry.spec;
        let (command, args, url) = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let command = shown_args(std::slice::from_ref(&stdio.command)).concat();
                (Some(command), Some(shown_args(&stdio.args)), None)
            }
            TransportSpec::Http(http) => (None, None, Some(shown_url(&http.url))),
            TransportSpec::BuiltIn => (None, None, None),
        };
        Self {
            name: spec.name.to_string(),
            enabled: entry.standing != Standing::Disabled,
            transport: spec.transport.as_str(),
            command,
            args,
            url,
            scope: entry.origin.scope,
            origin: entry.origin.to_string(),
            shadows: entry.shadows.iter().map(ToString::to_string).collect(),
            place: place(&entry.origin),
            losers: entry.shadows.iter().map(|shadow| place(&shadow.origin)).collect(),
            state: None,
            reason: None,
        }
    }

    /// What it starts or where it connects, on one line.
    pub fn target(&self) -> String {
        let words = self.command.iter().chain(self.args.iter().flatten());
        let words: Vec<_> = words.map(|word| quoted(word)).collect();
        match &self.url {
            Some(url) => visible(url),
            None => words.join(" "),
        }
    }
}

/// A file and its line: from where the person is, or from his home.
fn place(origin: &Origin) -> String {
    let Some(file) = &origin.file else { return origin.to_string() };
    let home = std::env::home_dir().unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let shown = match (file.strip_prefix(here), file.strip_prefix(home)) {
        (Ok(inside), _) => inside.to_owned(),
        (_, Ok(inside)) => Path::new("~").join(inside),
        _ => file.to_path_buf(),
    };
    format!("{}:{}", visible(&shown.display().to_string()), origin.line)
}

fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"".contains(c));
    if plain { visible(word) } else { format!("{:?}", visible(word)) }
}

pub async fn run(context: &Context, options: &List) -> Result<Exit, Failure> {
    // Which of two entries for the same server counts depends on who has consent.
    let plan = match options.offline {
        true => context.options()?.read_files()?,
        false => context.setup().await?.plan().clone(),
    };
    let mut rows: Vec<_> = plan.entries.iter().map(Row::of).collect();
    let found: Vec<_> = plan.diagnostics.iter().map(Finding::from).collect();
    out::faults(&found, context.verbose);
    if options.offline || !rows.iter().any(|row| row.enabled) {
        print(context, &rows)?;
        return Ok(Exit::Done);
    }
    let reach = connected(context, &mut rows).await?;
    print(context, &rows)?;
    late(&rows);
    if let Some(reach) = reach {
        // Whoever does not end by himself ends with this process.
        let _ = tokio::time::timeout(GOODBYE, reach.close()).await;
    }
    Ok(Exit::Done)
}

/// Brings the servers up, and says of each row how it stands.
async fn connected(context: &Context, rows: &mut [Row]) -> Result<Option<Reach>, Failure> {
    let deadline = Instant::now() + ANSWERS;
    let spinner = Spinner::new("waiting for servers");
    let terms = Terms { quiet: true, ..Terms::default() };
    let found = tokio::time::timeout(ANSWERS, Reach::find(context, terms)).await;
    let Ok(reach) = found else {
        drop(spinner);
        out::note("the gateway of this home did not answer in time");
        return Ok(None);
    };
    let reach = reach?;
    let left = deadline.saturating_duration_since(Instant::now());
    let wait_ms = left.saturating_sub(MARGIN).as_millis().try_into().unwrap_or(u64::MAX);
    let question = Question::Servers { wait_ms };
    let answer = tokio::time::timeout(left, reach.ask::<Overview>(&question)).await;
    drop(spinner);
    match answer {
        Ok(overview) => overlay(&overview?, rows),
        Err(_) => out::note("the gateway of this home did not answer in time"),
    }
    Ok(Some(reach))
}

/// A gateway that reads other files knows others of the same names: those do not count.
fn overlay(overview: &Overview, rows: &mut [Row]) {
    let known: HashMap<_, _> =
        overview.servers.iter().map(|server| ((&server.name, &server.origin), server)).collect();
    for row in rows {
        let server = known.get(&(&row.name, &row.origin));
        row.state = server.map(|server| server.state.clone());
        row.reason = server.and_then(|server| server.reason.clone());
    }
}

/// Says who did not answer in time, and who is not known to the gateway.
fn late(rows: &[Row]) {
    let of = |chosen: &dyn Fn(&Row) -> bool| {
        let names: Vec<_> =
            rows.iter().filter(|row| chosen(row)).map(|it| visible(&it.name)).collect();
        names.join(", ")
    };
    let waits = |row: &Row| matches!(row.state.as_deref(), Some("connecting" | "not-started"));
    let late = of(&waits);
    if !late.is_empty() {
        out::note(&format!("did not answer within 5 seconds: {late}"));
        out::note(&format!("{} `toolgate doctor` finds out why", out::cyan("hint:")));
    }
    let unknown = of(&|row: &Row| row.state.is_none() && row.enabled);
    if !unknown.is_empty() {
        out::note(&format!("not served by the gateway of this home: {unknown}"));
    }
}

fn print(context: &Context, rows: &[Row]) -> Result<(), Failure> {
    if context.json {
        return out::json(&rows);
    }
    if rows.is_empty() {
        out::note("no server is declared; `toolgate add NAME COMMAND` declares one");
        return Ok(());
    }
    out::data(table(rows).fitted().as_bytes())
}

fn table(rows: &[Row]) -> Table {
    let connected = rows.iter().any(|row| row.state.is_some());
    let standing = if connected { "STATE" } else { "ENABLED" };
    let mut table = Table::new(&["NAME", standing, "TRANSPORT", "TARGET", "SCOPE", "ORIGIN"])
        .soft(3, Cut::End)
        .soft(5, Cut::Start);
    for row in rows {
        let enabled = if row.enabled { "yes" } else { "no" };
        let standing = match (&row.state, connected) {
            (Some(state), _) => state.clone(),
            (None, true) if row.enabled => "-".to_owned(),
            (None, true) => "disabled".to_owned(),
            (None, false) => enabled.to_owned(),
        };
        table.row([
            visible(&row.name),
            standing,
            row.transport.to_owned(),
            row.target(),
            row.scope.to_string(),
            row.place.clone(),
        ]);
        if let Some(reason) = &row.reason {
            table.remark(visible(reason));
        }
        for loser in &row.losers {
            table.remark(format!("wins over {loser}"));
        }
    }
    table
}

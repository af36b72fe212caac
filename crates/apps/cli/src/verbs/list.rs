//! `list`: lists every declared server, with its state and the file that declares it.
//!
//! With `--offline` only config files are read: nothing is started, no state is opened, no network
//! is used. Otherwise servers are connected in parallel, and those that take too long are named.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use toolgate_host::{PlanEntry, StartStatus, TransportSpec};
use toolgate_model::{ConfigScope, Origin, redact_args, redact_url};

use crate::cli_context::CliContext;
use crate::control::{ConfigFinding, ControlRequest, ServersReport};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Exit};
use crate::out::{self, Spinner, TextTable, TruncatedEnd, escape_invisible};
use crate::server_access::ServerAccess;

/// How long to wait for servers; together with `CLOSE_TIMEOUT` five seconds.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(4600);
/// How long to wait for servers to stop.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(400);
/// How much earlier than our own timeout the gateway must answer.
const ANSWER_MARGIN: Duration = Duration::from_millis(100);

/// The arguments of `toolgate list`.
#[derive(Debug, Args)]
#[command(
    after_help = "Waits at most five seconds, and names the servers that did not answer.\n\n\
    Examples:\n  toolgate list\n  toolgate list --offline --json"
)]
pub struct ListArgs {
    /// Only read config files, without starting servers or using the network
    #[arg(long)]
    offline: bool,
}

/// One server in the stable output of `list --json`.
#[derive(Debug, Serialize)]
pub struct ListedServerJson {
    pub name: String,
    pub enabled: bool,
    pub transport: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub scope: ConfigScope,
    pub origin: String,
    pub shadows: Vec<String>,
    /// The file and line for display.
    #[serde(skip)]
    pub place: String,
    /// The file and line of each declaration that it takes precedence over.
    #[serde(skip)]
    pub losers: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ListedServerJson {
    /// Creates the row of an entry, without values of variables, headers and credentials.
    pub fn of(entry: &PlanEntry) -> Self {
        let spec = &entry.spec;
        let (command, args, url) = match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                let command = redact_args(std::slice::from_ref(&stdio.command)).concat();
                (Some(command), Some(redact_args(&stdio.args)), None)
            }
            TransportSpec::Http(http) => (None, None, Some(redact_url(&http.url))),
            TransportSpec::BuiltIn => (None, None, None),
        };
        Self {
            name: spec.name.to_string(),
            enabled: entry.start_status != StartStatus::Disabled,
            transport: spec.transport.as_str(),
            command,
            args,
            url,
            scope: entry.origin.scope,
            origin: entry.origin.to_string(),
            shadows: entry.shadows.iter().map(ToString::to_string).collect(),
            place: display_origin(&entry.origin),
            losers: entry.shadows.iter().map(|shadow| display_origin(&shadow.origin)).collect(),
            state: None,
            reason: None,
        }
    }

    /// Returns its command line or URL.
    pub fn target(&self) -> String {
        let words = self.command.iter().chain(self.args.iter().flatten());
        let words: Vec<_> = words.map(|word| quote_word(word)).collect();
        match &self.url {
            Some(url) => escape_invisible(url),
            None => words.join(" "),
        }
    }
}

/// Returns a file and line for display, relative to the current folder or to the user's home.
fn display_origin(origin: &Origin) -> String {
    let Some(file) = &origin.file else { return origin.to_string() };
    let home = std::env::home_dir().unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    let shown = match (file.strip_prefix(here), file.strip_prefix(home)) {
        (Ok(inside), _) => inside.to_owned(),
        (_, Ok(inside)) => Path::new("~").join(inside),
        _ => file.to_path_buf(),
    };
    format!("{}:{}", escape_invisible(&shown.display().to_string()), origin.line)
}

fn quote_word(word: &str) -> String {
    let plain =
        !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"".contains(c));
    if plain { escape_invisible(word) } else { format!("{:?}", escape_invisible(word)) }
}

pub async fn run(context: &CliContext, options: &ListArgs) -> Result<Exit, CliError> {
    // Consent decides which of two entries for the same server is in effect.
    let plan = match options.offline {
        true => context.setup_options()?.read_files()?,
        false => context.load_setup().await?.plan().clone(),
    };
    let mut rows: Vec<_> = plan.entries.iter().map(ListedServerJson::of).collect();
    let found: Vec<_> = plan.diagnostics.iter().map(ConfigFinding::from).collect();
    out::print_findings_summary(&found, context.verbose);
    if options.offline || !rows.iter().any(|row| row.enabled) {
        print(context, &rows)?;
        return Ok(Exit::Done);
    }
    let access = connect_servers(context, &mut rows).await?;
    print(context, &rows)?;
    print_late_servers(&rows);
    if let Some(access) = access {
        // Servers that do not stop in time end with this process.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, access.close()).await;
    }
    Ok(Exit::Done)
}

/// Connects the servers and sets the state of each row.
async fn connect_servers(
    context: &CliContext,
    rows: &mut [ListedServerJson],
) -> Result<Option<ServerAccess>, CliError> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let spinner = Spinner::new("waiting for servers");
    let gateway_options =
        EmbeddedGatewayOptions { quiet: true, ..EmbeddedGatewayOptions::default() };
    let found =
        tokio::time::timeout(ANSWER_TIMEOUT, ServerAccess::find(context, gateway_options)).await;
    let Ok(access) = found else {
        drop(spinner);
        out::note("the gateway that serves this home did not answer in time");
        return Ok(None);
    };
    let access = access?;
    let left = deadline.saturating_duration_since(Instant::now());
    let wait_ms = left.saturating_sub(ANSWER_MARGIN).as_millis().try_into().unwrap_or(u64::MAX);
    let question = ControlRequest::Servers { wait_ms };
    let answer = tokio::time::timeout(left, access.ask::<ServersReport>(&question)).await;
    drop(spinner);
    match answer {
        Ok(overview) => apply_states(&overview?, rows),
        Err(_) => out::note("the gateway that serves this home did not answer in time"),
    }
    Ok(Some(access))
}

/// Sets the state of each row. Rows match by name and origin, because a gateway that reads other
/// files may have other servers of the same names.
fn apply_states(overview: &ServersReport, rows: &mut [ListedServerJson]) {
    let known: HashMap<_, _> =
        overview.servers.iter().map(|server| ((&server.name, &server.origin), server)).collect();
    for row in rows {
        let server = known.get(&(&row.name, &row.origin));
        row.state = server.map(|server| server.state.clone());
        row.reason = server.and_then(|server| server.reason.clone());
    }
}

/// Prints the servers that did not answer in time, and those that the gateway does not serve.
fn print_late_servers(rows: &[ListedServerJson]) {
    let of = |chosen: &dyn Fn(&ListedServerJson) -> bool| {
        let names: Vec<_> =
            rows.iter().filter(|row| chosen(row)).map(|it| escape_invisible(&it.name)).collect();
        names.join(", ")
    };
    let waits =
        |row: &ListedServerJson| matches!(row.state.as_deref(), Some("connecting" | "not-started"));
    let late = of(&waits);
    if !late.is_empty() {
        out::note(&format!("did not answer within 5 seconds: {late}"));
        out::note(&format!("{} run `toolgate doctor` to find out why", out::cyan("hint:")));
    }
    let unknown = of(&|row: &ListedServerJson| row.state.is_none() && row.enabled);
    if !unknown.is_empty() {
        out::note(&format!("not served by the running gateway: {unknown}"));
    }
}

fn print(context: &CliContext, rows: &[ListedServerJson]) -> Result<(), CliError> {
    if context.json {
        return out::json(&rows);
    }
    if rows.is_empty() {
        out::note("no servers are declared; run `toolgate add NAME COMMAND` to declare one");
        return Ok(());
    }
    out::data(table(rows).text_for_terminal().as_bytes())
}

fn table(rows: &[ListedServerJson]) -> TextTable {
    let connected = rows.iter().any(|row| row.state.is_some());
    let standing = if connected { "STATE" } else { "ENABLED" };
    let mut table = TextTable::new(&["NAME", standing, "TRANSPORT", "TARGET", "SCOPE", "ORIGIN"])
        .truncatable(3, TruncatedEnd::End)
        .truncatable(5, TruncatedEnd::Start);
    for row in rows {
        let enabled = if row.enabled { "yes" } else { "no" };
        let standing = match (&row.state, connected) {
            (Some(state), _) => state.clone(),
            (None, true) if row.enabled => "-".to_owned(),
            (None, true) => "disabled".to_owned(),
            (None, false) => enabled.to_owned(),
        };
        table.row([
            escape_invisible(&row.name),
            standing,
            row.transport.to_owned(),
            row.target(),
            row.scope.to_string(),
            row.place.clone(),
        ]);
        if let Some(reason) = &row.reason {
            table.remark(escape_invisible(reason));
        }
        for loser in &row.losers {
            table.remark(format!("wins over {loser}"));
        }
    }
    table
}

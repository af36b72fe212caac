//! `list`: lists every server, with its state, the reason of the state, and the file that declares
//! it.
//!
//! With `--offline` only config files are read: nothing is started, no state is opened, no network
//! is used. Otherwise servers are connected in parallel, and those that take too long are named.

use std::time::{Duration, Instant};

use clap::Args;
use toolgate_host::{Plan, Setup};

use crate::cli_context::CliContext;
use crate::control::{ConfigFinding, ControlRequest, ServerRow, ServersReport};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result, error_chain};
use crate::out::{self, Spinner, TextTable};
use crate::server_access::{RunningGateway, ServerAccess};

/// How long to wait for servers to stop; part of the time given with `--wait`.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// How much longer than `--wait` the gateway may take to answer.
const GRACE: Duration = Duration::from_secs(1);

/// The arguments of `toolgate list`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate list\n  toolgate list --offline --json")]
pub struct ListArgs {
    /// Only read config files, without starting servers or using the network
    #[arg(long)]
    offline: bool,
    /// Seconds to wait for servers that are starting
    #[arg(long, value_name = "SECONDS", default_value_t = 5, conflicts_with = "offline")]
    wait: u32,
}

pub async fn run(context: &CliContext, options: &ListArgs) -> Result<Exit> {
    let mut files = context.setup_options()?;
    // Consent decides which of two entries for the same server is in effect, and an entry that
    // leads back to the running gateway is none.
    let plan = match options.offline {
        true => toolgate_host::read_files(&files)?,
        false => {
            let running = RunningGateway::find_compatible(context).await;
            let is_running = running.is_some();
            files.own_endpoints.extend(running.and_then(|gateway| gateway.info.endpoint));
            match Setup::load(files).await {
                Ok(setup) => setup.plan().clone(),
                // The running gateway still serves what the files said before.
                Err(error) if is_running => {
                    out::alert(&error_chain(&error));
                    Plan::default()
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    let mut report = ServersReport {
        servers: plan.entries.iter().map(ServerRow::from_entry).collect(),
        ..ServersReport::default()
    };
    let mut findings: Vec<_> = plan.diagnostics.iter().map(ConfigFinding::from).collect();
    let mut access = None;
    if !options.offline {
        let wait = Duration::from_secs(options.wait.into());
        match tokio::time::timeout(wait + GRACE, connect_servers(context, wait)).await {
            Ok(connected) => {
                let (found, gateway) = connected?;
                access = Some(gateway);
                merge(&mut report, &mut findings, found);
            }
            Err(_) => out::alert("the gateway that serves this home did not answer in time"),
        }
    }
    report.servers.sort_by(|one, other| one.name.cmp(&other.name));
    out::print_findings_summary(&findings, context.verbose);
    out::print_notes(&report.notes);
    let only_built_in = report.servers.iter().all(|row| row.transport == "builtin");
    if plan.entries.is_empty() && only_built_in {
        out::note("no servers are declared; run `toolgate add NAME COMMAND` to declare one");
    }
    if !report.servers.is_empty() || context.json {
        out::print(context, &report, || servers_table(&report.servers))?;
    }
    if let Some(access) = access {
        print_late_servers(&report.servers, options.wait);
        // Servers that do not stop in time end with this process.
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, access.close()).await;
    }
    Ok(Exit::Done)
}

/// Connects the servers and returns their states.
async fn connect_servers(
    context: &CliContext,
    wait: Duration,
) -> Result<(ServersReport, ServerAccess)> {
    let deadline = Instant::now() + wait.saturating_sub(CLOSE_TIMEOUT);
    let _spinner = Spinner::new("waiting for servers");
    let options = EmbeddedGatewayOptions { quiet: true, ..EmbeddedGatewayOptions::default() };
    let access = ServerAccess::find(context, options).await?;
    let left = deadline.saturating_duration_since(Instant::now());
    let wait_ms = left.as_millis().try_into().unwrap_or(u64::MAX);
    let report = access.ask(&ControlRequest::Servers { wait_ms }).await;
    if report.is_err() {
        access.close().await;
    }
    Ok((report?, access))
}

/// Adds the gateway's answer to the declared servers. Rows match by name and origin, because a
/// gateway that reads other files may have other servers of the same names.
fn merge(report: &mut ServersReport, findings: &mut Vec<ConfigFinding>, found: ServersReport) {
    (report.discovery, report.notes) = (found.discovery, found.notes);
    for served in found.servers {
        let is_it = |row: &&mut ServerRow| row.name == served.name && row.origin == served.origin;
        match report.servers.iter_mut().find(is_it) {
            Some(row) => *row = ServerRow { shadows: std::mem::take(&mut row.shadows), ..served },
            None => report.servers.push(served),
        }
    }
    let known: Vec<_> = findings.iter().map(|finding| finding.text.clone()).collect();
    findings.extend(found.findings.into_iter().filter(|it| !known.contains(&it.text)));
}

/// Prints the servers that did not answer in time, and those that the gateway does not serve.
fn print_late_servers(rows: &[ServerRow], seconds: u32) {
    let of = |chosen: &dyn Fn(&ServerRow) -> bool| {
        let names = rows.iter().filter(|row| chosen(row)).map(|row| row.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let late = of(&|row| matches!(row.state.as_deref(), Some("connecting" | "not_started")));
    if !late.is_empty() {
        out::note(&format!("did not answer within {}: {late}", out::count(seconds, "second")));
        out::hint("run `toolgate doctor` to find out why");
    }
    let unknown = of(&|row| row.state.is_none() && row.enabled);
    if !unknown.is_empty() {
        out::note(&format!("not served by the running gateway: {unknown}"));
    }
}

fn servers_table(rows: &[ServerRow]) -> String {
    let headings = ["NAME", "STATE", "TRANSPORT", "TOOLS", "ORIGIN", "REASON"];
    let mut table = TextTable::new(&headings).with_states(1);
    for row in rows {
        let enabled = if row.enabled { "enabled" } else { "disabled" };
        table.row([
            &row.name,
            row.state.as_deref().unwrap_or(enabled),
            &row.transport,
            &row.offer.as_ref().map_or("-".to_owned(), |offer| offer.tools.to_string()),
            &short_origin(&row.origin),
            row.reason.as_deref().unwrap_or_default(),
        ]);
        for shadow in &row.shadows {
            table.remark(&format!("wins over {}", short_origin(shadow)));
        }
    }
    table.text()
}

/// Returns a file and line for display, relative to the current folder or to the user's home.
fn short_origin(origin: &str) -> String {
    let line = origin.rsplit_once(':').filter(|(line, _)| line.contains(':'));
    let line = line.map_or(origin, |(line, _)| line);
    let here = std::env::current_dir().unwrap_or_default();
    let home = std::env::home_dir().unwrap_or_default();
    for (folder, instead) in [(here, ""), (home, "~/")] {
        if let Some(inside) = line.strip_prefix(&format!("{}/", folder.display())) {
            return format!("{instead}{inside}");
        }
    }
    line.to_owned()
}

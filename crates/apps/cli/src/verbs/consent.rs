//! `consent`: shows the servers that a project's files would start, and gives or revokes consent.
//!
//! Consent is always explicit: the user confirms at the terminal, or passes `--yes`.

use clap::Args;
use serde::Serialize;
use toolgate_host::{ConfigScope, PlanEntry, Setup, StartStatus};

use super::get::find_entry;
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::ControlRequest;
use crate::exit::{Exit, Result, cli_error};
use crate::operator::authorize;
use crate::out::{self, TextTable, escape_invisible};
use crate::prompt;
use crate::server_access::RunningGateway;

/// The arguments of `toolgate consent`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate consent\n  toolgate consent filesystem\n  \
    toolgate consent filesystem --revoke")]
pub struct ConsentArgs {
    /// Name of the server [default: list servers with and without consent]
    #[arg(add = server_names())]
    server: Option<String>,
    /// Revoke the consent
    #[arg(long, requires = "server", conflicts_with = "yes")]
    revoke: bool,
    /// Give consent without a prompt
    #[arg(long, short, requires = "server")]
    yes: bool,
}

pub async fn run(context: &CliContext, options: &ConsentArgs) -> Result<Exit> {
    let mut setup = context.load_setup().await?;
    match &options.server {
        None => list(context, &setup).await,
        Some(name) if options.revoke => revoke(context, &mut setup, name).await,
        Some(name) => give_consent(context, &mut setup, name, options.yes).await,
    }
}

/// Returns true if a project declares the server and it is not disabled, so it needs consent.
fn is_proposed(entry: &&PlanEntry) -> bool {
    entry.origin.scope == ConfigScope::Project && entry.start_status != StartStatus::Disabled
}

/// One server in the list of consents, as JSON.
#[derive(Debug, Serialize)]
struct ConsentJson {
    name: String,
    /// `waiting`, `given`, or `unused` if no file that is read here declares the server this way.
    consent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    starts: String,
}

impl ConsentJson {
    fn from_entry(entry: &PlanEntry) -> Self {
        let waits = entry.start_status == StartStatus::NeedsConsent;
        Self {
            name: entry.spec.name.to_string(),
            consent: if waits { "waiting" } else { "given" },
            origin: Some(entry.origin.to_string()),
            starts: entry.consent_text(),
        }
    }
}

async fn list(context: &CliContext, setup: &Setup) -> Result<Exit> {
    let proposed: Vec<_> = setup.plan().entries.iter().filter(is_proposed).collect();
    let given = setup.consents().await?;
    let unused = given.iter().filter(|consent| {
        let meant = |entry: &&&PlanEntry| entry.spec.name == consent.server;
        let entry = proposed.iter().find(meant);
        entry.is_none_or(|entry| entry.identity().to_string() != consent.digest)
    });
    let unused = unused.map(|consent| ConsentJson {
        name: consent.server.to_string(),
        consent: "unused",
        origin: None,
        starts: consent.shown.clone(),
    });
    let lines = proposed.iter().map(|entry| ConsentJson::from_entry(entry));
    let lines: Vec<_> = lines.chain(unused).collect();
    let none = "no project file declares a server, and there are no consents";
    out::print_list(context, &lines, none, |lines| {
        let mut table = TextTable::new(&["NAME", "CONSENT", "ORIGIN"]).with_states(1);
        for ConsentJson { name, consent, origin, .. } in lines {
            let origin = origin.as_deref().unwrap_or("not declared here, or changed since");
            table.row([name, *consent, origin]);
        }
        table.text()
    })
}

async fn give_consent(
    context: &CliContext,
    setup: &mut Setup,
    name: &str,
    yes: bool,
) -> Result<Exit> {
    let entry = find_entry(setup.plan(), name)?;
    if entry.start_status != StartStatus::NeedsConsent {
        let why = match (is_proposed(&entry), &entry.start_status) {
            (_, StartStatus::Disabled) => "it is disabled",
            (true, _) => "it already has your consent",
            (false, _) => "your own config declares it",
        };
        out::note(&format!("{name} needs no consent: {why}"));
        return Ok(Exit::Done);
    }
    if context.json {
        out::json(&ConsentJson::from_entry(entry))?;
    } else {
        out::line(&format!(
            "{name}, declared in {}:",
            escape_invisible(&entry.origin.to_string())
        ))?;
        out::line(&entry.consent_text())?;
    }
    let hint = format!("check the server, then run `toolgate consent {name} --yes`");
    let refused = format!("no consent was given to `{name}`");
    if !yes {
        let action = format!("allow `{name}` to start");
        prompt::confirm("Allow it to start like this?", &action, &hint, &refused)?;
    }
    authorize(context, setup.plan(), &format!("consent to {name}")).await?;
    setup.consent(name).await?;
    out::note(&format!("{name} may now start as shown; any change needs new consent"));
    notify_gateway(context, name).await;
    Ok(Exit::Done)
}

async fn revoke(context: &CliContext, setup: &mut Setup, name: &str) -> Result<Exit> {
    authorize(context, setup.plan(), &format!("revoke the consent to {name}")).await?;
    if !setup.revoke(name).await? {
        return Err(cli_error!(ConsentNone, "`{name}` has no consent")
            .hint("run `toolgate consent` to list consents"));
    }
    out::note(&format!("{name} may no longer start"));
    notify_gateway(context, name).await;
    Ok(Exit::Done)
}

/// Makes a running gateway reload the server, and prints the result.
pub(super) async fn notify_gateway(context: &CliContext, name: &str) {
    let Some(gateway) = RunningGateway::find_compatible(context).await else { return };
    let question = ControlRequest::Reconsider { server: name.to_owned() };
    let reloaded = gateway.ask(&question).await.map(|answer| answer.get() == "true");
    let pid = gateway.info.pid;
    out::note(&match reloaded {
        Ok(true) => format!("the running gateway (process {pid}) reloaded it"),
        Ok(false) => {
            format!("the running gateway (process {pid}) does not read this project's files")
        }
        Err(failure) => {
            format!("the running gateway (process {pid}) must be restarted: {failure}")
        }
    });
}

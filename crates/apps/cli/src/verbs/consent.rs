//! `consent`: what a project's files would start, and whether they may.
//!
//! Nothing is allowed in silence: a person at a terminal says yes, or a script says `--yes`.

use std::io::{self, BufRead as _, Write as _};

use clap::Args;
use serde::Serialize;
use toolgate_gateway::ClientProcesses;
use toolgate_host::{Entry, Scope, Setup, Standing};

use crate::context::Context;
use crate::control::Question;
use crate::exit::{Exit, Failure};
use crate::operator::{OperatorRules, Operators, Requester};
use crate::out::{self, Table, visible};
use crate::reach::Living;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate consent\n  toolgate consent filesystem\n  \
    toolgate consent filesystem --revoke")]
pub struct Consent {
    /// Which server; without one, shows what waits for consent and what has it
    server: Option<String>,
    /// Take the consent back
    #[arg(long, requires = "server", conflicts_with = "yes")]
    revoke: bool,
    /// Consent without being asked
    #[arg(long, short, requires = "server")]
    yes: bool,
}

pub async fn run(context: &Context, options: &Consent) -> Result<Exit, Failure> {
    let mut setup = context.setup().await?;
    match &options.server {
        None => list(context, &setup).await,
        Some(name) if options.revoke => revoke(context, &mut setup, name).await,
        Some(name) => give(context, &mut setup, name, options.yes).await,
    }
}

/// Whether an entry's start is the user's to allow.
fn is_proposed(entry: &&Entry) -> bool {
    entry.origin.scope == Scope::Project && entry.standing != Standing::Disabled
}

/// One line of the list.
#[derive(Debug, Serialize)]
struct Line {
    name: String,
    /// `waiting`, `given`, or `unused`: given, for what no file read here declares.
    consent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    starts: String,
}

impl Line {
    fn proposed(entry: &Entry) -> Self {
        let waits = entry.standing == Standing::NeedsConsent;
        Self {
            name: entry.spec.name.to_string(),
            consent: if waits { "waiting" } else { "given" },
            origin: Some(entry.origin.to_string()),
            starts: entry.consent_text(),
        }
    }

    fn unused(consent: &toolgate_host::Consent) -> Self {
        let (name, starts) = (consent.server.to_string(), consent.shown.clone());
        Self { name, consent: "unused", origin: None, starts }
    }
}

async fn list(context: &Context, setup: &Setup) -> Result<Exit, Failure> {
    let proposed: Vec<_> = setup.plan().entries.iter().filter(is_proposed).collect();
    let given = setup.consents().await?;
    let unused = given.iter().filter(|consent| {
        let meant = |entry: &&&Entry| entry.spec.name == consent.server;
        let entry = proposed.iter().find(meant);
        entry.is_none_or(|entry| entry.identity().to_string() != consent.digest)
    });
    let lines = proposed.iter().map(|entry| Line::proposed(entry)).chain(unused.map(Line::unused));
    let lines: Vec<_> = lines.collect();
    if context.json {
        out::json(&lines)?;
    } else if lines.is_empty() {
        out::note("no file of this project proposes a server, and no consent was given");
    } else {
        out::data(table(&lines).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new(&["NAME", "CONSENT", "ORIGIN"]);
    for line in lines {
        let origin = line.origin.as_deref().unwrap_or("not declared here, or otherwise by now");
        table.row([visible(&line.name), line.consent.to_owned(), visible(origin)]);
    }
    table.text()
}

async fn give(
    context: &Context,
    setup: &mut Setup,
    name: &str,
    yes: bool,
) -> Result<Exit, Failure> {
    let entry = setup.entry(name)?;
    if entry.standing != Standing::NeedsConsent {
        let why = match (is_proposed(&entry), &entry.standing) {
            (_, Standing::Disabled) => "it is disabled",
            (true, _) => "it has your consent already",
            (false, _) => "you declared it yourself",
        };
        out::note(&format!("{name} needs no consent: {why}"));
        return Ok(Exit::Done);
    }
    if context.json {
        out::json(&Line::proposed(entry))?;
    } else {
        out::line(&format!("{name}, proposed by {}:", visible(&entry.origin.to_string())))?;
        out::line(&entry.consent_text())?;
    }
    if !yes && !agreed(name)? {
        return Err(Failure::failed(format!("start `{name}`: you did not consent")));
    }
    authorize(context, setup, &format!("consent to {name}")).await?;
    setup.consent(name).await?;
    out::note(&format!("{name} may start now, as shown; a change of it asks again"));
    tell_owner(context, name).await;
    Ok(Exit::Done)
}

async fn revoke(context: &Context, setup: &mut Setup, name: &str) -> Result<Exit, Failure> {
    authorize(context, setup, &format!("revoke the consent to {name}")).await?;
    if !setup.revoke(name).await? {
        return Err(Failure::failed(format!("take back the consent to `{name}`: there is none"))
            .hint("`toolgate consent` shows what has consent"));
    }
    out::note(&format!("{name} may no longer start"));
    tell_owner(context, name).await;
    Ok(Exit::Done)
}

/// Consents are the operator's. A living gateway knows which processes are clients of it; without
/// one the passphrase decides.
async fn authorize(context: &Context, setup: &Setup, change: &str) -> Result<(), Failure> {
    if let Some(living) = Living::at(context).await {
        return living.ask(&Question::Authorize { change: change.to_owned() }).await.map(|_| ());
    }
    let operators = Operators::of(&context.home, ClientProcesses::default());
    let needed = operators.has_passphrase();
    let asker = Requester::here(if needed { context.typed.passphrase()? } else { None });
    operators.identify(OperatorRules::from(setup.plan()), &asker).await.map(|_| ())
}

/// A living gateway takes the server as it stands now.
pub(super) async fn tell_owner(context: &Context, name: &str) {
    let Some(living) = Living::of(context).await else { return };
    let question = Question::Reconsider { server: name.to_owned() };
    let taken = living.ask(&question).await.map(|answer| answer.get() == "true");
    let pid = living.owner.pid;
    out::note(&match taken {
        Ok(true) => format!("the gateway of process {pid} has taken it up"),
        Ok(false) => format!("the gateway of process {pid} does not read this project's files"),
        Err(failure) => format!("the gateway of process {pid} must be started again: {failure}"),
    });
}

fn agreed(name: &str) -> Result<bool, Failure> {
    if !out::can_ask() {
        return Err(Failure::refused(format!("consent to `{name}`: nobody can be asked here"))
            .hint(format!("look at it, then say so: toolgate consent {name} --yes")));
    }
    let mut stderr = io::stderr();
    let _ = write!(stderr, "Let it start, exactly like this? [y/N] ").and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::failed(format!("read your answer: {error}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

//! `approvals`: the calls that wait for somebody's word, and what was granted for good.
//!
//! The gateway that owns the home is asked if it lives, so that a call which waits goes on at once;
//! where none does, what waits in the home is decided all the same. Nothing is called from here.

pub(super) mod reach;
mod shown;

use clap::{Args, Subcommand, ValueEnum};
use toolgate_host::approvals::Choice;

use crate::context::Context;
use crate::control::{Approving, Given, News, Outcome, Pending, Shown, no_call};
use crate::exit::{Exit, Failure};
use crate::operator::typed_passphrase;
use crate::out::{self, Table, visible};
use reach::Desk;

/// How long one question for news waits.
const NEWS_MS: u64 = 30_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate approvals\n  toolgate approvals show 4k7m2q9xwd\n  \
    toolgate approvals approve 4k7m2q9xwd\n  \
    toolgate approvals approve 4k7m2q9xwd --always tool\n  toolgate approvals watch")]
pub struct Approvals {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the calls that wait for approval
    #[command(visible_alias = "ls", after_help = "Example: toolgate approvals list --json")]
    List,
    /// Show everything about one of them, every character of its arguments
    #[command(after_help = "Example: toolgate approvals show 4k7m2q9xwd")]
    Show {
        /// Which
        id: String,
    },
    /// Let a call be made
    #[command(after_help = "Examples:\n  toolgate approvals approve 4k7m2q9xwd\n  \
        toolgate approvals approve 4k7m2q9xwd --always server")]
    Approve {
        /// Which
        id: String,
        /// Do not ask again about this tool as it is now, or about all tools its server has now
        #[arg(long, value_enum, value_name = "WHAT")]
        always: Option<Always>,
    },
    /// Do not let a call be made
    #[command(after_help = "Example: toolgate approvals deny 4k7m2q9xwd")]
    Deny {
        /// Which
        id: String,
    },
    /// Take a grant back, or all of a server
    #[command(after_help = "Examples:\n  toolgate approvals revoke 8s3nfe0ypa\n  \
        toolgate approvals revoke --server filesystem")]
    Revoke {
        /// Which grant
        #[arg(required_unless_present = "server")]
        id: Option<String>,
        /// All grants for tools of this server
        #[arg(long, value_name = "SERVER", conflicts_with = "id")]
        server: Option<String>,
    },
    /// Show what was granted and holds
    #[command(after_help = "Example: toolgate approvals grants --json")]
    Grants,
    /// Forget that a caller has read untrusted content, before the hour is over
    #[command(after_help = "Examples:\n  toolgate approvals untaint\n  \
        toolgate approvals untaint key:ci")]
    Untaint {
        /// Whose, as CALLER in `approvals list` says it; everybody's if left out
        caller: Option<String>,
    },
    /// Set the operator's passphrase, which every approval then needs
    #[command(after_help = "Examples:\n  toolgate approvals passphrase\n  \
        toolgate approvals passphrase --remove")]
    Passphrase {
        /// Have none any more
        #[arg(long)]
        remove: bool,
    },
    /// Show calls as they begin to wait, until interrupted; with --json a line each
    #[command(after_help = "Example: toolgate approvals watch")]
    Watch,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Always {
    /// This tool, as it is defined now
    Tool,
    /// Every tool its server has now
    Server,
}

pub async fn run(context: &Context, options: &Approvals) -> Result<Exit, Failure> {
    let desk = Desk::find(context).await?;
    let done = done(context, &desk, options).await;
    desk.close().await?;
    done
}

async fn done(context: &Context, desk: &Desk, options: &Approvals) -> Result<Exit, Failure> {
    match options.what.as_ref().unwrap_or(&What::List) {
        What::List => list(context, desk).await,
        What::Show { id } => show(context, desk, id).await,
        What::Approve { id, always } => {
            let choice = match always {
                None => Choice::Once,
                Some(Always::Tool) => Choice::Tool,
                Some(Always::Server) => Choice::Server,
            };
            settle(context, desk, id, choice).await
        }
        What::Deny { id } => settle(context, desk, id, Choice::Deny).await,
        What::Revoke { id: Some(id), .. } => {
            let missing = format!("take back `{id}`: there is no such grant");
            revoke(context, desk, &Approving::Revoke { id: id.clone() }, missing).await
        }
        What::Revoke { server, .. } => {
            let server = server.clone().unwrap_or_default();
            let asked = Approving::RevokeServer { server: server.clone() };
            let missing = format!("take back what is granted for `{server}`: nothing is");
            revoke(context, desk, &asked, missing).await
        }
        What::Grants => grants(context, desk).await,
        What::Untaint { caller } => untaint(context, desk, caller.as_deref()).await,
        What::Passphrase { remove } => passphrase(context, desk, *remove).await,
        What::Watch => watch(context, desk).await,
    }
}

async fn list(context: &Context, desk: &Desk) -> Result<Exit, Failure> {
    let calls: Vec<Shown> = desk.ask(&Approving::List).await?;
    if context.json {
        let calls: Vec<Pending> = calls.into_iter().map(Pending::from).collect();
        out::json(&calls)?;
    } else if calls.is_empty() {
        out::note("no call waits for approval");
    } else {
        out::data(table(&calls).as_bytes())?;
        out::note("`toolgate approvals show ID` shows all of a call");
    }
    Ok(Exit::Done)
}

fn table(calls: &[Shown]) -> String {
    let mut table = Table::new(&["ID", "SERVER", "TOOL", "CLIENT", "CALLER", "EXPIRES"]);
    for call in calls {
        let columns = [&call.id, &call.server, &call.tool, &call.client, &call.caller];
        let [id, server, tool, client, caller] = columns.map(|text| visible(text));
        table.row([id, server, tool, client, caller, call.expires.clone()]);
    }
    table.text()
}

async fn show(context: &Context, desk: &Desk, id: &str) -> Result<Exit, Failure> {
    let calls: Vec<Shown> = desk.ask(&Approving::List).await?;
    let Some(found) = calls.into_iter().find(|shown| shown.id == id) else {
        return Err(no_call("show", id, "none waits: it may be decided, expired or taken back"));
    };
    match context.json {
        true => out::json(&found)?,
        false => out::data(shown::text(&found).as_bytes())?,
    }
    Ok(Exit::Done)
}

async fn settle(context: &Context, desk: &Desk, id: &str, choice: Choice) -> Result<Exit, Failure> {
    let question = Approving::Settle { id: id.to_owned(), choice };
    let outcome: Outcome = desk.ask(&question).await?;
    if context.json {
        out::json(&outcome)?;
        return Ok(Exit::Done);
    }
    // Whoever approves sees what he approved, whole.
    out::data(shown::text(&outcome.call).as_bytes())?;
    out::note(&shown::followed(&outcome));
    Ok(Exit::Done)
}

async fn revoke(
    context: &Context,
    desk: &Desk,
    question: &Approving,
    missing: String,
) -> Result<Exit, Failure> {
    let revoked: u64 = desk.ask(question).await?;
    if context.json {
        out::json(&serde_json::json!({ "revoked": revoked }))?;
    }
    if revoked == 0 {
        return Err(
            Failure::failed(missing).hint("`toolgate approvals grants` shows what is granted")
        );
    }
    if !context.json {
        let what = if revoked == 1 { "grant is" } else { "grants are" };
        out::note(&format!("{revoked} {what} taken back; such calls are asked about again"));
    }
    Ok(Exit::Done)
}

async fn grants(context: &Context, desk: &Desk) -> Result<Exit, Failure> {
    let grants: Vec<Given> = desk.ask(&Approving::Grants).await?;
    if context.json {
        out::json(&grants)?;
    } else if grants.is_empty() {
        out::note("nothing is granted");
    } else {
        out::data(shown::grants(&grants).as_bytes())?;
    }
    Ok(Exit::Done)
}

async fn untaint(context: &Context, desk: &Desk, caller: Option<&str>) -> Result<Exit, Failure> {
    let cleared = desk.untaint(caller).await?;
    if context.json {
        out::json(&serde_json::json!({ "cleared": cleared }))?;
    } else if cleared.is_empty() {
        out::note("no such caller has read untrusted content within the last hour");
    } else {
        let cleared: Vec<_> = cleared.iter().map(|caller| visible(caller)).collect();
        out::note(&format!("what {} has read counts no more", cleared.join(", ")));
    }
    Ok(Exit::Done)
}

/// The present passphrase is asked for first, where there is one; then the new one.
async fn passphrase(context: &Context, desk: &Desk, remove: bool) -> Result<Exit, Failure> {
    if desk.has_passphrase() {
        context.typed.passphrase()?;
    }
    let new = if remove { None } else { Some(new_passphrase(context)?) };
    desk.set_passphrase(new).await?;
    out::note(match remove {
        true => "there is no operator passphrase any more",
        false => "approvals and other changes need this passphrase from now on",
    });
    Ok(Exit::Done)
}

/// The new one, from the terminal twice; from standard input it is the second line.
fn new_passphrase(context: &Context) -> Result<String, Failure> {
    let missing = || {
        Failure::usage("set a passphrase: none was given").hint(
            "run this at a terminal, or pipe in two lines with --passphrase-stdin: the present \
             passphrase, or an empty line, and the new one",
        )
    };
    if let Some(new) = context.typed.second_line()? {
        return Ok(new);
    }
    let new = typed_passphrase("New operator passphrase: ")?.ok_or_else(missing)?;
    match typed_passphrase("The same again: ")? {
        Some(again) if again == new => Ok(new),
        _ => Err(Failure::usage("set a passphrase: the two are not the same")),
    }
}

/// Tells of every call once.
async fn watch(context: &Context, desk: &Desk) -> Result<Exit, Failure> {
    let mut known: Vec<String> = Vec::new();
    let mut since = None;
    loop {
        let News { version, calls } =
            desk.ask(&Approving::News { since, wait_ms: NEWS_MS }).await?;
        for shown in calls.iter().filter(|shown| !known.contains(&shown.id)) {
            match context.json {
                true => out::line(&shown::line(shown)?)?,
                false => out::data(format!("{}\n", shown::text(shown)).as_bytes())?,
            }
        }
        known = calls.into_iter().map(|shown| shown.id).collect();
        since = Some(version);
    }
}

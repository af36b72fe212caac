//! `pins`: what was approved of servers' definitions, what changed since, and approving it.
//!
//! A gateway that is up is asked, so that what is approved holds at once; without one, what servers
//! offered last is compared. No server is started. What is approved is what was shown.

mod shown;

use std::io::{self, BufRead as _, Write as _};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::context::Context;
use crate::control::{PinLine, Pinning, Pins as Found, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(
    after_help = "States: pinned (as approved), changed (withheld until approved), new (never \
    approved), gone (approved and not offered any more).\n\n\
    Examples:\n  toolgate pins\n  toolgate pins diff filesystem\n  \
    toolgate pins approve sample echo"
)]
pub struct Pins {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show how every definition stands
    #[command(after_help = "Example: toolgate pins list filesystem --json")]
    List(Which),
    /// Show what changed since it was approved
    #[command(after_help = "Example: toolgate pins diff sample echo")]
    Diff(Which),
    /// Show what changed and approve it as it is now
    #[command(after_help = "Examples:\n  toolgate pins approve filesystem\n  \
        toolgate pins approve sample echo --yes\n\n\
        A definition with findings is approved only by its name, by a second answer at the \
        terminal, or with --with-findings.")]
    Approve {
        /// Whose definitions
        server: String,
        /// The name of one of them
        name: Option<String>,
        /// Approve without being asked
        #[arg(long, short)]
        yes: bool,
        /// Approve also what is suspicious, without its name
        #[arg(long)]
        with_findings: bool,
    },
    /// Forget what was approved
    #[command(after_help = "Example: toolgate pins forget filesystem")]
    Forget {
        /// Whose definitions
        server: String,
        /// The name of one of them
        name: Option<String>,
    },
}

#[derive(Debug, Args, Default)]
struct Which {
    /// Whose definitions; without one, all
    server: Option<String>,
    /// The name of one of them
    name: Option<String>,
}

pub async fn run(context: &Context, options: &Pins) -> Result<Exit, Failure> {
    let terms = Terms { idle: true, quiet: true, ..Terms::default() };
    let reach = Reach::find(context, terms).await?;
    let done = match &options.what {
        None => list(context, &reach, &Which::default()).await,
        Some(What::List(which)) => list(context, &reach, which).await,
        Some(What::Diff(which)) => diff(context, &reach, which).await,
        Some(What::Approve { server, name, yes, with_findings }) => {
            let which = Which { server: Some(server.clone()), name: name.clone() };
            let said = Said { yes: *yes, findings: *with_findings || name.is_some() };
            approve(context, &reach, &which, said).await
        }
        Some(What::Forget { server, name }) => {
            forget(context, &reach, server, name.as_deref()).await
        }
    };
    reach.close().await;
    done
}

async fn found(reach: &Reach, which: &Which) -> Result<Found, Failure> {
    let asked = Pinning::Show { server: which.server.clone(), name: which.name.clone() };
    let found: Found = reach.ask(&Question::Pins { asked }).await?;
    found.problems.iter().for_each(|problem| out::note(&visible(problem)));
    match (&which.server, &which.name) {
        (Some(server), Some(name)) if found.lines.is_empty() => {
            Err(Failure::failed(format!("find anything named `{name}` of `{server}`"))
                .hint(format!("`toolgate pins list {server}` lists what there is")))
        }
        _ => Ok(found),
    }
}

async fn list(context: &Context, reach: &Reach, which: &Which) -> Result<Exit, Failure> {
    let found = found(reach, which).await?;
    if context.json {
        out::json(&found.lines)?;
    } else if found.lines.is_empty() {
        out::note("no definition is known, and none was approved");
    } else {
        let mut table = Table::new(&["SERVER", "KIND", "NAME", "STATE", "APPROVED BY", "AT"]);
        for line in &found.lines {
            let PinLine { server, kind, name, state, by, pinned_at, .. } = line;
            let by = visible(by.as_deref().unwrap_or("-"));
            let at = pinned_at.clone().unwrap_or("-".to_owned());
            table.row([visible(server), kind.clone(), visible(name), state.clone(), by, at]);
        }
        out::data(table.text().as_bytes())?;
    }
    Ok(Exit::Done)
}

async fn diff(context: &Context, reach: &Reach, which: &Which) -> Result<Exit, Failure> {
    let mut found = found(reach, which).await?;
    found.lines.retain(|line| line.state != "pinned");
    if context.json {
        out::json(&found.lines)?;
    } else if found.lines.is_empty() {
        out::note("everything is as it was approved");
    } else {
        out::data(shown::text(&found.lines).as_bytes())?;
    }
    Ok(Exit::Done)
}

/// What was said on the command line in advance.
#[derive(Debug, Clone, Copy)]
struct Said {
    /// Approve what is shown.
    yes: bool,
    /// Approve it although it is suspicious.
    findings: bool,
}

async fn approve(
    context: &Context,
    reach: &Reach,
    which: &Which,
    said: Said,
) -> Result<Exit, Failure> {
    let server = which.server.clone().unwrap_or_default();
    let mut found = found(reach, which).await?;
    if !found.lines.iter().any(|line| line.digest.is_some()) {
        return Err(Failure::failed(format!(
            "approve what `{server}` offers: nothing is known of it"
        ))
        .hint(format!("have it listed first: toolgate discover {server}")));
    }
    found.lines.retain(|line| matches!(line.state.as_str(), "changed" | "new"));
    if found.lines.is_empty() {
        if context.json {
            out::json(&json!({ "approved": 0, "definitions": [] }))?;
        }
        out::note("everything is approved as it is now");
        return Ok(Exit::Done);
    }
    if !context.json {
        out::data(shown::text(&found.lines).as_bytes())?;
    }
    confirm(&server, &found.lines, said)?;
    let asked = Pinning::Approve { server, name: which.name.clone(), seen: found.seen };
    let approved: usize = reach.ask(&Question::Pins { asked }).await?;
    if context.json {
        out::json(&json!({ "approved": approved, "definitions": found.lines }))?;
    }
    out::note(&format!("approved {approved} definition(s) as they are now"));
    Ok(Exit::Done)
}

async fn forget(
    context: &Context,
    reach: &Reach,
    server: &str,
    name: Option<&str>,
) -> Result<Exit, Failure> {
    let name = name.map(str::to_owned);
    let asked = Pinning::Forget { server: server.to_owned(), name };
    let forgotten: u64 = reach.ask(&Question::Pins { asked }).await?;
    if forgotten == 0 {
        return Err(Failure::failed(format!(
            "forget what was approved of `{server}`: nothing was"
        ))
        .hint("`toolgate pins` lists what is approved"));
    }
    if context.json {
        out::json(&json!({ "forgotten": forgotten }))?;
    }
    out::note(&format!("forgot {forgotten} pin(s) of {}", visible(server)));
    Ok(Exit::Done)
}

/// A person at a terminal says yes, or a script has said so on its command line; and once more for
/// what is suspicious.
fn confirm(server: &str, lines: &[PinLine], said: Said) -> Result<(), Failure> {
    let declined = || Failure::failed(format!("approve what `{server}` offers: you did not"));
    if !said.yes {
        if !out::can_ask() {
            let what = format!("approve what `{server}` offers: nobody can be asked here");
            let hint = "look at what is shown, then say so with --yes";
            return Err(Failure::usage(what).hint(hint));
        }
        let question = format!("Approve {} definition(s) exactly like this?", lines.len());
        if !agreed(&question)? {
            return Err(declined());
        }
    }
    let suspicious: Vec<_> = lines.iter().filter(|line| !line.findings.is_empty()).collect();
    let Some(first) = suspicious.first().filter(|_| !said.findings) else { return Ok(()) };
    if !said.yes {
        let question = format!("{} of them have findings. Approve them too?", suspicious.len());
        return if agreed(&question)? { Ok(()) } else { Err(declined()) };
    }
    let named = if first.name.is_empty() { &first.kind } else { &first.name };
    let what = format!("approve what `{server}` offers: `{}` has findings", visible(named));
    Err(Failure::usage(what).hint(
        "read them, then name the definition, or say --with-findings; what has none can be approved \
         by its name",
    ))
}

fn agreed(question: &str) -> Result<bool, Failure> {
    let mut stderr = io::stderr();
    let asked = format!("{question} [y/N] ");
    let _ = stderr.write_all(asked.as_bytes()).and_then(|()| stderr.flush());
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::failed(format!("read your answer: {error}")))?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

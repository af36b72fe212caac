//! `pins`: shows which definitions of servers were approved and what changed since, and approves
//! changes.
//!
//! A running gateway handles the request, so that an approval takes effect at once. Without one,
//! the last known definitions are compared; no server is started. Only what was shown is approved.

mod display;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::cli_context::CliContext;
use crate::complete::{server_names, tool_names};
use crate::control::{ControlRequest, PinJson, PinReport as Found, PinRequest};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result, cli_error};
use crate::out::{self, TextTable, escape_invisible, relative_time};
use crate::prompt;
use crate::server_access::ServerAccess;

/// The arguments of `toolgate pins`.
#[derive(Debug, Args)]
#[command(
    after_help = "States: pinned (as approved), changed (withheld until approved), new (never \
    approved), gone (approved but no longer offered).\n\n\
    Examples:\n  toolgate pins\n  toolgate pins diff filesystem\n  \
    toolgate pins approve sample echo"
)]
pub struct PinsArgs {
    #[command(subcommand)]
    what: Option<PinsCommand>,
}

/// A subcommand of `toolgate pins`.
#[derive(Debug, Subcommand)]
enum PinsCommand {
    /// List all definitions and their states
    #[command(after_help = "Example: toolgate pins list filesystem --json")]
    List(PinFilterArgs),
    /// Show what changed since the approval
    #[command(after_help = "Example: toolgate pins diff sample echo")]
    Diff(PinFilterArgs),
    /// Show changes and approve them
    #[command(after_help = "Examples:\n  toolgate pins approve filesystem\n  \
        toolgate pins approve sample echo --yes\n\n\
        A definition with findings is approved only if you name it, confirm it again at the \
        terminal, or use --with-findings.")]
    Approve(PinApproveArgs),
    /// Remove approvals
    #[command(after_help = "Example: toolgate pins forget filesystem")]
    Forget {
        /// Name of the server
        #[arg(add = server_names())]
        server: String,
        /// Name of one definition [default: all definitions]
        #[arg(add = tool_names())]
        name: Option<String>,
    },
}

/// The arguments of `toolgate pins approve`.
#[derive(Debug, Args)]
struct PinApproveArgs {
    /// Name of the server
    #[arg(add = server_names())]
    server: String,
    /// Name of one definition [default: all definitions]
    #[arg(add = tool_names())]
    name: Option<String>,
    /// Approve without a prompt
    #[arg(long, short)]
    yes: bool,
    /// Also approve definitions with findings
    #[arg(long)]
    with_findings: bool,
}

/// The arguments that select definitions for `toolgate pins`.
#[derive(Debug, Args, Default)]
struct PinFilterArgs {
    /// Name of the server [default: all servers]
    #[arg(add = server_names())]
    server: Option<String>,
    /// Name of one definition [default: all definitions]
    #[arg(add = tool_names())]
    name: Option<String>,
}

pub async fn run(context: &CliContext, options: &PinsArgs) -> Result<Exit> {
    let access = ServerAccess::find(context, EmbeddedGatewayOptions::idle_and_quiet()).await?;
    let done = match &options.what {
        None => list(context, &access, &PinFilterArgs::default()).await,
        Some(PinsCommand::List(which)) => list(context, &access, which).await,
        Some(PinsCommand::Diff(which)) => diff(context, &access, which).await,
        Some(PinsCommand::Approve(which)) => approve(context, &access, which).await,
        Some(PinsCommand::Forget { server, name }) => {
            forget(context, &access, server, name.as_deref()).await
        }
    };
    access.close().await;
    done
}

async fn fetch_pins(access: &ServerAccess, which: &PinFilterArgs) -> Result<Found> {
    let asked = PinRequest::Show { server: which.server.clone(), name: which.name.clone() };
    let found: Found = access.ask(&ControlRequest::Pins { asked }).await?;
    found.problems.iter().for_each(|problem| out::note(problem));
    match (&which.server, &which.name) {
        (Some(server), Some(name)) if found.lines.is_empty() => {
            Err(cli_error!(PinUnknown, "no definition named `{name}` on `{server}`")
                .hint(format!("run `toolgate pins list {server}` to list its definitions")))
        }
        _ => Ok(found),
    }
}

async fn list(context: &CliContext, access: &ServerAccess, which: &PinFilterArgs) -> Result<Exit> {
    let found = fetch_pins(access, which).await?;
    out::print_list(context, &found.lines, "no definitions are known or approved", |lines| {
        let headings = ["SERVER", "KIND", "NAME", "STATE", "APPROVED BY", "AT"];
        let mut table = TextTable::new(&headings).with_states(3);
        for PinJson { server, kind, name, state, by, pinned_at, .. } in lines {
            let at = pinned_at.as_deref().map_or("-".to_owned(), relative_time);
            table.row([server, kind, name, state, by.as_deref().unwrap_or("-"), &at]);
        }
        table.text()
    })
}

async fn diff(context: &CliContext, access: &ServerAccess, which: &PinFilterArgs) -> Result<Exit> {
    let mut found = fetch_pins(access, which).await?;
    found.lines.retain(|line| line.state != "pinned");
    let none = "nothing changed since the approval";
    out::print_list(context, &found.lines, none, display::pins_text)
}

async fn approve(
    context: &CliContext,
    access: &ServerAccess,
    options: &PinApproveArgs,
) -> Result<Exit> {
    let (server, name) = (options.server.clone(), options.name.clone());
    let which = PinFilterArgs { server: Some(server.clone()), name: name.clone() };
    let mut found = fetch_pins(access, &which).await?;
    if !found.lines.iter().any(|line| line.digest.is_some()) {
        return Err(cli_error!(PinUnknown, "no definitions of `{server}` are known")
            .hint(format!("run `toolgate discover {server}` first")));
    }
    found.lines.retain(|line| matches!(line.state.as_str(), "changed" | "new"));
    if found.lines.is_empty() {
        let none = json!({ "approved": 0, "definitions": [] });
        return out::print_done(context, &none, "everything is already approved");
    }
    if !context.json {
        out::data(display::pins_text(&found.lines).as_bytes())?;
    }
    confirm(options, &found.lines)?;
    let asked = PinRequest::Approve { server, name, seen: found.seen };
    let approved: usize = access.ask(&ControlRequest::Pins { asked }).await?;
    let text = format!("approved {}", out::count(approved, "definition"));
    let value = json!({ "approved": approved, "definitions": found.lines });
    out::print_done(context, &value, &text)
}

async fn forget(
    context: &CliContext,
    access: &ServerAccess,
    server: &str,
    name: Option<&str>,
) -> Result<Exit> {
    let name = name.map(str::to_owned);
    let asked = PinRequest::Forget { server: server.to_owned(), name };
    let forgotten: u64 = access.ask(&ControlRequest::Pins { asked }).await?;
    if forgotten == 0 {
        return Err(cli_error!(PinUnknown, "`{server}` has no approved definitions to remove")
            .hint("run `toolgate pins` to list definitions"));
    }
    let text = format!("removed {} of {server}", out::count(forgotten, "pin"));
    out::print_done(context, &json!({ "forgotten": forgotten }), &text)
}

/// Asks the user to confirm the approval, and again for definitions with findings. Flags replace
/// the prompts.
fn confirm(options: &PinApproveArgs, lines: &[PinJson]) -> Result<()> {
    let PinApproveArgs { server, name, yes, with_findings } = options;
    let action = format!("approve the definitions of `{server}`");
    let refused = format!("not confirmed; `{server}` was not approved");
    let hint = "check the definitions, then use --yes";
    let ask = |question: String| prompt::confirm(&question, &action, hint, &refused);
    if !yes {
        ask(format!("Approve {} as shown?", out::count(lines.len(), "definition")))?;
    }
    let suspicious: Vec<_> = lines.iter().filter(|line| !line.findings.is_empty()).collect();
    let accepted = *with_findings || name.is_some();
    let Some(first) = suspicious.first().filter(|_| !accepted) else { return Ok(()) };
    if !yes {
        return ask(format!("{} of them have findings. Approve them too?", suspicious.len()));
    }
    let named = if first.name.is_empty() { &first.kind } else { &first.name };
    let named = escape_invisible(named);
    Err(cli_error!(PinFindings, "cannot approve `{server}`: `{named}` has findings")
        .hint("read the findings, then name one definition to approve, or use --with-findings"))
}

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
use crate::exit::{CliError, ErrorCode, Exit, Result};
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
    Approve {
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
    },
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
        Some(PinsCommand::Approve { server, name, yes, with_findings }) => {
            let which = PinFilterArgs { server: Some(server.clone()), name: name.clone() };
            let flags = ApproveFlags { yes: *yes, findings: *with_findings || name.is_some() };
            approve(context, &access, &which, flags).await
        }
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
    found.problems.iter().for_each(|problem| out::note(&escape_invisible(problem)));
    match (&which.server, &which.name) {
        (Some(server), Some(name)) if found.lines.is_empty() => Err(CliError::new(
            ErrorCode::PinUnknown,
            format!("no definition named `{name}` on `{server}`"),
        )
        .hint(format!("run `toolgate pins list {server}` to list its definitions"))),
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

/// The confirmations given on the command line.
#[derive(Debug, Clone, Copy)]
struct ApproveFlags {
    /// Whether to approve without a prompt.
    yes: bool,
    /// Whether to approve definitions with findings.
    findings: bool,
}

async fn approve(
    context: &CliContext,
    access: &ServerAccess,
    which: &PinFilterArgs,
    flags: ApproveFlags,
) -> Result<Exit> {
    let server = which.server.clone().unwrap_or_default();
    let mut found = fetch_pins(access, which).await?;
    if !found.lines.iter().any(|line| line.digest.is_some()) {
        return Err(CliError::new(
            ErrorCode::PinUnknown,
            format!("no definitions of `{server}` are known"),
        )
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
    confirm(&server, &found.lines, flags)?;
    let asked = PinRequest::Approve { server, name: which.name.clone(), seen: found.seen };
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
        return Err(CliError::new(
            ErrorCode::PinUnknown,
            format!("`{server}` has no approved definitions to remove"),
        )
        .hint("run `toolgate pins` to list definitions"));
    }
    let pins = out::count(forgotten, "pin");
    let text = format!("removed {pins} of {}", escape_invisible(server));
    out::print_done(context, &json!({ "forgotten": forgotten }), &text)
}

/// Asks the user to confirm the approval, and again for definitions with findings. Flags replace
/// the prompts.
fn confirm(server: &str, lines: &[PinJson], flags: ApproveFlags) -> Result<()> {
    let action = format!("approve the definitions of `{server}`");
    let ask = |question: String| match prompt::confirm(
        &question,
        &action,
        "check the definitions, then use --yes",
    )? {
        true => Ok(()),
        false => Err(CliError::new(
            ErrorCode::CliNotConfirmed,
            format!("not confirmed; `{server}` was not approved"),
        )),
    };
    if !flags.yes {
        ask(format!("Approve {} as shown?", out::count(lines.len(), "definition")))?;
    }
    let suspicious: Vec<_> = lines.iter().filter(|line| !line.findings.is_empty()).collect();
    let Some(first) = suspicious.first().filter(|_| !flags.findings) else { return Ok(()) };
    if !flags.yes {
        return ask(format!("{} of them have findings. Approve them too?", suspicious.len()));
    }
    let named = if first.name.is_empty() { &first.kind } else { &first.name };
    let message = format!("cannot approve `{server}`: `{}` has findings", escape_invisible(named));
    Err(CliError::new(ErrorCode::PinFindings, message)
        .hint("read the findings, then name one definition to approve, or use --with-findings"))
}

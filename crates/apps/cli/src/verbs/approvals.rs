//! `approvals`: lists, approves and denies pending calls, and manages grants.
//!
//! If a gateway serves the home, requests go to it, so that an approved call continues at once.
//! Otherwise the pending calls stored in the home are decided directly. This verb never calls a
//! tool.

mod display;

use clap::{Args, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;
use serde_json::json;
use toolgate_host::approvals::ApprovalChoice;

use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::{
    ApprovalControlRequest, ControlRequest, GrantJson, PendingCallJson, PendingCallsSnapshot,
    SettledCallJson, no_call_error,
};
use crate::exit::{CliError, ErrorCode, Exit, Result, cli_error};
use crate::operator::prompt_passphrase;
use crate::out::{self, TextTable, relative_time};
use crate::server_access::ServerAccess;

/// How long one request for new pending calls waits.
const WATCH_WAIT_MS: u64 = 30_000;

/// The arguments of `toolgate approvals`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate approvals\n  toolgate approvals show 4k7m2q9xwd\n  \
    toolgate approvals approve 4k7m2q9xwd\n  \
    toolgate approvals approve 4k7m2q9xwd --always tool\n  toolgate approvals watch")]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    what: Option<ApprovalsCommand>,
}

/// A subcommand of `toolgate approvals`.
#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    /// List the calls that wait for approval
    #[command(visible_alias = "ls", after_help = "Example: toolgate approvals list --json")]
    List,
    /// Show one call with its complete arguments
    #[command(after_help = "Example: toolgate approvals show 4k7m2q9xwd")]
    Show {
        /// ID of the call
        id: String,
    },
    /// Approve a call
    #[command(after_help = "Examples:\n  toolgate approvals approve 4k7m2q9xwd\n  \
        toolgate approvals approve 4k7m2q9xwd --always server")]
    Approve {
        /// ID of the call
        id: String,
        /// Also grant future calls of this tool, or of all current tools of its server
        #[arg(long, value_enum, value_name = "WHAT")]
        always: Option<AlwaysArg>,
    },
    /// Deny a call
    #[command(after_help = "Example: toolgate approvals deny 4k7m2q9xwd")]
    Deny {
        /// ID of the call
        id: String,
    },
    /// Revoke one grant, or all grants of a server
    #[command(after_help = "Examples:\n  toolgate approvals revoke 8s3nfe0ypa\n  \
        toolgate approvals revoke --server filesystem")]
    Revoke {
        /// ID of the grant
        #[arg(required_unless_present = "server")]
        id: Option<String>,
        /// Revoke all grants for tools of this server
        #[arg(long, value_name = "SERVER", conflicts_with = "id", add = server_names())]
        server: Option<String>,
    },
    /// List the grants that are in effect
    #[command(after_help = "Example: toolgate approvals grants --json")]
    Grants,
    /// Clear the mark of callers that read untrusted content, before it expires after an hour
    #[command(after_help = "Examples:\n  toolgate approvals untaint\n  \
        toolgate approvals untaint key:ci")]
    Untaint {
        /// Caller as shown in `approvals list` [default: all callers]
        caller: Option<String>,
    },
    /// Set the operator passphrase, which every change then requires: approvals, consents, grants,
    /// pins, keys and rules
    #[command(after_help = "Examples:\n  toolgate approvals passphrase\n  \
        toolgate approvals passphrase --remove")]
    Passphrase {
        /// Remove the passphrase
        #[arg(long)]
        remove: bool,
    },
    /// Show calls as they start to wait, until interrupted; one line per call with --json
    #[command(after_help = "Example: toolgate approvals watch")]
    Watch,
}

/// A value of `--always`: what to grant besides the call.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum AlwaysArg {
    /// This tool, with its current definition
    Tool,
    /// All current tools of its server
    Server,
}

pub async fn run(context: &CliContext, options: &ApprovalsArgs) -> Result<Exit> {
    let access = ServerAccess::find_for_operator(context).await?;
    let done = run_command(context, &access, options).await;
    access.close().await;
    done
}

async fn run_command(
    context: &CliContext,
    access: &ServerAccess,
    options: &ApprovalsArgs,
) -> Result<Exit> {
    match options.what.as_ref().unwrap_or(&ApprovalsCommand::List) {
        ApprovalsCommand::List => list(context, access).await,
        ApprovalsCommand::Show { id } => show(context, access, id).await,
        ApprovalsCommand::Approve { id, always } => {
            let choice = match always {
                None => ApprovalChoice::Once,
                Some(AlwaysArg::Tool) => ApprovalChoice::Tool,
                Some(AlwaysArg::Server) => ApprovalChoice::Server,
            };
            settle(context, access, id, choice).await
        }
        ApprovalsCommand::Deny { id } => settle(context, access, id, ApprovalChoice::Deny).await,
        ApprovalsCommand::Revoke { id, server } => {
            revoke(context, access, id.clone(), server.clone()).await
        }
        ApprovalsCommand::Grants => grants(context, access).await,
        ApprovalsCommand::Untaint { caller } => untaint(context, access, caller.as_deref()).await,
        ApprovalsCommand::Passphrase { remove } => passphrase(context, access, *remove).await,
        ApprovalsCommand::Watch => watch(context, access).await,
    }
}

/// Sends a request about approvals.
async fn ask<T: DeserializeOwned>(
    access: &ServerAccess,
    asked: ApprovalControlRequest,
) -> Result<T> {
    access.ask(&ControlRequest::Approvals { asked }).await
}

async fn list(context: &CliContext, access: &ServerAccess) -> Result<Exit> {
    let calls: Vec<PendingCallJson> = ask(access, ApprovalControlRequest::List).await?;
    if !calls.is_empty() {
        out::hint("run `toolgate approvals show ID` to see a complete call");
    }
    out::print_list(context, &calls, "no calls wait for approval", |calls| {
        let mut table = TextTable::new(&["ID", "SERVER", "TOOL", "CLIENT", "CALLER", "EXPIRES"]);
        for call in calls {
            let expires = relative_time(&call.expires);
            table.row([&call.id, &call.server, &call.tool, &call.client, &call.caller, &expires]);
        }
        table.text()
    })
}

async fn show(context: &CliContext, access: &ServerAccess, id: &str) -> Result<Exit> {
    let calls: Vec<PendingCallJson> = ask(access, ApprovalControlRequest::List).await?;
    let Some(found) = calls.into_iter().find(|shown| shown.id == id) else {
        return Err(no_call_error(
            "show",
            id,
            "it is not pending; it may have been decided or cancelled, or have expired",
        ));
    };
    out::print(context, &found, || display::call_text(&found))
}

async fn settle(
    context: &CliContext,
    access: &ServerAccess,
    id: &str,
    choice: ApprovalChoice,
) -> Result<Exit> {
    let question = ApprovalControlRequest::Settle { id: id.to_owned(), choice };
    let outcome: SettledCallJson = ask(access, question).await?;
    // The operator sees the complete call that was decided.
    out::print(context, &outcome, || display::call_text(&outcome.call))?;
    if !context.json {
        out::note(&display::outcome_text(&outcome));
    }
    Ok(Exit::Done)
}

async fn revoke(
    context: &CliContext,
    access: &ServerAccess,
    id: Option<String>,
    server: Option<String>,
) -> Result<Exit> {
    let server = server.unwrap_or_default();
    let (missing, asked) = match id {
        Some(id) => (format!("no grant with ID `{id}`"), ApprovalControlRequest::Revoke { id }),
        None => (
            format!("no grants for server `{server}`"),
            ApprovalControlRequest::RevokeServer { server },
        ),
    };
    let revoked: u64 = ask(access, asked).await?;
    if revoked == 0 {
        return Err(CliError::new(ErrorCode::ApprovalNoGrant, missing)
            .hint("run `toolgate approvals grants` to list the grants"));
    }
    let grants = out::count(revoked, "grant");
    let text = format!("revoked {grants}; such calls need approval again");
    out::print_done(context, &json!({ "revoked": revoked }), &text)
}

async fn grants(context: &CliContext, access: &ServerAccess) -> Result<Exit> {
    let grants: Vec<GrantJson> = ask(access, ApprovalControlRequest::Grants).await?;
    out::print_list(context, &grants, "there are no grants", display::grants_table)
}

async fn untaint(
    context: &CliContext,
    access: &ServerAccess,
    caller: Option<&str>,
) -> Result<Exit> {
    let caller = caller.map(str::to_owned);
    let cleared: Vec<String> = match access {
        ServerAccess::Attached(_) => access.ask(&ControlRequest::Untaint { caller }).await?,
        // Only a running gateway remembers what callers read.
        ServerAccess::Embedded(..) => Vec::new(),
    };
    let text = match &cleared[..] {
        [] => "no such caller read untrusted content within the last hour".to_owned(),
        callers => format!("cleared the untrusted-content mark of {}", callers.join(", ")),
    };
    out::print_done(context, &json!({ "cleared": cleared }), &text)
}

/// Sets or removes the passphrase. Asks for the current passphrase first, if there is one.
async fn passphrase(context: &CliContext, access: &ServerAccess, remove: bool) -> Result<Exit> {
    if access.has_passphrase() {
        context.passphrase_input.passphrase()?;
    }
    let new = if remove { None } else { Some(new_passphrase(context)?) };
    access.ask::<bool>(&ControlRequest::SetPassphrase { new }).await?;
    out::note(match remove {
        true => "removed the operator passphrase",
        false => "every change now requires this passphrase",
    });
    Ok(Exit::Done)
}

/// Asks for the new passphrase twice at the terminal, or reads it from the second line of standard
/// input.
fn new_passphrase(context: &CliContext) -> Result<String> {
    let missing = || {
        cli_error!(CliNoTerminal, "no new passphrase was given").hint(
            "run this at a terminal, or pipe in two lines with --passphrase-stdin: the current \
             passphrase or an empty line, and the new passphrase",
        )
    };
    if let Some(new) = context.passphrase_input.second_line()? {
        return Ok(new);
    }
    let new = prompt_passphrase("New operator passphrase: ")?.ok_or_else(missing)?;
    match prompt_passphrase("Repeat the passphrase: ")? {
        Some(again) if again == new => Ok(new),
        _ => Err(cli_error!(CliUsage, "the two passphrases do not match")),
    }
}

/// Prints every pending call once, until interrupted.
async fn watch(context: &CliContext, access: &ServerAccess) -> Result<Exit> {
    let mut known: Vec<String> = Vec::new();
    let mut since = None;
    loop {
        let PendingCallsSnapshot { version, calls } =
            ask(access, ApprovalControlRequest::News { since, wait_ms: WATCH_WAIT_MS }).await?;
        for shown in calls.iter().filter(|shown| !known.contains(&shown.id)) {
            match context.json {
                true => out::json_line(shown)?,
                false => out::data(format!("{}\n", display::call_text(shown)).as_bytes())?,
            }
        }
        known = calls.into_iter().map(|shown| shown.id).collect();
        since = Some(version);
    }
}

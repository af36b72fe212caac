//! `policy`: edits, checks, explains, tests and replays the rules that decide about calls.
//!
//! It starts no servers and asks for no approvals. Only `allow`, `ask` and `deny` change rules.

mod cases;
mod edit;
mod explain;
mod replay;

use clap::Subcommand;
use serde_json::json;
use toolgate_host::policy::{self, Effect};

use super::diagnostics;
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;

/// A subcommand of `toolgate policy`.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  toolgate policy deny mcp:git/push\n  toolgate policy check\n  toolgate policy explain git push\n  \
    toolgate policy test policy-cases.toml\n  toolgate policy replay --since 7d"
)]
pub enum PolicyCommand {
    /// Allow calls without approval, or remove such a rule
    #[command(after_help = "Examples:\n  toolgate policy allow 'mcp:filesystem/read_*'\n  \
        toolgate policy allow 'mcp:filesystem/read_*' --remove")]
    Allow(edit::PolicyEditArgs),
    /// Require approval of calls, or remove such a rule
    #[command(after_help = "Example: toolgate policy ask mcp:git/push -s project")]
    Ask(edit::PolicyEditArgs),
    /// Deny calls, or remove such a rule
    #[command(after_help = "Example: toolgate policy deny 'mcp:*/delete_*'")]
    Deny(edit::PolicyEditArgs),
    /// Check for invalid, unreachable or ineffective rules; exit with 2 if one is invalid
    #[command(after_help = "Example: toolgate policy check --json")]
    Check,
    /// Show the decision about a call and the matching rules of every layer
    Explain(explain::PolicyExplainArgs),
    /// Test the cases in a file; exit with 1 if a decision is not as expected
    Test(cases::PolicyTestArgs),
    /// Apply the current rules to past calls; exit with 1 if a decision would change
    Replay(replay::PolicyReplayArgs),
}

pub async fn run(context: &CliContext, command: &PolicyCommand) -> Result<Exit> {
    match command {
        PolicyCommand::Allow(options) => edit::run(context, options, Effect::Allow).await,
        PolicyCommand::Ask(options) => edit::run(context, options, Effect::Ask).await,
        PolicyCommand::Deny(options) => edit::run(context, options, Effect::Deny).await,
        PolicyCommand::Check => check(context).await,
        PolicyCommand::Explain(options) => explain::run(context, options).await,
        PolicyCommand::Test(options) => cases::run(context, options).await,
        PolicyCommand::Replay(options) => replay::run(context, options).await,
    }
}

/// Prints every diagnostic about the rules, with its position and a hint.
async fn check(context: &CliContext) -> Result<Exit> {
    let checked = policy::check(&context.load_setup().await?).await?;
    if let [first, ..] = &checked.unknown[..] {
        let names: Vec<_> = checked.unknown.iter().map(|name| name.as_str()).collect();
        out::remark(&format!(
            "the capabilities of {} are not known yet, so rules about them are not checked; run \
             `toolgate discover {}`",
            names.join(", "),
            first
        ));
    }
    let (rules, mode) = (checked.rules, checked.mode);
    let facts = json!({ "rules": rules, "mode": mode, "unknown": checked.unknown });
    let what = format!("{}, mode {mode}", out::count(rules, "rule"));
    diagnostics::print(context, &checked.diagnostics, facts, &what)
}

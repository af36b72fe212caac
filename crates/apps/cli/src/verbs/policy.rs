//! `policy`: the rules by which calls are decided, for whoever writes them.
//!
//! Nothing here changes a rule, starts a server or asks anybody.

mod cases;
mod check;
mod explain;
mod replay;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  toolgate policy check\n  toolgate policy explain git push\n  \
    toolgate policy test policy-cases.toml\n  toolgate policy replay --since 7d"
)]
pub struct Policy {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say which rules are wrong, never decide or mean nothing; ends with 2 if one cannot be understood
    #[command(after_help = "Example: toolgate policy check --json")]
    Check,
    /// Show what would be decided about a call, by which rule, and what every layer says
    Explain(explain::Explain),
    /// Decide every case of a file; ends with 1 if one is not decided as expected
    Test(cases::Test),
    /// Decide past calls by the rules of now; ends with 1 if one would be decided otherwise
    Replay(replay::Replay),
}

pub async fn run(context: &Context, options: &Policy) -> Result<Exit, Failure> {
    match &options.what {
        What::Check => check::run(context).await,
        What::Explain(options) => explain::run(context, options).await,
        What::Test(options) => cases::run(context, options).await,
        What::Replay(options) => replay::run(context, options).await,
    }
}

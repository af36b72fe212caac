//! `score`: shows the health score of every server and its parts.
//!
//! It reads the journal directly and asks the gateway for the state of the servers. No server is
//! started.

use clap::Args;

use super::since::{self, TimeArg};
use crate::cli_context::CliContext;
use crate::complete::server_names;
use crate::control::ControlRequest;
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result};
use crate::out::{self, TextTable};
use crate::review::{HealthScore, HealthScorePart, ServerDefinitionStatus};
use crate::server_access::ServerAccess;
use crate::suggest::unknown_server_error;

/// The arguments of `toolgate score`.
#[derive(Debug, Args)]
#[command(
    name = "score",
    after_help = "No server is started. docs/reference/scores.md explains how the score is computed.\n\n\
    Examples:\n  toolgate score\n  toolgate score filesystem --since 7d --json"
)]
pub struct ScoreArgs {
    /// Name of the server [default: all servers]
    #[arg(add = server_names())]
    server: Option<String>,
    /// Count calls since then: an age (7d, 12h, 30m) or a UTC time (2026-11-16)
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,
}

pub async fn run(context: &CliContext, options: &ScoreArgs) -> Result<Exit> {
    let tally = since::count_journal(context, options.since).await?;
    let mut scores = tally.scores(&fetch_standings(context).await?);
    if let Some(name) = &options.server {
        let known: Vec<_> = scores.iter().map(|it| it.server.clone()).collect();
        scores.retain(|score| score.server == *name);
        if scores.is_empty() {
            return Err(unknown_server_error(name, known.iter().map(String::as_str)));
        }
    }
    out::print(context, &scores, || scores_table(&scores))
}

/// Asks the gateway for the definition status of all servers.
pub(super) async fn fetch_standings(context: &CliContext) -> Result<Vec<ServerDefinitionStatus>> {
    ServerAccess::ask_once(context, EmbeddedGatewayOptions::idle(), &ControlRequest::Standings)
        .await
}

fn scores_table(scores: &[HealthScore]) -> String {
    let mut table = TextTable::new(&["SERVER", "SCORE", "PART", "", "WEIGHT", "MADE OF"]);
    for score in scores {
        let mut head = [score.server.clone(), score_text(score.score)];
        for HealthScorePart { name, score, weight, detail } in &score.parts {
            let [server, whole] = std::mem::take(&mut head);
            table.row([&server, &whole, *name, &score_text(*score), &weight.to_string(), detail]);
        }
    }
    table.text()
}

fn score_text(score: Option<u8>) -> String {
    score.map_or("–".to_owned(), |score| score.to_string())
}

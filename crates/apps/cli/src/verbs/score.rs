//! `score`: what every server is worth, in parts that say what they are made of.
//!
//! The journal is read where it lies; how servers stand is asked of whoever has them, and none is
//! started.

use clap::Args;
use toolgate_host::review::{Part, Score, Standing};

use super::since::{self, Since};
use crate::context::Context;
use crate::control::{Question, no_server};
use crate::exit::{Exit, Failure};
use crate::out::{self, Cut, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(
    name = "score",
    after_help = "No server is started. How the score is made: docs/operations.md\n\n\
    Examples:\n  toolgate score\n  toolgate score filesystem --since 7d --json"
)]
pub struct ScoreOptions {
    /// One server; all of them if none is named
    server: Option<String>,
    /// Count what happened from then on: an age (7d, 12h, 30m) or a time in UTC (2026-11-16)
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

pub async fn run(context: &Context, options: &ScoreOptions) -> Result<Exit, Failure> {
    let tally = since::counted(context, options.since).await?;
    let mut scores = tally.scores(&standings(context).await?);
    if let Some(name) = &options.server {
        let known: Vec<_> = scores.iter().map(|it| it.server.clone()).collect();
        scores.retain(|score| score.server == *name);
        if scores.is_empty() {
            return Err(no_server(name, known.iter().map(String::as_str)));
        }
    }
    match context.json {
        true => out::json(&scores)?,
        false => out::data(shown(&scores).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// How servers stand, as whoever has them knows.
pub(super) async fn standings(context: &Context) -> Result<Vec<Standing>, Failure> {
    let reach = Reach::find(context, Terms { idle: true, ..Terms::default() }).await?;
    let standings = reach.ask(&Question::Standings).await;
    reach.close().await;
    standings
}

fn shown(scores: &[Score]) -> String {
    let mut table = Table::new(&["SERVER", "SCORE", "PART", "", "WEIGHT", "MADE OF"]);
    table = table.soft(5, Cut::End);
    for score in scores {
        let mut head = [visible(&score.server), number(score.score)];
        for (name, part) in score.parts.all() {
            let Part { score, weight, detail } = part;
            let [server, whole] = std::mem::take(&mut head);
            let name = name.to_owned();
            table.row([server, whole, name, number(*score), weight.to_string(), visible(detail)]);
        }
    }
    table.fitted()
}

fn number(score: Option<u8>) -> String {
    score.map_or("–".to_owned(), |score| score.to_string())
}

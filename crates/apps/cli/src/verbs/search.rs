//! `search`: which tools fit what somebody wants to do.
//!
//! It reads what is known of the servers and starts none.

use std::io::{self, BufRead as _};

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::context::Context;
use crate::control::{Find, Finds, Question, Unknown};
use crate::exit::{Exit, Failure};
use crate::out::{self, Cut, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(after_help = "No server is started: what they offered last is searched.\n\n\
    Examples:\n  toolgate search read a file\n  toolgate search --limit 1 --json 'open an issue'\n  \
    toolgate search --stdin --json < queries.txt")]
pub struct Search {
    /// What you want to do, in your own words
    #[arg(value_name = "QUERY", required_unless_present = "stdin")]
    query: Vec<String>,
    /// How many tools to show at most
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    limit: usize,
    /// Read queries from stdin, one per line; with --json each is answered by one line
    #[arg(long, conflicts_with = "query")]
    stdin: bool,
}

pub async fn run(context: &Context, options: &Search) -> Result<Exit, Failure> {
    let terms = Terms { idle: true, ..Terms::default() };
    let reach = Reach::find(context, terms).await?;
    let searching = Searching { context, reach: &reach, limit: options.limit };
    let done = match options.stdin {
        true => searching.each_line().await,
        false => searching.once(&options.query.join(" ")).await,
    };
    reach.close().await;
    done.map(|()| Exit::Done)
}

struct Searching<'a> {
    context: &'a Context,
    reach: &'a Reach,
    limit: usize,
}

impl Searching<'_> {
    async fn find(&self, query: &str) -> Result<Finds, Failure> {
        let (profile, query) = (self.context.seeing().to_owned(), query.to_owned());
        self.reach.ask(&Question::Search { profile, query, limit: self.limit }).await
    }

    async fn once(&self, query: &str) -> Result<(), Failure> {
        let Finds { found, unknown } = self.find(query).await?;
        tell_unknown(&unknown);
        if self.context.json {
            return out::json(&found.iter().map(shape).collect::<Vec<_>>());
        }
        match found.is_empty() {
            true => out::note("nothing fits; try other words, or say what is to be done"),
            false => out::data(table(&found).as_bytes())?,
        }
        Ok(())
    }

    /// Answers go out as queries come, so that a program can ask one after the other.
    async fn each_line(&self) -> Result<(), Failure> {
        let unread = |error| Failure::failed(format!("read standard input: {error}"));
        let mut told = false;
        for line in io::stdin().lock().lines() {
            let query = line.map_err(unread)?;
            let Finds { found, unknown } = self.find(&query).await?;
            if !std::mem::replace(&mut told, true) {
                tell_unknown(&unknown);
            }
            match self.context.json {
                true => out::line(
                    &Value::from(found.iter().map(shape).collect::<Vec<_>>()).to_string(),
                )?,
                false => out::data(format!("{}\n{}\n", visible(&query), table(&found)).as_bytes())?,
            }
        }
        Ok(())
    }
}

/// The stable shape.
fn shape(find: &Find) -> Value {
    let Find { server, name, exposed, score, why, about: _ } = find;
    json!({ "server": server, "name": name, "exposed": exposed, "score": score, "why": why })
}

fn table(found: &[Find]) -> String {
    let mut table = Table::new(&["NAME", "SERVER", "ABOUT", "WHY"]).soft(2, Cut::End);
    table = table.soft(3, Cut::End);
    for find in found {
        table.row([
            visible(&find.exposed),
            visible(&find.server),
            visible(&find.about),
            visible(&find.why.join(", ")),
        ]);
    }
    table.fitted()
}

/// Servers that nothing is known of, and what to do about it.
pub fn tell_unknown(unknown: &[Unknown]) {
    let names: Vec<_> =
        unknown.iter().filter(|it| it.usable).map(|it| visible(&it.server)).collect();
    if let [first, ..] = &names[..] {
        out::note(&format!(
            "{} nothing is known yet of {}: run `toolgate discover {first}`, or serve once",
            out::cyan("note:"),
            names.join(", "),
        ));
    }
}

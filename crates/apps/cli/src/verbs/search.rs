//! `search`: finds tools for a task.
//!
//! It searches the last known definitions and starts no server.

use std::io::{self, BufRead as _};

use clap::Args;
use clap::builder::RangedU64ValueParser;
use serde_json::{Value, json};

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ServerWithoutCatalog, ToolMatch, ToolMatches};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{ErrorCode, Exit, OrFail as _, Result};
use crate::out::{self, TextTable, escape_invisible};
use crate::server_access::ServerAccess;

/// The arguments of `toolgate search`.
#[derive(Debug, Args)]
#[command(after_help = "No server is started: the search covers what servers last offered.\n\n\
    Examples:\n  toolgate search read a file\n  toolgate search --limit 1 --json 'open an issue'\n  \
    toolgate search --stdin --json < queries.txt")]
pub struct SearchArgs {
    /// Description of what you want to do
    #[arg(value_name = "QUERY", required_unless_present = "stdin")]
    query: Vec<String>,
    /// Maximum number of tools to show
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=1000))]
    limit: usize,
    /// Read queries from stdin, one per line; --json prints one line per query
    #[arg(long, conflicts_with = "query")]
    stdin: bool,
}

pub async fn run(context: &CliContext, options: &SearchArgs) -> Result<Exit> {
    let access = ServerAccess::find(context, EmbeddedGatewayOptions::idle()).await?;
    let searching = CliToolSearch { context, access: &access, limit: options.limit };
    let done = match options.stdin {
        true => searching.search_stdin().await,
        false => searching.search_once(&options.query.join(" ")).await,
    };
    access.close().await;
    done.map(|()| Exit::Done)
}

/// Searches tools through a gateway and prints the matches.
struct CliToolSearch<'a> {
    context: &'a CliContext,
    access: &'a ServerAccess,
    limit: usize,
}

impl CliToolSearch<'_> {
    async fn find(&self, query: &str) -> Result<ToolMatches> {
        let (profile, query) = (self.context.profile_or_default().to_owned(), query.to_owned());
        self.access.ask(&ControlRequest::Search { profile, query, limit: self.limit }).await
    }

    async fn search_once(&self, query: &str) -> Result<()> {
        let ToolMatches { found, unknown } = self.find(query).await?;
        print_unknown_servers(&unknown);
        let rows: Vec<_> = found.iter().map(match_json).collect();
        let none = "no tools match; try other words, or describe the task";
        out::print_list(self.context, &rows, none, |_| table(&found)).map(drop)
    }

    /// Answers each query as it arrives, so that a program can send one after the other.
    async fn search_stdin(&self) -> Result<()> {
        let mut noted = false;
        for line in io::stdin().lock().lines() {
            let query = line.or_fail(ErrorCode::CliRead, "cannot read standard input")?;
            let ToolMatches { found, unknown } = self.find(&query).await?;
            if !std::mem::replace(&mut noted, true) {
                print_unknown_servers(&unknown);
            }
            match self.context.json {
                true => out::json_line(&found.iter().map(match_json).collect::<Vec<_>>())?,
                false => out::line(&format!("{}\n{}", escape_invisible(&query), table(&found)))?,
            }
        }
        Ok(())
    }
}

/// Returns a match in its stable JSON form.
fn match_json(find: &ToolMatch) -> Value {
    let ToolMatch { server, name, exposed, score, why, about: _ } = find;
    json!({ "server": server, "name": name, "exposed": exposed, "score": score, "why": why })
}

fn table(found: &[ToolMatch]) -> String {
    let mut table = TextTable::new(&["NAME", "SERVER", "ABOUT", "WHY"]);
    for ToolMatch { server, exposed, about, why, .. } in found {
        table.row([exposed, server, about, &why.join(", ")]);
    }
    table.text()
}

/// Prints a note about servers whose capabilities are not known yet.
pub fn print_unknown_servers(unknown: &[ServerWithoutCatalog]) {
    let names = unknown.iter().filter(|it| it.usable).map(|it| it.server.as_str());
    let names: Vec<_> = names.collect();
    if let [first, ..] = &names[..] {
        out::remark(&format!(
            "the capabilities of {} are not known yet; run `toolgate discover {first}`",
            names.join(", "),
        ));
    }
}

//! `servers`: how every server stands.

use std::time::Duration;

use clap::Args;

use crate::context::Context;
use crate::control::{Overview, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate servers --json")]
pub struct Servers {
    /// How long to wait for servers that are still starting
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u32,
}

pub async fn run(context: &Context, options: &Servers) -> Result<Exit, Failure> {
    let spinner = Spinner::new("waiting for servers");
    let reach = Reach::find(context, Terms { quiet: true, ..Terms::default() }).await?;
    let wait = Duration::from_secs(options.wait.into());
    let wait_ms = wait.as_millis().try_into().unwrap_or(u64::MAX);
    let overview = reach.ask::<Overview>(&Question::Servers { wait_ms }).await;
    reach.close().await;
    drop(spinner);
    let mut overview = overview?;
    out::faults(&std::mem::take(&mut overview.findings), context.verbose);
    out::remarks(&overview.notes);
    if context.json {
        out::json(&overview)?;
    } else {
        out::data(table(&overview).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn table(overview: &Overview) -> String {
    let mut table = Table::new(&[
        "NAME",
        "STATE",
        "TRANSPORT",
        "PROTOCOL",
        "TOOLS",
        "RESOURCES",
        "PROMPTS",
        "ORIGIN",
    ]);
    for server in &overview.servers {
        table.row([
            visible(&server.name),
            server.state.clone(),
            server.transport.clone(),
            server.protocol.clone().unwrap_or_else(|| "-".to_owned()),
            server.tools.to_string(),
            server.resources.to_string(),
            server.prompts.to_string(),
            visible(&server.origin),
        ]);
        if let Some(reason) = &server.reason {
            table.remark(visible(reason));
        }
    }
    table.text()
}

//! `policy replay`: which past calls would now be decided otherwise.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use toolgate_host::Severity;
use toolgate_host::audit::read_since;
use toolgate_host::policy::{Otherwise, Replay as Past, Replayed, rules_of};

use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::out::{self, Cut, Table, visible};
use crate::verbs::since::Since;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate policy replay --since 7d\n  \
    toolgate policy replay --policy next.toml --json")]
pub struct Replay {
    /// Decide by the rules of this file instead of those that hold now
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Look at calls since then: an age (7d, 12h, 30m) or a time in UTC (2026-11-16T10:00)
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
}

/// What came of all of them.
#[derive(Default)]
struct Counts {
    calls: usize,
    unclear: usize,
    gone: usize,
}

pub async fn run(context: &Context, options: &Replay) -> Result<Exit, Failure> {
    let since = options.since.map_or(0, |Since(ms)| ms);
    let setup = context.setup().await?;
    let governance = match &options.policy {
        Some(file) => named(context, file)?,
        None => setup.plan().settings.governance.clone(),
    };
    let mut past = Past::new(setup.plan(), &governance);
    let folder = context.home.state_dir().join("journal");
    let unread = |error| Failure::failed(chain(&error));
    let (mut counts, mut found) = (Counts::default(), Vec::new());
    for entry in read_since(&folder, since).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let replayed = past.look(&entry)?;
        counts.calls += usize::from(replayed != Replayed::Other);
        match replayed {
            Replayed::Otherwise(otherwise) => found.push((entry.time(), entry.client, otherwise)),
            Replayed::Unclear => counts.unclear += 1,
            Replayed::Gone => counts.gone += 1,
            Replayed::Same | Replayed::NoRule | Replayed::Other => {}
        }
    }
    tell(context, &counts, &found)?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
}

/// The rules of a file that was named.
fn named(context: &Context, file: &std::path::Path) -> Result<toolgate_model::Governance, Failure> {
    let file = std::path::absolute(file)
        .map_err(|error| Failure::usage(format!("find {}: {error}", file.display())))?;
    let (governance, diagnostics) = rules_of(&context.options()?, file)?;
    let error = diagnostics.iter().find(|found| found.severity == Severity::Error);
    match error {
        Some(error) => Err(Failure::usage(format!("use these rules: {error}"))),
        None => Ok(governance),
    }
}

type Found = (String, String, Box<Otherwise>);

fn tell(context: &Context, counts: &Counts, found: &[Found]) -> Result<(), Failure> {
    if context.json {
        let calls: Vec<_> = found.iter().map(shape).collect();
        out::json(&json!({
            "calls": counts.calls, "otherwise": calls, "unclear": counts.unclear,
            "gone": counts.gone,
        }))?;
    } else if !found.is_empty() {
        let headings = ["TIME", "CLIENT", "WHAT", "WAS", "NOW", "BECAUSE"];
        let mut table = Table::new(&headings).soft(5, Cut::End);
        for (time, client, it) in found {
            table.row([
                time.clone(),
                visible(client),
                format!("{}/{}", visible(it.id.server.as_str()), visible(&it.id.name)),
                it.was.to_string(),
                it.now.to_string(),
                visible(&it.now_because),
            ]);
        }
        out::data(table.fitted().as_bytes())?;
    }
    let (calls, otherwise) = (counts.calls, found.len());
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
    out::note(&format!("{calls}, {otherwise} would be decided otherwise"));
    if counts.unclear > 0 {
        let unclear = counts.unclear;
        out::note(&format!(
            "{} of {unclear} it cannot be told: rules look at arguments that are not on record as \
             they were",
            out::cyan("note:")
        ));
    }
    if counts.gone > 0 {
        let gone = counts.gone;
        let note = out::cyan("note:");
        out::note(&format!("{note} {gone} were to servers that are not declared any more"));
    }
    Ok(())
}

/// The stable shape.
fn shape((time, client, it): &Found) -> Value {
    json!({
        "time": time, "client": client, "server": it.id.server, "kind": it.id.kind,
        "name": &*it.id.name, "was": it.was, "was_because": it.was_because, "now": it.now,
        "now_because": it.now_because, "outcome": it.outcome.as_str(),
    })
}

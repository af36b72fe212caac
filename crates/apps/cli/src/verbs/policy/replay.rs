//! `policy replay`: shows past calls that the current rules would decide differently.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use toolgate_host::DiagnosticSeverity;
use toolgate_host::audit::read_since;
use toolgate_host::policy::{ChangedDecision, PolicyReplay as Past, ReplayOutcome, read_rules};

use crate::cli_context::{CliContext, absolute};
use crate::exit::{Exit, Result, cli_error};
use crate::out::{self, TextTable, relative_time};
use crate::verbs::since::TimeArg;

/// The arguments of `toolgate policy replay`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate policy replay --since 7d\n  \
    toolgate policy replay --policy next.toml --json")]
pub struct PolicyReplayArgs {
    /// Apply the rules in this file instead of the current ones
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Replay calls since then: an age (7d, 12h, 30m) or a UTC time (2026-11-16T10:00)
    #[arg(long, value_name = "WHEN")]
    since: Option<TimeArg>,
}

/// How many calls were replayed, and how many of them could not be decided.
#[derive(Default)]
struct PolicyReplayCounts {
    calls: usize,
    unclear: usize,
    gone: usize,
}

pub async fn run(context: &CliContext, options: &PolicyReplayArgs) -> Result<Exit> {
    let since = options.since.map_or(0, |TimeArg(ms)| ms);
    let setup = context.load_setup().await?;
    let governance = match &options.policy {
        Some(file) => read_rules_file(context, file)?,
        None => setup.plan().settings.governance.clone(),
    };
    let mut past = Past::new(setup.plan(), &governance);
    let folder = context.home.state_dir().join("journal");
    let (mut counts, mut found) = (PolicyReplayCounts::default(), Vec::new());
    for entry in read_since(&folder, since)? {
        let entry = entry?;
        let replayed = past.replay_entry(&entry)?;
        counts.calls += usize::from(replayed != ReplayOutcome::Other);
        match replayed {
            ReplayOutcome::Changed(otherwise) => {
                found.push((entry.time(), entry.client, otherwise))
            }
            ReplayOutcome::Unclear => counts.unclear += 1,
            ReplayOutcome::Gone => counts.gone += 1,
            ReplayOutcome::Same | ReplayOutcome::NoRule | ReplayOutcome::Other => {}
        }
    }
    print_changes(context, &counts, &found)?;
    Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Reads the rules of a file.
fn read_rules_file(
    context: &CliContext,
    file: &std::path::Path,
) -> Result<toolgate_model::GovernanceSettings> {
    let (governance, diagnostics) = read_rules(&context.setup_options()?, absolute(file)?)?;
    let error = diagnostics.iter().find(|found| found.severity == DiagnosticSeverity::Error);
    match error {
        Some(error) => Err(cli_error!(PolicyInvalidRule, "the rules are invalid: {error}")),
        None => Ok(governance),
    }
}

/// A past call that would be decided differently: its time, its client and both decisions.
type ReplayChange = (String, String, Box<ChangedDecision>);

fn print_changes(
    context: &CliContext,
    counts: &PolicyReplayCounts,
    found: &[ReplayChange],
) -> Result<()> {
    if context.json {
        let calls: Vec<_> = found.iter().map(change_json).collect();
        out::json(&json!({
            "calls": counts.calls, "otherwise": calls, "unclear": counts.unclear,
            "gone": counts.gone,
        }))?;
    } else if !found.is_empty() {
        let headings = ["TIME", "CLIENT", "WHAT", "WAS", "NOW", "BECAUSE"];
        let mut table = TextTable::new(&headings).with_states(4);
        for (time, client, it) in found {
            let what = format!("{}/{}", it.id.server, it.id.name);
            let (was, now) = (it.was.to_string(), it.now.to_string());
            table.row([&relative_time(time), client, &what, &was, &now, &it.now_because]);
        }
        out::data(table.text().as_bytes())?;
    }
    let calls = out::count(counts.calls, "call");
    out::note(&format!("{calls}, {} would be decided differently", found.len()));
    if let unclear @ 1.. = counts.unclear {
        out::remark(&format!(
            "{unclear} cannot be decided: rules look at arguments that the journal does not \
             contain in full"
        ));
    }
    if let gone @ 1.. = counts.gone {
        out::remark(&format!("{gone} were to servers that are no longer declared"));
    }
    Ok(())
}

/// Returns a changed decision in its stable JSON form.
fn change_json((time, client, it): &ReplayChange) -> Value {
    json!({
        "time": time, "client": client, "server": it.id.server, "kind": it.id.kind,
        "name": &*it.id.name, "was": it.was, "was_because": it.was_because, "now": it.now,
        "now_because": it.now_because, "outcome": it.outcome.as_str(),
    })
}

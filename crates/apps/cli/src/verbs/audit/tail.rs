//! `audit tail`: shows the last journal records, and follows new ones with `--follow`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use toolgate_host::audit::{JournalEntry, JournalFollower, read};

use super::{display, journal_paths};
use crate::blocking::run_blocking;
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out::{self, Spinner};

/// How often the journal files are checked for new records.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The arguments of `toolgate audit tail`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate audit tail\n  toolgate audit tail -n 100 --json")]
pub struct AuditTailArgs {
    /// Number of records to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Keep running and show new records
    #[arg(short, long)]
    follow: bool,
}

pub async fn run(context: &CliContext, options: &AuditTailArgs) -> Result<Exit> {
    let folder = journal_paths(context).folder;
    let (count, from) = (options.lines, folder.clone());
    let spinner = Spinner::new("reading the journal");
    let (follower, last) = run_blocking(move || {
        // Records written after this line are both read and followed; `shown` removes duplicates.
        let follower = JournalFollower::new(&from)?;
        let mut last = VecDeque::new();
        for entry in read(&from)? {
            last.push_back(entry?);
            if last.len() > count {
                last.pop_front();
            }
        }
        Ok((follower, last))
    })
    .await?;
    drop(spinner);
    if last.is_empty() && !options.follow {
        out::note("the journal is empty");
    }
    let mut shown: HashMap<Arc<str>, u64> = HashMap::new();
    show(context, last.iter(), &mut shown)?;
    if options.follow {
        follow(context, follower, &mut shown).await?;
    }
    Ok(Exit::Done)
}

async fn follow(
    context: &CliContext,
    mut follower: JournalFollower,
    shown: &mut HashMap<Arc<str>, u64>,
) -> Result<()> {
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        let (entries, looked) = run_blocking(move || {
            let entries = follower.read_new()?;
            Ok((entries, follower))
        })
        .await?;
        follower = looked;
        let new: Vec<_> = entries
            .iter()
            .filter(|entry| shown.get(&entry.chain).is_none_or(|last| entry.seq > *last))
            .collect();
        show(context, new.into_iter(), shown)?;
    }
}

fn show<'e>(
    context: &CliContext,
    entries: impl Iterator<Item = &'e JournalEntry>,
    shown: &mut HashMap<Arc<str>, u64>,
) -> Result<()> {
    for entry in entries {
        let text = if context.json { display::json_line(entry) } else { display::text_line(entry) };
        out::data(text.as_bytes())?;
        shown.insert(entry.chain.clone(), entry.seq);
    }
    Ok(())
}

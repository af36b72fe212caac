//! `audit tail`: the last records, and those to come.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use toolgate_host::audit::{Entry, Follower, read};

use super::{aside, failed, places, shown};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner};

/// How often the files are looked at.
const LOOK: Duration = Duration::from_millis(250);

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  toolgate audit tail\n  toolgate audit tail -n 100 --json")]
pub struct Tail {
    /// How many records to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    lines: usize,
    /// Go on with what is written from now on
    #[arg(short, long)]
    follow: bool,
}

pub async fn run(context: &Context, options: &Tail) -> Result<Exit, Failure> {
    let folder = places(context).folder;
    let (count, from) = (options.lines, folder.clone());
    let spinner = Spinner::new("reading the journal");
    let (follower, last) = aside(move || {
        // What is written in between is seen twice, and shown once.
        let follower = Follower::new(&from).map_err(|error| failed(&error))?;
        let mut last = VecDeque::new();
        for entry in read(&from).map_err(|error| failed(&error))? {
            last.push_back(entry.map_err(|error| failed(&error))?);
            if last.len() > count {
                last.pop_front();
            }
        }
        Ok((follower, last))
    })
    .await?;
    drop(spinner);
    if last.is_empty() && !options.follow {
        out::note("nothing was recorded yet");
    }
    let mut shown: HashMap<Arc<str>, u64> = HashMap::new();
    show(context, last.iter(), &mut shown)?;
    if options.follow {
        follow(context, follower, &mut shown).await?;
    }
    Ok(Exit::Done)
}

async fn follow(
    context: &Context,
    mut follower: Follower,
    shown: &mut HashMap<Arc<str>, u64>,
) -> Result<(), Failure> {
    loop {
        tokio::time::sleep(LOOK).await;
        let (entries, looked) = aside(move || {
            let entries = follower.look().map_err(|error| failed(&error))?;
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
    context: &Context,
    entries: impl Iterator<Item = &'e Entry>,
    shown: &mut HashMap<Arc<str>, u64>,
) -> Result<(), Failure> {
    for entry in entries {
        let text = if context.json { shown::json_line(entry) } else { shown::line(entry) };
        out::data(text.as_bytes())?;
        shown.insert(entry.chain.clone(), entry.seq);
    }
    Ok(())
}

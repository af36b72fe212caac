//! `audit verify`: every place where the journal is not what was written.

use std::path::{Path, PathBuf};

use clap::Args;
use toolgate_host::audit::{Places, PublicKey, Report, verify};

use super::{aside, failed, places};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible};

#[derive(Debug, Args)]
#[command(after_help = "A journal that was cut off at its end, or written anew, is found by a \
    checkpoint or a key\nthat is kept where nobody could change it; without --checkpoints and \
    --key those of this\nhome are taken.\n\n\
    Example: toolgate audit verify --json")]
pub struct Verify {
    /// The checkpoints to hold against it
    #[arg(long, value_name = "DIR")]
    checkpoints: Option<PathBuf>,
    /// The public key that proves them
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

pub async fn run(context: &Context, options: &Verify) -> Result<Exit, Failure> {
    let Places { folder, checkpoints, public, .. } = places(context);
    let key = match &options.key {
        Some(path) => Some(key(path)?),
        None if public.exists() => Some(key(&public)?),
        None => None,
    };
    if let Some(named) = options.checkpoints.as_ref().filter(|named| !named.is_dir()) {
        return Err(Failure::usage(format!("find the folder {}", named.display())));
    }
    let checkpoints = options.checkpoints.clone().unwrap_or(checkpoints);
    let spinner = Spinner::new("verifying the journal");
    let told = spinner.clone();
    let report = aside(move || {
        let mut say = |records| told.say(&format!("verifying the journal: {records} records"));
        verify(&folder, &checkpoints, key.as_ref(), &mut say).map_err(|error| failed(&error))
    })
    .await?;
    drop(spinner);
    print(context, &report)?;
    Ok(if report.holds() { Exit::Done } else { Exit::Failed })
}

fn key(path: &Path) -> Result<PublicKey, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("read {}: {error}", path.display())))?;
    PublicKey::parse(&text).ok_or_else(|| {
        Failure::usage(format!("read {}: it holds no public key of a journal", path.display()))
            .hint("the key lies beside the journal and is called journal.pub")
    })
}

fn print(context: &Context, report: &Report) -> Result<(), Failure> {
    if context.json {
        return out::json(report);
    }
    for problem in &report.problems {
        let line = if problem.line > 0 { format!(":{}", problem.line) } else { String::new() };
        let file = visible(&problem.file.display().to_string());
        out::line(&format!("{file}{line}: {}", visible(&problem.detail)))?;
    }
    for notice in &report.notices {
        out::note(&format!("{} {}", out::cyan("note:"), visible(notice)));
    }
    let Report { chains, records, checkpoints, unsigned, .. } = report;
    let found = match report.problems.len() {
        0 => "nothing was changed".to_owned(),
        1 => "1 problem".to_owned(),
        more => format!("{more} problems"),
    };
    out::line(&format!(
        "{found}: {records} records in {chains} chains, {checkpoints} checkpoints, {unsigned} \
         records behind the last checkpoint"
    ))
}

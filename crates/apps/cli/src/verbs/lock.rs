//! `lock`: what is started and offered, written down exactly, to be reviewed and committed; and
//! whether everything is still so.
//!
//! It needs to see what servers offer, so it starts them unless a gateway has them up.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use toolgate_host::pins::{Lock as Locked, Violation};

use crate::context::Context;
use crate::control::{Locked as Answer, Pinning, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible};
use crate::reach::Reach;
use crate::station::Terms;

/// The file that is written and held to, in the current folder.
pub const LOCK_FILE: &str = "toolgate.lock";

#[derive(Debug, Args)]
#[command(after_help = "`toolgate serve --frozen` refuses whatever is not in the file.\n\n\
    Examples:\n  toolgate lock\n  toolgate lock --check\n  toolgate lock -o -")]
pub struct Lock {
    /// Write nothing; say what is not as the file has it, and fail if anything is not
    #[arg(long)]
    check: bool,
    /// The file; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = LOCK_FILE)]
    output: PathBuf,
}

pub async fn run(context: &Context, options: &Lock) -> Result<Exit, Failure> {
    let locked = match options.check {
        true => Some(read(&options.output)?),
        false => None,
    };
    let now = now(context).await?;
    match locked {
        Some(locked) => check(context, &locked, &now),
        None => write(context, options, &now),
    }
}

async fn now(context: &Context) -> Result<Answer, Failure> {
    let terms = Terms { quiet: true, ..Terms::default() };
    let reach = Reach::find(context, terms).await?;
    let _spinner = Spinner::new("listing what servers offer");
    let answer = reach.ask::<Answer>(&Question::Pins { asked: Pinning::Lock }).await;
    reach.close().await;
    answer
}

fn write(context: &Context, options: &Lock, now: &Answer) -> Result<Exit, Failure> {
    if !now.problems.is_empty() {
        now.problems.iter().for_each(|problem| out::note(&visible(problem)));
        return Err(Failure::failed("lock what is offered: not all of it is known and approved")
            .hint("bring those servers up, approve or disable them; then lock again"));
    }
    let lock = parse(&now.text)?;
    tell_unpinned(&lock);
    if options.output.as_os_str() == "-" {
        return out::data(now.text.as_bytes()).map(|()| Exit::Done);
    }
    let shown = options.output.display();
    // The old one counts until the new one is whole.
    let beside = options.output.with_extension("lock.new");
    let written = fs::write(&beside, &now.text).and_then(|()| fs::rename(&beside, &options.output));
    written.map_err(|error| Failure::failed(format!("write {shown}: {error}")))?;
    if context.json {
        out::json(&serde_json::json!({ "file": options.output, "servers": lock.servers.len() }))?;
    }
    out::note(&format!("locked {} server(s) in {shown}", lock.servers.len()));
    Ok(Exit::Done)
}

/// What a lock cannot hold: code that is fetched anew at every start.
fn tell_unpinned(lock: &Locked) {
    for (name, server) in &lock.servers {
        let Some(package) = &server.package else { continue };
        if package.version.is_none() && package.integrity.is_none() {
            out::note(&format!(
                "{} `{}` runs whatever version of {} there is; name one, as in {}",
                out::cyan("note:"),
                visible(name),
                visible(&package.name),
                example(&package.ecosystem, &package.name),
            ));
        }
    }
}

fn example(ecosystem: &str, name: &str) -> String {
    match ecosystem {
        "pypi" => format!("{}==1.2.3", visible(name)),
        "oci" => format!("{}@sha256:…", visible(name)),
        _ => format!("{}@1.2.3", visible(name)),
    }
}

fn check(context: &Context, locked: &Locked, now: &Answer) -> Result<Exit, Failure> {
    let violations = locked.check(&parse(&now.text)?);
    if context.json {
        out::json(&violations)?;
    } else {
        for violation in &violations {
            out::line(&shown(violation))?;
        }
    }
    now.problems.iter().for_each(|problem| out::note(&visible(problem)));
    match violations.is_empty() && now.problems.is_empty() {
        true => {
            out::note("everything is as it is locked");
            Ok(Exit::Done)
        }
        false => Ok(Exit::Failed),
    }
}

fn shown(violation: &Violation) -> String {
    format!("{}: {} [{}]", visible(&violation.server), visible(&violation.text), violation.code)
}

fn parse(text: &str) -> Result<Locked, Failure> {
    Locked::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

/// Reads a lock file; one that is not there is said so, with what to do.
pub fn read(file: &Path) -> Result<Locked, Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("find the lock file {shown}"))
            .hint("write it: toolgate lock; then look at it and commit it"),
        _ => Failure::usage(format!("read {shown}: {error}")),
    })?;
    Locked::parse(&text).map_err(|error| {
        Failure::usage(format!("{error} ({shown})")).hint("write it anew: toolgate lock")
    })
}

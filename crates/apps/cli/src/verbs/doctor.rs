//! `doctor`: brings servers up step by step and says what is wrong with those that do not come.

use clap::Args;

use crate::context::Context;
use crate::control::{Checkup, Checkups, Question};
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner, visible, visible_lines};
use crate::reach::Reach;
use crate::station::Terms;

/// How much of a server's last words is shown.
const LAST_LINES: usize = 20;

#[derive(Debug, Args)]
#[command(after_help = "Example: toolgate doctor filesystem")]
pub struct Doctor {
    /// One server; all of them if none is named
    server: Option<String>,
}

pub async fn run(context: &Context, options: &Doctor) -> Result<Exit, Failure> {
    let spinner = Spinner::new("looking at every step");
    // A server that is examined must not be running beside that: two of it may get in each other's
    // way.
    let terms =
        Terms { only: options.server.as_deref(), idle: true, quiet: true, ..Terms::default() };
    let reach = Reach::find(context, terms).await?;
    let question = Question::Doctor { server: options.server.clone() };
    let checkups = reach.ask::<Checkups>(&question).await;
    reach.close().await;
    drop(spinner);
    let checkups = checkups?;
    if let Reach::Attached(living) = &reach {
        out::note(&format!("seen by the gateway of process {}", living.owner.pid));
    }
    out::findings(&checkups.findings);
    out::remarks(&checkups.notes);
    if context.json {
        out::json(&checkups.servers)?;
    } else {
        let shown: Vec<_> = checkups.servers.iter().map(shown).collect();
        out::data(format!("{}\nprocesses: {}\n", shown.join("\n"), checkups.guarantee).as_bytes())?;
    }
    Ok(if checkups.is_well() { Exit::Done } else { Exit::Failed })
}

fn shown(checkup: &Checkup) -> String {
    let verdict = if checkup.is_well() { "ok" } else { "FAILED" };
    let mut text = format!("{}: {verdict}\n", visible(&checkup.server));
    for step in &checkup.phases {
        let mark = if step.ok { "ok" } else { "FAILED" };
        let detail = step.detail.as_deref().map(visible).unwrap_or_default();
        let line = format!("  {:<10} {mark:<6} {:>6} ms  {detail}", step.name, step.ms);
        text.push_str(line.trim_end());
        text.push('\n');
        if let Some(hint) = &step.hint {
            text.push_str(&format!("    hint: {}\n", visible(hint)));
        }
    }
    text.push_str(&last_words(&checkup.stderr));
    text.push_str(&withheld(&checkup.server, &checkup.withheld, &checkup.stderr));
    text
}

fn last_words(stderr: &str) -> String {
    let lines: Vec<_> = stderr.trim_end().lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].iter();
    let last: String = last.map(|line| format!("    | {}\n", visible_lines(line))).collect();
    format!("  its last words on stderr:\n{last}")
}

/// What a failing process may miss: first of all what it speaks of itself.
fn withheld(server: &str, names: &[String], stderr: &str) -> String {
    if names.is_empty() {
        return String::new();
    }
    let spoken: Vec<_> = names.iter().filter(|name| speaks_of(stderr, name)).cloned().collect();
    let list = |names: &[String]| visible(&names.join(", "));
    let spoken = match &spoken[..] {
        [] => String::new(),
        spoken => format!("  it speaks of variables it is not given: {}\n", list(spoken)),
    };
    format!(
        "{spoken}  variables of this shell it is not given: {}\n    hint: name those it needs in \
         your own config: [servers.{}] env_inherit = [\"NAME\"]\n",
        list(names),
        visible(server),
    )
}

/// Whether a text has a name as a word of its own.
fn speaks_of(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
}

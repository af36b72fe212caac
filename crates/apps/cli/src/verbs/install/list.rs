//! `install --list`: the clients that are known, their files, and where Toolgate is installed.

use std::path::PathBuf;

use serde::Serialize;
use toolgate_host::Scope;
use toolgate_host::config::{Sources, clients, read_file};

use super::entry::Existing;
use crate::carry::written_in;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Table, visible};

/// One file of one client.
#[derive(Debug, Serialize)]
struct Line {
    client: &'static str,
    title: &'static str,
    scope: &'static str,
    file: PathBuf,
    exists: bool,
    /// The name Toolgate has there.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

pub fn run(context: &Context, sources: &Sources) -> Result<Exit, Failure> {
    let mut lines = Vec::new();
    for client in clients::ALL {
        for (scope, word) in [(Scope::User, "user"), (Scope::Project, "project")] {
            let Some(file) = client.file(scope, sources) else { continue };
            let text = read_file(&file.at.path).ok().flatten();
            let installed = text.as_deref().and_then(|text| {
                let existing = Existing::of(context, written_in(&file, text), text, &file.at);
                existing.name().map(ToString::to_string)
            });
            lines.push(Line {
                client: client.id,
                title: client.title,
                scope: word,
                file: file.at.path.to_path_buf(),
                exists: file.at.path.exists(),
                installed,
            });
        }
    }
    if context.json {
        out::json(&lines)?;
    } else {
        out::data(table(&lines).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new(&["CLIENT", "SCOPE", "INSTALLED", "FILE"]);
    for line in lines {
        let installed = match &line.installed {
            Some(name) => format!("as {}", visible(name)),
            None if line.exists => "no".to_owned(),
            None => "no file".to_owned(),
        };
        let file = visible(&line.file.display().to_string());
        table.row([line.client.to_owned(), line.scope.to_owned(), installed, file]);
    }
    table.text()
}

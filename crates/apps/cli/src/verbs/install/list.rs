//! `install --list`: lists the known clients, their files, and where Toolgate is installed.

use std::path::PathBuf;

use serde::Serialize;
use toolgate_host::ConfigScope;
use toolgate_host::config::{ConfigSources, clients};

use super::entry::ExistingEntries;
use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out::{self, TextTable};
use crate::transfer::read_document;

/// One file of one client, as JSON.
#[derive(Debug, Serialize)]
struct ClientConfigFileJson {
    client: &'static str,
    title: &'static str,
    scope: ConfigScope,
    file: PathBuf,
    exists: bool,
    /// The name of Toolgate's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    installed: Option<String>,
}

pub fn run(context: &CliContext, sources: &ConfigSources) -> Result<Exit> {
    let mut lines = Vec::new();
    for client in clients::ALL {
        for scope in [ConfigScope::User, ConfigScope::Project] {
            let Some(file) = client.file(scope, sources) else { continue };
            let (file, text) = read_document(file.clone()).unwrap_or((file, None));
            let existing = text.map(|text| ExistingEntries::of(context, &file, &text));
            let gateway = existing.and_then(|existing| existing.gateway);
            lines.push(ClientConfigFileJson {
                client: client.id,
                title: client.title,
                scope,
                file: file.path().to_owned(),
                exists: file.path().exists(),
                installed: gateway.map(|spec| spec.name.to_string()),
            });
        }
    }
    out::print(context, &lines, || table(&lines))
}

fn table(lines: &[ClientConfigFileJson]) -> String {
    let mut table = TextTable::new(&["CLIENT", "SCOPE", "INSTALLED", "FILE"]);
    for line in lines {
        let installed = match &line.installed {
            Some(name) => format!("as {name}"),
            None if line.exists => "no".to_owned(),
            None => "no file".to_owned(),
        };
        table.row([line.client, line.scope.as_str(), &installed, &line.file.to_string_lossy()]);
    }
    table.text()
}

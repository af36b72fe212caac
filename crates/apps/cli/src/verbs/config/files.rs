//! `config files`: lists the config files that are read, in order of precedence.

use std::path::PathBuf;

use serde::Serialize;
use toolgate_host::ConfigScope;
use toolgate_host::config::{ConfigDocument, Permissions, known_files};
use toolgate_model::RuleSpec;

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out::{self, TextTable};

/// One config file as JSON.
#[derive(Debug, Serialize)]
struct ConfigFileJson {
    path: PathBuf,
    dialect: &'static str,
    scope: ConfigScope,
    read: bool,
    servers: usize,
    /// How many of its servers are in effect.
    used: usize,
    /// The permission rules in the file, as written. `toolgate policy explain` shows their effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<PermissionsJson>,
}

/// The permission rules of one file as JSON.
#[derive(Debug, Serialize)]
struct PermissionsJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

impl PermissionsJson {
    fn of(permissions: &Permissions) -> Option<Self> {
        let texts = |rules: &[RuleSpec]| rules.iter().map(ToString::to_string).collect();
        (*permissions != Permissions::default()).then(|| Self {
            mode: permissions.mode.map(|mode| mode.value.as_str()),
            allow: texts(&permissions.allow),
            ask: texts(&permissions.ask),
            deny: texts(&permissions.deny),
        })
    }

    fn text(&self) -> String {
        let lists = [("allow", &self.allow), ("ask", &self.ask), ("deny", &self.deny)];
        let lists = lists.into_iter().filter(|(_, rules)| !rules.is_empty());
        let lists = lists.map(|(word, rules)| format!("{word} {}", rules.join(" ")));
        let mode = self.mode.map(|mode| format!("mode {mode}"));
        let parts: Vec<_> = mode.into_iter().chain(lists).collect();
        format!("permissions: {}", parts.join("; "))
    }
}

pub fn run(context: &CliContext, all: bool) -> Result<Exit> {
    let options = context.setup_options()?;
    let plan = toolgate_host::read_files(&options)?;
    let origins = || plan.entries.iter().filter_map(|entry| entry.origin.file.as_deref());
    let read = plan.files.iter().map(|file| ConfigFileJson {
        path: file.path.clone(),
        dialect: file.dialect.as_str(),
        scope: file.scope,
        read: true,
        servers: file.servers,
        used: origins().filter(|path| **path == file.path).count(),
        permissions: PermissionsJson::of(&file.permissions),
    });
    let mut lines: Vec<_> = read.collect();
    let known = if all { known_files(&options) } else { Vec::new() };
    for ConfigDocument { dialect, at } in known {
        if plan.files.iter().all(|file| file.path != *at.path) {
            lines.push(ConfigFileJson {
                path: at.path.to_path_buf(),
                dialect: dialect.as_str(),
                scope: at.scope,
                read: false,
                servers: 0,
                used: 0,
                permissions: None,
            });
        }
    }
    let none = "no config files found; run `toolgate config files --all` to see all locations";
    out::print_list(context, &lines, none, table)
}

fn table(lines: &[ConfigFileJson]) -> String {
    let mut table = TextTable::new(&["DIALECT", "SCOPE", "SERVERS", "USED", "FILE"]);
    for line in lines {
        let number = |number: usize| if line.read { number.to_string() } else { "-".to_owned() };
        let (servers, used) = (number(line.servers), number(line.used));
        let scope = line.scope.to_string();
        table.row([line.dialect, &scope, &servers, &used, &line.path.to_string_lossy()]);
        if let Some(rules) = &line.permissions {
            table.remark(&rules.text());
        }
    }
    table.text()
}

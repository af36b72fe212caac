//! `config files`: which files are read, nearest first.

use std::path::PathBuf;

use serde::Serialize;
use toolgate_host::Scope;
use toolgate_host::config::{KnownFile, Permissions, known_files};
use toolgate_model::WrittenRule;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Table, visible};

/// One file.
#[derive(Debug, Serialize)]
struct Line {
    path: PathBuf,
    dialect: &'static str,
    scope: Scope,
    read: bool,
    servers: usize,
    /// How many of its servers count.
    used: usize,
    /// What it says about calls, in its own words; `toolgate policy explain` says what comes of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    permissions: Option<Rules>,
}

/// Which calls need no question, or are never made.
#[derive(Debug, Serialize)]
struct Rules {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'static str>,
    allow: Vec<String>,
    ask: Vec<String>,
    deny: Vec<String>,
}

impl Rules {
    fn of(said: &Permissions) -> Option<Self> {
        let texts = |rules: &[WrittenRule]| rules.iter().map(ToString::to_string).collect();
        (*said != Permissions::default()).then(|| Self {
            mode: said.mode.map(|mode| mode.value.as_str()),
            allow: texts(&said.allow),
            ask: texts(&said.ask),
            deny: texts(&said.deny),
        })
    }

    fn text(&self) -> String {
        let lists = [("allow", &self.allow), ("ask", &self.ask), ("deny", &self.deny)];
        let lists = lists.into_iter().filter(|(_, rules)| !rules.is_empty());
        let lists = lists.map(|(word, rules)| format!("{word} {}", rules.join(" ")));
        let mode = self.mode.map(|mode| format!("mode {mode}"));
        let said: Vec<_> = mode.into_iter().chain(lists).collect();
        format!("permissions: {}", said.join("; "))
    }
}

pub fn run(context: &Context, all: bool) -> Result<Exit, Failure> {
    let options = context.options()?;
    let plan = options.read_files()?;
    let mut lines: Vec<Line> = Vec::new();
    for file in &plan.files {
        let counts = |path: &PathBuf| *path == file.path;
        let winners = plan.entries.iter().filter_map(|entry| entry.origin.file.as_deref());
        lines.push(Line {
            path: file.path.clone(),
            dialect: file.dialect.as_str(),
            scope: file.scope,
            read: true,
            servers: file.servers,
            used: winners.filter(|path| counts(path)).count(),
            permissions: Rules::of(&file.permissions),
        });
    }
    if all {
        let read: Vec<_> = lines.iter().map(|line| line.path.clone()).collect();
        let unread = known_files(&options.sources()).into_iter();
        lines.extend(unread.filter(|file| !read.contains(&file.path)).map(Line::absent));
    }
    if context.json {
        out::json(&lines)?;
    } else if lines.is_empty() {
        out::note(
            "there is no file to read; `toolgate config files --all` shows where they may lie",
        );
    } else {
        out::data(table(&lines).as_bytes())?;
    }
    Ok(Exit::Done)
}

impl Line {
    fn absent(file: KnownFile) -> Self {
        let KnownFile { path, dialect, scope, .. } = file;
        let (read, servers, used, permissions) = (false, 0, 0, None);
        Self { path, dialect: dialect.as_str(), scope, read, servers, used, permissions }
    }
}

fn table(lines: &[Line]) -> String {
    let mut table = Table::new(&["DIALECT", "SCOPE", "SERVERS", "USED", "FILE"]);
    for line in lines {
        let number = |number: usize| if line.read { number.to_string() } else { "-".to_owned() };
        table.row([
            line.dialect.to_owned(),
            line.scope.to_string(),
            number(line.servers),
            number(line.used),
            visible(&line.path.display().to_string()),
        ]);
        if let Some(rules) = &line.permissions {
            table.remark(visible(&rules.text()));
        }
    }
    table.text()
}

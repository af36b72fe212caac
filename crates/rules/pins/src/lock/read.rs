//! Parses lock files. Parsing is strict: a file with unknown keys is refused, because it cannot be
//! enforced completely.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, Item, TableLike};
use toolgate_model::Digest;

use super::{LockFile, LockFileError, LockedServer, Package};

pub(super) fn parse_lock_file(text: &str) -> Result<LockFile, LockFileError> {
    let document: DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| LockFileError::Syntax(error.to_string()))?;
    match document.get("version").and_then(Item::as_integer) {
        Some(2) => {}
        Some(other) => return Err(LockFileError::Version(other)),
        None => return Err(LockFileError::Content("`version` is missing".into())),
    }
    let mut lock = LockFile::default();
    for (key, item) in document.iter() {
        match (key, item.as_table_like()) {
            ("version", _) => {}
            ("servers", Some(servers)) => {
                for (name, item) in servers.iter() {
                    lock.servers.insert(name.to_owned(), server(name, item)?);
                }
            }
            _ => return Err(unknown("top level", key)),
        }
    }
    Ok(lock)
}

fn server(name: &str, item: &Item) -> Result<LockedServer, LockFileError> {
    let at = format!("server `{name}`");
    let table = item.as_table_like().ok_or_else(|| wrong(&at, "", "must be a table"))?;
    let known = [
        "transport",
        "command",
        "args",
        "cwd",
        "env",
        "env_file",
        "files",
        "url",
        "headers",
        "identity",
        "package",
        "instructions",
        "tools",
        "templates",
        "prompts",
    ];
    reject_unknown_keys(&at, table, &known)?;
    let here = LockTable { at: &at, table };
    Ok(LockedServer {
        transport: here.text("transport")?.ok_or_else(|| wrong(&at, "transport", "is missing"))?,
        command: here.text("command")?,
        args: here.texts("args")?,
        cwd: here.text("cwd")?,
        env: here.texts("env")?,
        env_file: here.texts("env_file")?,
        files: here.texts("files")?,
        url: here.text("url")?,
        headers: here.texts("headers")?,
        identity: here.digest("identity")?,
        package: here.package()?,
        instructions: here.digest("instructions")?,
        tools: here.definitions("tools")?,
        templates: here.definitions("templates")?,
        prompts: here.definitions("prompts")?,
    })
}

/// A table of the lock file with the name under which errors mention it.
struct LockTable<'a> {
    at: &'a str,
    table: &'a dyn TableLike,
}

impl LockTable<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, LockFileError> {
        match self.table.get(key) {
            None => Ok(None),
            Some(item) => match item.as_str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(wrong(self.at, key, "must be a string")),
            },
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, LockFileError> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let texts = item.as_array().map(|all| {
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        texts.flatten().ok_or_else(|| wrong(self.at, key, "must be a list of strings"))
    }

    fn digest(&self, key: &str) -> Result<Digest, LockFileError> {
        let text = self.text(key)?.and_then(|text| text.parse().ok());
        text.ok_or_else(|| wrong(self.at, key, "must be a digest"))
    }

    fn definitions(&self, key: &str) -> Result<BTreeMap<String, Digest>, LockFileError> {
        let Some(item) = self.table.get(key) else { return Ok(BTreeMap::new()) };
        let table = item.as_table_like().ok_or_else(|| wrong(self.at, key, "must be a table"))?;
        let at = format!("`{key}` of {}", self.at);
        let here = LockTable { at: &at, table };
        table.iter().map(|(name, _)| Ok((name.to_owned(), here.digest(name)?))).collect()
    }

    fn package(&self) -> Result<Option<Package>, LockFileError> {
        let Some(item) = self.table.get("package") else { return Ok(None) };
        let table =
            item.as_table_like().ok_or_else(|| wrong(self.at, "package", "must be a table"))?;
        let at = format!("the package of {}", self.at);
        reject_unknown_keys(&at, table, &["ecosystem", "name", "version", "integrity"])?;
        let here = LockTable { at: &at, table };
        let must = |key| here.text(key)?.ok_or_else(|| wrong(&at, key, "is missing"));
        Ok(Some(Package {
            ecosystem: must("ecosystem")?,
            name: must("name")?,
            version: here.text("version")?,
            integrity: here.text("integrity")?,
        }))
    }
}

fn reject_unknown_keys(
    at: &str,
    table: &dyn TableLike,
    known: &[&str],
) -> Result<(), LockFileError> {
    let stray = table.iter().find(|(key, _)| !known.contains(key));
    stray.map_or(Ok(()), |(key, _)| Err(unknown(at, key)))
}

fn unknown(at: &str, key: &str) -> LockFileError {
    LockFileError::Content(format!("{at}: unknown key {key:?}"))
}

fn wrong(at: &str, key: &str, problem: &str) -> LockFileError {
    LockFileError::Content(match key.is_empty() {
        true => format!("{at} {problem}"),
        false => format!("{at}: `{key}` {problem}"),
    })
}

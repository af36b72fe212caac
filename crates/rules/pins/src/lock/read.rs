//! Reading a lock file. It is strict: a file that says something nobody understands is not one that
//! can be held to.

use std::collections::BTreeMap;

use toml_edit::{DocumentMut, Item, TableLike};
use toolgate_model::Digest;

use super::{Lock, LockError, LockedServer, Package};

pub(super) fn lock(text: &str) -> Result<Lock, LockError> {
    let document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| LockError::Syntax(error.to_string()))?;
    match document.get("version").and_then(Item::as_integer) {
        Some(2) => {}
        Some(other) => return Err(LockError::Version(other)),
        None => return Err(LockError::Content("it does not say its version".into())),
    }
    let mut lock = Lock::default();
    for (key, item) in document.iter() {
        match (key, item.as_table_like()) {
            ("version", _) => {}
            ("servers", Some(servers)) => {
                for (name, item) in servers.iter() {
                    lock.servers.insert(name.to_owned(), server(name, item)?);
                }
            }
            _ => return Err(unknown("the file", key)),
        }
    }
    Ok(lock)
}

fn server(name: &str, item: &Item) -> Result<LockedServer, LockError> {
    let at = format!("server `{name}`");
    let table = item.as_table_like().ok_or_else(|| wrong(&at, "", "a table"))?;
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
    only(&at, table, &known)?;
    let here = Here { at: &at, table };
    Ok(LockedServer {
        transport: here.text("transport")?.ok_or_else(|| wrong(&at, "transport", "given"))?,
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

/// A table, and what it is called.
struct Here<'a> {
    at: &'a str,
    table: &'a dyn TableLike,
}

impl Here<'_> {
    fn text(&self, key: &str) -> Result<Option<String>, LockError> {
        match self.table.get(key) {
            None => Ok(None),
            Some(item) => match item.as_str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(wrong(self.at, key, "a text")),
            },
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, LockError> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let texts = item.as_array().map(|all| {
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        texts.flatten().ok_or_else(|| wrong(self.at, key, "a list of texts"))
    }

    fn digest(&self, key: &str) -> Result<Digest, LockError> {
        let text = self.text(key)?.and_then(|text| text.parse().ok());
        text.ok_or_else(|| wrong(self.at, key, "a digest"))
    }

    fn definitions(&self, key: &str) -> Result<BTreeMap<String, Digest>, LockError> {
        let Some(item) = self.table.get(key) else { return Ok(BTreeMap::new()) };
        let table = item.as_table_like().ok_or_else(|| wrong(self.at, key, "a table"))?;
        let at = format!("`{key}` of {}", self.at);
        let here = Here { at: &at, table };
        table.iter().map(|(name, _)| Ok((name.to_owned(), here.digest(name)?))).collect()
    }

    fn package(&self) -> Result<Option<Package>, LockError> {
        let Some(item) = self.table.get("package") else { return Ok(None) };
        let table = item.as_table_like().ok_or_else(|| wrong(self.at, "package", "a table"))?;
        let at = format!("the package of {}", self.at);
        only(&at, table, &["ecosystem", "name", "version", "integrity"])?;
        let here = Here { at: &at, table };
        let must = |key| here.text(key)?.ok_or_else(|| wrong(&at, key, "given"));
        Ok(Some(Package {
            ecosystem: must("ecosystem")?,
            name: must("name")?,
            version: here.text("version")?,
            integrity: here.text("integrity")?,
        }))
    }
}

fn only(at: &str, table: &dyn TableLike, known: &[&str]) -> Result<(), LockError> {
    let stray = table.iter().find(|(key, _)| !known.contains(key));
    stray.map_or(Ok(()), |(key, _)| Err(unknown(at, key)))
}

fn unknown(at: &str, key: &str) -> LockError {
    LockError::Content(format!("{at} says {key:?}, which means nothing here"))
}

fn wrong(at: &str, key: &str, wanted: &str) -> LockError {
    let what = if key.is_empty() { String::new() } else { format!(" `{key}`") };
    LockError::Content(format!("{at}:{what} must be {wanted}"))
}

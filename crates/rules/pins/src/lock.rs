//! The lock file: what is started or reached under each name, and what it offers, as somebody
//! approved it; and what differs from it now.
//!
//! It is meant to be committed, so that nothing in it may help to guess a secret: values that are
//! not shown are not digested either.

mod package;
mod read;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolgate_model::{
    CapabilityKind, Digest, HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, TransportSpec,
    consented_args, consented_value, shown_url,
};

pub use package::{Package, npm_integrity};

/// What stands in a lock file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    /// The servers, by name.
    pub servers: BTreeMap<String, LockedServer>,
}

/// One server in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedServer {
    /// How it is reached: `stdio`, `http`, `sse` or `builtin`.
    pub transport: String,
    /// What is started, of a process.
    pub command: Option<String>,
    /// Its arguments, as they may be shown.
    pub args: Vec<String>,
    /// Its working folder, as declared.
    pub cwd: Option<String>,
    /// The names of its variables.
    pub env: Vec<String>,
    /// The names of those that its file of variables sets.
    pub env_file: Vec<String>,
    /// The digests of the project's files that are pinned, as `digest name`.
    pub files: Vec<String>,
    /// Where it is reached, as it may be shown.
    pub url: Option<String>,
    /// The names of the headers that are sent.
    pub headers: Vec<String>,
    /// The digest of all that, and of how variables are used in it.
    pub identity: Digest,
    /// The package that is run, where the command says so.
    pub package: Option<Package>,
    /// The digest of its instructions.
    pub instructions: Digest,
    /// The digests of its tools, by name.
    pub tools: BTreeMap<String, Digest>,
    /// The digests of its resource templates, by template.
    pub templates: BTreeMap<String, Digest>,
    /// The digests of its prompts, by name.
    pub prompts: BTreeMap<String, Digest>,
}

/// Something that is not as the lock file has it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// What kind of difference it is: a stable word.
    pub code: &'static str,
    /// Of which server.
    pub server: String,
    /// Of which capability, as `kind name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// What differs, in one line.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.server, self.text)
    }
}

/// Why a lock file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It is no TOML.
    #[error("read the lock file: {0}")]
    Syntax(String),
    /// It was written by another version.
    #[error("use a lock file of version {0}; this program writes and reads version 2")]
    Version(i64),
    /// Something in it is not what must stand there.
    #[error("use the lock file: {0}")]
    Content(String),
}

/// The digest of what is started or reached, without any value that is hidden where a person is to
/// consent to it: a token may be changed, and the lock file still holds. Whatever a value takes from
/// elsewhere counts as written.
pub fn identity(spec: &ServerSpec) -> Digest {
    let mut parts: Vec<String> = vec!["toolgate lock identity, version 2".into()];
    match &spec.transport {
        TransportSpec::Stdio(stdio) => process(stdio, &mut parts),
        TransportSpec::Http(http) => endpoint(http, &mut parts),
        TransportSpec::BuiltIn => parts.extend(["builtin".into(), spec.name.to_string()]),
    }
    Digest::of_parts(parts.iter().map(String::as_bytes))
}

fn process(stdio: &StdioSpec, parts: &mut Vec<String>) {
    let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    parts.extend(["stdio".into(), stdio.command.clone()]);
    group("args", consented_args(&stdio.args), parts);
    group("cwd", stdio.cwd.iter().map(path), parts);
    group("env", variables(&stdio.env), parts);
    group("env_file", stdio.env_file.iter().map(path), parts);
    group("env_file sets", file_variables(stdio), parts);
    group("env_inherit", stdio.env_inherit.iter().cloned(), parts);
    group("files", pinned_files(stdio), parts);
}

/// Variables as they may be shown. One that takes its value from elsewhere counts as written.
fn variables(set: &BTreeMap<String, Secret<String>>) -> Vec<String> {
    let shown = |(name, value): (&String, &Secret<String>)| {
        format!("{name}={}", consented_value(name, value.expose()))
    };
    set.iter().map(shown).collect()
}

fn file_variables(stdio: &StdioSpec) -> Vec<String> {
    let read = stdio.files.env_file.as_ref().and_then(|file| file.variables.as_ref());
    read.map(variables).unwrap_or_default()
}

fn pinned_files(stdio: &StdioSpec) -> Vec<String> {
    let pinned = stdio.files.project.iter();
    pinned.filter_map(|file| Some(format!("{} {}", file.digest?, file.written))).collect()
}

fn endpoint(http: &HttpSpec, parts: &mut Vec<String>) {
    parts.extend(["http".into(), shown_url(&http.url)]);
    group("headers", http.headers.iter().flat_map(taken), parts);
    let helper = http.headers_helper.iter().map(|helper| helper.expose().clone());
    group("headers_helper", helper, parts);
    group("auth", [format!("{:?}", http.auth.provider)], parts);
    let known = |(name, text): (&str, &str)| match name == "client_secret" && !text.contains("${") {
        true => [name.to_owned(), String::new()],
        false => [name.to_owned(), text.to_owned()],
    };
    group("oauth", http.auth.oauth.said().into_iter().flat_map(known), parts);
}

/// A part whose end cannot be mistaken for the beginning of the next.
fn group(name: &str, values: impl IntoIterator<Item = String>, parts: &mut Vec<String>) {
    let values: Vec<String> = values.into_iter().collect();
    parts.extend([name.to_owned(), values.len().to_string()]);
    parts.extend(values);
}

/// The name of a value, and the value itself only where it names something rather than being it.
fn taken((name, value): (&String, &Secret<String>)) -> [String; 2] {
    let value = value.expose();
    let said = if value.contains("${") { value.clone() } else { String::new() };
    [name.clone(), said]
}

impl LockedServer {
    /// A server as it is declared, of whose offers nothing is known yet.
    pub fn of(spec: &ServerSpec) -> Self {
        let mut locked = Self {
            transport: spec.transport.as_str().to_owned(),
            command: None,
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            env_file: Vec::new(),
            files: Vec::new(),
            url: None,
            headers: Vec::new(),
            identity: identity(spec),
            package: None,
            instructions: crate::instructions_digest(""),
            tools: BTreeMap::new(),
            templates: BTreeMap::new(),
            prompts: BTreeMap::new(),
        };
        match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                locked.command = Some(stdio.command.clone());
                locked.args = consented_args(&stdio.args);
                locked.cwd = stdio.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
                locked.env = stdio.env.keys().cloned().collect();
                let read = stdio.files.env_file.iter().filter_map(|file| file.variables.as_ref());
                locked.env_file = read.flat_map(|set| set.keys().cloned()).collect();
                locked.files = pinned_files(stdio);
                locked.package = Package::of(&stdio.command, &stdio.args);
            }
            TransportSpec::Http(http) => {
                locked.url = Some(shown_url(&http.url));
                locked.headers = http.headers.keys().cloned().collect();
            }
            TransportSpec::BuiltIn => {}
        }
        locked
    }

    /// Adds what it offers. Of two of the same name the first counts, as it does for callers.
    pub fn add(&mut self, kind: CapabilityKind, name: &str, digest: Digest) {
        if let Some(all) = self.of_kind_mut(kind) {
            all.entry(name.to_owned()).or_insert(digest);
        }
    }

    /// The digest of a definition.
    pub fn definition(&self, kind: CapabilityKind, name: &str) -> Option<&Digest> {
        self.of_kind(kind)?.get(name)
    }

    /// The definitions of a kind; none for resources, which are not locked one by one.
    pub fn of_kind(&self, kind: CapabilityKind) -> Option<&BTreeMap<String, Digest>> {
        match kind {
            CapabilityKind::Tool => Some(&self.tools),
            CapabilityKind::Template => Some(&self.templates),
            CapabilityKind::Prompt => Some(&self.prompts),
            CapabilityKind::Resource | CapabilityKind::Method => None,
        }
    }

    fn of_kind_mut(&mut self, kind: CapabilityKind) -> Option<&mut BTreeMap<String, Digest>> {
        match kind {
            CapabilityKind::Tool => Some(&mut self.tools),
            CapabilityKind::Template => Some(&mut self.templates),
            CapabilityKind::Prompt => Some(&mut self.prompts),
            CapabilityKind::Resource | CapabilityKind::Method => None,
        }
    }
}

impl Lock {
    /// Reads a lock file.
    pub fn parse(text: &str) -> Result<Self, LockError> {
        read::lock(text)
    }

    /// The text of the file: the same for the same lock, always.
    pub fn format(&self) -> String {
        write::lock(self)
    }

    /// Why a server must not be started or reached while this lock holds, if so.
    pub fn refuses(&self, spec: &ServerSpec) -> Option<Violation> {
        let Some(locked) = self.servers.get(spec.name.as_str()) else {
            return Some(violation("server-added", &spec.name, "it is not in the lock file"));
        };
        (locked.identity != identity(spec)).then(|| {
            let what = difference(locked, &LockedServer::of(spec));
            violation(
                "identity-changed",
                &spec.name,
                &format!("{what} is not as the lock file has it"),
            )
        })
    }

    /// Everything in which the present state differs from what is locked.
    pub fn check(&self, now: &Lock) -> Vec<Violation> {
        let names: BTreeSet<&String> = self.servers.keys().chain(now.servers.keys()).collect();
        let mut all = Vec::new();
        for name in names {
            let mut add = |code, capability: Option<String>, text: String| {
                all.push(Violation { code, server: name.clone(), capability, text });
            };
            match (self.servers.get(name), now.servers.get(name)) {
                (Some(locked), Some(now)) => compare(locked, now, &mut add),
                (None, _) => add("server-added", None, "it is not in the lock file".into()),
                (_, None) => add("server-removed", None, "it is locked and not declared".into()),
            }
        }
        all
    }
}

fn violation(code: &'static str, server: &ServerName, text: &str) -> Violation {
    Violation { code, server: server.to_string(), capability: None, text: text.to_owned() }
}

fn compare(
    locked: &LockedServer,
    now: &LockedServer,
    add: &mut impl FnMut(&'static str, Option<String>, String),
) {
    if locked.identity != now.identity {
        let what = difference(locked, now);
        add("identity-changed", None, format!("{what} is not as the lock file has it"));
    }
    let integrity = |server: &LockedServer| server.package.as_ref()?.integrity.clone();
    if let (Some(was), Some(is)) = (integrity(locked), integrity(now))
        && was != is
    {
        add("integrity-changed", None, format!("its package was {was} and is {is}"));
    }
    if locked.instructions != now.instructions {
        add("instructions-changed", None, "its instructions are not the locked ones".into());
    }
    for kind in CapabilityKind::ALL {
        let (Some(old), Some(new)) = (locked.of_kind(kind), now.of_kind(kind)) else { continue };
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (code, how) = match (old.get(name), new.get(name)) {
                (Some(was), Some(is)) if was == is => continue,
                (Some(_), Some(_)) => ("definition-changed", "is not as it was locked"),
                (None, _) => ("definition-added", "is not in the lock file"),
                (_, None) => ("definition-removed", "is locked and not offered"),
            };
            add(code, Some(format!("{kind} {name}")), format!("the {kind} {name:?} {how}"));
        }
    }
}

/// Which part of two servers differs.
fn difference(locked: &LockedServer, now: &LockedServer) -> &'static str {
    let differs = [
        (locked.transport != now.transport, "its transport"),
        (locked.command != now.command, "its command"),
        (locked.args != now.args, "an argument"),
        (locked.cwd != now.cwd, "its working folder"),
        (locked.env != now.env, "its set of variables"),
        (locked.env_file != now.env_file, "the set of variables of its env file"),
        (locked.files != now.files, "a file of the project that it runs"),
        (locked.url != now.url, "its address"),
        (locked.headers != now.headers, "its set of headers"),
    ];
    let found = differs.iter().find(|(differs, _)| *differs);
    found.map_or("the value of a variable", |(_, what)| *what)
}

#[cfg(test)]
mod tests;

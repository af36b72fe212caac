//! The lock file: the approved servers with their processes or endpoints and the digests of their
//! definitions. Also finds where the current state differs from it.
//!
//! The file is meant to be committed, so it must not help to guess a secret: values that are not
//! shown are not part of a digest either.

mod package;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toml_edit::{DocumentMut, TomlError};
use toolgate_model::{
    CapabilityKind, CodedError, Digest, ErrorCode, HttpSpec, Secret, ServerName, ServerSpec,
    StdioSpec, TransportSpec, redact_args_for_consent, redact_url, redact_value_for_consent,
};

pub use package::{ServerPackage, npm_integrity};

/// The content of a lock file. A file with unknown keys is refused, because it cannot be enforced
/// completely.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockFile {
    /// The servers, by name.
    #[serde(default)]
    pub servers: BTreeMap<String, LockedServer>,
}

/// One server in a lock file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedServer {
    /// The transport: `stdio`, `http`, `sse` or `builtin`.
    pub transport: String,
    /// The command of a stdio server.
    pub command: Option<String>,
    /// The arguments, with secret values redacted.
    #[serde(default)]
    pub args: Vec<String>,
    /// The declared working folder.
    pub cwd: Option<String>,
    /// The names of the declared environment variables.
    #[serde(default)]
    pub env: Vec<String>,
    /// The names of the variables that the env file sets.
    #[serde(default)]
    pub env_file: Vec<String>,
    /// The pinned files of the project, as `digest name`.
    #[serde(default)]
    pub files: Vec<String>,
    /// The URL of an HTTP server, with secrets redacted.
    pub url: Option<String>,
    /// The names of the declared HTTP headers.
    #[serde(default)]
    pub headers: Vec<String>,
    /// The digest of all fields above and of the references to variables in their values.
    pub identity: Digest,
    /// The package that the command runs, if it runs one.
    pub package: Option<ServerPackage>,
    /// The digest of the server's instructions.
    pub instructions: Digest,
    /// The digests of the tools, by name.
    #[serde(default)]
    pub tools: BTreeMap<String, Digest>,
    /// The digests of the resource templates, by URI template.
    #[serde(default)]
    pub templates: BTreeMap<String, Digest>,
    /// The digests of the prompts, by name.
    #[serde(default)]
    pub prompts: BTreeMap<String, Digest>,
}

/// One difference between the lock file and the current state.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LockViolation {
    /// The kind of difference, as a stable code.
    pub code: &'static str,
    /// The server that differs.
    pub server: String,
    /// The capability that differs, as `kind name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// A one-line description of the difference.
    pub text: String,
}

impl fmt::Display for LockViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.server, self.text)
    }
}

/// Why a lock file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockFileError {
    /// The file is not valid TOML.
    #[error("the lock file is not valid TOML: {0}")]
    Syntax(String),
    /// The file has another format version.
    #[error("the lock file has version {0}, but this program supports only version 2")]
    Version(i64),
    /// The file is valid TOML, but its content is invalid.
    #[error("the lock file is invalid: {0}")]
    Content(String),
}

impl CodedError for LockFileError {
    fn code(&self) -> ErrorCode {
        ErrorCode::PinLockFile
    }

    fn hint(&self) -> Option<String> {
        Some("run `toolgate lock` to write it again".to_owned())
    }
}

/// Returns the digest of a server's process or endpoint.
///
/// Values that are redacted for consent are left out, so a replaced token does not invalidate the
/// lock file. References to variables count as written.
pub fn identity_digest(spec: &ServerSpec) -> Digest {
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
    group("args", redact_args_for_consent(&stdio.args), parts);
    group("cwd", stdio.cwd.iter().map(path), parts);
    group("env", variables(&stdio.env), parts);
    group("env_file", stdio.env_file.iter().map(path), parts);
    group("env_file sets", file_variables(stdio), parts);
    group("env_inherit", stdio.env_inherit.iter().cloned(), parts);
    group("files", pinned_files(stdio), parts);
}

/// Returns the variables with secret values redacted. References to variables stay as written.
fn variables(set: &BTreeMap<String, Secret<String>>) -> Vec<String> {
    let shown = |(name, value): (&String, &Secret<String>)| {
        format!("{name}={}", redact_value_for_consent(name, value.expose()))
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
    parts.extend(["http".into(), redact_url(&http.url)]);
    group("headers", http.headers.iter().flat_map(header_identity), parts);
    let helper = http.headers_helper.iter().map(|helper| helper.expose().clone());
    group("headers_helper", helper, parts);
    group("auth", [format!("{:?}", http.auth.provider)], parts);
    let known = |(name, text): (&str, &str)| match name == "client_secret" && !text.contains("${") {
        true => [name.to_owned(), String::new()],
        false => [name.to_owned(), text.to_owned()],
    };
    group("oauth", http.auth.oauth.fields().into_iter().flat_map(known), parts);
}

/// Appends a named group of values with their count, so that groups cannot run into each other.
fn group(name: &str, values: impl IntoIterator<Item = String>, parts: &mut Vec<String>) {
    let values: Vec<String> = values.into_iter().collect();
    parts.extend([name.to_owned(), values.len().to_string()]);
    parts.extend(values);
}

/// Returns the name of a header, and its value only if the value refers to a variable.
fn header_identity((name, value): (&String, &Secret<String>)) -> [String; 2] {
    let value = value.expose();
    let reference = if value.contains("${") { value.clone() } else { String::new() };
    [name.clone(), reference]
}

impl LockedServer {
    /// Creates an entry for a declared server, without definitions.
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
            identity: identity_digest(spec),
            package: None,
            instructions: crate::instructions_digest(""),
            tools: BTreeMap::new(),
            templates: BTreeMap::new(),
            prompts: BTreeMap::new(),
        };
        match &spec.transport {
            TransportSpec::Stdio(stdio) => {
                locked.command = Some(stdio.command.clone());
                locked.args = redact_args_for_consent(&stdio.args);
                locked.cwd = stdio.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
                locked.env = stdio.env.keys().cloned().collect();
                let read = stdio.files.env_file.iter().filter_map(|file| file.variables.as_ref());
                locked.env_file = read.flat_map(|set| set.keys().cloned()).collect();
                locked.files = pinned_files(stdio);
                locked.package = ServerPackage::from_command(&stdio.command, &stdio.args);
            }
            TransportSpec::Http(http) => {
                locked.url = Some(redact_url(&http.url));
                locked.headers = http.headers.keys().cloned().collect();
            }
            TransportSpec::BuiltIn => {}
        }
        locked
    }

    /// Adds the digest of a definition. If a name occurs twice, the first one counts, as it does
    /// for callers.
    pub fn add(&mut self, kind: CapabilityKind, name: &str, digest: Digest) {
        let all = match kind {
            CapabilityKind::Tool => &mut self.tools,
            CapabilityKind::Template => &mut self.templates,
            CapabilityKind::Prompt => &mut self.prompts,
            CapabilityKind::Resource | CapabilityKind::Method => return,
        };
        all.entry(name.to_owned()).or_insert(digest);
    }

    /// Returns the digest of a definition.
    pub fn definition(&self, kind: CapabilityKind, name: &str) -> Option<&Digest> {
        self.of_kind(kind)?.get(name)
    }

    /// Returns the definitions of a kind, or none for kinds that are not locked one by one, such as
    /// resources.
    pub fn of_kind(&self, kind: CapabilityKind) -> Option<&BTreeMap<String, Digest>> {
        match kind {
            CapabilityKind::Tool => Some(&self.tools),
            CapabilityKind::Template => Some(&self.templates),
            CapabilityKind::Prompt => Some(&self.prompts),
            CapabilityKind::Resource | CapabilityKind::Method => None,
        }
    }
}

impl LockFile {
    /// Parses the text of a lock file.
    pub fn parse(text: &str) -> Result<Self, LockFileError> {
        let syntax = |error: TomlError| LockFileError::Syntax(error.to_string());
        let mut document: DocumentMut = text.parse().map_err(syntax)?;
        match document.remove("version").and_then(|version| version.as_integer()) {
            Some(2) => {}
            Some(other) => return Err(LockFileError::Version(other)),
            None => return Err(LockFileError::Content("`version` is missing".into())),
        }
        let one_line = |text: String| text.trim_end().replace('\n', " ");
        toml_edit::de::from_document(document)
            .map_err(|error| LockFileError::Content(one_line(error.to_string())))
    }

    /// Returns the text of the lock file. Equal lock files have equal texts.
    pub fn format(&self) -> String {
        write::format_lock_file(self)
    }

    /// Returns why the lock file forbids starting or reaching a server, if it does.
    pub fn check_server(&self, spec: &ServerSpec) -> Option<LockViolation> {
        let Some(locked) = self.servers.get(spec.name.as_str()) else {
            return Some(violation("server-added", &spec.name, "it is not in the lock file"));
        };
        (locked.identity != identity_digest(spec)).then(|| {
            let what = difference(locked, &LockedServer::of(spec));
            violation("identity-changed", &spec.name, &format!("{what} differs from the lock file"))
        })
    }

    /// Returns every difference between this lock file and the current state.
    pub fn check(&self, now: &LockFile) -> Vec<LockViolation> {
        let names: BTreeSet<&String> = self.servers.keys().chain(now.servers.keys()).collect();
        let mut all = Vec::new();
        for name in names {
            let mut add = |code, capability: Option<String>, text: String| {
                all.push(LockViolation { code, server: name.clone(), capability, text });
            };
            match (self.servers.get(name), now.servers.get(name)) {
                (Some(locked), Some(now)) => compare(locked, now, &mut add),
                (None, _) => add("server-added", None, "it is not in the lock file".into()),
                (_, None) => {
                    add("server-removed", None, "it is in the lock file but not declared".into())
                }
            }
        }
        all
    }
}

fn violation(code: &'static str, server: &ServerName, text: &str) -> LockViolation {
    LockViolation { code, server: server.to_string(), capability: None, text: text.to_owned() }
}

fn compare(
    locked: &LockedServer,
    now: &LockedServer,
    add: &mut impl FnMut(&'static str, Option<String>, String),
) {
    if locked.identity != now.identity {
        let what = difference(locked, now);
        add("identity-changed", None, format!("{what} differs from the lock file"));
    }
    let integrity = |server: &LockedServer| server.package.as_ref()?.integrity.clone();
    if let (Some(was), Some(is)) = (integrity(locked), integrity(now))
        && was != is
    {
        add(
            "integrity-changed",
            None,
            format!("the integrity of its package changed from {was} to {is}"),
        );
    }
    if locked.instructions != now.instructions {
        add("instructions-changed", None, "its instructions differ from the lock file".into());
    }
    for kind in CapabilityKind::ALL {
        let (Some(old), Some(new)) = (locked.of_kind(kind), now.of_kind(kind)) else { continue };
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (code, how) = match (old.get(name), new.get(name)) {
                (Some(was), Some(is)) if was == is => continue,
                (Some(_), Some(_)) => ("definition-changed", "differs from the lock file"),
                (None, _) => ("definition-added", "is not in the lock file"),
                (_, None) => ("definition-removed", "is in the lock file but not offered"),
            };
            add(code, Some(format!("{kind} {name}")), format!("the {kind} {name:?} {how}"));
        }
    }
}

/// Returns the first part in which two servers differ.
fn difference(locked: &LockedServer, now: &LockedServer) -> &'static str {
    let differs = [
        (locked.transport != now.transport, "its transport"),
        (locked.command != now.command, "its command"),
        (locked.args != now.args, "an argument"),
        (locked.cwd != now.cwd, "its working folder"),
        (locked.env != now.env, "its set of variables"),
        (locked.env_file != now.env_file, "the set of variables of its env file"),
        (locked.files != now.files, "a project file that it runs"),
        (locked.url != now.url, "its address"),
        (locked.headers != now.headers, "its set of headers"),
    ];
    let found = differs.iter().find(|(differs, _)| *differs);
    found.map_or("the value of a variable", |(_, what)| *what)
}

#[cfg(test)]
mod tests;

//! Reads and writes the fields that most dialects share: the process to start or the endpoint to
//! connect to.
//!
//! Dialects differ in the names of fields and transports, which they list as [`EntryKeys`]. A
//! dialect with a different structure uses only [`read_stdio`], [`check_stdio`] and [`check_http`].

use std::path::{Path, PathBuf};

use toolgate_model::{ConfigScope, HttpSpec, HttpTransportKind, Secret, StdioSpec, TransportSpec};

use super::excerpt::shorten_name;
use super::fields::words_hint;
use super::{EntryWriter, TableFields};
use crate::FileRef;

/// The name of a transport; `None` is a process.
pub(crate) type TransportName = (&'static str, Option<HttpTransportKind>);
/// The kinds of HTTP transports in such names.
pub(crate) const AUTO: Option<HttpTransportKind> = Some(HttpTransportKind::Auto);
pub(crate) const STREAMABLE: Option<HttpTransportKind> = Some(HttpTransportKind::Streamable);
pub(crate) const SSE: Option<HttpTransportKind> = Some(HttpTransportKind::Sse);

/// The field names of an entry in one dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryKeys {
    /// The fields that name the transport; the first one present counts, and is the one written.
    pub transport_keys: &'static [&'static str],
    /// The names of transports.
    pub transport_names: &'static [TransportName],
    /// The names that are written. A transport without one is not named.
    pub written_names: &'static [TransportName],
    /// The HTTP transports that an entry cannot ask for.
    pub lost_kinds: &'static [HttpTransportKind],
    pub command: &'static str,
    pub args: &'static str,
    pub env: &'static str,
    pub env_file: Option<&'static str>,
    pub cwd: Option<&'static str>,
    pub url: &'static str,
    pub headers: &'static str,
}

impl EntryKeys {
    /// The names that most dialects use. `http` leaves the HTTP transport open, because some hosts
    /// write it for either one.
    pub const COMMON: Self = Self {
        transport_keys: &["type", "transport"],
        transport_names: &[
            ("stdio", None),
            ("http", AUTO),
            ("sse", SSE),
            ("streamable-http", STREAMABLE),
            ("streamableHttp", STREAMABLE),
        ],
        written_names: &[("streamable-http", STREAMABLE), ("sse", SSE)],
        lost_kinds: &[],
        command: "command",
        args: "args",
        env: "env",
        env_file: None,
        cwd: Some("cwd"),
        url: "url",
        headers: "headers",
    };

    /// The names of hosts that have no field for the transport, and support only Streamable HTTP.
    pub const UNTYPED: Self = Self {
        transport_keys: &[],
        transport_names: &[],
        written_names: &[],
        lost_kinds: &[HttpTransportKind::Sse],
        cwd: None,
        ..Self::COMMON
    };

    /// Returns the fields of a process and an endpoint.
    pub fn fields(&self) -> Vec<&'static str> {
        let fields = [self.command, self.args, self.env, self.url, self.headers];
        fields.into_iter().chain(self.cwd).chain(self.env_file).collect()
    }
}

/// Reads either the process to start or the endpoint to connect to. If the entry names a transport,
/// it must match.
pub(crate) fn read_transport(
    fields: &mut TableFields<'_>,
    keys: &EntryKeys,
) -> Option<TransportSpec> {
    let tag = tag(fields, keys);
    let command = fields.template(keys.command);
    let url = fields.template(keys.url);
    let mut stdio = read_stdio(fields, command.clone().unwrap_or_default(), keys);
    stdio.args = fields.templates(keys.args).unwrap_or_default();
    let headers = fields.secrets(keys.headers);
    match (command, url) {
        (Some(_), None) => {
            check_stdio(fields, &stdio, keys.command);
            warn_unused(fields, keys.command, &[keys.headers]);
            let contradiction = tag.filter(|tag| tag.kind.is_some());
            report_contradiction(fields, contradiction, keys.command, keys.url);
            Some(TransportSpec::Stdio(stdio))
        }
        (None, Some(url)) => {
            let kind = tag.as_ref().and_then(|tag| tag.kind).unwrap_or_default();
            let http = HttpSpec { url, headers, kind, ..HttpSpec::default() };
            check_http(fields, &http, keys.url);
            warn_unused(fields, keys.url, &[keys.args, keys.env]);
            warn_unused(fields, keys.url, keys.cwd.as_slice());
            warn_unused(fields, keys.url, keys.env_file.as_slice());
            let contradiction = tag.filter(|tag| tag.kind.is_none());
            report_contradiction(fields, contradiction, keys.url, keys.command);
            Some(TransportSpec::Http(http))
        }
        (Some(_), Some(_)) => report_transport_fields(fields, true, keys.command, keys.url),
        _ if fields.has(keys.command) || fields.has(keys.url) => None,
        (None, None) => report_transport_fields(fields, false, keys.command, keys.url),
    }
}

/// Reports an entry with both or none of the fields for a process and an endpoint.
pub(crate) fn report_transport_fields<T>(
    fields: &mut TableFields<'_>,
    has_both: bool,
    command: &str,
    url: &str,
) -> Option<T> {
    let (has, and, keep) = match has_both {
        true => ("has both", "and", "keep"),
        false => ("has neither", "nor", "add"),
    };
    let hint =
        format!("{keep} `{command}` to start a process, or `{url}` to connect to an endpoint");
    fields.fail(&format!("{has} `{command}` {and} `{url}`"), &hint);
    None
}

/// The transport that an entry names.
struct TransportTag<'t> {
    at: usize,
    word: &'t str,
    /// `None` for a process.
    kind: Option<HttpTransportKind>,
}

/// Reads the named transport.
fn tag<'t>(fields: &mut TableFields<'t>, keys: &EntryKeys) -> Option<TransportTag<'t>> {
    let mut found: Option<TransportTag<'t>> = None;
    for key in keys.transport_keys {
        let Some(at) = fields.node(key).map(|node| node.at) else { continue };
        let Some(word) = fields.text(key) else { continue };
        let Some((_, kind)) = keys.transport_names.iter().find(|(known, _)| *known == word) else {
            let hint = words_hint(word, keys.transport_names.iter().map(|(known, _)| *known));
            let problem = format!("has an unknown {key} {:?}", shorten_name(word));
            fields.error_with_value(at, &problem, &hint);
            continue;
        };
        let tag = TransportTag { at, word, kind: *kind };
        match &found {
            Some(first) if first.kind != tag.kind => {
                let problem =
                    format!("has two transport types: {:?} and {:?}", first.word, tag.word);
                fields.error_with_value(tag.at, &problem, "keep one of the two");
            }
            Some(_) => {}
            None => found = Some(tag),
        }
    }
    found
}

/// Reports a named transport that contradicts the other field.
fn report_contradiction(
    fields: &mut TableFields<'_>,
    tag: Option<TransportTag<'_>>,
    has: &str,
    lacks: &str,
) {
    if let Some(TransportTag { at, word, .. }) = tag {
        let hint = format!("replace `{has}` by `{lacks}`, or remove the type");
        fields.error_with_value(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

/// Reads a process with its variables and its folder. The caller adds the arguments.
pub(crate) fn read_stdio(
    fields: &mut TableFields<'_>,
    command: String,
    keys: &EntryKeys,
) -> StdioSpec {
    let cwd = keys.cwd.and_then(|key| fields.template(key));
    let env_file = keys.env_file.and_then(|key| fields.template(key));
    let file = fields.file();
    StdioSpec {
        command,
        env: fields.secrets(keys.env),
        env_file: env_file.map(|path| resolve_path(file, &path)),
        cwd: working_folder(file, cwd.as_deref()),
        ..StdioSpec::default()
    }
}

/// Returns the working folder: a project's servers run in the project's folder by default.
pub(crate) fn working_folder(at: &FileRef, cwd: Option<&str>) -> Option<PathBuf> {
    match cwd {
        Some(cwd) => Some(resolve_path(at, cwd)),
        None => (at.scope == ConfigScope::Project).then(|| at.project.to_path_buf()),
    }
}

/// Resolves a path relative to the project of the declaring file. A leading `~` or variable is left
/// for the caller to expand.
pub(crate) fn resolve_path(at: &FileRef, path: &str) -> PathBuf {
    match path.starts_with('~') || path.starts_with("${") {
        true => path.into(),
        false => join_normalized(&at.project, path),
    }
}

/// Joins paths without a `.` component, because the path is shown when the user is asked for
/// consent.
pub(super) fn join_normalized(folder: &Path, path: &str) -> PathBuf {
    folder.join(path).components().collect()
}

/// Warns that fields have no effect beside another field.
pub(crate) fn warn_unused(fields: &mut TableFields<'_>, beside: &str, keys: &[&'static str]) {
    for key in keys {
        if fields.has(key) {
            fields.warn(key, &format!("has no effect beside `{beside}`"), "remove it");
        }
    }
}

/// Reports values with which no process can be started.
pub(crate) fn check_stdio(fields: &mut TableFields<'_>, stdio: &StdioSpec, key: &str) {
    let command = stdio.command.trim();
    if command.is_empty() {
        fields.fail(&format!("has an empty `{key}`"), "name the program to start");
    } else if stdio.args.is_empty() && command.contains(char::is_whitespace) {
        let program = command.split_whitespace().next().unwrap_or_default();
        fields.warn(
            key,
            "contains spaces and is taken as the name of one program",
            &format!("if {program:?} is the program, move what follows it into `args`"),
        );
    }
    let texts = stdio.args.iter().chain([&stdio.command]);
    if texts.chain(stdio.env.values().map(Secret::expose)).any(|text| text.contains('\0')) {
        fields.fail("contains a NUL character", "remove it: it cannot be passed to a process");
    }
    if let Some(key) = stdio.env.keys().find(|key| key.is_empty() || key.contains(['=', '\0'])) {
        fields.fail(&format!("cannot set a variable named {:?}", shorten_name(key)), "rename it");
    }
}

/// Reports values with which no endpoint can be reached.
pub(crate) fn check_http(fields: &mut TableFields<'_>, http: &HttpSpec, key: &str) {
    let known = ["http://", "https://", "${"];
    if !known.iter().any(|start| http.url.starts_with(start)) {
        let problem = format!("has a `{key}` that is neither http nor https");
        fields.fail(&problem, "begin it with https://");
    }
    if let Some(name) = http.headers.keys().find(|name| !is_token(name)) {
        fields.fail(&format!("cannot send a header named {:?}", shorten_name(name)), "rename it");
    }
    let broken = |value: &Secret<String>| value.expose().contains(['\r', '\n', '\0']);
    if let Some((name, _)) = http.headers.iter().find(|(_, value)| broken(value)) {
        fields.fail(&format!("has a line break in header {name:?}"), "keep it on one line");
    }
}

/// Returns true if HTTP allows this header name.
fn is_token(name: &str) -> bool {
    let symbol = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || symbol(byte))
}

/// Writes the process or the endpoint. What the dialect cannot express stays in the spec.
pub(crate) fn write_transport(
    transport: &mut TransportSpec,
    keys: &EntryKeys,
    writer: &mut EntryWriter<'_>,
) {
    write_type(transport, keys, writer);
    match transport {
        TransportSpec::Stdio(stdio) => write_stdio(stdio, keys, writer),
        TransportSpec::Http(http) => write_http(http, keys, writer),
        TransportSpec::BuiltIn => {}
    }
}

/// Writes the name of the transport, unless the dialect does not name it.
pub(crate) fn write_type(
    transport: &mut TransportSpec,
    keys: &EntryKeys,
    writer: &mut EntryWriter<'_>,
) {
    let kind = match transport {
        TransportSpec::Http(http) => Some(http.kind),
        _ => None,
    };
    let word = keys.written_names.iter().find(|(_, meant)| *meant == kind);
    if let (Some(key), Some((word, _))) = (keys.transport_keys.first(), word) {
        writer.text(key, Some(word));
    }
    if let TransportSpec::Http(http) = transport
        && !keys.lost_kinds.contains(&http.kind)
    {
        http.kind = HttpTransportKind::Auto;
    }
}

/// Writes the process without the name of its transport.
pub(crate) fn write_stdio(stdio: &mut StdioSpec, keys: &EntryKeys, writer: &mut EntryWriter<'_>) {
    writer.template(keys.command, &stdio.command);
    writer.templates(keys.args, &stdio.args);
    writer.secrets(keys.env, "env", &stdio.env);
    writer.cwd(keys.cwd, stdio.cwd.as_deref());
    if let Some(key) = keys.env_file {
        writer.path(key, stdio.env_file.take().as_deref());
    }
}

/// Writes the endpoint without the name of its transport.
pub(crate) fn write_http(http: &HttpSpec, keys: &EntryKeys, writer: &mut EntryWriter<'_>) {
    writer.template(keys.url, &http.url);
    writer.secrets(keys.headers, "headers", &http.headers);
}

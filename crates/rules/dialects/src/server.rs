//! What all dialects so far agree on: how a server entry says what to start or where to connect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolgate_model::{HttpKind, HttpSpec, Scope, Secret, ServerName, StdioSpec, TransportSpec};

use crate::FileRef;
use crate::fields::Fields;
use crate::nearest::nearest;
use crate::report::Report;
use crate::tree::{Member, Value};

/// Goes through a table of servers and hands each usable one to `read`.
///
/// The first of two entries with the same name stays: the second is reported.
pub(crate) fn each<'t>(
    report: &mut Report<'_>,
    servers: &'t [Member],
    mut read: impl FnMut(&mut Report<'_>, ServerName, &'t Member, &'t [Member]),
) {
    let mut seen = BTreeMap::new();
    for member in servers {
        let what = format!("server {:?}", member.key);
        let name = match ServerName::new(&member.key) {
            Ok(name) => name,
            Err(error) => {
                report.error(member.at, format!("{what}: cannot {error}"), "rename it");
                continue;
            }
        };
        if let Some(first) = seen.insert(name.clone(), member.at) {
            let line = report.origin(first).line;
            report.error(
                member.at,
                format!("{what} is declared twice"),
                format!("line {line} has it already"),
            );
            seen.insert(name, first);
            continue;
        }
        match &member.node.value {
            Value::Table(fields) => read(report, name, member, fields),
            other => {
                let message = format!("{what} is {}, not a table", other.kind());
                report.error(member.node.at, message, "give it `command` or `url`");
            }
        }
    }
}

/// Reads `command`, `args`, `env`, `cwd` or `url`, `headers`: exactly one kind of the two. Which it
/// is may be said, in `type` or `transport`, and must then be true.
pub(crate) fn transport(fields: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let tag = tag(fields);
    let command = fields.text("command");
    let url = fields.text("url");
    let stdio = stdio(fields, command.unwrap_or_default());
    let headers = fields.secrets("headers");
    match (command, url) {
        (Some(_), None) => {
            check_stdio(fields, &stdio);
            unused(fields, "command", &["headers"]);
            belied(fields, tag.filter(|tag| tag.kind.is_some()), "command", "url");
            Some(TransportSpec::Stdio(stdio))
        }
        (None, Some(url)) => {
            let kind = tag.as_ref().and_then(|tag| tag.kind).unwrap_or_default();
            let http = HttpSpec { url: url.to_owned(), headers, kind };
            check_http(fields, &http);
            unused(fields, "url", &["args", "env", "cwd"]);
            belied(fields, tag.filter(|tag| tag.kind.is_none()), "url", "command");
            Some(TransportSpec::Http(http))
        }
        (Some(_), Some(_)) => {
            fields.fail(
                "has both `command` and `url`",
                "keep `command` to start a process, or `url` to connect to an endpoint",
            );
            None
        }
        (None, None) => {
            fields.fail(
                "has neither `command` nor `url`",
                "add `command` to start a process, or `url` to connect to an endpoint",
            );
            None
        }
    }
}

/// What an entry says its transport is.
struct Tag<'t> {
    at: usize,
    word: &'t str,
    /// `None` for a process.
    kind: Option<HttpKind>,
}

/// The words dialects use. `http` leaves open which HTTP transport it is: some hosts write it for
/// either.
const WORDS: [(&str, Option<HttpKind>); 5] = [
    ("stdio", None),
    ("http", Some(HttpKind::Auto)),
    ("sse", Some(HttpKind::Sse)),
    ("streamable-http", Some(HttpKind::Streamable)),
    ("streamableHttp", Some(HttpKind::Streamable)),
];

/// Reads `type`, or `transport` as others call it.
fn tag<'t>(fields: &mut Fields<'t, '_, '_>) -> Option<Tag<'t>> {
    let [first, second] = ["type", "transport"].map(|key| {
        let at = fields.node(key)?.at;
        let word = fields.text(key)?;
        let known = WORDS.iter().find(|(known, _)| *known == word);
        if known.is_none() {
            unknown_word(fields, at, key, word);
        }
        known.map(|(_, kind)| Tag { at, word, kind: *kind })
    });
    if let (Some(first), Some(second)) = (&first, &second)
        && first.kind != second.kind
    {
        let problem = format!("is {:?} by `type` and {:?} by `transport`", first.word, second.word);
        fields.fault(second.at, &problem, "keep one of the two");
    }
    first.or(second)
}

/// Complains of a tag that says the opposite of the field beside it.
fn belied(fields: &mut Fields<'_, '_, '_>, tag: Option<Tag<'_>>, has: &str, lacks: &str) {
    if let Some(Tag { at, word, .. }) = tag {
        let hint = format!("replace `{has}` by `{lacks}`, or remove the type");
        fields.fault(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

fn unknown_word(fields: &mut Fields<'_, '_, '_>, at: usize, key: &str, word: &str) {
    let hint = match nearest(word, &WORDS.map(|(known, _)| known)) {
        Some(known) => format!("did you mean {known:?}?"),
        None => "use \"stdio\", \"http\" or \"sse\"".to_owned(),
    };
    fields.fault(at, &format!("has an unknown {key} {word:?}"), &hint);
}

fn stdio(fields: &mut Fields<'_, '_, '_>, command: &str) -> StdioSpec {
    let cwd = fields.text("cwd");
    StdioSpec {
        command: command.to_owned(),
        args: fields.texts("args").unwrap_or_default(),
        env: fields.secrets("env"),
        cwd: working_folder(fields.report().file(), cwd),
        env_inherit: Vec::new(),
    }
}

/// Relative to the folder of the declaring file; a project's servers run there unless told
/// otherwise. `~` and variables at the front are left for whoever knows their meaning.
fn working_folder(at: &FileRef, cwd: Option<&str>) -> Option<PathBuf> {
    match cwd {
        Some(cwd) if cwd.starts_with('~') || cwd.starts_with("${") => Some(cwd.into()),
        Some(cwd) => Some(joined(at.folder(), Path::new(cwd))),
        None => (at.scope == Scope::Project).then(|| at.folder().to_owned()),
    }
}

/// Joins without leaving a `.` behind: the path is shown when consent is asked for.
fn joined(folder: &Path, path: &Path) -> PathBuf {
    folder.join(path).components().collect()
}

fn unused(fields: &mut Fields<'_, '_, '_>, beside: &str, keys: &[&'static str]) {
    for key in keys {
        if fields.node(key).is_some() {
            fields.warn(key, &format!("has no effect beside `{beside}`"), "remove it");
        }
    }
}

fn check_stdio(fields: &mut Fields<'_, '_, '_>, stdio: &StdioSpec) {
    let command = stdio.command.trim();
    if command.is_empty() {
        fields.fail("has an empty `command`", "name the program to start");
    } else if stdio.args.is_empty() && command.contains(char::is_whitespace) {
        let program = command.split_whitespace().next().unwrap_or_default();
        fields.warn(
            "command",
            "contains spaces and is taken as the name of one program",
            &format!("if {program:?} is the program, move what follows it into `args`"),
        );
    }
    let texts = stdio.args.iter().chain([&stdio.command]);
    if texts.chain(stdio.env.values().map(Secret::expose)).any(|text| text.contains('\0')) {
        fields.fail("holds a NUL character", "no process can be given one: remove it");
    }
    if let Some(key) = stdio.env.keys().find(|key| key.is_empty() || key.contains(['=', '\0'])) {
        fields.fail(&format!("cannot set a variable named {key:?}"), "rename it");
    }
}

fn check_http(fields: &mut Fields<'_, '_, '_>, http: &HttpSpec) {
    let known = ["http://", "https://", "${"];
    if !known.iter().any(|start| http.url.starts_with(start)) {
        fields.fail("has a `url` that is neither http nor https", "begin it with https://");
    }
    if let Some(name) = http.headers.keys().find(|name| !is_token(name)) {
        fields.fail(&format!("cannot send a header named {name:?}"), "rename it");
    }
    let broken = |value: &Secret<String>| value.expose().contains(['\r', '\n', '\0']);
    if let Some((name, _)) = http.headers.iter().find(|(_, value)| broken(value)) {
        fields.fail(&format!("has a line break in header {name:?}"), "keep it on one line");
    }
}

/// What HTTP allows as a header's name.
fn is_token(name: &str) -> bool {
    let symbol = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || symbol(byte))
}

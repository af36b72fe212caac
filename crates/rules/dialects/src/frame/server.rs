//! What most dialects agree on: how a server entry says what to start or where to connect.
//!
//! Dialects differ in the names of the fields and in the words for transports: those come as
//! [`Keys`]. One whose entries are shaped otherwise uses [`stdio`], [`check_stdio`] and
//! [`check_http`] alone.

use std::path::{Path, PathBuf};

use toolgate_model::{HttpKind, HttpSpec, Scope, Secret, StdioSpec, TransportSpec};

use super::Fields;
use super::excerpt::beginning;
use super::nearest::nearest;
use crate::FileRef;

/// A word for a transport: `None` is a process.
pub(crate) type Word = (&'static str, Option<HttpKind>);

/// What a dialect calls the fields of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys {
    /// The fields that say which transport it is; the first that is there counts.
    pub tags: &'static [&'static str],
    /// The words they hold.
    pub words: &'static [Word],
    pub command: &'static str,
    pub args: &'static str,
    pub env: &'static str,
    pub env_file: Option<&'static str>,
    pub cwd: Option<&'static str>,
    pub url: &'static str,
    pub headers: &'static str,
}

impl Keys {
    /// What most of them say. `http` leaves open which HTTP transport it is: some hosts write it
    /// for either.
    pub const COMMON: Self = Self {
        tags: &["type", "transport"],
        words: &[
            ("stdio", None),
            ("http", Some(HttpKind::Auto)),
            ("sse", Some(HttpKind::Sse)),
            ("streamable-http", Some(HttpKind::Streamable)),
            ("streamableHttp", Some(HttpKind::Streamable)),
        ],
        command: "command",
        args: "args",
        env: "env",
        env_file: None,
        cwd: Some("cwd"),
        url: "url",
        headers: "headers",
    };
}

/// Reads what to start, or where to connect: exactly one of the two. Which it is may be said, and
/// must then be true.
pub(crate) fn transport(fields: &mut Fields<'_, '_, '_>, keys: &Keys) -> Option<TransportSpec> {
    let tag = tag(fields, keys);
    let command = fields.template(keys.command);
    let url = fields.template(keys.url);
    let mut stdio = stdio(fields, command.clone().unwrap_or_default(), keys);
    stdio.args = fields.templates(keys.args).unwrap_or_default();
    let headers = fields.secrets(keys.headers);
    match (command, url) {
        (Some(_), None) => {
            check_stdio(fields, &stdio, keys.command);
            unused(fields, keys.command, &[keys.headers]);
            belied(fields, tag.filter(|tag| tag.kind.is_some()), keys.command, keys.url);
            Some(TransportSpec::Stdio(stdio))
        }
        (None, Some(url)) => {
            let kind = tag.as_ref().and_then(|tag| tag.kind).unwrap_or_default();
            let http = HttpSpec { url, headers, kind, ..HttpSpec::default() };
            check_http(fields, &http, keys.url);
            unused(fields, keys.url, &[keys.args, keys.env]);
            if let Some(cwd) = keys.cwd {
                unused(fields, keys.url, &[cwd]);
            }
            belied(fields, tag.filter(|tag| tag.kind.is_none()), keys.url, keys.command);
            Some(TransportSpec::Http(http))
        }
        (Some(_), Some(_)) => {
            let hint = format!(
                "keep `{}` to start a process, or `{}` to connect to an endpoint",
                keys.command, keys.url
            );
            fields.fail(&format!("has both `{}` and `{}`", keys.command, keys.url), &hint);
            None
        }
        // What is there and cannot be read was reported as that.
        _ if [keys.command, keys.url].iter().any(|key| fields.node(key).is_some()) => None,
        (None, None) => {
            let hint = format!(
                "add `{}` to start a process, or `{}` to connect to an endpoint",
                keys.command, keys.url
            );
            fields.fail(&format!("has neither `{}` nor `{}`", keys.command, keys.url), &hint);
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

/// Reads the tag that is there.
fn tag<'t>(fields: &mut Fields<'t, '_, '_>, keys: &Keys) -> Option<Tag<'t>> {
    let mut found: Option<Tag<'t>> = None;
    for key in keys.tags {
        let Some(at) = fields.node(key).map(|node| node.at) else { continue };
        let Some(word) = fields.text(key) else { continue };
        let Some((_, kind)) = keys.words.iter().find(|(known, _)| *known == word) else {
            unknown_word(fields, at, key, keys);
            continue;
        };
        let tag = Tag { at, word, kind: *kind };
        match &found {
            Some(first) if first.kind != tag.kind => {
                let problem = format!("is {:?} and {:?} at once", first.word, tag.word);
                fields.wrong(tag.at, &problem, "keep one of the two");
            }
            Some(_) => {}
            None => found = Some(tag),
        }
    }
    found
}

/// Complains of a tag that says the opposite of the field beside it.
fn belied(fields: &mut Fields<'_, '_, '_>, tag: Option<Tag<'_>>, has: &str, lacks: &str) {
    if let Some(Tag { at, word, .. }) = tag {
        let hint = format!("replace `{has}` by `{lacks}`, or remove the type");
        fields.wrong(at, &format!("is of type {word:?} but has `{has}`"), &hint);
    }
}

fn unknown_word(fields: &mut Fields<'_, '_, '_>, at: usize, key: &'static str, keys: &Keys) {
    let word = fields.text(key).unwrap_or_default();
    let known: Vec<_> = keys.words.iter().map(|(known, _)| *known).collect();
    let hint = match nearest(word, &known) {
        Some(known) => format!("did you mean {known:?}?"),
        None => {
            let quoted: Vec<_> = known.iter().map(|word| format!("{word:?}")).collect();
            format!("use one of {}", quoted.join(", "))
        }
    };
    fields.wrong(at, &format!("has an unknown {key} {:?}", beginning(word)), &hint);
}

/// A process with this command and the variables and folder its entry names; the arguments are for
/// the caller to add.
pub(crate) fn stdio(fields: &mut Fields<'_, '_, '_>, command: String, keys: &Keys) -> StdioSpec {
    let cwd = keys.cwd.and_then(|key| fields.template(key));
    let env_file = keys.env_file.and_then(|key| fields.template(key));
    let file = fields.report().file();
    StdioSpec {
        command,
        args: Vec::new(),
        env: fields.secrets(keys.env),
        env_file: env_file.map(|path| anchored(file, &path)),
        cwd: working_folder(file, cwd.as_deref()),
        env_inherit: Vec::new(),
        ..StdioSpec::default()
    }
}

/// A project's servers run in its folder unless told otherwise.
pub(crate) fn working_folder(at: &FileRef, cwd: Option<&str>) -> Option<PathBuf> {
    match cwd {
        Some(cwd) => Some(anchored(at, cwd)),
        None => (at.scope == Scope::Project).then(|| at.project.to_path_buf()),
    }
}

/// A path relative to the project of the declaring file. `~` and variables at the front are left
/// for whoever knows their meaning.
pub(crate) fn anchored(at: &FileRef, path: &str) -> PathBuf {
    match path.starts_with('~') || path.starts_with("${") {
        true => path.into(),
        false => joined(&at.project, Path::new(path)),
    }
}

/// Joins without leaving a `.` behind: the path is shown when consent is asked for.
fn joined(folder: &Path, path: &Path) -> PathBuf {
    folder.join(path).components().collect()
}

/// Says of fields that they do nothing beside another.
pub(crate) fn unused(fields: &mut Fields<'_, '_, '_>, beside: &str, keys: &[&'static str]) {
    for key in keys {
        if fields.node(key).is_some() {
            fields.warn(key, &format!("has no effect beside `{beside}`"), "remove it");
        }
    }
}

/// Finds what no process can be started with.
pub(crate) fn check_stdio(fields: &mut Fields<'_, '_, '_>, stdio: &StdioSpec, key: &str) {
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
        fields.fail("holds a NUL character", "no process can be given one: remove it");
    }
    if let Some(key) = stdio.env.keys().find(|key| key.is_empty() || key.contains(['=', '\0'])) {
        fields.fail(&format!("cannot set a variable named {:?}", beginning(key)), "rename it");
    }
}

/// Finds what no endpoint can be reached with.
pub(crate) fn check_http(fields: &mut Fields<'_, '_, '_>, http: &HttpSpec, key: &str) {
    let known = ["http://", "https://", "${"];
    if !known.iter().any(|start| http.url.starts_with(start)) {
        let problem = format!("has a `{key}` that is neither http nor https");
        fields.fail(&problem, "begin it with https://");
    }
    if let Some(name) = http.headers.keys().find(|name| !is_token(name)) {
        fields.fail(&format!("cannot send a header named {:?}", beginning(name)), "rename it");
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

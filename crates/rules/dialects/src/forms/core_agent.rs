//! core-agent's `.agents/mcp.json`, version 1, and the `permissions` of `.agents/config.json` beside
//! it. Whatever else stands in the second file is the host's own.
//!
//! Every entry names its transport and nothing of the other one. Variables are expanded in the
//! values of `env` and `headers` only; everywhere else a text means itself.

use toolgate_model::{
    Auth, AuthProvider, Data, Effect, HttpKind, HttpSpec, OAuth, Secret, ServerName, ServerSpec,
    StdioSpec, TransportSpec, WrittenRule,
};

use super::rest;
use crate::form::{Entry, Form, Group, Meaning, Place};
use crate::frame::rules::{self, Unread};
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Node, Value};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Mode, Permissions, Settings, Syntax, template};

pub(crate) struct CoreAgent;

const ID: &str = "core-agent";
/// The version of the schema that is understood.
const VERSION: i64 = 1;
const KEYS: Keys = Keys { tags: &[], words: &[], cwd: None, ..Keys::COMMON };
/// How core-agent treats the results of a server, and what it believes of its tools.
const KEPT: [&str; 2] = ["agentic_never", "read_only"];
/// The same for all servers.
const FOR_ALL: [&[&str]; 4] = [
    &["agentic_wrap"],
    &["agentic_wrap_threshold"],
    &["agentic_wrap_llm"],
    &["agentic_wrap_model"],
];
/// The first word of a mode is the one that is written. `allow` refuses what `limited` would ask
/// about, and the edits of files that `acceptEdits` lets pass are no calls of servers.
const MODES: [(&str, Mode); 4] = [
    ("ask", Mode::Ask),
    ("yolo", Mode::Full),
    ("allow", Mode::Limited),
    ("acceptEdits", Mode::Ask),
];
/// The mode in which nothing is called.
const PLAN: &str = "plan";
/// The rule that says the same.
const EVERYTHING: &str = "mcp:*";

impl Form for CoreAgent {
    fn syntax(&self) -> Syntax {
        Syntax::Json
    }

    fn place(&self) -> Place {
        Place::Map(&["servers"])
    }

    fn grammar(&self) -> Grammar {
        Grammar::EnvPrefix
    }

    fn is_own_file(&self) -> bool {
        true
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        let servers = if is_config(top) { None } else { top.servers(self.place()) };
        servers.map(|servers| Group { servers, only_in: None }).into_iter().collect()
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        if is_config(top) {
            let permissions = top.within("permissions", permissions).unwrap_or_default();
            top.all_known();
            return Settings { permissions, ..Settings::default() };
        }
        if top.integer("version").is_some_and(|version| version != VERSION) {
            top.warn("version", "is not known: the file is read as version 1", "write 1");
        }
        let kept = top.kept(&FOR_ALL.map(|path| path[0]));
        let extras = kept.map(|kept| (ID.to_owned(), kept)).into_iter().collect();
        let permissions = top.within("permissions", permissions).unwrap_or_default();
        Settings { permissions, extras, ..Settings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let transport = transport(entry);
        let extras = entry.kept(&KEPT).map(|kept| (ID.to_owned(), kept));
        let mut spec = ServerSpec::new(name, transport?);
        spec.extras.extend(extras);
        Some(spec.into())
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => write_stdio(stdio, writer),
            TransportSpec::Http(http) => write_http(http, writer),
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        rest::finish(&rest, ID, writer);
    }

    fn base(&self) -> Vec<(String, Data)> {
        vec![("version".to_owned(), Data::Integer(VERSION))]
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        let mut rest = Settings { permissions: Permissions::default(), ..settings.clone() };
        let kept = rest.extras.remove(ID);
        losses.settings(&rest);
        let mut written: Vec<(&'static [&'static str], Data)> = Vec::new();
        let permissions = write_permissions(&settings.permissions, losses);
        if !permissions.is_empty() {
            written.push((&["permissions"], Data::Table(permissions)));
        }
        if let Some(Data::Table(fields)) = kept.as_ref().map(Secret::expose) {
            for (key, said) in fields {
                match FOR_ALL.iter().find(|path| path[0] == key) {
                    Some(path) => written.push((path, said.clone())),
                    None => losses.unsaid(&format!("extra.{ID}.{key}"), true),
                }
            }
        }
        written
    }

    fn meaning(&self, effect: Effect, rule: &WrittenRule, _said: &Permissions) -> Meaning {
        meaning(effect, &rule.about)
    }
}

/// Whether it is the file with the host's settings, and not the one with servers.
fn is_config(top: &mut Fields<'_, '_, '_>) -> bool {
    top.report().file().path.file_name().is_some_and(|name| name == "config.json")
}

/// Rules stay as they are written: they name tools as core-agent does.
fn permissions(fields: &mut Fields<'_, '_, '_>) -> Permissions {
    let plans =
        matches!(fields.node("mode"), Some(Node { value: Value::Text(mode), .. }) if mode == PLAN);
    let mut said = Permissions {
        allow: rules::texts(fields, "allow", Unread::LeftOut),
        ask: rules::texts(fields, "ask", Unread::Kept),
        deny: rules::texts(fields, "deny", Unread::Kept),
        ..Permissions::default()
    };
    match plans {
        true => {
            let at = fields.node("mode").map(|node| fields.place(node.at)).unwrap_or_default();
            said.deny.push(rules::rule(EVERYTHING, at));
        }
        false => said.mode = rules::mode(fields, &MODES),
    }
    said
}

fn write_permissions(permissions: &Permissions, losses: &mut Losses) -> Vec<(String, Data)> {
    let Permissions { mode, allow, ask, deny, .. } = permissions;
    rules::beyond(permissions, losses);
    let word = mode.and_then(|mode| MODES.iter().find(|(_, meant)| *meant == mode.value));
    let word = word.map(|(word, _)| ("mode".to_owned(), Data::text(*word)));
    let mut fields: Vec<_> = word.into_iter().collect();
    for (effect, said) in [(Effect::Allow, allow), (Effect::Ask, ask), (Effect::Deny, deny)] {
        fields.extend(rules::field(effect.as_str(), effect, said, losses));
    }
    fields
}

/// What a rule says of servers' tools. It is held against `<server>_<tool> <arguments>`, and one
/// without a namespace against whatever is called.
fn meaning(effect: Effect, about: &str) -> Meaning {
    let (namespace, pattern) = about.split_once(':').unwrap_or(("mcp", about));
    if namespace != "mcp" {
        return Meaning::OfTheHost;
    }
    match pattern.split_once(' ') {
        None | Some((_, "*")) => {
            let name = pattern.split(' ').next().unwrap_or_default();
            Meaning::Rule(format!("mcp:{name}"))
        }
        // Without what it says of arguments the rule is wider: that is safe where it restricts.
        Some((name, _)) if effect != Effect::Allow => Meaning::Rule(format!("mcp:{name}")),
        Some(_) => Meaning::Nothing("what it says of arguments is not understood"),
    }
}

#[derive(Clone, Copy)]
enum Tag {
    Stdio,
    Http,
}

/// Reads every field before judging any, so that none of them is called unknown.
fn transport(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let is_tagged = entry.node("transport").is_some();
    let tag = entry.choice("transport", &[("stdio", Tag::Stdio), ("http", Tag::Http)]);
    let command = entry.text("command").map(template::literal);
    let args = entry.texts("args").unwrap_or_default();
    let url = entry.text("url").map(template::literal);
    let mut stdio = server::stdio(entry, command.clone().unwrap_or_default(), &KEYS);
    stdio.args = args.iter().map(|arg| template::literal(arg)).collect();
    let headers = entry.secrets("headers");
    let auth = entry.within("auth", auth);
    if !is_tagged {
        entry.fail("has no `transport`", "add \"stdio\" for a process, \"http\" for an endpoint");
    }
    match tag? {
        Tag::Stdio => {
            refuse(entry, "stdio", &["url", "auth"]);
            server::unused(entry, "command", &["headers"]);
            require(entry, "stdio", "command");
            command?;
            server::check_stdio(entry, &stdio, "command");
            Some(TransportSpec::Stdio(stdio))
        }
        Tag::Http => {
            refuse(entry, "http", &["command"]);
            server::unused(entry, "url", &["args", "env"]);
            require(entry, "http", "url");
            let auth = auth.flatten().unwrap_or_default();
            let kind = HttpKind::Streamable;
            let http =
                HttpSpec { url: url?, headers, kind, auth: Box::new(auth), ..HttpSpec::default() };
            server::check_http(entry, &http, "url");
            Some(TransportSpec::Http(http))
        }
    }
}

/// Complains of fields that belong to the other transport.
fn refuse(entry: &mut Fields<'_, '_, '_>, tag: &str, keys: &[&'static str]) {
    for key in keys {
        if let Some(at) = entry.node(key).map(|node| node.at) {
            let problem = format!("mixes transports: it is {tag:?} and has `{key}`");
            entry.fault(at, &problem, &format!("remove `{key}`, or change the transport"));
        }
    }
}

fn require(entry: &mut Fields<'_, '_, '_>, tag: &str, key: &'static str) {
    if entry.node(key).is_none() {
        let problem = format!("is {tag:?} and has no `{key}`");
        entry.fail(&problem, &format!("add `{key}`"));
    }
}

/// Google's credentials of the application, if it names them.
fn auth(fields: &mut Fields<'_, '_, '_>) -> Option<Auth> {
    let scopes = fields.within("google_oauth", |inner| inner.texts("scopes"))?;
    let scopes = scopes.unwrap_or_default().iter().map(|scope| template::literal(scope)).collect();
    Some(Auth {
        provider: AuthProvider::GoogleCredentials,
        oauth: OAuth { scopes, ..OAuth::default() },
    })
}

fn write_stdio(stdio: &StdioSpec, writer: &mut Writer<'_>) {
    writer.plain("transport", Some("stdio"));
    let command = rest::literally(writer, "command", &stdio.command);
    writer.plain("command", command.as_deref());
    let args: Vec<_> =
        stdio.args.iter().filter_map(|arg| rest::literally(writer, "args", arg)).collect();
    writer.plains("args", &args);
    writer.secrets("env", "env", &stdio.env);
    writer.cwd(None, stdio.cwd.as_deref());
}

fn write_http(http: &mut HttpSpec, writer: &mut Writer<'_>) {
    writer.plain("transport", Some("http"));
    rest::fixed_kind(&mut http.kind, HttpKind::Streamable, writer);
    let url = rest::literally(writer, "url", &http.url);
    writer.plain("url", url.as_deref());
    writer.secrets("headers", "headers", &http.headers);
    if http.auth.provider == AuthProvider::GoogleCredentials {
        http.auth.provider = AuthProvider::Discovered;
        let scopes = std::mem::take(&mut http.auth.oauth.scopes);
        let scopes = scopes.iter().filter_map(|it| rest::literally(writer, "auth.scopes", it));
        let scopes = vec![("scopes".to_owned(), Data::texts(scopes))];
        writer.data("auth", Data::Table(vec![("google_oauth".to_owned(), Data::Table(scopes))]));
    }
}

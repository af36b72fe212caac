//! SecondBrain's YAML: `mcp_servers` at the top or under `control_plane`, with everything that must
//! have been reviewed before a process is started.
//!
//! An enabled process that misses one of the rules is declared all the same and blocked, with what
//! is to be added; the other servers are none the worse for it. Whether a signature is true and
//! how a profile confines is not judged here.

mod guard;
mod review;

use std::path::PathBuf;

use toolgate_model::{Data, HttpKind, Safety, Sandbox, ServerName, ServerSpec, TransportSpec};

use super::rest;
use crate::form::{Entry, Form, Group, Place, Servers, Switch};
use crate::frame::server::{self, Keys};
use crate::frame::tree::{Member, Node, Value};
use crate::frame::{Fields, Writer};
use crate::losses::Losses;
use crate::{Grammar, Settings, Syntax};

pub(crate) struct SecondBrain;

const ID: &str = "secondbrain";
const KEYS: Keys = Keys {
    tags: &["transport"],
    words: &[
        ("stdio", None),
        ("streamable_http", Some(HttpKind::Streamable)),
        ("streamable-http", Some(HttpKind::Streamable)),
        ("http", Some(HttpKind::Auto)),
        ("sse", Some(HttpKind::Sse)),
    ],
    ..Keys::COMMON
};
/// Where the lists that hold for every server may stand, beside the top.
const PLANE: &str = "control_plane";
/// Where servers may stand, beside the top.
const IN_PLANE: Place = Place::List(&[PLANE, LIST]);
const LIST: &str = "mcp_servers";
const COMMANDS: &str = "mcp_stdio_allowed_commands";
const OWN_COMMANDS: &str = "stdio_allowed_commands";

impl Form for SecondBrain {
    fn syntax(&self) -> Syntax {
        Syntax::Yaml
    }

    fn place(&self) -> Place {
        Place::List(&[LIST])
    }

    /// Where the server is, else where the others are.
    fn place_in(&self, document: &[Member], name: &ServerName) -> Place {
        let [top, plane] = [listed(document), member(document, PLANE).and_then(listed_in)];
        let has = |items: &[Node]| items.iter().any(|item| is_named(item, name));
        match (top, plane) {
            (Some(top), Some(plane)) if has(plane) && !has(top) => IN_PLANE,
            (None, Some(_)) => IN_PLANE,
            _ => self.place(),
        }
    }

    fn grammar(&self) -> Grammar {
        Grammar::Literal
    }

    fn is_own_file(&self) -> bool {
        false
    }

    fn switch(&self) -> Option<Switch> {
        Some(Switch { field: "enabled", on: true, other: None })
    }

    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        let nested = member(top.members(), PLANE).and_then(listed_in).unwrap_or_default();
        let items = match top.servers(self.place()) {
            Some(Servers::List(items)) => items,
            _ => &[],
        };
        // One group of both, so that a name that stands in either is noticed.
        vec![Group { servers: Servers::Some(items.iter().chain(nested).collect()), only_in: None }]
    }

    fn settings(&self, top: &mut Fields<'_, '_, '_>) -> Settings {
        let mut roots = top.texts("allowed_file_roots");
        plane(top, |plane| {
            if let Some(more) = plane.texts("allowed_file_roots") {
                roots.get_or_insert_default().extend(more);
            }
            // Both are read elsewhere; what is wrong with them is said here, once.
            let _ = plane.list(LIST);
            let _ = plane.texts(COMMANDS);
        });
        let roots = roots.map(|roots| roots.into_iter().map(PathBuf::from).collect());
        Settings { roots, ..Settings::default() }
    }

    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry> {
        let transport = transport(entry);
        let allowed = entry.texts("stdio_allowed_commands").unwrap_or_default();
        let profile = entry.text("sandbox_profile").map(str::to_owned);
        let mut safety = Safety {
            manifest_digest: entry.text("manifest_digest").map(str::to_owned),
            manifest_signature: entry.text("manifest_signature").map(str::to_owned),
            client_consent: entry.text("client_consent").map(str::to_owned),
            ..Safety::default()
        };
        let enabled = entry.flag("enabled").unwrap_or(true);
        match &transport {
            Some(TransportSpec::Http(_)) => {
                server::unused(entry, "url", &["stdio_allowed_commands", "sandbox_profile"]);
            }
            _ => {
                safety.allowed_commands = allowed;
                safety.sandbox = Sandbox { profile, ..Sandbox::default() };
            }
        }
        let spec = ServerSpec::new(name, transport?);
        Some(ServerSpec { enabled, safety, ..spec }.into())
    }

    /// What was reviewed for every server was reviewed for each: their own lists are longer then.
    fn complete(
        &self,
        spec: &mut ServerSpec,
        _entry: &[Member],
        top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        if let TransportSpec::Stdio(_) = spec.transport {
            let own = &mut spec.safety.allowed_commands;
            for command in commands(top) {
                if !own.contains(&command) {
                    own.push(command);
                }
            }
        }
        None
    }

    fn blocked(&self, spec: &ServerSpec, _settings: &Settings) -> Option<String> {
        match &spec.transport {
            TransportSpec::Stdio(stdio) if spec.enabled => {
                review::missing(&stdio.command, &spec.safety)
            }
            _ => None,
        }
    }

    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>) {
        let mut rest = spec.clone();
        match &mut rest.transport {
            TransportSpec::Stdio(stdio) => {
                writer.plain("transport", Some("stdio"));
                rest::stdio(stdio, &KEYS, writer);
            }
            TransportSpec::Http(http) => {
                let word = match std::mem::take(&mut http.kind) {
                    HttpKind::Auto => "http",
                    HttpKind::Streamable => "streamable_http",
                    HttpKind::Sse => "sse",
                };
                writer.plain("transport", Some(word));
                rest::http(http, &KEYS, writer);
            }
            TransportSpec::BuiltIn => return rest::undeclarable(writer, "it is built in"),
        }
        let is_process = matches!(rest.transport, TransportSpec::Stdio(_));
        write_safety(&mut rest.safety, is_process, writer);
        writer.flag("enabled", std::mem::replace(&mut rest.enabled, true));
        rest::finish(&rest, ID, writer);
    }

    /// What was reviewed for every server is not repeated with each.
    fn implied(&self, document: &[Member], entry: &[Member], fields: &mut Vec<(String, Data)>) {
        let texts = |members: &[Member], key| member(members, key).map(Node::data);
        let for_all = match member(document, PLANE).map(|plane| &plane.value) {
            Some(Value::Table(plane)) => texts(plane, COMMANDS),
            _ => None,
        };
        let (Some(Data::List(for_all)), own) = (for_all, texts(entry, OWN_COMMANDS)) else {
            return;
        };
        let is_own =
            |command: &Data| matches!(&own, Some(Data::List(own)) if own.contains(command));
        for (_, said) in fields.iter_mut().filter(|(key, _)| key == OWN_COMMANDS) {
            if let Data::List(commands) = said {
                commands.retain(|command| is_own(command) || !for_all.contains(command));
            }
        }
        let is_empty = |said: &Data| matches!(said, Data::List(commands) if commands.is_empty());
        fields.retain(|(key, said)| key != OWN_COMMANDS || own.is_some() || !is_empty(said));
    }

    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        losses.settings(&Settings { roots: None, ..settings.clone() });
        let roots = settings.roots.as_ref().map(|roots| {
            let roots = Data::texts(roots.iter().map(|root| root.to_string_lossy()));
            (["allowed_file_roots"].as_slice(), roots)
        });
        roots.into_iter().collect()
    }
}

fn member<'t>(members: &'t [Member], key: &str) -> Option<&'t Node> {
    members.iter().find(|member| member.key == key).map(|member| &member.node)
}

/// The servers of a table.
fn listed(members: &[Member]) -> Option<&[Node]> {
    match &member(members, LIST)?.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

fn listed_in(node: &Node) -> Option<&[Node]> {
    match &node.value {
        Value::Table(members) => listed(members),
        _ => None,
    }
}

fn is_named(item: &Node, name: &ServerName) -> bool {
    let Value::Table(members) = &item.value else { return false };
    member(members, "name").is_some_and(|it| it.value == Value::Text(name.to_string()))
}

/// Looks into the table that may hold what could as well stand at the top. It is about other
/// things too, so nothing in it is unknown.
fn plane<'t>(top: &mut Fields<'t, '_, '_>, read: impl FnOnce(&mut Fields<'t, '_, '_>)) {
    top.within(PLANE, |plane| {
        read(plane);
        plane.all_known();
    });
}

/// The commands that were reviewed for every server.
fn commands(top: &mut Fields<'_, '_, '_>) -> Vec<String> {
    let mut commands = Vec::new();
    plane(top, |plane| commands = plane.texts(COMMANDS).unwrap_or_default());
    commands
}

/// What to start or where to connect. A list as `command` is told apart from other mistakes: who
/// wrote it meant the arguments too.
fn transport(entry: &mut Fields<'_, '_, '_>) -> Option<TransportSpec> {
    let Some(node) = entry.node(KEYS.command).filter(|it| matches!(it.value, Value::List(_)))
    else {
        return server::transport(entry, &KEYS);
    };
    let hint = "put the program alone into `command` and all else into `args`";
    entry.fault(node.at, "has a list as `command`", hint);
    entry.ignored(&["transport", KEYS.args, KEYS.env, "cwd", KEYS.url, KEYS.headers]);
    None
}

fn write_safety(safety: &mut Safety, is_process: bool, writer: &mut Writer<'_>) {
    if is_process {
        writer.plains("stdio_allowed_commands", &std::mem::take(&mut safety.allowed_commands));
    }
    writer.plain("manifest_digest", safety.manifest_digest.take().as_deref());
    writer.plain("manifest_signature", safety.manifest_signature.take().as_deref());
    if is_process {
        writer.plain("sandbox_profile", safety.sandbox.profile.take().as_deref());
    }
    writer.plain("client_consent", safety.client_consent.take().as_deref());
}

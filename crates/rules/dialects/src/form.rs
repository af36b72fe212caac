//! What a dialect is: where its servers stand in a document, how one entry is read and how it is
//! written. One implementation per dialect, in [`crate::forms`]; what they share is here and in
//! [`crate::frame`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_model::{Data, Effect, ServerName, ServerSpec, WrittenRule};

use crate::frame::tree::{Member, Node, Value};
use crate::frame::{Fields, Report, Writer};
use crate::losses::Losses;
use crate::{Amendment, Declared, FileRef, Grammar, Permissions, Reading, Settings, Syntax};

/// Where the servers of a document stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Under this path of keys, each by its name.
    Map(&'static [&'static str]),
    /// Under this path of keys, in a list; each has a field `name`.
    List(&'static [&'static str]),
}

/// The field by which a server is switched on or off in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch {
    pub field: &'static str,
    /// What it holds when the server is on: `true` for `enabled`, `false` for `disabled`.
    pub on: bool,
    /// A field that says the opposite and is read beside it.
    pub other: Option<&'static str>,
}

/// Lists of names, elsewhere in the document, by which servers are switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listing {
    /// Where it exists, whoever is not on it is off.
    pub allowed: &'static [&'static str],
    /// Whoever is on it is off.
    pub excluded: &'static [&'static str],
}

/// What one entry turned out to be.
pub(crate) enum Entry {
    /// A server.
    Server(Box<ServerSpec>),
    /// Nothing to start: it amends another file's server.
    Amendment {
        /// Switches it on or off.
        enabled: Option<bool>,
        /// Variables that it is to be given.
        env_inherit: Vec<String>,
    },
}

impl From<ServerSpec> for Entry {
    fn from(spec: ServerSpec) -> Self {
        Self::Server(Box::new(spec))
    }
}

/// What a rule of a file means in our words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// This rule.
    Rule(String),
    /// It is about tools of the host itself.
    OfTheHost,
    /// Nothing here, for this reason.
    Nothing(&'static str),
}

/// Some servers of a document.
pub(crate) struct Group<'t> {
    pub servers: Servers<'t>,
    /// The project they are meant for alone.
    pub only_in: Option<PathBuf>,
}

/// The entries of a group.
pub(crate) enum Servers<'t> {
    Map(&'t [Member]),
    List(&'t [Node]),
    /// Some items of a list.
    Some(Vec<&'t Node>),
}

/// One dialect.
pub(crate) trait Form: Sync {
    /// How its documents are written.
    fn syntax(&self) -> Syntax;

    /// Where servers are written to, and read from unless [`Form::groups`] says otherwise.
    fn place(&self) -> Place;

    /// Where a server of this name stands, or belongs, in a document that is there already: for
    /// dialects that know several places.
    fn place_in(&self, _document: &[Member], _name: &ServerName) -> Place {
        self.place()
    }

    /// The keys on the way to the server of this name, where it stands below keys that the document
    /// itself chose: the path of a project.
    fn below_own_keys(&self, _document: &[Member], _name: &ServerName) -> Option<Vec<String>> {
        None
    }

    /// Takes away what an entry need not say because its document says it for every server; `entry`
    /// is what stands there already.
    fn implied(&self, _document: &[Member], _entry: &[Member], _fields: &mut Vec<(String, Data)>) {}

    /// How its variables are written.
    fn grammar(&self) -> Grammar;

    /// Whether its files are about servers alone: then an unknown field beside them is a mistake.
    fn is_own_file(&self) -> bool;

    /// The field by which a server is switched on or off, if there is one.
    fn switch(&self) -> Option<Switch> {
        None
    }

    /// The lists that say the same beside the servers, if there are any.
    fn listing(&self) -> Option<Listing> {
        None
    }

    /// The servers of a document.
    fn groups<'t>(&self, top: &mut Fields<'t, '_, '_>) -> Vec<Group<'t>> {
        top.servers(self.place())
            .map(|servers| Group { servers, only_in: None })
            .into_iter()
            .collect()
    }

    /// What a document says beside its servers.
    fn settings(&self, _top: &mut Fields<'_, '_, '_>) -> Settings {
        Settings::default()
    }

    /// Reads one entry. `None`, or an entry whose fields were found faulty, is left out.
    fn read(&self, name: ServerName, entry: &mut Fields<'_, '_, '_>) -> Option<Entry>;

    /// Adds to a server what the document says of all of them; its own entry may say otherwise.
    /// What is worth telling comes back as a problem and a hint. What is wrong with the document
    /// was said by [`Form::settings`]: nothing that `top` finds here is reported.
    fn complete(
        &self,
        _spec: &mut ServerSpec,
        _entry: &[Member],
        _top: &mut Fields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        None
    }

    /// Why the dialect itself forbids to start a server that it declares.
    fn blocked(&self, _spec: &ServerSpec, _settings: &Settings) -> Option<String> {
        None
    }

    /// Writes the fields of an entry that means this server; in a list the `name` is there already.
    /// What the dialect cannot say is a loss, and every field of the spec is one or the other.
    fn write(&self, spec: &ServerSpec, writer: &mut Writer<'_>);

    /// What a rule that its file says among others means in our words.
    fn meaning(&self, _effect: Effect, rule: &WrittenRule, _said: &Permissions) -> Meaning {
        Meaning::Rule(rule.about.clone())
    }

    /// What a new document holds beside servers: `version` and its like.
    fn base(&self) -> Vec<(String, Data)> {
        Vec::new()
    }

    /// Where these settings are written, and as what; whatever is left out is a loss.
    fn write_settings(
        &self,
        settings: &Settings,
        losses: &mut Losses,
    ) -> Vec<(&'static [&'static str], Data)> {
        losses.settings(settings);
        Vec::new()
    }
}

/// Reads a text in a dialect.
pub(crate) fn read(form: &dyn Form, text: &str, at: &FileRef) -> Reading {
    let mut report = Report::new(text.trim_start_matches('\u{feff}'), at, form.grammar());
    let mut reading = Reading::default();
    match form.syntax().parse(report.text()) {
        Ok(document) => {
            report.about(&document);
            let (groups, settings) = top_level(form, &mut report, &document);
            reading.settings = settings;
            for group in groups {
                read_group(form, &mut report, &document, &group, &mut reading);
            }
        }
        Err(error) => report.syntax(error),
    }
    reading.diagnostics = report.finish();
    reading
}

fn top_level<'t>(
    form: &dyn Form,
    report: &mut Report<'_>,
    document: &'t [Member],
) -> (Vec<Group<'t>>, Settings) {
    let mut fields = Fields::of(report, "the file".into(), 0, document);
    let groups = form.groups(&mut fields);
    let settings = form.settings(&mut fields);
    // A bad setting is reported and left out; the servers beside it are still good.
    match form.is_own_file() {
        true => {
            fields.ignored(&["$schema"]);
            fields.finish();
        }
        false => drop(fields),
    }
    (groups, settings)
}

fn read_group(
    form: &dyn Form,
    report: &mut Report<'_>,
    document: &[Member],
    group: &Group<'_>,
    into: &mut Reading,
) {
    let mut seen = BTreeMap::new();
    let mut unheard = Report::new(report.text(), report.file(), report.grammar());
    for (name, at, node) in entries(report, &group.servers) {
        let Some((name, members)) = usable(report, &mut seen, &name, at, node) else { continue };
        let origin = report.origin(at);
        let what = format!("server {:?}", name.as_str());
        let mut fields = Fields::of(report, what.clone(), at, members);
        if !matches!(group.servers, Servers::Map(_)) {
            fields.ignored(&["name"]);
        }
        let entry = form.read(name.clone(), &mut fields);
        match (entry, fields.finish()) {
            (Some(Entry::Server(mut spec)), true) => {
                let mut top = Fields::of(&mut unheard, "the file".into(), 0, document);
                if let Some((problem, hint)) = form.complete(&mut spec, members, &mut top) {
                    report.warn(at, format!("{what} {problem}"), hint);
                }
                let blocked = form.blocked(&spec, &into.settings);
                let only_in = group.only_in.clone();
                into.servers.push(Declared { spec: *spec, origin, only_in, blocked });
            }
            (Some(Entry::Amendment { enabled, env_inherit }), true) => {
                into.amendments.push(Amendment { name, enabled, env_inherit, origin });
            }
            _ => {}
        }
    }
}

/// The entries of a group: each one's name, place and value.
fn entries<'t>(report: &mut Report<'_>, servers: &Servers<'t>) -> Vec<(String, usize, &'t Node)> {
    match servers {
        Servers::Map(members) => {
            members.iter().map(|member| (member.key.clone(), member.at, &member.node)).collect()
        }
        Servers::List(items) => {
            items.iter().filter_map(|item| Some((named(report, item)?, item.at, item))).collect()
        }
        Servers::Some(items) => {
            items.iter().filter_map(|item| Some((named(report, item)?, item.at, *item))).collect()
        }
    }
}

/// The name of an entry in a list.
fn named(report: &mut Report<'_>, item: &Node) -> Option<String> {
    let Value::Table(members) = &item.value else {
        let message = format!("a server is {}, not a table", item.value.kind());
        report.error(item.at, message, "give it `name` and what to start");
        return None;
    };
    match members.iter().find(|member| member.key == "name").map(|member| &member.node) {
        Some(Node { value: Value::Text(name), .. }) => Some(name.clone()),
        Some(other) => {
            let message = format!("a server's `name` is {}", other.value.kind());
            report.error(other.at, message, "make it a string");
            None
        }
        None => {
            report.error(item.at, "a server has no `name`", "give it one");
            None
        }
    }
}

/// The name and the fields of an entry that can be read at all. The first of two entries with the
/// same name stays: the second is reported.
fn usable<'t>(
    report: &mut Report<'_>,
    seen: &mut BTreeMap<ServerName, usize>,
    name: &str,
    at: usize,
    node: &'t Node,
) -> Option<(ServerName, &'t [Member])> {
    let what = format!("server {name:?}");
    let name = match ServerName::new(name) {
        Ok(name) => name,
        Err(error) => {
            report.error(at, format!("{what}: cannot {error}"), "rename it");
            return None;
        }
    };
    if let Some(first) = seen.get(&name) {
        let line = report.origin(*first).line;
        report.error(
            at,
            format!("{what} is declared twice"),
            format!("line {line} has it already"),
        );
        return None;
    }
    seen.insert(name.clone(), at);
    let Value::Table(members) = &node.value else {
        let message = format!("{what} is {}, not a table", node.value.kind());
        report.error(node.at, message, "give it `command` or `url`");
        return None;
    };
    Some((name, members))
}

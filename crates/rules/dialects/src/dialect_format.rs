//! Defines a dialect: where a document keeps its servers, and how to read and write an entry. Each
//! dialect implements [`DialectFormat`] in [`crate::formats`]; shared code is here and in
//! [`crate::common`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_model::{ConfigValue, Effect, ErrorCode, Origin, RuleSpec, ServerName, ServerSpec};

use crate::common::tree::{TreeMember, TreeNode, TreeValue};
use crate::common::{EntryWriter, FileDiagnostics, TableFields};
use crate::losses::ConversionLosses;
use crate::{
    Declaration, FileRef, FileSettings, ParsedFile, Permissions, ServerOverride, Syntax,
    VariableSyntax,
};

/// Where a document keeps its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServersLocation {
    /// A table at this path, with servers by name.
    Map(&'static [&'static str]),
    /// A list at this path; each item has a field `name`.
    List(&'static [&'static str]),
}

/// The field that enables or disables a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnabledField {
    pub field: &'static str,
    /// The value of the field if the server is enabled: `true` for `enabled`, `false` for
    /// `disabled`.
    pub value_when_enabled: bool,
    /// Another field with the opposite meaning, which is read too.
    pub opposite_field: Option<&'static str>,
}

/// Lists of server names, elsewhere in the document, that enable or disable servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServerFilterKeys {
    /// If this list exists, servers that are not in it are disabled.
    pub allowed: &'static [&'static str],
    /// Servers in this list are disabled.
    pub excluded: &'static [&'static str],
}

/// The result of reading one entry.
pub(crate) enum ParsedEntry {
    /// A server.
    Server(Box<ServerSpec>),
    /// No server, but changes to a server of another file.
    Override {
        /// Enables or disables the server.
        enabled: Option<bool>,
        /// Variables that the server inherits.
        env_inherit: Vec<String>,
    },
}

impl From<ServerSpec> for ParsedEntry {
    fn from(spec: ServerSpec) -> Self {
        Self::Server(Box::new(spec))
    }
}

/// The translation of a permission rule into Toolgate's syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleTranslation {
    /// The translated rule.
    Rule(String),
    /// The rule is about tools of the host itself.
    HostTool,
    /// The rule has no effect, for this reason.
    Ignored(&'static str),
}

/// A group of servers in a document.
pub(crate) struct ServerGroup<'t> {
    pub servers: ServerEntries<'t>,
    /// The only project that these servers belong to.
    pub only_in: Option<PathBuf>,
}

/// The entries of a group.
pub(crate) enum ServerEntries<'t> {
    Map(&'t [TreeMember]),
    List(&'t [TreeNode]),
    /// Some items of a list.
    Selected(Vec<&'t TreeNode>),
}

/// A configuration format of one host.
pub(crate) trait DialectFormat: Sync {
    /// Returns the syntax of the documents.
    fn syntax(&self) -> Syntax;

    /// Returns where servers are written to, and read from unless [`Self::server_groups`] is
    /// overridden.
    fn servers_location(&self) -> ServersLocation;

    /// Returns where the server with this name is, or belongs, in an existing document. Overridden
    /// by dialects with several locations.
    fn locate_server(&self, _document: &[TreeMember], _name: &ServerName) -> ServersLocation {
        self.servers_location()
    }

    /// Returns the keys on the path to the server with this name, if the path contains keys that
    /// the document chooses, such as the path of a project.
    fn project_keys(&self, _document: &[TreeMember], _name: &ServerName) -> Option<Vec<String>> {
        None
    }

    /// Removes fields from an entry that the document sets for every server; `entry` is the
    /// existing entry.
    fn remove_implied(
        &self,
        _document: &[TreeMember],
        _entry: &[TreeMember],
        _fields: &mut Vec<(String, ConfigValue)>,
    ) {
    }

    /// Returns the variable syntax.
    fn variable_syntax(&self) -> VariableSyntax;

    /// Returns true if files of this dialect contain only servers. Then unknown fields besides them
    /// are reported.
    fn is_servers_only(&self) -> bool;

    /// Returns true if the host ranks an entry with this origin below all of its own files, also
    /// where the entry is nearer.
    fn outranks(&self, _other: &Origin) -> bool {
        false
    }

    /// Returns the field that enables or disables a server, if there is one.
    fn enabled_field(&self) -> Option<EnabledField> {
        None
    }

    /// Returns the lists that enable or disable servers, if there are any.
    fn server_filter(&self) -> Option<ServerFilterKeys> {
        None
    }

    /// Returns the servers of a document.
    fn server_groups<'t>(&self, top: &mut TableFields<'t, '_, '_>) -> Vec<ServerGroup<'t>> {
        top.servers(self.servers_location())
            .map(|servers| ServerGroup { servers, only_in: None })
            .into_iter()
            .collect()
    }

    /// Reads the settings of a document besides its servers.
    fn read_settings(&self, _top: &mut TableFields<'_, '_, '_>) -> FileSettings {
        FileSettings::default()
    }

    /// Reads one entry. Returns `None` for an entry to leave out; entries with invalid fields are
    /// left out too.
    fn read(&self, name: ServerName, entry: &mut TableFields<'_, '_, '_>) -> Option<ParsedEntry>;

    /// Adds settings that the document has for all servers to one server, unless its entry
    /// overrides them. Returns a problem and a hint to report. [`Self::read_settings`] has reported
    /// errors of the document, so diagnostics of `top` are discarded.
    fn apply_shared_settings(
        &self,
        _spec: &mut ServerSpec,
        _entry: &[TreeMember],
        _top: &mut TableFields<'_, '_, '_>,
    ) -> Option<(String, String)> {
        None
    }

    /// Returns why the dialect forbids to start a server that it declares.
    fn block_reason(&self, _spec: &ServerSpec, _settings: &FileSettings) -> Option<String> {
        None
    }

    /// Writes the fields of an entry; in a list, `name` is already written. Every field of the spec
    /// is either written or recorded as a loss.
    fn write(&self, spec: &ServerSpec, writer: &mut EntryWriter<'_>);

    /// Translates a permission rule into Toolgate's syntax.
    fn translate_rule(
        &self,
        _effect: Effect,
        rule: &RuleSpec,
        _said: &Permissions,
    ) -> RuleTranslation {
        RuleTranslation::Rule(rule.subject.clone())
    }

    /// Returns the fields of a new document besides servers, such as `version`.
    fn base_fields(&self) -> Vec<(String, ConfigValue)> {
        Vec::new()
    }

    /// Returns the fields and values to write for these settings. Settings that are not written are
    /// losses.
    fn write_settings(
        &self,
        settings: &FileSettings,
        losses: &mut ConversionLosses,
    ) -> Vec<(&'static [&'static str], ConfigValue)> {
        losses.add_settings(settings);
        Vec::new()
    }
}

/// Parses a text in a dialect.
pub(crate) fn read(form: &dyn DialectFormat, text: &str, at: &FileRef) -> ParsedFile {
    let mut report =
        FileDiagnostics::new(text.trim_start_matches('\u{feff}'), at, form.variable_syntax());
    let mut reading = ParsedFile::default();
    match form.syntax().parse(report.text()) {
        Ok(document) => {
            report.index_keys(&document);
            let (groups, settings) = read_top_level(form, &mut report, &document);
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

fn read_top_level<'t>(
    form: &dyn DialectFormat,
    report: &mut FileDiagnostics<'_>,
    document: &'t [TreeMember],
) -> (Vec<ServerGroup<'t>>, FileSettings) {
    let mut fields = TableFields::of(report, "the file".into(), 0, document);
    let groups = form.server_groups(&mut fields);
    let settings = form.read_settings(&mut fields);
    // An invalid setting is reported and ignored. The servers stay usable.
    match form.is_servers_only() {
        true => {
            fields.mark_known(&["$schema"]);
            fields.finish();
        }
        false => drop(fields),
    }
    (groups, settings)
}

fn read_group(
    form: &dyn DialectFormat,
    report: &mut FileDiagnostics<'_>,
    document: &[TreeMember],
    group: &ServerGroup<'_>,
    into: &mut ParsedFile,
) {
    let mut seen = BTreeMap::new();
    let mut discarded = FileDiagnostics::new(report.text(), report.file(), report.grammar());
    for (name, at, node) in entries(report, &group.servers) {
        report.server = ServerName::new(&name).ok();
        let Some((name, members)) = check_entry(report, &mut seen, &name, at, node) else {
            continue;
        };
        let origin = report.origin(at);
        let what = format!("server {:?}", name.as_str());
        let mut fields = TableFields::of(report, what.clone(), at, members);
        if !matches!(group.servers, ServerEntries::Map(_)) {
            fields.mark_known(&["name"]);
        }
        let entry = form.read(name.clone(), &mut fields);
        match (entry, fields.finish()) {
            (Some(ParsedEntry::Server(mut spec)), true) => {
                let mut top = TableFields::of(&mut discarded, "the file".into(), 0, document);
                if let Some((problem, hint)) =
                    form.apply_shared_settings(&mut spec, members, &mut top)
                {
                    report.warn(at, format!("{what} {problem}"), hint);
                }
                let blocked = form.block_reason(&spec, &into.settings);
                let only_in = group.only_in.clone();
                into.servers.push(Declaration { spec: *spec, origin, only_in, blocked });
            }
            (Some(ParsedEntry::Override { enabled, env_inherit }), true) => {
                into.overrides.push(ServerOverride { name, enabled, env_inherit, origin });
            }
            _ => {}
        }
    }
    report.server = None;
}

/// Returns the name, position and value of each entry of a group.
fn entries<'t>(
    report: &mut FileDiagnostics<'_>,
    servers: &ServerEntries<'t>,
) -> Vec<(String, usize, &'t TreeNode)> {
    match servers {
        ServerEntries::Map(members) => {
            members.iter().map(|member| (member.key.clone(), member.at, &member.node)).collect()
        }
        ServerEntries::List(items) => items
            .iter()
            .filter_map(|item| Some((item_name(report, item)?, item.at, item)))
            .collect(),
        ServerEntries::Selected(items) => items
            .iter()
            .filter_map(|item| Some((item_name(report, item)?, item.at, *item)))
            .collect(),
    }
}

/// Returns the name of an entry in a list.
fn item_name(report: &mut FileDiagnostics<'_>, item: &TreeNode) -> Option<String> {
    let TreeValue::Table(members) = &item.value else {
        let message = format!("a server is {}, not a table", item.value.kind());
        report.error(item.at, message, "give it `name` and what to start");
        return None;
    };
    match members.iter().find(|member| member.key == "name").map(|member| &member.node) {
        Some(TreeNode { value: TreeValue::Text(name), .. }) => Some(name.clone()),
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

/// Returns the name and the fields of a readable entry. Of two entries with the same name, the
/// first is kept and the second is reported.
fn check_entry<'t>(
    report: &mut FileDiagnostics<'_>,
    seen: &mut BTreeMap<ServerName, usize>,
    name: &str,
    at: usize,
    node: &'t TreeNode,
) -> Option<(ServerName, &'t [TreeMember])> {
    let what = format!("server {name:?}");
    let name = match ServerName::new(name) {
        Ok(name) => name,
        Err(error) => {
            let message = format!("{what}: {error}");
            report.error_as(ErrorCode::ConfigServerName, at, message, "rename it");
            return None;
        }
    };
    if let Some(first) = seen.get(&name) {
        let line = report.origin(*first).line;
        report.error_as(
            ErrorCode::ConfigDuplicate,
            at,
            format!("{what} is declared twice"),
            format!("it is already declared on line {line}"),
        );
        return None;
    }
    seen.insert(name.clone(), at);
    let TreeValue::Table(members) = &node.value else {
        let message = format!("{what} is {}, not a table", node.value.kind());
        report.error(node.at, message, "give it `command` or `url`");
        return None;
    };
    Some((name, members))
}

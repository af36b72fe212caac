//! Defines a dialect: where a document keeps its servers, and how to read and write an entry. Each
//! dialect is a [`DialectFormat`] in [`crate::formats`]; shared code is here and in
//! [`crate::common`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolgate_model::{ConfigValue, Effect, ErrorCode, Origin, RuleSpec, ServerName, ServerSpec};

use crate::common::entry::{self, EntryField};
use crate::common::server::EntryKeys;
use crate::common::tree::{TreeMember, TreeNode, find};
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
    /// Whether the field is written also if the server is enabled.
    pub is_required: bool,
}

impl EnabledField {
    pub const ENABLED: Self = Self {
        field: "enabled",
        value_when_enabled: true,
        opposite_field: None,
        is_required: false,
    };
    pub const DISABLED: Self =
        Self { field: "disabled", value_when_enabled: false, ..Self::ENABLED };

    /// Returns both fields, each with its value if the server is enabled.
    pub fn fields(self) -> impl Iterator<Item = (&'static str, bool)> {
        let opposite = self.opposite_field.map(|field| (field, !self.value_when_enabled));
        std::iter::once((self.field, self.value_when_enabled)).chain(opposite)
    }
}

/// Lists of server names, elsewhere in the document, that enable or disable servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnabledServerListKeys {
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
pub(crate) struct ConfigServerGroup<'t> {
    pub servers: ServerEntries<'t>,
    /// The only project that these servers belong to.
    pub only_in: Option<PathBuf>,
}

/// The entries of a group.
pub(crate) enum ServerEntries<'t> {
    Map(&'t [TreeMember]),
    List(Vec<&'t TreeNode>),
}

impl<'t> From<ServerEntries<'t>> for ConfigServerGroup<'t> {
    fn from(servers: ServerEntries<'t>) -> Self {
        Self { servers, only_in: None }
    }
}

/// The fields of an entry to write.
pub(crate) type WrittenFields = Vec<(String, ConfigValue)>;

/// A problem with a server, and a hint.
pub(crate) type ServerProblem = (String, String);

/// Settings to write: the path and the value of each.
pub(crate) type WrittenSettings = Vec<(&'static [&'static str], ConfigValue)>;

/// A configuration format of one host, as data. Functions cover what only some hosts have.
pub(crate) struct DialectFormat {
    /// The name on the command line.
    pub name: &'static str,
    /// The ends of the paths, in lower case, that identify the dialect.
    pub paths: &'static [&'static str],
    /// The name under which an entry keeps fields that only this host uses.
    pub extras: &'static str,
    pub syntax: Syntax,
    /// Where servers are written to, and read from unless there are [`Self::server_groups`].
    pub servers: ServersLocation,
    pub variables: VariableSyntax,
    /// Whether files contain only servers. Then unknown fields besides them are reported.
    pub servers_only: bool,
    /// Why an endpoint cannot be declared, if the host only starts processes.
    pub stdio_only: Option<&'static str>,
    /// The field that enables or disables a server.
    pub enabled: Option<EnabledField>,
    /// The lists that enable or disable servers.
    pub server_filter: Option<EnabledServerListKeys>,
    /// The names of the fields for the process and the endpoint.
    pub keys: EntryKeys,
    /// The fields of an entry, in the order in which they are read and written.
    pub fields: &'static [EntryField],
    /// Reads one entry. Returns `None` for an entry to leave out; entries with invalid fields are
    /// left out too.
    pub read: fn(&Self, ServerName, &mut TableFields<'_>) -> Option<ParsedEntry>,
    /// Writes the fields of an entry; in a list, `name` is already written. Every field of the spec
    /// is either written or recorded as a loss.
    pub write: fn(&Self, &ServerSpec, &mut EntryWriter<'_>),
    /// Returns where the server with this name is, or belongs, in an existing document, for
    /// dialects with several locations.
    pub locate_server: fn(&[TreeMember], &ServerName) -> Option<ServersLocation>,
    /// Returns the keys on the path to the server with this name, if the path contains keys that
    /// the document chooses, such as the path of a project.
    pub project_keys: fn(&[TreeMember], &ServerName) -> Option<Vec<String>>,
    /// Returns the servers of a document, for dialects with several locations.
    pub server_groups: Option<for<'t> fn(&mut TableFields<'t>) -> Vec<ConfigServerGroup<'t>>>,
    /// Reads the settings of a document besides its servers.
    pub read_settings: fn(&mut TableFields<'_>) -> FileSettings,
    /// Returns the settings to write. Settings that are not written are losses.
    pub write_settings: fn(&FileSettings, &mut ConversionLosses) -> WrittenSettings,
    /// Adds settings that the document has for all servers to one server, unless its entry
    /// overrides them. Returns a problem and a hint to report. `read_settings` has reported errors
    /// of the document, so diagnostics of the document are discarded.
    pub apply_shared_settings:
        fn(&mut ServerSpec, &[TreeMember], &mut TableFields<'_>) -> Option<ServerProblem>,
    /// Removes fields from a new entry that the document sets for every server; the second argument
    /// is the existing entry.
    pub remove_implied: fn(&[TreeMember], &[TreeMember], &mut WrittenFields),
    /// Returns why the dialect forbids to start a server that it declares.
    pub block_reason: fn(&ServerSpec) -> Option<String>,
    /// Translates a permission rule into Toolgate's syntax.
    pub translate_rule: fn(Effect, &RuleSpec, &Permissions) -> RuleTranslation,
    /// Returns true if the host ranks an entry with this origin below all of its own files, also
    /// where the entry is nearer.
    pub outranks: fn(&Origin) -> bool,
    /// Returns the version that a new document begins with.
    pub version: fn() -> Option<ConfigValue>,
}

impl DialectFormat {
    /// A JSON document with a map `mcpServers` and nothing else.
    pub const MCP_SERVERS: Self = Self {
        name: "",
        paths: &[],
        extras: "",
        syntax: Syntax::Json,
        servers: ServersLocation::Map(&["mcpServers"]),
        variables: VariableSyntax::Literal,
        servers_only: true,
        stdio_only: None,
        enabled: None,
        server_filter: None,
        keys: EntryKeys::COMMON,
        fields: &[EntryField::Transport],
        read: entry::read,
        write: entry::write,
        locate_server: |_, _| None,
        project_keys: |_, _| None,
        server_groups: None,
        read_settings: |_| FileSettings::default(),
        write_settings: |settings, losses| {
            losses.add_settings(settings);
            Vec::new()
        },
        apply_shared_settings: |_, _, _| None,
        remove_implied: |_, _, _| {},
        block_reason: |_| None,
        translate_rule: |_, rule, _| RuleTranslation::Rule(rule.subject.clone()),
        outranks: |_| false,
        version: || None,
    };
}

/// Parses a text in a dialect.
pub(crate) fn read(format: &DialectFormat, text: &str, at: &FileRef) -> ParsedFile {
    let text = text.trim_start_matches('\u{feff}');
    let mut report = FileDiagnostics::new(text, at, format.variables);
    let mut reading = ParsedFile::default();
    match format.syntax.parse(text) {
        Ok(document) => {
            report.index_keys(&document);
            let (groups, settings) = read_top_level(format, &report, &document);
            reading.settings = settings;
            for group in groups {
                read_group(format, &report, &document, &group, &mut reading);
            }
        }
        Err(error) => report.syntax(error),
    }
    reading.diagnostics = report.finish();
    reading
}

fn read_top_level<'t>(
    format: &DialectFormat,
    report: &'t FileDiagnostics<'t>,
    document: &'t [TreeMember],
) -> (Vec<ConfigServerGroup<'t>>, FileSettings) {
    let mut fields = TableFields::of(report, "the file", 0, document);
    let groups = match format.server_groups {
        Some(groups) => groups(&mut fields),
        None => fields.servers(format.servers).map(ConfigServerGroup::from).into_iter().collect(),
    };
    let settings = (format.read_settings)(&mut fields);
    // An invalid setting is reported and ignored. The servers stay usable.
    if format.servers_only {
        fields.mark_known(&["$schema"]);
        fields.finish();
    }
    (groups, settings)
}

fn read_group(
    format: &DialectFormat,
    report: &FileDiagnostics<'_>,
    document: &[TreeMember],
    group: &ConfigServerGroup<'_>,
    into: &mut ParsedFile,
) {
    let mut seen = BTreeMap::new();
    let discarded = FileDiagnostics::new(report.text, report.file, report.grammar);
    for (name, at, node) in entries(report, &group.servers) {
        report.server.replace(ServerName::new(&name).ok());
        let Some((name, members)) = check_entry(report, &mut seen, &name, at, node) else {
            continue;
        };
        let origin = report.origin(at);
        let what = format!("server {:?}", name.as_str());
        let mut fields = TableFields::of(report, what.clone(), at, members);
        if let ServerEntries::List(_) = group.servers {
            fields.mark_known(&["name"]);
        }
        let entry = (format.read)(format, name.clone(), &mut fields);
        match (entry, fields.finish()) {
            (Some(ParsedEntry::Server(mut spec)), true) => {
                let mut top = TableFields::of(&discarded, "the file", 0, document);
                let problem = (format.apply_shared_settings)(&mut spec, members, &mut top);
                if let Some((problem, hint)) = problem {
                    report.warn(at, format!("{what} {problem}"), hint);
                }
                let blocked = (format.block_reason)(&spec);
                let only_in = group.only_in.clone();
                into.servers.push(Declaration { spec: *spec, origin, only_in, blocked });
            }
            (Some(ParsedEntry::Override { enabled, env_inherit }), true) => {
                into.overrides.push(ServerOverride { name, enabled, env_inherit, origin });
            }
            _ => {}
        }
    }
    report.server.take();
}

/// Returns the name, position and value of each entry of a group.
fn entries<'t>(
    report: &FileDiagnostics<'_>,
    servers: &ServerEntries<'t>,
) -> Vec<(String, usize, &'t TreeNode)> {
    match servers {
        ServerEntries::Map(members) => {
            members.iter().map(|member| (member.key.clone(), member.at, &member.node)).collect()
        }
        ServerEntries::List(items) => {
            let named = |item: &&'t TreeNode| Some((item_name(report, item)?, item.at, *item));
            items.iter().filter_map(named).collect()
        }
    }
}

/// Returns the name of an entry in a list.
fn item_name(report: &FileDiagnostics<'_>, item: &TreeNode) -> Option<String> {
    let Some(members) = item.table() else {
        let message = format!("a server is {}, not a table", item.value.kind());
        report.error(item.at, message, "give it `name` and what to start");
        return None;
    };
    let node = find(members, "name");
    let name = node.and_then(TreeNode::text);
    match node {
        Some(other) if name.is_none() => {
            let message = format!("a server's `name` is {}", other.value.kind());
            report.error(other.at, message, "make it a string");
        }
        Some(_) => {}
        None => report.error(item.at, "a server has no `name`", "give it one"),
    }
    name.map(str::to_owned)
}

/// Returns the name and the fields of a readable entry. Of two entries with the same name, the
/// first is kept and the second is reported.
fn check_entry<'t>(
    report: &FileDiagnostics<'_>,
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
    let members = node.table();
    if members.is_none() {
        let message = format!("{what} is {}, not a table", node.value.kind());
        report.error(node.at, message, "give it `command` or `url`");
    }
    Some((name, members?))
}

//! The dialects and the operations on them.
//!
//! To add a dialect, add a file to [`crate::formats`], a variant, and its lines below.

use toolgate_model::{ConfigValue, Effect, Origin, RuleSpec, ServerName, ServerSpec};

use crate::common::EntryWriter;
use crate::common::tree::{TreeMember, find};
use crate::dialect_format::{self, DialectFormat, RuleTranslation, ServersLocation};
use crate::edit::{self, EditError, PathStep};
use crate::losses::ConversionLosses;
use crate::template::{ConfigTemplatePart, TemplateVariable, VariableSource};
use crate::{
    ConversionLoss, FileRef, FileSettings, ParsedFile, Permissions, Syntax, VariableSyntax, formats,
};

/// A configuration format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Toolgate's own: `toolgate.toml`, and `config.toml` of the user and the system.
    Toolgate,
    /// `.mcp.json`, as Claude Code and others read it.
    McpJson,
    /// `~/.claude.json`, with entries per project.
    ClaudeCode,
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// Codex's `config.toml`.
    Codex,
    /// Gemini CLI's `settings.json`.
    Gemini,
    /// LLxprt Code's `settings.json`.
    Llxprt,
    /// core-agent's `.agents/mcp.json`.
    CoreAgent,
    /// Sidekick's `mcp_tools_config.json`.
    Sidekick,
    /// Nyzhi's `config.toml`.
    Nyzhi,
    /// SecondBrain's YAML.
    SecondBrain,
    /// VS Code's `mcp.json`.
    VsCode,
    /// Cursor's `mcp.json`.
    Cursor,
    /// Windsurf's `mcp_config.json`.
    Windsurf,
    /// `cline_mcp_settings.json`, and Kilo's and Roo's files of the same kind.
    Cline,
    /// Continue's `config.yaml`.
    Continue,
    /// Zed's `settings.json`.
    Zed,
    /// opencode's `opencode.json`.
    OpenCode,
    /// opencode's `opencode.json`, second version.
    OpenCodeV2,
    /// Goose's `config.yaml`.
    Goose,
    /// Copilot CLI's `mcp-config.json`.
    Copilot,
}

/// The format of each dialect, in the order of [`Dialect`].
const FORMATS: [(Dialect, &DialectFormat); 21] = [
    (Dialect::Toolgate, &formats::toolgate::FORMAT),
    (Dialect::McpJson, &formats::mcp_json::FORMAT),
    (Dialect::ClaudeCode, &formats::claude_code::FORMAT),
    (Dialect::ClaudeDesktop, &formats::claude_desktop::FORMAT),
    (Dialect::Codex, &formats::codex::FORMAT),
    (Dialect::Gemini, &formats::gemini::FORMAT),
    (Dialect::Llxprt, &formats::gemini::LLXPRT),
    (Dialect::CoreAgent, &formats::core_agent::FORMAT),
    (Dialect::Sidekick, &formats::sidekick::FORMAT),
    (Dialect::Nyzhi, &formats::nyzhi::FORMAT),
    (Dialect::SecondBrain, &formats::second_brain::FORMAT),
    (Dialect::VsCode, &formats::vscode::FORMAT),
    (Dialect::Cursor, &formats::cursor::FORMAT),
    (Dialect::Windsurf, &formats::windsurf::FORMAT),
    (Dialect::Cline, &formats::cline::FORMAT),
    (Dialect::Continue, &formats::continue_dev::FORMAT),
    (Dialect::Zed, &formats::zed::FORMAT),
    (Dialect::OpenCode, &formats::opencode::FORMAT),
    (Dialect::OpenCodeV2, &formats::opencode::V2_FORMAT),
    (Dialect::Goose, &formats::goose::FORMAT),
    (Dialect::Copilot, &formats::copilot::FORMAT),
];

/// A document that was written, and what it could not express.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenConfigText {
    /// The whole document.
    pub text: String,
    /// The settings that the dialect cannot express.
    pub losses: Vec<ConversionLoss>,
}

impl Dialect {
    /// All dialects, Toolgate's own first.
    pub const ALL: [Self; FORMATS.len()] = {
        let mut all = [Self::Toolgate; FORMATS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = FORMATS[index].0;
            assert!(all[index] as usize == index, "the formats are not in the order of the enum");
            index += 1;
        }
        all
    };

    /// Returns the name used on the command line and in `extra`.
    pub fn as_str(self) -> &'static str {
        self.format().name
    }

    pub(crate) fn format(self) -> &'static DialectFormat {
        FORMATS[self as usize].1
    }

    /// Returns the variable syntax of the dialect.
    pub fn variable_syntax(self) -> VariableSyntax {
        self.format().variables
    }

    /// Returns true if the host of this dialect ranks an entry with this origin below all of its
    /// own files, also where the entry is nearer.
    pub fn outranks(self, other: &Origin) -> bool {
        (self.format().outranks)(other)
    }

    /// Returns the dialect with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// Returns true for Toolgate's own dialect, which takes precedence over foreign files in the
    /// same folder.
    pub fn is_toolgate(self) -> bool {
        matches!(self, Self::Toolgate)
    }

    /// Returns the syntax of its documents.
    pub fn syntax(self) -> Syntax {
        self.format().syntax
    }

    /// Parses a text in this dialect.
    pub fn read(self, text: &str, at: &FileRef) -> ParsedFile {
        dialect_format::read(self.format(), text, at)
    }

    /// Translates a permission rule of this dialect into Toolgate's syntax.
    pub fn translate_rule(
        self,
        effect: Effect,
        rule: &RuleSpec,
        permissions: &Permissions,
    ) -> RuleTranslation {
        (self.format().translate_rule)(effect, rule, permissions)
    }

    /// Returns a reference to a stored secret in this dialect; `None` if it cannot express one.
    pub fn secret_reference(self, name: &str) -> Option<String> {
        self.render_variable(TemplateVariable::from_source(VariableSource::Secret, name))
    }

    /// Returns an environment variable with a default in this dialect; `None` if it cannot express
    /// one.
    pub fn env_with_default(self, name: &str) -> Option<String> {
        self.render_variable(TemplateVariable::env(name, Some("default")))
    }

    fn render_variable(self, variable: TemplateVariable) -> Option<String> {
        self.variable_syntax().render_parts(&[ConfigTemplatePart::Variable(variable)]).ok()
    }

    /// Writes a new document for the file `at` that declares these servers.
    pub fn write(
        self,
        servers: &[ServerSpec],
        settings: &FileSettings,
        at: &FileRef,
    ) -> Result<WrittenConfigText, EditError> {
        let format = self.format();
        let mut losses = ConversionLosses::default();
        let mut text = self.empty();
        if let Some(version) = (format.version)() {
            text = self.set_value(&text, &["version"], &version)?;
        }
        for (path, value) in (format.write_settings)(settings, &mut losses) {
            text = self.set_value(&text, path, &value)?;
        }
        for spec in servers {
            text = self.put_server(&text, spec, at, &mut losses)?;
        }
        Ok(WrittenConfigText { text, losses: losses.found })
    }

    /// Adds a server to a document, or changes the server with this name.
    pub fn set(
        self,
        text: &str,
        spec: &ServerSpec,
        at: &FileRef,
    ) -> Result<WrittenConfigText, EditError> {
        let mut losses = ConversionLosses::default();
        let text = if text.trim().is_empty() { self.empty() } else { text.to_owned() };
        let text = self.put_server(&text, spec, at, &mut losses)?;
        Ok(WrittenConfigText { text, losses: losses.found })
    }

    fn put_server(
        self,
        text: &str,
        spec: &ServerSpec,
        at: &FileRef,
        losses: &mut ConversionLosses,
    ) -> Result<String, EditError> {
        losses.server = Some(spec.name.clone());
        let format = self.format();
        let mut writer = EntryWriter::new(format.variables, at, losses);
        if let ServersLocation::List(_) = format.servers {
            writer.text("name", Some(spec.name.as_str()));
        }
        (format.write)(format, spec, &mut writer);
        let mut fields = writer.fields;
        // A server that the dialect cannot declare is a loss, not an empty entry.
        if fields.iter().all(|(key, _)| key == "name") {
            return Ok(text.to_owned());
        }
        let document = self.parse_members(text);
        let path = self.path(&document, &spec.name);
        let entry = entry(&document, &path).unwrap_or_default();
        (format.remove_implied)(&document, entry, &mut fields);
        let text = edit::set(self.syntax(), text, &path, &ConfigValue::Table(fields))?;
        Ok(self.update_server_filter(&text, &spec.name, spec.enabled)?.unwrap_or(text))
    }

    /// Adds a server to the lists that enable or disable servers, or removes it; `None` if the
    /// dialect has no such lists.
    fn update_server_filter(
        self,
        text: &str,
        name: &ServerName,
        enabled: bool,
    ) -> Result<Option<String>, EditError> {
        let Some(listing) = self.format().server_filter else { return Ok(None) };
        let mut text = text.to_owned();
        for (path, names) in listing.changes(&self.parse_members(&text), name, enabled) {
            text = self.set_value(&text, path, &ConfigValue::List(names))?;
        }
        Ok(Some(text))
    }

    /// Removes a server from a document; `None` if the document does not declare it.
    pub fn remove(self, text: &str, name: &ServerName) -> Result<Option<String>, EditError> {
        let path = self.path(&self.parse_members(text), name);
        let removed = edit::remove(self.syntax(), text, &path)?;
        let Some((mut text, listing)) = removed.clone().zip(self.format().server_filter) else {
            return Ok(removed);
        };
        for (path, names) in listing.changes_for_removal(&self.parse_members(&text), name) {
            text = self.set_value(&text, path, &ConfigValue::List(names))?;
        }
        Ok(Some(text))
    }

    /// Enables or disables a server of a document; `None` if the dialect has no field for it.
    pub fn set_enabled(
        self,
        text: &str,
        name: &ServerName,
        enabled: bool,
    ) -> Result<Option<String>, EditError> {
        let Some(switch) = self.format().enabled else {
            return self.update_server_filter(text, name, enabled);
        };
        let document = self.parse_members(text);
        let path = self.path(&document, name);
        let entry = entry(&document, &path).unwrap_or_default();
        let has = |field: &str| find(entry, field).is_some();
        // If the opposite field is set, it would contradict this one, so it is changed instead.
        let has_other = switch.opposite_field.is_some_and(has);
        let mut text = text.to_owned();
        for (field, on) in switch.fields() {
            if has(field) || field == switch.field && !has_other {
                let path = [&path[..], &[PathStep::Key(field.to_owned())]].concat();
                text = edit::set(self.syntax(), &text, &path, &ConfigValue::Bool(enabled == on))?;
            }
        }
        Ok(Some(text))
    }

    /// Parses a text. An unreadable text has no members; the edit that follows reports the error.
    pub(crate) fn parse_members(self, text: &str) -> Vec<TreeMember> {
        self.syntax().parse(text.trim_start_matches('\u{feff}')).unwrap_or_default()
    }

    /// Returns the path of the server with this name.
    fn path(self, document: &[TreeMember], name: &ServerName) -> Vec<PathStep> {
        let (format, key) = (self.format(), PathStep::Key(name.to_string()));
        if let Some(keys) = (format.project_keys)(document, name) {
            return keys.into_iter().map(PathStep::Key).chain([key]).collect();
        }
        match (format.locate_server)(document, name).unwrap_or(format.servers) {
            ServersLocation::Map(path) => [keys(path), vec![key]].concat(),
            ServersLocation::List(path) => {
                [keys(path), vec![PathStep::NamedItem(name.to_string())]].concat()
            }
        }
    }

    /// Returns an empty document.
    fn empty(self) -> String {
        match self.syntax() {
            Syntax::Json => "{}\n".to_owned(),
            Syntax::Toml | Syntax::Yaml => String::new(),
        }
    }
}

/// Returns the fields of the entry at a path, if it exists.
fn entry<'t>(members: &'t [TreeMember], path: &[PathStep]) -> Option<&'t [TreeMember]> {
    let Some((PathStep::Key(key), rest)) = path.split_first() else { return Some(members) };
    let node = find(members, key)?;
    match (node.list(), rest) {
        (Some(items), [PathStep::NamedItem(name)]) => {
            items.iter().find(|item| item.is_named(name))?.table()
        }
        _ => entry(node.table()?, rest),
    }
}

pub(crate) fn keys(path: &[&str]) -> Vec<PathStep> {
    path.iter().map(|key| PathStep::Key((*key).to_owned())).collect()
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

//! The dialects there are, and what can be done with each.
//!
//! The set is closed here: a new one is a file in [`crate::forms`], a variant and its lines below.

use toolgate_model::{Data, Effect, ServerName, ServerSpec, WrittenRule};

use crate::edit::{self, EditError, Step};
use crate::form::{self, Form, Meaning, Place};
use crate::frame::Writer;
use crate::frame::tree::{Member, Value};
use crate::losses::Losses;
use crate::template::{Piece, Source, Variable};
use crate::{FileRef, Grammar, Loss, Permissions, Reading, Settings, Syntax, forms};

/// A way of writing servers down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Ours: `toolgate.toml`, and the user's and the system's `config.toml`.
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
    /// The same, as its second version writes it.
    OpenCodeV2,
    /// Goose's `config.yaml`.
    Goose,
    /// Copilot CLI's `mcp-config.json`.
    Copilot,
}

/// A text that was written, and what it does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The whole document.
    pub text: String,
    /// What could not be carried.
    pub losses: Vec<Loss>,
}

impl Dialect {
    /// All of them, ours first.
    pub const ALL: [Self; 21] = [
        Self::Toolgate,
        Self::McpJson,
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Codex,
        Self::Gemini,
        Self::Llxprt,
        Self::CoreAgent,
        Self::Sidekick,
        Self::Nyzhi,
        Self::SecondBrain,
        Self::VsCode,
        Self::Cursor,
        Self::Windsurf,
        Self::Cline,
        Self::Continue,
        Self::Zed,
        Self::OpenCode,
        Self::OpenCodeV2,
        Self::Goose,
        Self::Copilot,
    ];

    /// Its name on the command line and in `extra`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Toolgate => "toolgate",
            Self::McpJson => "mcp-json",
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Llxprt => "llxprt",
            Self::CoreAgent => "core-agent",
            Self::Sidekick => "sidekick",
            Self::Nyzhi => "nyzhi",
            Self::SecondBrain => "secondbrain",
            Self::VsCode => "vscode",
            Self::Cursor => "cursor",
            Self::Windsurf => "windsurf",
            Self::Cline => "cline",
            Self::Continue => "continue",
            Self::Zed => "zed",
            Self::OpenCode => "opencode",
            Self::OpenCodeV2 => "opencode-v2",
            Self::Goose => "goose",
            Self::Copilot => "copilot",
        }
    }

    fn form(self) -> &'static dyn Form {
        match self {
            Self::Toolgate => &forms::Toolgate,
            Self::McpJson => &forms::McpJson,
            Self::ClaudeCode => &forms::ClaudeCode,
            Self::ClaudeDesktop => &forms::ClaudeDesktop,
            Self::Codex => &forms::Codex,
            Self::Gemini => &forms::Gemini::GEMINI,
            Self::Llxprt => &forms::Gemini::LLXPRT,
            Self::CoreAgent => &forms::CoreAgent,
            Self::Sidekick => &forms::Sidekick,
            Self::Nyzhi => &forms::Nyzhi,
            Self::SecondBrain => &forms::SecondBrain,
            Self::VsCode => &forms::VsCode,
            Self::Cursor => &forms::Cursor,
            Self::Windsurf => &forms::Windsurf,
            Self::Cline => &forms::Cline,
            Self::Continue => &forms::Continue,
            Self::Zed => &forms::Zed,
            Self::OpenCode => &forms::OpenCode,
            Self::OpenCodeV2 => &forms::OpenCodeV2,
            Self::Goose => &forms::Goose,
            Self::Copilot => &forms::Copilot,
        }
    }

    /// How variables are written in it.
    pub fn grammar(self) -> Grammar {
        self.form().grammar()
    }

    /// The dialect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.as_str() == name)
    }

    /// Whether it is our own: ours wins over a foreign file in the same place.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Toolgate)
    }

    /// How its documents are written.
    pub fn syntax(self) -> Syntax {
        self.form().syntax()
    }

    /// Reads a text in this dialect.
    pub fn read(self, text: &str, at: &FileRef) -> Reading {
        form::read(self.form(), text, at)
    }

    /// What a rule means in our words that a file in this dialect says among others.
    pub fn meaning(self, effect: Effect, rule: &WrittenRule, said: &Permissions) -> Meaning {
        self.form().meaning(effect, rule, said)
    }

    /// What stands for a stored secret, as the dialect writes it; none: the dialect cannot say it.
    pub fn secret(self, name: &str) -> Option<String> {
        let variable = Variable { source: Source::Secret, name: name.to_owned(), default: None };
        self.form().grammar().text(&[Piece::Variable(variable)]).ok()
    }

    /// A variable of the environment with a text that stands in for it where it is not set, as the
    /// dialect writes it; none: the dialect cannot say it.
    pub fn default_of(self, name: &str) -> Option<String> {
        let default = Some("default".to_owned());
        let variable = Variable { source: Source::Env, name: name.to_owned(), default };
        self.form().grammar().text(&[Piece::Variable(variable)]).ok()
    }

    /// A new document that declares these servers and is to lie there.
    pub fn write(
        self,
        servers: &[ServerSpec],
        settings: &Settings,
        at: &FileRef,
    ) -> Result<Written, EditError> {
        let form = self.form();
        let mut losses = Losses::default();
        let mut text = self.empty();
        for (key, value) in form.base() {
            text = edit::set(form.syntax(), &text, &[Step::Key(key)], &value)?;
        }
        for (path, value) in form.write_settings(settings, &mut losses) {
            text = edit::set(form.syntax(), &text, &keys(path), &value)?;
        }
        for spec in servers {
            text = self.put(&text, spec, at, &mut losses)?;
        }
        Ok(Written { text, losses: losses.finish() })
    }

    /// Declares a server in a document, or changes the one it declares under this name.
    pub fn set(self, text: &str, spec: &ServerSpec, at: &FileRef) -> Result<Written, EditError> {
        let mut losses = Losses::default();
        let text = if text.trim().is_empty() { self.empty() } else { text.to_owned() };
        let text = self.put(&text, spec, at, &mut losses)?;
        Ok(Written { text, losses: losses.finish() })
    }

    fn put(
        self,
        text: &str,
        spec: &ServerSpec,
        at: &FileRef,
        losses: &mut Losses,
    ) -> Result<String, EditError> {
        losses.about(&spec.name);
        let mut writer = Writer::new(self.form().grammar(), at, losses);
        if let Place::List(_) = self.form().place() {
            writer.plain("name", Some(spec.name.as_str()));
        }
        self.form().write(spec, &mut writer);
        let mut fields = writer.finish();
        // What a dialect cannot declare at all is a loss, not an entry that says nothing.
        if fields.iter().all(|(key, _)| key == "name") {
            return Ok(text.to_owned());
        }
        let document = self.document(text);
        let path = self.path(&document, &spec.name);
        let entry = entry(&document, &path).unwrap_or_default();
        self.form().implied(&document, entry, &mut fields);
        let text = edit::set(self.syntax(), text, &path, &Data::Table(fields))?;
        Ok(self.listed(&text, &spec.name, spec.enabled)?.unwrap_or(text))
    }

    /// Puts a server on the lists that say whether it is on, or takes it off them; `None` if the
    /// dialect has none.
    fn listed(
        self,
        text: &str,
        name: &ServerName,
        enabled: bool,
    ) -> Result<Option<String>, EditError> {
        let Some(listing) = self.form().listing() else { return Ok(None) };
        let mut text = text.to_owned();
        for (path, names) in listing.changes(self.syntax(), &text, name, enabled) {
            text = edit::set(self.syntax(), &text, &keys(path), &Data::List(names))?;
        }
        Ok(Some(text))
    }

    /// Takes a server out of a document; `None` if it declares none of this name.
    pub fn remove(self, text: &str, name: &ServerName) -> Result<Option<String>, EditError> {
        let path = self.path(&self.document(text), name);
        let removed = edit::remove(self.syntax(), text, &path)?;
        let Some((mut text, listing)) = removed.clone().zip(self.form().listing()) else {
            return Ok(removed);
        };
        for (path, names) in listing.without(self.syntax(), &text, name) {
            text = edit::set(self.syntax(), &text, &keys(path), &Data::List(names))?;
        }
        Ok(Some(text))
    }

    /// Switches a server of a document on or off; `None` if the dialect has no field for that.
    pub fn switch(
        self,
        text: &str,
        name: &ServerName,
        enabled: bool,
    ) -> Result<Option<String>, EditError> {
        let Some(switch) = self.form().switch() else { return self.listed(text, name, enabled) };
        let document = self.document(text);
        let path = self.path(&document, name);
        let said = entry(&document, &path).unwrap_or_default();
        let has = |field: &str| said.iter().any(|member| member.key == field);
        // Where the opposite is said, it would hold against the other: it is the one to change.
        let other = switch.other.filter(|other| has(other)).map(|field| (field, !switch.on));
        let usual = (has(switch.field) || other.is_none()).then_some((switch.field, switch.on));
        let mut text = text.to_owned();
        for (field, on) in usual.into_iter().chain(other) {
            let mut path = path.clone();
            path.push(Step::Key(field.to_owned()));
            text = edit::set(self.syntax(), &text, &path, &Data::Flag(enabled == on))?;
        }
        Ok(Some(text))
    }

    /// What a text says; what cannot be read says nothing, and cannot be changed either: whoever
    /// tries finds out.
    fn document(self, text: &str) -> Vec<Member> {
        self.syntax().parse(text.trim_start_matches('\u{feff}')).unwrap_or_default()
    }

    /// Where a server of this name stands.
    fn path(self, document: &[Member], name: &ServerName) -> Vec<Step> {
        if let Some(keys) = self.form().below_own_keys(document, name) {
            return keys.into_iter().chain([name.to_string()]).map(Step::Key).collect();
        }
        let (path, last) = match self.form().place_in(document, name) {
            Place::Map(path) => (path, Step::Key(name.to_string())),
            Place::List(path) => (path, Step::Named(name.to_string())),
        };
        let mut path = keys(path);
        path.push(last);
        path
    }

    /// A document that says nothing.
    fn empty(self) -> String {
        match self.syntax() {
            Syntax::Json => "{}\n".to_owned(),
            Syntax::Toml | Syntax::Yaml => String::new(),
        }
    }
}

/// The fields of the entry a path leads to, if it is there.
fn entry<'t>(members: &'t [Member], path: &[Step]) -> Option<&'t [Member]> {
    let Some((Step::Key(key), rest)) = path.split_first() else { return Some(members) };
    match (&members.iter().find(|member| member.key == *key)?.node.value, rest) {
        (Value::Table(members), rest) => entry(members, rest),
        (Value::List(items), [Step::Named(name)]) => items.iter().find_map(|item| {
            let Value::Table(members) = &item.value else { return None };
            let is_meant =
                |it: &Member| it.key == "name" && it.node.value == Value::Text(name.clone());
            members.iter().any(is_meant).then_some(&members[..])
        }),
        _ => None,
    }
}

fn keys(path: &[&str]) -> Vec<Step> {
    path.iter().map(|key| Step::Key((*key).to_owned())).collect()
}

impl std::fmt::Display for Dialect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

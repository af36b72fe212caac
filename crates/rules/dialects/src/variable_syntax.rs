//! Translates the variable syntaxes of other dialects into Toolgate's and back.
//!
//! A syntax in which unset variables are empty is translated with an empty default. In the others
//! an unset variable blocks the server.

use crate::template::{
    ConfigTemplatePart, TemplateVariable, VariableSource, is_env_name, push_text,
};

/// The variable syntax of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableSyntax {
    /// Toolgate's own.
    Toolgate,
    /// `${NAME}` and `${NAME:-default}`: Claude Code and hosts that read its files.
    Braces,
    /// `$NAME`, `${NAME}` and `${NAME:-default}`: Gemini CLI, LLxprt, Goose.
    Dollar,
    /// `${env:NAME}`, empty if not set: core-agent.
    EnvPrefix,
    /// `${env:NAME}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`, …: VS Code and Cursor.
    Editor,
    /// `${env:NAME}`, `${NAME}` and `${file:path}`: Windsurf.
    Windsurf,
    /// `{env:NAME}` and `{file:path}`: opencode.
    Curly,
    /// `${{ secrets.NAME }}`: Continue.
    Secrets,
    /// No variables: every text is literal.
    Literal,
}

/// The meaning of variable names in editors.
const EDITOR_WORDS: [(&str, VariableSource); 5] = [
    ("workspaceFolder", VariableSource::Project),
    ("workspaceFolderBasename", VariableSource::ProjectName),
    ("userHome", VariableSource::Home),
    ("pathSeparator", VariableSource::Separator),
    ("/", VariableSource::Separator),
];
/// The variable in which Claude Code passes the project's folder.
const CLAUDE_PROJECT: &str = "CLAUDE_PROJECT_DIR";

/// How a syntax writes its variables.
struct VariableForms {
    open: &'static str,
    close: &'static str,
    /// What is between the delimiters and the name, if anything may be.
    pad: &'static str,
    /// The words for sources without names.
    words: &'static [(&'static str, VariableSource)],
    /// What precedes the name of a variable, by source.
    prefixes: &'static [(&'static str, VariableSource)],
    /// Whether `:-` and a default may follow the name.
    has_defaults: bool,
    /// The value of an environment variable that is not set, if the host does not refuse it.
    unset: Option<&'static str>,
}

impl VariableForms {
    /// Parses the variable at the start of a text, and returns its length.
    fn parse(&self, text: &str) -> Option<(TemplateVariable, usize)> {
        let inside = text.strip_prefix(self.open)?;
        let length = inside.find(self.close)?;
        let (name, default) = match inside[..length].split_once(":-") {
            Some((name, default)) if self.has_defaults => (name, Some(default)),
            _ => (&inside[..length], self.unset),
        };
        let name = if self.pad.is_empty() { name } else { name.trim() };
        let named = |(prefix, source): &(&str, VariableSource)| {
            let name = name.strip_prefix(prefix)?;
            match source {
                VariableSource::Env => {
                    is_env_name(name).then(|| TemplateVariable::env(name, default))
                }
                _ => (!name.is_empty()).then(|| TemplateVariable::from_source(*source, name)),
            }
        };
        let variable = match self.words.iter().find(|(word, _)| *word == name) {
            Some((_, source)) => TemplateVariable::from_source(*source, ""),
            None => self.prefixes.iter().find_map(named)?,
        };
        Some((variable, self.open.len() + length + self.close.len()))
    }

    fn render(&self, variable: &TemplateVariable) -> Option<String> {
        let Self { open, close, pad, .. } = self;
        let TemplateVariable { source, name, default } = variable;
        if let Some((word, _)) = self.words.iter().find(|(_, meant)| meant == source) {
            return Some(format!("{open}{word}{close}"));
        }
        let (prefix, _) = self.prefixes.iter().find(|(_, meant)| meant == source)?;
        match default.as_deref() {
            Some(default) if self.has_defaults => {
                Some(format!("{open}{prefix}{name}:-{default}{close}"))
            }
            None | Some("") => Some(format!("{open}{pad}{prefix}{name}{pad}{close}")),
            Some(_) => None,
        }
    }
}

impl VariableSyntax {
    fn forms(self) -> VariableForms {
        let none = VariableForms {
            open: "${",
            close: "}",
            pad: "",
            words: &[],
            prefixes: &[],
            has_defaults: false,
            unset: None,
        };
        match self {
            Self::Toolgate | Self::Literal => none,
            Self::Braces | Self::Dollar => VariableForms {
                words: &[(CLAUDE_PROJECT, VariableSource::Project)],
                prefixes: &[("", VariableSource::Env)],
                has_defaults: true,
                ..none
            },
            Self::EnvPrefix => VariableForms {
                prefixes: &[("env:", VariableSource::Env)],
                unset: Some(""),
                ..none
            },
            Self::Editor => VariableForms {
                words: &EDITOR_WORDS,
                prefixes: &[("env:", VariableSource::Env), ("input:", VariableSource::Secret)],
                unset: Some(""),
                ..none
            },
            Self::Windsurf => VariableForms {
                prefixes: &[
                    ("env:", VariableSource::Env),
                    ("file:", VariableSource::File),
                    ("", VariableSource::Env),
                ],
                ..none
            },
            Self::Curly => VariableForms {
                open: "{",
                prefixes: &[("env:", VariableSource::Env), ("file:", VariableSource::File)],
                unset: Some(""),
                ..none
            },
            Self::Secrets => VariableForms {
                open: "${{",
                close: "}}",
                pad: " ",
                prefixes: &[("secrets.", VariableSource::Secret)],
                ..none
            },
        }
    }

    /// Parses a text in this syntax.
    pub fn parse(self, text: &str) -> Vec<ConfigTemplatePart> {
        let forms = self.forms();
        match self {
            Self::Toolgate => crate::template::parse_template(text),
            Self::Dollar => scan(text, |rest| forms.parse(rest).or_else(|| bare_name(rest))),
            _ => scan(text, |rest| forms.parse(rest)),
        }
    }

    /// Renders parts in this syntax, or returns why it cannot.
    pub fn render_parts(self, pieces: &[ConfigTemplatePart]) -> Result<String, String> {
        if self == Self::Toolgate {
            return Ok(crate::template::render(pieces));
        }
        let mut forms = self.forms();
        if self == Self::Dollar {
            // Only Claude Code sets this variable, so it is read here and not written.
            forms.words = &[];
        }
        let mut text = String::new();
        for piece in pieces {
            match piece {
                ConfigTemplatePart::Text(literal) => text.push_str(literal),
                ConfigTemplatePart::Variable(variable) => text
                    .push_str(&forms.render(variable).ok_or_else(|| unsupported_reason(variable))?),
            }
        }
        // Literal text that looks like a variable in this syntax would be expanded.
        match has_same_parts(&self.parse(&text), pieces) {
            true => Ok(text),
            false => Err("its text would be taken for a variable".to_owned()),
        }
    }
}

/// Returns why a variable cannot be written. The default may be a credential and is not shown.
fn unsupported_reason(variable: &TemplateVariable) -> String {
    let named = TemplateVariable { default: None, ..variable.clone() };
    match variable.default.as_deref() {
        None | Some("") => format!("this dialect cannot write {named}"),
        Some(_) => format!("this dialect cannot write {named} with a default"),
    }
}

/// Returns true if two texts have the same parts, regardless of defaults.
fn has_same_parts(a: &[ConfigTemplatePart], b: &[ConfigTemplatePart]) -> bool {
    let same = |pair: (&ConfigTemplatePart, &ConfigTemplatePart)| match pair {
        (ConfigTemplatePart::Text(a), ConfigTemplatePart::Text(b)) => a == b,
        (ConfigTemplatePart::Variable(a), ConfigTemplatePart::Variable(b)) => {
            (a.source, &a.name) == (b.source, &b.name)
        }
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Scans a text. `variable` is called at every position, and returns the variable there and its
/// length.
fn scan(
    text: &str,
    variable: impl Fn(&str) -> Option<(TemplateVariable, usize)>,
) -> Vec<ConfigTemplatePart> {
    let mut pieces = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < text.len() {
        let found = text.as_bytes()[at] == b'$' || text.as_bytes()[at] == b'{';
        match found.then(|| variable(&text[at..])).flatten() {
            Some((variable, length)) => {
                push_text(&mut pieces, &text[start..at]);
                pieces.push(ConfigTemplatePart::Variable(variable));
                at += length;
                start = at;
            }
            None => at += 1,
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    push_text(&mut pieces, &text[start..]);
    pieces
}

/// Parses a name after a dollar sign. A digit begins an amount of money, not a name.
fn bare_name(rest: &str) -> Option<(TemplateVariable, usize)> {
    let rest = rest.strip_prefix('$')?;
    let length = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..length];
    let begins = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    begins.then(|| (TemplateVariable::env(name, None), length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::render;

    #[test]
    fn each_grammar_reads_its_own_variables_and_writes_them_back() {
        for (grammar, text, ours) in [
            (
                VariableSyntax::Braces,
                "a ${X} ${Y:-z} $X ${env:X}",
                "a ${env:X} ${env:Y:-z} $X $${env:X}",
            ),
            (VariableSyntax::Braces, "${CLAUDE_PROJECT_DIR}/x", "${project}/x"),
            (VariableSyntax::Dollar, "${X} ${Y:-z}", "${env:X} ${env:Y:-z}"),
            (VariableSyntax::EnvPrefix, "B ${env:X} ${X}", "B ${env:X:-} $${X}"),
            (
                VariableSyntax::Editor,
                "${env:X}${input:k}${workspaceFolder}${/}",
                "${env:X:-}${secret:k}${project}${/}",
            ),
            (VariableSyntax::Windsurf, "${env:X} ${file:/k}", "${env:X} ${file:/k}"),
            (
                VariableSyntax::Curly,
                "{env:X} {file:/k} {x} ${y}",
                "${env:X:-} ${file:/k} {x} $${y}",
            ),
            (VariableSyntax::Secrets, "${{ secrets.K }}", "${secret:K}"),
            (VariableSyntax::Literal, "$X ${env:X} {y}", "$X $${env:X} {y}"),
        ] {
            let pieces = grammar.parse(text);
            assert_eq!(render(&pieces), ours, "{grammar:?}");
            let written = grammar.render_parts(&pieces).unwrap();
            assert_eq!(grammar.parse(&written), pieces, "{grammar:?} {written}");
        }
        assert_eq!(render(&VariableSyntax::Dollar.parse("$X-$5 é$Y")), "${env:X}-$5 é${env:Y}");
    }

    #[test]
    fn what_a_grammar_cannot_say_is_said() {
        let secret = [ConfigTemplatePart::Variable(TemplateVariable::from_source(
            VariableSource::Secret,
            "k",
        ))];
        assert!(VariableSyntax::Braces.render_parts(&secret).is_err());
        let looks_like_one = [ConfigTemplatePart::Text("${X}".into())];
        assert!(VariableSyntax::Braces.render_parts(&looks_like_one).is_err());
        assert_eq!(VariableSyntax::Literal.render_parts(&looks_like_one).unwrap(), "${X}");
    }
}

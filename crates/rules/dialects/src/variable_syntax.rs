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

impl VariableSyntax {
    /// Parses a text in this syntax.
    pub fn parse(self, text: &str) -> Vec<ConfigTemplatePart> {
        match self {
            Self::Toolgate => crate::template::parse_template(text),
            Self::Literal => scan(text, |_| None),
            Self::Braces => scan(text, |rest| braced(rest, "${", "}", parse_plain)),
            Self::Dollar => {
                scan(text, |rest| braced(rest, "${", "}", parse_plain).or_else(|| bare_name(rest)))
            }
            Self::EnvPrefix => scan(text, |rest| braced(rest, "${env:", "}", env_or_empty)),
            Self::Editor => scan(text, |rest| braced(rest, "${", "}", editor)),
            Self::Windsurf => scan(text, |rest| braced(rest, "${", "}", windsurf)),
            Self::Curly => scan(text, |rest| braced(rest, "{", "}", curly)),
            Self::Secrets => scan(text, |rest| braced(rest, "${{", "}}", secrets)),
        }
    }

    /// Renders parts in this syntax, or returns why it cannot.
    pub fn render_parts(self, pieces: &[ConfigTemplatePart]) -> Result<String, String> {
        if self == Self::Toolgate {
            return Ok(crate::template::render(pieces));
        }
        let mut text = String::new();
        for piece in pieces {
            match piece {
                ConfigTemplatePart::Text(literal) => text.push_str(literal),
                ConfigTemplatePart::Variable(variable) => {
                    text.push_str(
                        &self.variable(variable).ok_or_else(|| unsupported_reason(variable))?,
                    );
                }
            }
        }
        // Literal text that looks like a variable in this syntax would be expanded.
        match has_same_parts(&self.parse(&text), pieces) {
            true => Ok(text),
            false => Err("its text would be taken for a variable".to_owned()),
        }
    }

    fn variable(self, variable: &TemplateVariable) -> Option<String> {
        let TemplateVariable { source, name, default } = variable;
        let default = default.as_deref();
        match (self, source) {
            (Self::Toolgate, _) => Some(variable.to_string()),
            (Self::Braces | Self::Dollar, VariableSource::Env) => Some(match default {
                Some(default) => format!("${{{name}:-{default}}}"),
                None => format!("${{{name}}}"),
            }),
            (Self::Braces, VariableSource::Project) => Some(format!("${{{CLAUDE_PROJECT}}}")),
            (Self::EnvPrefix | Self::Editor | Self::Windsurf, VariableSource::Env) => {
                default.is_none_or(str::is_empty).then(|| format!("${{env:{name}}}"))
            }
            (Self::Editor, VariableSource::Secret) => Some(format!("${{input:{name}}}")),
            (Self::Editor, source) => {
                let word = EDITOR_WORDS.iter().find(|(_, meant)| meant == source)?.0;
                Some(format!("${{{word}}}"))
            }
            (Self::Windsurf, VariableSource::File) => Some(format!("${{file:{name}}}")),
            (Self::Curly, VariableSource::Env) => {
                default.is_none_or(str::is_empty).then(|| format!("{{env:{name}}}"))
            }
            (Self::Curly, VariableSource::File) => Some(format!("{{file:{name}}}")),
            (Self::Secrets, VariableSource::Secret) => Some(format!("${{{{ secrets.{name} }}}}")),
            _ => None,
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

/// Parses a variable between an opening and a closing delimiter.
fn braced(
    rest: &str,
    open: &str,
    close: &str,
    read: fn(&str) -> Option<TemplateVariable>,
) -> Option<(TemplateVariable, usize)> {
    let inside = rest.strip_prefix(open)?;
    let length = inside.find(close)?;
    Some((read(&inside[..length])?, open.len() + length + close.len()))
}

fn parse_plain(inside: &str) -> Option<TemplateVariable> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    match name {
        CLAUDE_PROJECT => Some(TemplateVariable::from_source(VariableSource::Project, "")),
        name => is_env_name(name).then(|| TemplateVariable::env(name, default)),
    }
}

/// Parses a name after a dollar sign. A digit begins an amount of money, not a name.
fn bare_name(rest: &str) -> Option<(TemplateVariable, usize)> {
    let rest = rest.strip_prefix('$')?;
    let length = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..length];
    let begins = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    begins.then(|| (TemplateVariable::env(name, None), length + 1))
}

fn env_or_empty(name: &str) -> Option<TemplateVariable> {
    is_env_name(name).then(|| TemplateVariable::env(name, Some("")))
}

fn editor(inside: &str) -> Option<TemplateVariable> {
    if let Some((_, source)) = EDITOR_WORDS.iter().find(|(word, _)| *word == inside) {
        return Some(TemplateVariable::from_source(*source, ""));
    }
    match inside.split_once(':')? {
        ("env", name) => env_or_empty(name),
        ("input", id) => {
            (!id.is_empty()).then(|| TemplateVariable::from_source(VariableSource::Secret, id))
        }
        _ => None,
    }
}

fn windsurf(inside: &str) -> Option<TemplateVariable> {
    match inside.split_once(':') {
        Some(("env", name)) => is_env_name(name).then(|| TemplateVariable::env(name, None)),
        Some(("file", path)) => {
            (!path.is_empty()).then(|| TemplateVariable::from_source(VariableSource::File, path))
        }
        Some(_) => None,
        None => is_env_name(inside).then(|| TemplateVariable::env(inside, None)),
    }
}

fn curly(inside: &str) -> Option<TemplateVariable> {
    match inside.split_once(':')? {
        ("env", name) => env_or_empty(name),
        ("file", path) => {
            (!path.is_empty()).then(|| TemplateVariable::from_source(VariableSource::File, path))
        }
        _ => None,
    }
}

fn secrets(inside: &str) -> Option<TemplateVariable> {
    let name = inside.trim().strip_prefix("secrets.")?;
    (!name.is_empty()).then(|| TemplateVariable::from_source(VariableSource::Secret, name))
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

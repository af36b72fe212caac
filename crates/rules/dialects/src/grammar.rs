//! How other dialects write variables: into our grammar when a file is read, and back when one is
//! written.
//!
//! A grammar that promises the empty text for what is not set says so by an empty default; the
//! others leave it unset, which blocks the server.

use crate::template::{Piece, Source, Variable, is_env_name, push_text};

/// How a dialect writes variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Grammar {
    /// Ours.
    Ours,
    /// `${NAME}` and `${NAME:-default}`: Claude Code and who reads its files.
    Braces,
    /// `$NAME`, `${NAME}` and `${NAME:-default}`: Gemini CLI, LLxprt, Goose.
    Dollar,
    /// `${env:NAME}`, empty where it is not set: core-agent.
    EnvPrefix,
    /// `${env:NAME}`, `${input:id}`, `${workspaceFolder}`, `${userHome}`, …: VS Code and Cursor.
    Editor,
    /// `${env:NAME}`, `${NAME}` and `${file:path}`: Windsurf.
    Windsurf,
    /// `{env:NAME}` and `{file:path}`: opencode.
    Curly,
    /// `${{ secrets.NAME }}`: Continue.
    Secrets,
    /// None: every text means itself.
    Literal,
}

/// What the words of editors mean.
const EDITOR_WORDS: [(&str, Source); 5] = [
    ("workspaceFolder", Source::Project),
    ("workspaceFolderBasename", Source::ProjectName),
    ("userHome", Source::Home),
    ("pathSeparator", Source::Separator),
    ("/", Source::Separator),
];
/// The variable by which Claude Code names the project.
const CLAUDE_PROJECT: &str = "CLAUDE_PROJECT_DIR";

impl Grammar {
    /// The pieces of a text that is written in this grammar.
    pub fn pieces(self, text: &str) -> Vec<Piece> {
        match self {
            Self::Ours => crate::template::pieces(text),
            Self::Literal => scan(text, |_| None),
            Self::Braces => scan(text, |rest| braced(rest, "${", "}", plain)),
            Self::Dollar => {
                scan(text, |rest| braced(rest, "${", "}", plain).or_else(|| bare_name(rest)))
            }
            Self::EnvPrefix => scan(text, |rest| braced(rest, "${env:", "}", env_or_empty)),
            Self::Editor => scan(text, |rest| braced(rest, "${", "}", editor)),
            Self::Windsurf => scan(text, |rest| braced(rest, "${", "}", windsurf)),
            Self::Curly => scan(text, |rest| braced(rest, "{", "}", curly)),
            Self::Secrets => scan(text, |rest| braced(rest, "${{", "}}", secrets)),
        }
    }

    /// The text that means these pieces in this grammar, or why there is none.
    pub fn text(self, pieces: &[Piece]) -> Result<String, String> {
        if self == Self::Ours {
            return Ok(crate::template::render(pieces));
        }
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Variable(variable) => {
                    text.push_str(&self.variable(variable).ok_or_else(|| unsayable(variable))?);
                }
            }
        }
        // A literal that looks like a variable here would be taken for one.
        match names_the_same(&self.pieces(&text), pieces) {
            true => Ok(text),
            false => Err("its text would be taken for a variable".to_owned()),
        }
    }

    fn variable(self, variable: &Variable) -> Option<String> {
        let Variable { source, name, default } = variable;
        let default = default.as_deref();
        match (self, source) {
            (Self::Ours, _) => Some(variable.to_string()),
            (Self::Braces | Self::Dollar, Source::Env) => Some(match default {
                Some(default) => format!("${{{name}:-{default}}}"),
                None => format!("${{{name}}}"),
            }),
            (Self::Braces, Source::Project) => Some(format!("${{{CLAUDE_PROJECT}}}")),
            (Self::EnvPrefix | Self::Editor | Self::Windsurf, Source::Env) => {
                default.is_none_or(str::is_empty).then(|| format!("${{env:{name}}}"))
            }
            (Self::Editor, Source::Secret) => Some(format!("${{input:{name}}}")),
            (Self::Editor, source) => {
                let word = EDITOR_WORDS.iter().find(|(_, meant)| meant == source)?.0;
                Some(format!("${{{word}}}"))
            }
            (Self::Windsurf, Source::File) => Some(format!("${{file:{name}}}")),
            (Self::Curly, Source::Env) => {
                default.is_none_or(str::is_empty).then(|| format!("{{env:{name}}}"))
            }
            (Self::Curly, Source::File) => Some(format!("{{file:{name}}}")),
            (Self::Secrets, Source::Secret) => Some(format!("${{{{ secrets.{name} }}}}")),
            _ => None,
        }
    }
}

/// Why a variable cannot be written. What stands in for it may be a credential and is not shown.
fn unsayable(variable: &Variable) -> String {
    let named = Variable { default: None, ..variable.clone() };
    match variable.default.as_deref() {
        None | Some("") => format!("it cannot say {named}"),
        Some(_) => format!("it cannot say {named} with something that stands in for it"),
    }
}

/// Whether two texts name the same things, whatever stands in for what is not set.
fn names_the_same(a: &[Piece], b: &[Piece]) -> bool {
    let same = |pair: (&Piece, &Piece)| match pair {
        (Piece::Text(a), Piece::Text(b)) => a == b,
        (Piece::Variable(a), Piece::Variable(b)) => (a.source, &a.name) == (b.source, &b.name),
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// Goes through a text; `variable` is asked at every place and says what it found there and how
/// long it is.
fn scan(text: &str, variable: impl Fn(&str) -> Option<(Variable, usize)>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < text.len() {
        let found = text.as_bytes()[at] == b'$' || text.as_bytes()[at] == b'{';
        match found.then(|| variable(&text[at..])).flatten() {
            Some((variable, length)) => {
                push_text(&mut pieces, &text[start..at]);
                pieces.push(Piece::Variable(variable));
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

/// A variable between an opening and a closing mark.
fn braced(
    rest: &str,
    open: &str,
    close: &str,
    read: fn(&str) -> Option<Variable>,
) -> Option<(Variable, usize)> {
    let inside = rest.strip_prefix(open)?;
    let length = inside.find(close)?;
    Some((read(&inside[..length])?, open.len() + length + close.len()))
}

fn plain(inside: &str) -> Option<Variable> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    match name {
        CLAUDE_PROJECT => Some(Variable::of(Source::Project, "")),
        name => is_env_name(name).then(|| Variable::env(name, default)),
    }
}

/// A name after a dollar sign; a digit begins a sum of money, no name.
fn bare_name(rest: &str) -> Option<(Variable, usize)> {
    let rest = rest.strip_prefix('$')?;
    let length = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let name = &rest[..length];
    let begins = name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic());
    begins.then(|| (Variable::env(name, None), length + 1))
}

fn env_or_empty(name: &str) -> Option<Variable> {
    is_env_name(name).then(|| Variable::env(name, Some("")))
}

fn editor(inside: &str) -> Option<Variable> {
    if let Some((_, source)) = EDITOR_WORDS.iter().find(|(word, _)| *word == inside) {
        return Some(Variable::of(*source, ""));
    }
    match inside.split_once(':')? {
        ("env", name) => env_or_empty(name),
        ("input", id) => (!id.is_empty()).then(|| Variable::of(Source::Secret, id)),
        _ => None,
    }
}

fn windsurf(inside: &str) -> Option<Variable> {
    match inside.split_once(':') {
        Some(("env", name)) => is_env_name(name).then(|| Variable::env(name, None)),
        Some(("file", path)) => (!path.is_empty()).then(|| Variable::of(Source::File, path)),
        Some(_) => None,
        None => is_env_name(inside).then(|| Variable::env(inside, None)),
    }
}

fn curly(inside: &str) -> Option<Variable> {
    match inside.split_once(':')? {
        ("env", name) => env_or_empty(name),
        ("file", path) => (!path.is_empty()).then(|| Variable::of(Source::File, path)),
        _ => None,
    }
}

fn secrets(inside: &str) -> Option<Variable> {
    let name = inside.trim().strip_prefix("secrets.")?;
    (!name.is_empty()).then(|| Variable::of(Source::Secret, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::render;

    #[test]
    fn each_grammar_reads_its_own_variables_and_writes_them_back() {
        for (grammar, text, ours) in [
            (Grammar::Braces, "a ${X} ${Y:-z} $X ${env:X}", "a ${env:X} ${env:Y:-z} $X $${env:X}"),
            (Grammar::Braces, "${CLAUDE_PROJECT_DIR}/x", "${project}/x"),
            (Grammar::Dollar, "${X} ${Y:-z}", "${env:X} ${env:Y:-z}"),
            (Grammar::EnvPrefix, "B ${env:X} ${X}", "B ${env:X:-} $${X}"),
            (
                Grammar::Editor,
                "${env:X}${input:k}${workspaceFolder}${/}",
                "${env:X:-}${secret:k}${project}${/}",
            ),
            (Grammar::Windsurf, "${env:X} ${file:/k}", "${env:X} ${file:/k}"),
            (Grammar::Curly, "{env:X} {file:/k} {x} ${y}", "${env:X:-} ${file:/k} {x} $${y}"),
            (Grammar::Secrets, "${{ secrets.K }}", "${secret:K}"),
            (Grammar::Literal, "$X ${env:X} {y}", "$X $${env:X} {y}"),
        ] {
            let pieces = grammar.pieces(text);
            assert_eq!(render(&pieces), ours, "{grammar:?}");
            let written = grammar.text(&pieces).unwrap();
            assert_eq!(grammar.pieces(&written), pieces, "{grammar:?} {written}");
        }
        assert_eq!(render(&Grammar::Dollar.pieces("$X-$5 é$Y")), "${env:X}-$5 é${env:Y}");
    }

    #[test]
    fn what_a_grammar_cannot_say_is_said() {
        let secret = [Piece::Variable(Variable::of(Source::Secret, "k"))];
        assert!(Grammar::Braces.text(&secret).is_err());
        let looks_like_one = [Piece::Text("${X}".into())];
        assert!(Grammar::Braces.text(&looks_like_one).is_err());
        assert_eq!(Grammar::Literal.text(&looks_like_one).unwrap(), "${X}");
    }
}

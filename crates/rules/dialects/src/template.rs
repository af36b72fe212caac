//! Our own grammar of variables, and what they expand to.
//!
//! Every dialect's variables are translated into this one when a file is read ([`crate::grammar`]),
//! so the rest of the program knows a single grammar:
//!
//! - `${env:NAME}`, `${env:NAME:-default}`: a variable of the environment;
//! - `${file:path}`: what a file holds, without its last line end;
//! - `${secret:name}`: a value of the user's own store;
//! - `${project}`, `${project:name}`, `${home}`, `${/}`: the project's folder and its last part, the
//!   user's folder, the separator of paths;
//! - `$${` is the text `${`, and `${$}` a dollar sign, for one that stands before a variable.
//!
//! A value is expanded once, when a connection is made, from what the caller looks up: nothing here
//! reads anything. What a variable holds is never expanded again.

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that means itself.
    Text(String),
    /// Something to be looked up.
    Variable(Variable),
}

/// Something to be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Where.
    pub source: Source,
    /// Under which name; a path for files, empty where the source says it all.
    pub name: String,
    /// What stands in for a value that is not there. Empty: its file promises the empty text.
    pub default: Option<String>,
}

/// Where a variable is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The environment of this process.
    Env,
    /// A file.
    File,
    /// The user's own store.
    Secret,
    /// The project's folder.
    Project,
    /// The last part of the project's folder.
    ProjectName,
    /// The user's folder.
    Home,
    /// The separator of paths.
    Separator,
}

impl Variable {
    /// A variable of the environment.
    pub fn env(name: impl Into<String>, default: Option<&str>) -> Self {
        Self { source: Source::Env, name: name.into(), default: default.map(str::to_owned) }
    }

    /// One of the others, which have no default.
    pub fn of(source: Source, name: impl Into<String>) -> Self {
        Self { source, name: name.into(), default: None }
    }

    fn parse(inside: &str) -> Option<Self> {
        match inside {
            "project" => return Some(Self::of(Source::Project, "")),
            "project:name" => return Some(Self::of(Source::ProjectName, "")),
            "home" => return Some(Self::of(Source::Home, "")),
            "/" => return Some(Self::of(Source::Separator, "")),
            _ => {}
        }
        let (source, name) = inside.split_once(':')?;
        match source {
            "env" => {
                let (name, default) = match name.split_once(":-") {
                    Some((name, default)) => (name, Some(default)),
                    None => (name, None),
                };
                is_env_name(name).then(|| Self::env(name, default))
            }
            "file" => (!name.is_empty()).then(|| Self::of(Source::File, name)),
            "secret" => (!name.is_empty()).then(|| Self::of(Source::Secret, name)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Variable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, name, default } = self;
        match source {
            Source::Env => match default {
                Some(default) => write!(f, "${{env:{name}:-{default}}}"),
                None => write!(f, "${{env:{name}}}"),
            },
            Source::File => write!(f, "${{file:{name}}}"),
            Source::Secret => write!(f, "${{secret:{name}}}"),
            Source::Project => f.write_str("${project}"),
            Source::ProjectName => f.write_str("${project:name}"),
            Source::Home => f.write_str("${home}"),
            Source::Separator => f.write_str("${/}"),
        }
    }
}

/// Whether a text can be the name of a variable of the environment.
pub(crate) fn is_env_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// A dollar sign that belongs to nothing that follows it.
const DOLLAR: &str = "${$}";

/// The pieces of a text in our grammar. What looks like a variable and is none means itself.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            push_text(&mut pieces, &rest[..start - 1]);
            push_text(&mut pieces, "${");
            rest = &rest[start + 2..];
            continue;
        }
        let Some(length) = rest[start..].find('}') else { break };
        let (whole, after) = rest[start..].split_at(length + 1);
        push_text(&mut pieces, &rest[..start]);
        match Variable::parse(&whole[2..length]) {
            Some(variable) => pieces.push(Piece::Variable(variable)),
            None if whole == DOLLAR => push_text(&mut pieces, "$"),
            None => push_text(&mut pieces, whole),
        }
        rest = after;
    }
    push_text(&mut pieces, rest);
    pieces
}

/// Adds text to the pieces, joining it with text before it.
pub(crate) fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// The pieces in our grammar: [`pieces`] of it are the same again.
pub fn render(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Text(literal) => {
                // A dollar sign right before a variable would make it look like plain text.
                let is_before = matches!(pieces.get(index + 1), Some(Piece::Variable(_)));
                let body = if is_before { literal.trim_end_matches('$') } else { literal };
                text.push_str(&body.replace("${", "$${"));
                text.push_str(&DOLLAR.repeat(literal.len() - body.len()));
            }
            Piece::Variable(variable) => text.push_str(&variable.to_string()),
        }
    }
    text
}

/// A text that means itself, whatever it looks like.
pub fn literal(text: &str) -> String {
    render(&[Piece::Text(text.to_owned())])
}

/// A variable that is named and has no value: not set, or empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unset {
    /// Which.
    pub variable: Variable,
}

/// What is looked up, and what was found: whoever shows texts later hides the values.
pub type Lookup<'a> = dyn Fn(&Variable) -> Option<String> + 'a;

/// Replaces every variable of `text` by its value.
///
/// An empty variable counts as unset, as `:-` has it in a shell: an empty credential is never what
/// was meant.
pub fn expand(text: &str, lookup: &Lookup<'_>) -> Result<String, Unset> {
    expand_if(text, lookup, |_| true)
}

/// The same for a value that is a credential: an empty default does not help it.
pub fn expand_credential(text: &str, lookup: &Lookup<'_>) -> Result<String, Unset> {
    expand_if(text, lookup, |default| !default.is_empty())
}

fn expand_if(text: &str, lookup: &Lookup<'_>, usable: fn(&str) -> bool) -> Result<String, Unset> {
    let mut expanded = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(literal) => expanded.push_str(&literal),
            Piece::Variable(variable) => {
                let value = lookup(&variable).filter(|value| !value.is_empty());
                let default = variable.default.as_deref().filter(|default| usable(default));
                match (value, default) {
                    (Some(value), _) => expanded.push_str(&value),
                    (None, Some(default)) => expanded.push_str(default),
                    (None, None) => return Err(Unset { variable }),
                }
            }
        }
    }
    Ok(expanded)
}

/// The variables a text names.
pub fn variables(text: &str) -> Vec<Variable> {
    let named = pieces(text).into_iter().filter_map(|piece| match piece {
        Piece::Variable(variable) => Some(variable),
        Piece::Text(_) => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(variable: &Variable) -> Option<String> {
        match (variable.source, &*variable.name) {
            (Source::Env, "TOKEN") => Some("s3cret".into()),
            (Source::Env, "EMPTY") => Some(String::new()),
            (Source::Env, "TRICK") => Some("${env:TOKEN}".into()),
            (Source::Home, "") => Some("/u".into()),
            _ => None,
        }
    }

    fn expanded(text: &str) -> Result<String, Unset> {
        expand(text, &lookup)
    }

    #[test]
    fn variables_are_replaced_and_the_rest_means_itself() {
        assert_eq!(expanded("Bearer ${env:TOKEN}!").unwrap(), "Bearer s3cret!");
        assert_eq!(expanded("${TOKEN} $TOKEN ${ ${x:y}").unwrap(), "${TOKEN} $TOKEN ${ ${x:y}");
        assert_eq!(expanded("${home}/x$${env:TOKEN}").unwrap(), "/u/x${env:TOKEN}");
    }

    #[test]
    fn a_default_stands_in_for_what_is_unset_or_empty() {
        assert_eq!(expanded("${env:NONE:-a:-b}").unwrap(), "a:-b");
        assert_eq!(expanded("${env:EMPTY:-x}${env:TOKEN:-y}").unwrap(), "xs3cret");
    }

    #[test]
    fn an_unset_or_empty_variable_is_named() {
        let unset = |text| expanded(text).unwrap_err().variable.to_string();
        assert_eq!(unset("a ${env:NONE}"), "${env:NONE}");
        assert_eq!(unset("${env:EMPTY}"), "${env:EMPTY}");
        assert_eq!(unset("${secret:none}"), "${secret:none}");
    }

    #[test]
    fn an_empty_default_makes_no_credential() {
        assert_eq!(expanded("${env:NONE:-}").unwrap(), "");
        assert!(expand_credential("Bearer ${env:NONE:-}", &lookup).is_err());
    }

    #[test]
    fn what_a_variable_holds_is_not_expanded_again() {
        assert_eq!(expanded("${env:TRICK}").unwrap(), "${env:TOKEN}");
    }

    #[test]
    fn a_dollar_sign_before_a_variable_stays_one() {
        let token = || Piece::Variable(Variable::env("TOKEN", None));
        for text in ["$", "$$", "a$", "${$"] {
            let written = render(&[Piece::Text(text.into()), token(), token()]);
            assert_eq!(pieces(&written), [Piece::Text(text.into()), token(), token()], "{written}");
            assert_eq!(expanded(&written).unwrap(), format!("{text}s3crets3cret"));
        }
    }

    #[test]
    fn any_text_can_be_written_so_that_it_means_itself() {
        for text in ["${env:A}", "$${env:A}", "$", "$$", "${", "a$$${b}", "${$}", "$${$}"] {
            assert_eq!(expanded(&literal(text)).unwrap(), text);
        }
    }
}

//! Toolgate's variable syntax, and the expansion of variables.
//!
//! Readers translate the variables of every dialect into this syntax ([`crate::VariableSyntax`]),
//! so the rest of the program knows only one:
//!
//! - `${env:NAME}`, `${env:NAME:-default}`: an environment variable;
//! - `${file:path}`: the content of a file, without its final line break;
//! - `${secret:name}`: a value from the user's secret store;
//! - `${project}`, `${project:name}`, `${home}`, `${/}`: the project's folder, the name of that
//!   folder, the user's home folder, and the path separator;
//! - `$${` is the literal text `${`, and `${$}` is a dollar sign that precedes a variable.
//!
//! A value is expanded once, when a connection is made, with the caller's lookup function. This
//! module reads nothing. The value of a variable is not expanded again.

/// A part of a text with variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigTemplatePart {
    /// Literal text.
    Text(String),
    /// A variable to look up.
    Variable(TemplateVariable),
}

/// A variable to look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateVariable {
    /// Where to look it up.
    pub source: VariableSource,
    /// The name; a path for files, empty for sources without names.
    pub name: String,
    /// The value if the variable is not set. Empty if the file defines unset variables as empty.
    pub default: Option<String>,
}

/// Where a variable is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariableSource {
    /// The environment of this process.
    Env,
    /// A file.
    File,
    /// The user's secret store.
    Secret,
    /// The project's folder.
    Project,
    /// The name of the project's folder.
    ProjectName,
    /// The user's home folder.
    Home,
    /// The path separator.
    Separator,
}

impl VariableSource {
    /// Returns true if the value belongs to the user, and so may be a credential.
    pub fn is_of_user(self) -> bool {
        matches!(self, Self::Env | Self::File | Self::Secret)
    }
}

impl TemplateVariable {
    /// Returns an environment variable.
    pub fn env(name: impl Into<String>, default: Option<&str>) -> Self {
        Self { source: VariableSource::Env, name: name.into(), default: default.map(str::to_owned) }
    }

    /// Returns a variable of another source, which has no default.
    pub fn from_source(source: VariableSource, name: impl Into<String>) -> Self {
        Self { source, name: name.into(), default: None }
    }

    fn parse(inside: &str) -> Option<Self> {
        match inside {
            "project" => return Some(Self::from_source(VariableSource::Project, "")),
            "project:name" => return Some(Self::from_source(VariableSource::ProjectName, "")),
            "home" => return Some(Self::from_source(VariableSource::Home, "")),
            "/" => return Some(Self::from_source(VariableSource::Separator, "")),
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
            "file" => (!name.is_empty()).then(|| Self::from_source(VariableSource::File, name)),
            "secret" => (!name.is_empty()).then(|| Self::from_source(VariableSource::Secret, name)),
            _ => None,
        }
    }
}

impl std::fmt::Display for TemplateVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { source, name, default } = self;
        match source {
            VariableSource::Env => match default {
                Some(default) => write!(f, "${{env:{name}:-{default}}}"),
                None => write!(f, "${{env:{name}}}"),
            },
            VariableSource::File => write!(f, "${{file:{name}}}"),
            VariableSource::Secret => write!(f, "${{secret:{name}}}"),
            VariableSource::Project => f.write_str("${project}"),
            VariableSource::ProjectName => f.write_str("${project:name}"),
            VariableSource::Home => f.write_str("${home}"),
            VariableSource::Separator => f.write_str("${/}"),
        }
    }
}

/// Returns true if a text is a valid name of an environment variable.
pub(crate) fn is_env_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// A dollar sign that is not part of a variable.
const DOLLAR: &str = "${$}";

/// Parses a text in Toolgate's syntax. Text that only looks like a variable is literal.
pub fn parse_template(text: &str) -> Vec<ConfigTemplatePart> {
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
        match TemplateVariable::parse(&whole[2..length]) {
            Some(variable) => pieces.push(ConfigTemplatePart::Variable(variable)),
            None if whole == DOLLAR => push_text(&mut pieces, "$"),
            None => push_text(&mut pieces, whole),
        }
        rest = after;
    }
    push_text(&mut pieces, rest);
    pieces
}

/// Appends literal text, and joins it with preceding literal text.
pub(crate) fn push_text(pieces: &mut Vec<ConfigTemplatePart>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(ConfigTemplatePart::Text(before)) => before.push_str(text),
        _ => pieces.push(ConfigTemplatePart::Text(text.to_owned())),
    }
}

/// Renders parts in Toolgate's syntax. [`parse_template`] returns the same parts again.
pub fn render(pieces: &[ConfigTemplatePart]) -> String {
    let mut text = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            ConfigTemplatePart::Text(literal) => {
                // A dollar sign right before a variable would escape it.
                let is_before =
                    matches!(pieces.get(index + 1), Some(ConfigTemplatePart::Variable(_)));
                let body = if is_before { literal.trim_end_matches('$') } else { literal };
                text.push_str(&body.replace("${", "$${"));
                text.push_str(&DOLLAR.repeat(literal.len() - body.len()));
            }
            ConfigTemplatePart::Variable(variable) => text.push_str(&variable.to_string()),
        }
    }
    text
}

/// Escapes a text so that it is literal.
pub fn literal(text: &str) -> String {
    render(&[ConfigTemplatePart::Text(text.to_owned())])
}

/// Looks up the value of a variable.
pub type VariableLookup<'a> = dyn Fn(&TemplateVariable) -> Option<String> + 'a;

/// Replaces every variable of `text` by its value; returns the first that is not set.
///
/// An empty variable counts as unset, like `:-` in a shell: an empty credential is never intended.
pub fn expand(text: &str, lookup: &VariableLookup<'_>) -> Result<String, TemplateVariable> {
    expand_if(text, lookup, |_| true)
}

/// Like [`expand`], for a credential: an empty default counts as unset too.
pub fn expand_credential(
    text: &str,
    lookup: &VariableLookup<'_>,
) -> Result<String, TemplateVariable> {
    expand_if(text, lookup, |default| !default.is_empty())
}

fn expand_if(
    text: &str,
    lookup: &VariableLookup<'_>,
    usable: fn(&str) -> bool,
) -> Result<String, TemplateVariable> {
    let mut expanded = String::with_capacity(text.len());
    for piece in parse_template(text) {
        match piece {
            ConfigTemplatePart::Text(literal) => expanded.push_str(&literal),
            ConfigTemplatePart::Variable(variable) => {
                let value = lookup(&variable).filter(|value| !value.is_empty());
                let default = variable.default.as_deref().filter(|default| usable(default));
                match (value, default) {
                    (Some(value), _) => expanded.push_str(&value),
                    (None, Some(default)) => expanded.push_str(default),
                    (None, None) => return Err(variable),
                }
            }
        }
    }
    Ok(expanded)
}

/// Returns the variables of a text.
pub fn variables(text: &str) -> Vec<TemplateVariable> {
    template_variables(parse_template(text)).collect()
}

/// Returns the variables of a parsed text.
pub(crate) fn template_variables(
    parts: Vec<ConfigTemplatePart>,
) -> impl Iterator<Item = TemplateVariable> {
    parts.into_iter().filter_map(|part| match part {
        ConfigTemplatePart::Variable(variable) => Some(variable),
        ConfigTemplatePart::Text(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(variable: &TemplateVariable) -> Option<String> {
        match (variable.source, &*variable.name) {
            (VariableSource::Env, "TOKEN") => Some("s3cret".into()),
            (VariableSource::Env, "EMPTY") => Some(String::new()),
            (VariableSource::Env, "TRICK") => Some("${env:TOKEN}".into()),
            (VariableSource::Home, "") => Some("/u".into()),
            _ => None,
        }
    }

    fn expanded(text: &str) -> Result<String, TemplateVariable> {
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
        let unset = |text| expanded(text).unwrap_err().to_string();
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
        let token = || ConfigTemplatePart::Variable(TemplateVariable::env("TOKEN", None));
        for text in ["$", "$$", "a$", "${$"] {
            let written = render(&[ConfigTemplatePart::Text(text.into()), token(), token()]);
            assert_eq!(
                parse_template(&written),
                [ConfigTemplatePart::Text(text.into()), token(), token()],
                "{written}"
            );
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

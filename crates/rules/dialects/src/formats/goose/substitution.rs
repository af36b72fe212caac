//! Variables in URLs and headers of Goose's endpoints: `$NAME` and `${NAME}`, only for names that
//! the entry sets or looks up. Any other text is literal.

use std::collections::BTreeMap;

use toolgate_model::Secret;

use crate::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource, push_text};

/// The variables of an entry.
#[derive(Debug, Default)]
pub(super) struct GooseVariables {
    /// Variables with a value, in Toolgate's syntax.
    pub given: BTreeMap<String, Secret<String>>,
    /// Variables whose value is looked up.
    pub looked_up: Vec<String>,
}

impl GooseVariables {
    /// Returns the environment variables that these texts, in Toolgate's syntax, use.
    pub fn from_texts<'t>(texts: impl Iterator<Item = &'t String>) -> Self {
        let variables = texts.flat_map(|text| template::variables(text));
        let looked_up =
            variables.filter(|it| it.source == VariableSource::Env && it.default.is_none());
        let mut looked_up: Vec<_> = looked_up.map(|variable| variable.name).collect();
        looked_up.sort();
        looked_up.dedup();
        Self { given: BTreeMap::new(), looked_up }
    }

    /// Parses a text of Goose. Also returns the names in it that the entry does not have.
    pub fn parse_parts(&self, text: &str) -> (Vec<ConfigTemplatePart>, Vec<String>) {
        let (mut pieces, mut unknown) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            push_text(&mut pieces, &rest[..at]);
            let (name, length) = parse_name(&rest[at..]);
            let spelled = &rest[at..at + length];
            match name {
                Some(name) if self.given.contains_key(name) => {
                    for piece in template::parse_template(self.given[name].expose()) {
                        match piece {
                            ConfigTemplatePart::Text(text) => push_text(&mut pieces, &text),
                            variable => pieces.push(variable),
                        }
                    }
                }
                Some(name) if self.looked_up.iter().any(|it| it == name) => {
                    pieces.push(ConfigTemplatePart::Variable(TemplateVariable::env(name, None)));
                }
                name => {
                    unknown.extend(name.map(str::to_owned));
                    push_text(&mut pieces, spelled);
                }
            }
            rest = &rest[at + length..];
        }
        push_text(&mut pieces, rest);
        (pieces, unknown)
    }

    /// Renders these parts as a text of Goose, or returns why it cannot.
    pub fn render_parts(&self, pieces: &[ConfigTemplatePart]) -> Result<String, String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                ConfigTemplatePart::Text(literal) => text.push_str(literal),
                ConfigTemplatePart::Variable(TemplateVariable {
                    source: VariableSource::Env,
                    name,
                    default: None,
                }) => {
                    text.push_str(&format!("${{{name}}}"));
                }
                ConfigTemplatePart::Variable(variable) => {
                    // The default may be a credential.
                    let named = TemplateVariable { default: None, ..variable.clone() };
                    return Err(format!("this dialect cannot write {named}, or not its default"));
                }
            }
        }
        match self.parse_parts(&text).0 == pieces {
            true => Ok(text),
            false => Err("its text would be taken for a variable".to_owned()),
        }
    }
}

/// Parses the variable name at a dollar sign, and returns the length of its spelling.
fn parse_name(text: &str) -> (Option<&str>, usize) {
    let braced = text.strip_prefix("${").and_then(|inside| {
        let length = inside.find('}')?;
        Some((&inside[..length], length + "${}".len()))
    });
    if let Some((inside, length)) = braced
        && is_name(inside.trim())
    {
        return (Some(inside.trim()), length);
    }
    let bare = &text[1..];
    let length = bare.find(|c: char| !is_part(c)).unwrap_or(bare.len());
    match is_name(&bare[..length]) {
        true => (Some(&bare[..length]), length + 1),
        false => (None, 1),
    }
}

fn is_part(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

fn is_name(text: &str) -> bool {
    text.chars().all(is_part) && text.starts_with(|c: char| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> GooseVariables {
        let given = [("HOST".to_owned(), Secret::new("a.example".to_owned()))].into();
        GooseVariables { given, looked_up: vec!["TOKEN".to_owned()] }
    }

    #[test]
    fn only_the_names_of_the_entry_are_put_in() {
        for (text, ours, unknown) in [
            ("https://$HOST/x", "https://a.example/x", vec![]),
            ("Bearer ${ TOKEN }", "Bearer ${env:TOKEN}", vec![]),
            ("$TOKEN$HOST", "${env:TOKEN}a.example", vec![]),
            ("$OTHER ${TOKENS}", "$OTHER $${TOKENS}", vec!["OTHER", "TOKENS"]),
            ("$5 $ ${} ${TOKEN:-x} $", "$5 $ $${} $${TOKEN:-x} $", vec![]),
            ("é$é", "é$é", vec![]),
        ] {
            let (pieces, found) = names().parse_parts(text);
            assert_eq!(template::render(&pieces), ours, "{text}");
            assert_eq!(found, unknown, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again_or_refused() {
        let of = |text: &str| {
            let text = text.to_owned();
            let names = GooseVariables::from_texts([&text].into_iter());
            (names.render_parts(&template::parse_template(&text)), names.looked_up)
        };
        assert_eq!(of("Bearer ${env:A}"), (Ok("Bearer ${A}".into()), vec!["A".to_owned()]));
        assert_eq!(of("$${B} $C"), (Ok("${B} $C".into()), vec![]));
        assert!(of("${env:A} $A").0.is_err(), "the second would be taken for the first");
        assert!(of("${env:A:-x}").0.is_err());
        assert!(of("${secret:a}").0.is_err());
    }
}

//! Variables in the addresses and headers of Goose's endpoints: `$NAME` and `${NAME}`, of those
//! names only that the entry itself gives or asks for. Any other text means itself.

use std::collections::BTreeMap;

use toolgate_model::Secret;

use crate::template::{self, Piece, Source, Variable, push_text};

/// The variables an entry names.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Those it gives a value to, in our grammar.
    pub given: BTreeMap<String, Secret<String>>,
    /// Those whose value is looked up.
    pub looked_up: Vec<String>,
}

impl Names {
    /// The variables these texts of ours look up in the environment.
    pub fn of<'t>(texts: impl Iterator<Item = &'t String>) -> Self {
        let variables = texts.flat_map(|text| template::variables(text));
        let looked_up = variables.filter(|it| it.source == Source::Env && it.default.is_none());
        let mut looked_up: Vec<_> = looked_up.map(|variable| variable.name).collect();
        looked_up.sort();
        looked_up.dedup();
        Self { given: BTreeMap::new(), looked_up }
    }

    /// The pieces of a text of Goose's, and the names in it that the entry does not have.
    pub fn put_into(&self, text: &str) -> (Vec<Piece>, Vec<String>) {
        let (mut pieces, mut unknown) = (Vec::new(), Vec::new());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            push_text(&mut pieces, &rest[..at]);
            let (name, length) = named(&rest[at..]);
            let spelled = &rest[at..at + length];
            match name {
                Some(name) if self.given.contains_key(name) => {
                    for piece in template::pieces(self.given[name].expose()) {
                        match piece {
                            Piece::Text(text) => push_text(&mut pieces, &text),
                            variable => pieces.push(variable),
                        }
                    }
                }
                Some(name) if self.looked_up.iter().any(|it| it == name) => {
                    pieces.push(Piece::Variable(Variable::env(name, None)));
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

    /// The text of Goose's that means these pieces, or why there is none.
    pub fn text(&self, pieces: &[Piece]) -> Result<String, String> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Variable(Variable { source: Source::Env, name, default: None }) => {
                    text.push_str(&format!("${{{name}}}"));
                }
                Piece::Variable(variable) => {
                    // What stands in for it may be a credential.
                    let named = Variable { default: None, ..variable.clone() };
                    return Err(format!("it cannot say {named}, or not what stands in for it"));
                }
            }
        }
        match self.put_into(&text).0 == pieces {
            true => Ok(text),
            false => Err("its text would be taken for a variable".to_owned()),
        }
    }
}

/// The name a text that begins with a dollar sign asks for, and how much of it is its spelling.
fn named(text: &str) -> (Option<&str>, usize) {
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

    fn names() -> Names {
        let given = [("HOST".to_owned(), Secret::new("a.example".to_owned()))].into();
        Names { given, looked_up: vec!["TOKEN".to_owned()] }
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
            let (pieces, found) = names().put_into(text);
            assert_eq!(template::render(&pieces), ours, "{text}");
            assert_eq!(found, unknown, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_again_or_refused() {
        let of = |text: &str| {
            let text = text.to_owned();
            let names = Names::of([&text].into_iter());
            (names.text(&template::pieces(&text)), names.looked_up)
        };
        assert_eq!(of("Bearer ${env:A}"), (Ok("Bearer ${A}".into()), vec!["A".to_owned()]));
        assert_eq!(of("$${B} $C"), (Ok("${B} $C".into()), vec![]));
        assert!(of("${env:A} $A").0.is_err(), "the second would be taken for the first");
        assert!(of("${env:A:-x}").0.is_err());
        assert!(of("${secret:a}").0.is_err());
    }
}

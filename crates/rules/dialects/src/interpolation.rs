//! How variables are written in a value, and what they expand to.
//!
//! Each dialect owns its grammar. A value is expanded once, when a connection is made, from the
//! environment the caller brings: nothing here reads one. What a variable holds is never expanded
//! again.

/// A variable's grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// `${env:NAME}` and `${env:NAME:-default}`: ours.
    Prefixed,
    /// `${NAME}` and `${NAME:-default}`: `.mcp.json`.
    Plain,
}

/// A variable that is named and has no value: not set, or empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unset {
    /// Its name.
    pub variable: String,
}

/// A piece of a text.
enum Piece<'t> {
    Literal(&'t str),
    Variable { name: &'t str, default: Option<&'t str> },
}

impl Interpolation {
    /// Replaces every variable of `text` by its value.
    ///
    /// An empty variable counts as unset, as `:-` has it in a shell: an empty credential is never
    /// what was meant. What looks like a variable of another grammar is kept as it stands.
    pub fn expand(self, text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
        self.expand_if(text, env, |_| true)
    }

    /// The same for a value that may be a credential: an empty default does not help it.
    pub fn expand_credential(
        self,
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<String, Unset> {
        self.expand_if(text, env, |default| !default.is_empty())
    }

    fn expand_if(
        self,
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
        usable: fn(&str) -> bool,
    ) -> Result<String, Unset> {
        let mut expanded = String::with_capacity(text.len());
        for piece in self.pieces(text) {
            match piece {
                Piece::Literal(literal) => expanded.push_str(literal),
                Piece::Variable { name, default } => {
                    let value = env(name).filter(|value| !value.is_empty());
                    match (value, default.filter(|default| usable(default))) {
                        (Some(value), _) => expanded.push_str(&value),
                        (None, Some(default)) => expanded.push_str(default),
                        (None, None) => return Err(Unset { variable: name.to_owned() }),
                    }
                }
            }
        }
        Ok(expanded)
    }

    /// The variables a text names.
    pub fn variables(self, text: &str) -> Vec<&str> {
        let pieces = self.pieces(text).into_iter();
        pieces
            .filter_map(|piece| match piece {
                Piece::Variable { name, .. } => Some(name),
                Piece::Literal(_) => None,
            })
            .collect()
    }

    fn pieces(self, text: &str) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else {
                break;
            };
            let (whole, after) = rest[start..].split_at(length + 1);
            pieces.push(Piece::Literal(&rest[..start]));
            pieces.push(self.variable(&whole[2..length]).unwrap_or(Piece::Literal(whole)));
            rest = after;
        }
        pieces.push(Piece::Literal(rest));
        pieces
    }

    fn variable(self, inside: &str) -> Option<Piece<'_>> {
        let inside = match self {
            Self::Prefixed => inside.strip_prefix("env:")?,
            Self::Plain => inside,
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let letter = |c: char| c == '_' || c.is_ascii_alphanumeric();
        let named = !name.is_empty() && name.chars().all(letter);
        named.then_some(Piece::Variable { name, default })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "TOKEN" => Some("s3cret".into()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${TOKEN}".into()),
            _ => None,
        }
    }

    fn plain(text: &str) -> Result<String, Unset> {
        Interpolation::Plain.expand(text, &env)
    }

    fn prefixed(text: &str) -> Result<String, Unset> {
        Interpolation::Prefixed.expand(text, &env)
    }

    #[test]
    fn each_grammar_expands_its_own_variables_only() {
        assert_eq!(plain("Bearer ${TOKEN}!").unwrap(), "Bearer s3cret!");
        assert_eq!(plain("${env:TOKEN} $TOKEN ${").unwrap(), "${env:TOKEN} $TOKEN ${");
        assert_eq!(prefixed("Bearer ${env:TOKEN}").unwrap(), "Bearer s3cret");
        assert_eq!(prefixed("${TOKEN} ${file:x}").unwrap(), "${TOKEN} ${file:x}");
    }

    #[test]
    fn a_default_stands_in_for_what_is_unset_or_empty() {
        assert_eq!(plain("${NONE:-a:-b}").unwrap(), "a:-b");
        assert_eq!(prefixed("${env:EMPTY:-x}${env:TOKEN:-y}").unwrap(), "xs3cret");
    }

    #[test]
    fn an_unset_or_empty_variable_is_named() {
        assert_eq!(plain("a ${NONE}"), Err(Unset { variable: "NONE".into() }));
        assert_eq!(prefixed("${env:EMPTY}"), Err(Unset { variable: "EMPTY".into() }));
    }

    #[test]
    fn an_empty_default_makes_no_credential() {
        assert_eq!(plain("${NONE:-}").unwrap(), "");
        let credential = Interpolation::Plain.expand_credential("Bearer ${NONE:-}", &env);
        assert_eq!(credential, Err(Unset { variable: "NONE".into() }));
    }

    #[test]
    fn what_a_variable_holds_is_not_expanded_again() {
        assert_eq!(plain("${TRICK}").unwrap(), "${TOKEN}");
    }

    #[test]
    fn the_variables_of_a_text_can_be_listed() {
        assert_eq!(Interpolation::Plain.variables("${A}-${B:-c}-${not a name}"), ["A", "B"]);
    }
}

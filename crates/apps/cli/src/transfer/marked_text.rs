//! Replaces parts of a text that contains variables, such as an argument or a URL.
//!
//! The caller says which parts to replace, by the rules for masking shown text. This module locates
//! them in the text and names them.

use toolgate_host::config::template::{self, ConfigTemplatePart};

use super::literals::{CredentialReplacer, LiteralLocation, replace_text};

/// The mark of the first variable in a text; the following variables get the following characters.
const MARKS: u32 = 0xE000;

/// A text in which a mark stands for every variable, so that nothing inside a variable is taken for
/// a separator.
pub struct PlaceholderText {
    /// The text with marks.
    pub text: String,
    /// The variables behind the marks, in our template syntax.
    variables: Vec<String>,
}

impl PlaceholderText {
    /// Marks the variables of a text in our template syntax.
    pub fn of(text: &str) -> Self {
        let mut marked = Self { text: String::new(), variables: Vec::new() };
        for piece in template::parse_template(text) {
            match piece {
                ConfigTemplatePart::Text(text) => marked.text.push_str(&text),
                ConfigTemplatePart::Variable(variable) => {
                    let mark = marked.mark(variable.to_string());
                    marked.text.push(mark);
                }
            }
        }
        marked
    }

    fn mark(&mut self, variable: String) -> char {
        let at = u32::try_from(self.variables.len()).ok().and_then(|at| MARKS.checked_add(at));
        self.variables.push(variable);
        at.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// Returns a part of the text in our template syntax.
    fn unmark(&self, part: &str) -> String {
        let mut text = String::new();
        let mut literal = String::new();
        for c in part.chars() {
            let at = (c as u32).checked_sub(MARKS).and_then(|at| usize::try_from(at).ok());
            match at.and_then(|at| self.variables.get(at)) {
                Some(variable) => {
                    text.push_str(&template::literal(&std::mem::take(&mut literal)));
                    text.push_str(variable);
                }
                None => literal.push(c),
            }
        }
        text.push_str(&template::literal(&literal));
        text
    }

    /// Returns the text with each hidden part replaced as `choose` decides, or `None` if nothing
    /// useful is left of it.
    pub fn replace_hidden(
        mut self,
        field: &str,
        called: &str,
        mut hidden: Vec<String>,
        choose: &mut CredentialReplacer<'_>,
    ) -> Option<String> {
        let mut replace = |field: &str, name: &str, text: &str| {
            replace_text(field, name, LiteralLocation::Embedded, text, choose)
        };
        hidden.sort_by_key(|part| std::cmp::Reverse(part.len()));
        let mut done: Vec<String> = Vec::new();
        for part in hidden {
            let Some(start) = self.text.find(&part) else {
                if done.iter().any(|done| done.contains(&part)) {
                    continue;
                }
                // The part has another spelling in the text, so only the whole can be replaced.
                return replace(field, name_before(called), &self.unmark(&self.text));
            };
            let end = start + part.len();
            let before = name_before(&self.text[..start]);
            let name = if before.is_empty() { name_before(called) } else { before };
            let field_name =
                if before.is_empty() { field.to_owned() } else { format!("{field} ({name})") };
            match replace(&field_name, name, &self.unmark(&part)) {
                Some(text) => {
                    let mark = self.mark(text);
                    self.text.replace_range(start..end, mark.encode_utf8(&mut [0; 4]));
                }
                None if self.text.len() == part.len() => return None,
                None => {
                    let end = end + usize::from(self.text[end..].starts_with('@'));
                    self.text.replace_range(start..end, "");
                    let is_flag = self.text.starts_with('-') && self.text.ends_with('=');
                    if is_flag {
                        return None;
                    }
                }
            }
            done.push(part);
        }
        Some(self.unmark(&self.text))
    }
}

/// Returns the last name in a text: a flag, a header or a parameter.
fn name_before(text: &str) -> &str {
    match text.chars().next_back() {
        Some('#') => return "fragment",
        _ if text.ends_with("://") => return "userinfo",
        _ => {}
    }
    let text = text.trim_end_matches(|c: char| "=: \"'".contains(c));
    let is_name = |c: char| c == '_' || c == '-' || c == '.' || c.is_alphanumeric();
    let start = text
        .rfind(|c: char| !is_name(c))
        .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8));
    text[start..].trim_matches(['-', '.'])
}

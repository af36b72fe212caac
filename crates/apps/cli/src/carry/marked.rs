//! Replaces parts of a text that holds variables: an argument, a URL.
//!
//! Which parts are to be replaced comes from the rules by which such texts are shown; here they are
//! only found again and given a name.

use toolgate_host::config::template::{self, Piece};

use super::literals::{Choose, Place, at};

/// Stands for a variable while a text is taken apart: its first is the first variable.
const MARKS: u32 = 0xE000;

/// A text with a mark for every variable, so that nothing inside one is taken for a separator.
pub struct Marked {
    /// The text.
    pub text: String,
    /// What the marks stand for, in our grammar.
    meant: Vec<String>,
}

impl Marked {
    /// Marks a text of our grammar.
    pub fn of(text: &str) -> Self {
        let mut marked = Self { text: String::new(), meant: Vec::new() };
        for piece in template::pieces(text) {
            match piece {
                Piece::Text(text) => marked.text.push_str(&text),
                Piece::Variable(variable) => {
                    let mark = marked.mark(variable.to_string());
                    marked.text.push(mark);
                }
            }
        }
        marked
    }

    fn mark(&mut self, meant: String) -> char {
        let at = u32::try_from(self.meant.len()).ok().and_then(|at| MARKS.checked_add(at));
        self.meant.push(meant);
        at.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// A part of the text in our grammar.
    fn unmarked(&self, part: &str) -> String {
        let mut text = String::new();
        let mut literal = String::new();
        for c in part.chars() {
            let at = (c as u32).checked_sub(MARKS).and_then(|at| usize::try_from(at).ok());
            match at.and_then(|at| self.meant.get(at)) {
                Some(meant) => {
                    text.push_str(&template::literal(&std::mem::take(&mut literal)));
                    text.push_str(meant);
                }
                None => literal.push(c),
            }
        }
        text.push_str(&template::literal(&literal));
        text
    }

    /// The text with something else in the place of each hidden part; `None`: nothing of use is
    /// left of it.
    pub fn replaced(
        mut self,
        field: &str,
        called: &str,
        mut hidden: Vec<String>,
        choose: &mut Choose<'_>,
    ) -> Option<String> {
        hidden.sort_by_key(|part| std::cmp::Reverse(part.len()));
        let mut done: Vec<String> = Vec::new();
        for part in hidden {
            let Some(start) = self.text.find(&part) else {
                if done.iter().any(|done| done.contains(&part)) {
                    continue;
                }
                // It stands there in another spelling: only the whole can be replaced.
                let whole = self.unmarked(&self.text);
                return at(field, name_before(called), Place::Inside, &whole, choose);
            };
            let end = start + part.len();
            let before = name_before(&self.text[..start]);
            let name = if before.is_empty() { name_before(called) } else { before };
            let place =
                if before.is_empty() { field.to_owned() } else { format!("{field} ({name})") };
            match at(&place, name, Place::Inside, &self.unmarked(&part), choose) {
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
        Some(self.unmarked(&self.text))
    }
}

/// The name that stands last in a text: a flag, a header, a parameter.
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

//! The part of a passage that shows why it was found.
//!
//! A word counts as found if the index knows it by a term of the query: what is marked is what
//! matched, whatever form it stands in.

use std::collections::HashSet;
use std::ops::Range;

use toolgate_context::reading::terms::{self, Indexer};

/// About how many characters are shown.
const WIDTH: usize = 280;
/// How far before the first word that was found a snippet begins.
const LEAD: usize = 60;
/// A longer run of letters is no word; marking all of it would mark nothing.
const LONGEST: usize = 40;

/// What a query looks for.
pub struct Sought {
    terms: HashSet<String>,
}

/// A piece of text, and whether it was found.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether it is a word that was found.
    pub found: bool,
}

impl Sought {
    /// By this query.
    pub fn by(query: &str) -> Self {
        let asked = terms::asked(query).into_iter();
        Self {
            terms: asked.flat_map(|asked| asked.others.into_iter().chain([asked.term])).collect(),
        }
    }

    /// The most telling part of a text, and whether something was left out before and behind it.
    pub fn snippet<'a>(&self, text: &'a str) -> (Vec<Piece<'a>>, bool, bool) {
        let matches = self.matches(text);
        let window = window(text, &matches);
        let pieces = self::pieces(text, &window, &matches);
        (pieces, window.start > 0, window.end < text.len())
    }

    /// All of a text, with what was found in it.
    pub fn whole<'a>(&self, text: &'a str) -> Vec<Piece<'a>> {
        pieces(text, &(0..text.len()), &self.matches(text))
    }

    /// Where the words stand that were found, with the term each was found by.
    fn matches(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let mut indexer = Indexer::new();
        let mut buffer = String::new();
        let mut found = Vec::new();
        for range in words(text).filter(|range| text[range.clone()].chars().count() <= LONGEST) {
            buffer.clear();
            indexer.index(&text[range.clone()], &mut buffer);
            if let Some(term) = buffer.split(' ').find(|term| self.terms.contains(*term)) {
                found.push((range, term.to_owned()));
            }
        }
        found
    }
}

/// Runs of letters and digits; an underscore stands within names.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_part)?;
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |end| start + end);
        at = end;
        Some(start..end)
    })
}

/// The stretch of about [`WIDTH`] characters that has the most different terms; of equal ones the
/// first.
fn window(text: &str, matches: &[(Range<usize>, String)]) -> Range<usize> {
    let best = (0..matches.len()).map(|first| {
        let start = matches[first].0.start;
        let near = matches[first..].iter().take_while(|(it, _)| it.end - start <= WIDTH - LEAD);
        let different: HashSet<_> = near.map(|(_, term)| term).collect();
        (different.len(), start)
    });
    let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let anchor = best.map_or(0, |(_, start)| start);
    let start = backwards(text, anchor);
    let end = text[start..].char_indices().nth(WIDTH).map_or(text.len(), |(end, _)| start + end);
    start..trimmed(text, end)
}

/// The beginning of a word up to [`LEAD`] characters before a place; the beginning of its line, if
/// that is nearer.
fn backwards(text: &str, anchor: usize) -> usize {
    let before = &text[..anchor];
    let earliest = before.char_indices().rev().nth(LEAD - 1).map_or(0, |(at, _)| at);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    if line >= earliest {
        return line;
    }
    let space = text[earliest..anchor].find(char::is_whitespace);
    space.map_or(earliest, |at| earliest + at + 1).min(anchor)
}

/// An end that does not cut a word, if there is one near.
fn trimmed(text: &str, end: usize) -> usize {
    if end == text.len() {
        return end;
    }
    let space = text[..end].rfind(char::is_whitespace);
    space.filter(|at| end - at <= LONGEST).unwrap_or(end)
}

fn pieces<'a>(
    text: &'a str,
    window: &Range<usize>,
    matches: &[(Range<usize>, String)],
) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut at = window.start;
    let inside = |range: &Range<usize>| range.start >= window.start && range.end <= window.end;
    for (range, _) in matches.iter().filter(|(range, _)| inside(range)) {
        if range.start > at {
            pieces.push(Piece { text: &text[at..range.start], found: false });
        }
        pieces.push(Piece { text: &text[range.clone()], found: true });
        at = range.end;
    }
    if at < window.end {
        pieces.push(Piece { text: &text[at..window.end], found: false });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str, text: &str) -> String {
        let (pieces, before, behind) = Sought::by(query).snippet(text);
        let mut shown = String::from(if before { "…" } else { "" });
        for piece in pieces {
            shown.push_str(&if piece.found {
                format!("[{}]", piece.text)
            } else {
                piece.text.into()
            });
        }
        shown + if behind { "…" } else { "" }
    }

    #[test]
    fn words_that_were_found_are_marked() {
        assert_eq!(shown("key", "A Key opens; monkeys do not."), "A [Key] opens; monkeys do not.");
        assert_eq!(shown("zebra", "nothing here"), "nothing here");
        assert_eq!(shown("", ""), "");
    }

    #[test]
    fn a_long_text_is_shown_where_most_of_the_query_stands() {
        let filler = "Lorem ipsum dolor sit amet. ".repeat(60);
        let text = format!("a key alone. {filler}The rotation of the key is weekly. {filler}");
        let shown = shown("key rotation", &text);
        assert!(shown.contains("[rotation] of the [key]"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.chars().count() < WIDTH + 20, "{shown}");
    }

    #[test]
    fn any_text_can_be_cut() {
        for text in [
            "ü".repeat(1000),
            "日本語テキスト".repeat(100),
            "\n\n\n".into(),
            "a\u{301} ".repeat(500),
        ] {
            for query in ["ü", "日本", "a", "nothing"] {
                let (pieces, ..) = Sought::by(query).snippet(&text);
                let joined: String = pieces.iter().map(|piece| piece.text).collect();
                assert!(text.contains(&joined));
                let whole: String =
                    Sought::by(query).whole(&text).iter().map(|it| it.text).collect();
                assert_eq!(whole, text);
            }
        }
    }
}

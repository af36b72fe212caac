//! Selects the part of a passage that shows why it matches a query.
//!
//! A word matches if the index stores it under a term of the query, so all inflected forms that the
//! search found are marked.

use std::collections::HashSet;
use std::ops::Range;

use toolgate_context::reading::terms::{self, TermIndexer};

/// The approximate length of a snippet in characters.
const WIDTH: usize = 280;
/// How many characters of context come before the first match.
const LEAD: usize = 60;
/// Longer runs of letters are not treated as words and never marked.
const MAX_WORD_CHARS: usize = 40;

/// The terms of a query, with their other stems.
pub struct QueryTerms(HashSet<String>);

/// A piece of text that matches or does not match.
#[derive(Debug, PartialEq, Eq)]
pub struct SnippetSpan<'a> {
    /// The text.
    pub text: &'a str,
    /// Whether it is a matching word.
    pub is_match: bool,
}

impl QueryTerms {
    /// Returns the terms of a query.
    pub fn from_query(query: &str) -> Self {
        let asked = terms::query_terms(query).into_iter();
        Self(asked.flat_map(|it| it.other_stems.into_iter().chain([it.term])).collect())
    }

    /// Returns the best matching part of a text, and whether text was cut off before and after it.
    pub fn snippet<'a>(&self, text: &'a str) -> (Vec<SnippetSpan<'a>>, bool, bool) {
        let matches = self.matches(text);
        let window = best_window(text, &matches);
        let pieces = split_spans(text, &window, &matches);
        (pieces, window.start > 0, window.end < text.len())
    }

    /// Returns the whole text with its matches marked.
    pub fn mark_all<'a>(&self, text: &'a str) -> Vec<SnippetSpan<'a>> {
        split_spans(text, &(0..text.len()), &self.matches(text))
    }

    /// Returns the ranges of the matching words, each with its term.
    fn matches(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let mut indexer = TermIndexer::new();
        let mut buffer = String::new();
        let mut found = Vec::new();
        for range in
            words(text).filter(|range| text[range.clone()].chars().count() <= MAX_WORD_CHARS)
        {
            buffer.clear();
            indexer.index(&text[range.clone()], &mut buffer);
            if let Some(term) = buffer.split(' ').find(|term| self.0.contains(*term)) {
                found.push((range, term.to_owned()));
            }
        }
        found
    }
}

/// Returns the ranges of words: runs of letters, digits and underscores.
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

/// Returns the first window of about [`WIDTH`] characters with the most different terms.
fn best_window(text: &str, matches: &[(Range<usize>, String)]) -> Range<usize> {
    let best = (0..matches.len()).map(|first| {
        let start = matches[first].0.start;
        let near = matches[first..].iter().take_while(|(it, _)| it.end - start <= WIDTH - LEAD);
        let different: HashSet<_> = near.map(|(_, term)| term).collect();
        (different.len(), start)
    });
    let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let anchor = best.map_or(0, |(_, start)| start);
    let start = window_start(text, anchor);
    let end = text[start..].char_indices().nth(WIDTH).map_or(text.len(), |(end, _)| start + end);
    start..window_end(text, end)
}

/// Returns where a snippet starts: at a word up to [`LEAD`] characters before the anchor, or at the
/// start of its line if that is nearer.
fn window_start(text: &str, anchor: usize) -> usize {
    let before = &text[..anchor];
    let earliest = before.char_indices().rev().nth(LEAD - 1).map_or(0, |(at, _)| at);
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    if line >= earliest {
        return line;
    }
    let space = text[earliest..anchor].find(char::is_whitespace);
    space.map_or(earliest, |at| earliest + at + 1).min(anchor)
}

/// Moves the end back to a word boundary, if there is one nearby.
fn window_end(text: &str, end: usize) -> usize {
    if end == text.len() {
        return end;
    }
    let space = text[..end].rfind(char::is_whitespace);
    space.filter(|at| end - at <= MAX_WORD_CHARS).unwrap_or(end)
}

fn split_spans<'a>(
    text: &'a str,
    window: &Range<usize>,
    matches: &[(Range<usize>, String)],
) -> Vec<SnippetSpan<'a>> {
    let mut pieces = Vec::new();
    let mut at = window.start;
    let inside = |range: &Range<usize>| range.start >= window.start && range.end <= window.end;
    for (range, _) in matches.iter().filter(|(range, _)| inside(range)) {
        if range.start > at {
            pieces.push(SnippetSpan { text: &text[at..range.start], is_match: false });
        }
        pieces.push(SnippetSpan { text: &text[range.clone()], is_match: true });
        at = range.end;
    }
    if at < window.end {
        pieces.push(SnippetSpan { text: &text[at..window.end], is_match: false });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str, text: &str) -> String {
        let (pieces, before, behind) = QueryTerms::from_query(query).snippet(text);
        let mut shown = String::from(if before { "…" } else { "" });
        for piece in pieces {
            shown.push_str(&if piece.is_match {
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
                let (pieces, ..) = QueryTerms::from_query(query).snippet(&text);
                let joined: String = pieces.iter().map(|piece| piece.text).collect();
                assert!(text.contains(&joined));
                let whole: String = QueryTerms::from_query(query)
                    .mark_all(&text)
                    .iter()
                    .map(|it| it.text)
                    .collect();
                assert_eq!(whole, text);
            }
        }
    }
}

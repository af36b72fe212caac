//! Splits a text into sentences.
//!
//! A heading, a list item, a table row and a short code block each count as one sentence; a
//! paragraph is split. Abbreviations, initials, ordinals, versions, file names and addresses
//! contain full stops that do not end a sentence.

use std::ops::Range;

use crate::layout::{TextBlock, TextBlockKind, blocks};
use crate::{abbreviations, dates};

/// The maximum length in bytes of an item or row that is not split.
const WHOLE_ITEM: usize = 300;

/// The maximum length of inline code, in bytes.
const CODE: usize = 240;

/// How far back the word before a full stop is searched, in bytes.
const WORD: usize = 24;

/// Returns the sentences of a text in order, without blanks and list markers around them.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in blocks(text) {
        block_sentences(text, &block, &mut found);
    }
    found
}

/// Appends the sentences of one block.
pub(crate) fn block_sentences(text: &str, block: &TextBlock, found: &mut Vec<Range<usize>>) {
    let whole = match block.kind {
        TextBlockKind::Prose => false,
        TextBlockKind::Item(_) => block.end - block.body <= WHOLE_ITEM,
        TextBlockKind::Heading(_)
        | TextBlockKind::Row
        | TextBlockKind::Code
        | TextBlockKind::Boilerplate => true,
    };
    if whole {
        found.push(block.body..block.end);
    } else {
        split_prose(text, block.body..block.end, found);
    }
}

/// Splits a paragraph.
fn split_prose(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let Some(words) = text.get(range.clone()) else { return };
    let mut start = 0;
    let mut at = 0;
    while let Some(next) = words[at..].chars().next() {
        if next == '`' {
            at = behind_code(words, at);
            continue;
        }
        let behind = at + next.len_utf8();
        let ends = match next {
            '.' | '!' | '?' | '…' => end_of_sentence(words, start, at),
            '。' | '！' | '？' | '｡' | '．' => Some(skip_closing_marks(words, behind)),
            _ => None,
        };
        match ends {
            Some(end) => {
                push_sentence(words, range.start, start..end, found);
                start = end;
                at = end;
            }
            // A run of marks was handled as one.
            None if !is_mark(words.as_bytes()[at]) => at = behind,
            None => at = behind + words[behind..].bytes().take_while(|byte| is_mark(*byte)).count(),
        }
    }
    push_sentence(words, range.start, start..words.len(), found);
}

fn push_sentence(words: &str, base: usize, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &words[range.clone()];
    let lead = piece.len() - piece.trim_start().len();
    let trimmed = piece.trim();
    if trimmed.chars().any(char::is_alphanumeric) {
        let start = base + range.start + lead;
        found.push(start..start + trimmed.len());
    } else if let Some(last) =
        found.last_mut().filter(|last| last.end >= base && !trimmed.is_empty())
    {
        // A stray mark belongs to the previous sentence.
        last.end = base + range.start + lead + trimmed.len();
    }
}

/// Returns the offset after inline code, or after its opening mark if it is not closed.
fn behind_code(words: &str, at: usize) -> usize {
    let ticks = words[at..].bytes().take_while(|byte| *byte == b'`').count();
    let inside = at + ticks;
    let mut run = 0;
    for (offset, byte) in words.as_bytes()[inside..].iter().enumerate().take(CODE) {
        match byte {
            b'`' => run += 1,
            _ if run == ticks => return inside + offset,
            _ => run = 0,
        }
    }
    // The closing mark is the last character.
    if run == ticks && inside + CODE >= words.len() { words.len() } else { inside }
}

/// Returns the end of the sentence if the mark at `at` ends it.
fn end_of_sentence(words: &str, start: usize, at: usize) -> Option<usize> {
    let marks = words[at..].bytes().take_while(|byte| is_mark(*byte)).count();
    let behind = at + marks.max(words[at..].chars().next().map_or(1, char::len_utf8));
    let end = skip_closing_marks(words, behind);
    let rest = &words[end..];
    if rest.is_empty() {
        return Some(end);
    }
    if !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let next = rest.trim_start();
    let opener = next.trim_start_matches(['"', '\'', '(', '[', '“', '„', '«', '‘', '*', '_', '`']);
    let first = opener.chars().next();
    // A lower-case word continues the sentence, unless it is code or a file name.
    let small = first.is_some_and(char::is_lowercase) && !next.starts_with('`');
    let question = words[at..behind].contains(['?', '!']);
    if small && !(question && end == behind && !next.starts_with(['"', '“'])) {
        return None;
    }
    let dot = words[at..].starts_with('.') && marks == 1;
    if dot && belongs_to_word(words, start, at, opener) { None } else { Some(end) }
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'.' | b'!' | b'?')
}

/// Returns the offset after closing quotes, brackets and emphasis.
fn skip_closing_marks(words: &str, behind: usize) -> usize {
    let rest = words.get(behind..).unwrap_or("");
    let closing = ['"', '\'', ')', ']', '”', '“', '’', '»', '*', '_', '」', '』', '）'];
    words.len() - rest.trim_start_matches(closing).len()
}

/// Returns true if the full stop at `at` belongs to the word before it.
fn belongs_to_word(words: &str, start: usize, at: usize, next: &str) -> bool {
    let head = &words[start..at];
    let from = head.char_indices().rev().take(WORD).find(|(_, c)| !word_part(*c));
    let word = from.map_or(head, |(place, c)| &head[place + c.len_utf8()..]);
    let next_word = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    if word.bytes().all(|byte| byte.is_ascii_digit()) && !word.is_empty() {
        let before = head[..head.len() - word.len()].trim_end();
        return before.is_empty() || word.len() <= 2 && is_ordinal(before, next_word);
    }
    // After such a word, a number or a bracket continues the sentence.
    let apart = next_word.starts_with(char::is_uppercase);
    abbreviations::has(abbreviations::NEVER_ENDS, word)
        || abbreviations::has(abbreviations::MAY_END, word) && !apart
        || initial(word, head, next)
        || abbreviations::has(abbreviations::BEFORE_NUMBER, word)
            && next_word.starts_with(|c: char| c.is_ascii_digit())
}

fn word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '\u{a0}' | '\'' | '’')
}

/// Returns true for `J. Smith`, `J. R. Smith`, `z. B.`; not for `plan B. Then`.
fn initial(word: &str, head: &str, next: &str) -> bool {
    let mut letters = word.chars();
    let Some(letter) = letters.next().filter(|c| c.is_alphabetic()) else { return false };
    if letters.next().is_some() {
        return false;
    }
    let mut behind = next.chars();
    let another = behind.next().is_some_and(char::is_alphabetic) && behind.next() == Some('.');
    let before = head[..head.len() - word.len()].trim_end();
    let named = before.rsplit(char::is_whitespace).next().unwrap_or("");
    let name = named.starts_with(char::is_uppercase) && named != "I" && named != "Plan";
    another || letter.is_uppercase() && (before.is_empty() || named.ends_with('.') || name)
}

/// Returns true for `am 3. Oktober`, `le 3. mai`, `3. Absatz` after an article.
fn is_ordinal(before: &str, next: &str) -> bool {
    let article = before.rsplit(char::is_whitespace).next().unwrap_or("").to_lowercase();
    dates::is_full_month(next) || abbreviations::has(abbreviations::BEFORE_ORDINAL, &article)
}

//! The terms an index knows a text by, and those a request asks for.
//!
//! A term is a word without case, diacritics and endings: the same for what is kept and what is
//! asked, whatever the language of either. It consists of `a-z`, `0-9`, `.`, `_` and letters beyond
//! ASCII, so SQLite's tokenizer `ascii` with `tokenchars '._'` takes it for one token.
//!
//! Every word has one term, by its English stem (or that of its script). In a text of another
//! language in Latin letters its stem in that language stands behind the others, with `_` at its
//! end: [`asked`] looks for those, too, so it need not know in which languages the texts are.

mod compound;
mod dense;
mod fold;
mod language;
mod memory;
mod stop;
mod words;

use std::collections::HashSet;

use language::{Language, OWN};
use memory::Memory;
use stop::Tally;
use words::{Purpose, Room, Taker};

/// Changes when the same text gives other terms than before: an index made by another version must
/// be made anew.
pub const VERSION: u32 = 1;

/// A text is taken in pieces of about this size, each of which has a language.
const PIECE: usize = 1 << 16;

/// A request has at most so many words.
const MOST_ASKED: usize = 256;

/// Makes terms of texts, and remembers the words it has met: worth keeping for many texts.
#[derive(Debug, Default)]
pub struct Indexer {
    memory: Memory,
    /// The words of the piece at hand, by their number in the memory.
    words: Vec<u32>,
    stops: Vec<u32>,
    room: Room,
    /// How many pieces there were.
    pieces: u32,
}

impl Indexer {
    /// One that has met no word yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends the terms of a text, each followed by a blank: of each piece its words in order, and
    /// behind them once each its stop words. By pieces, since the memory may be emptied between them.
    pub fn index(&mut self, text: &str, terms: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            self.pieces = self.pieces.wrapping_add(1).max(1);
            let (piece, next) = rest.split_at(piece_end(rest));
            self.memory.make_room();
            let language = self.take(piece, Purpose::Keep).of_text();
            self.write(language, terms);
            rest = next;
        }
    }

    /// What a request asks for; see [`asked`].
    pub fn asked(&mut self, request: &str) -> Vec<Asked> {
        self.memory.make_room();
        let request = &request[..piece_end(request)];
        let language = self.take(request, Purpose::Ask).of_request();
        let words = std::mem::take(&mut self.words);
        let telling =
            words.iter().filter(|at| !self.memory.of(**at as usize).stop.in_request(language));
        let mut telling: Vec<u32> = telling.copied().collect();
        if telling.is_empty() {
            telling.clone_from(&words);
        }
        let mut known = HashSet::new();
        telling.retain(|at| known.insert(self.memory.term(*at as usize).to_owned()));
        telling.truncate(MOST_ASKED);
        self.words = words;
        telling.into_iter().map(|at| self.ask(at as usize)).collect()
    }

    fn ask(&mut self, at: usize) -> Asked {
        let term = self.memory.term(at).to_owned();
        let mut others: Vec<String> = Vec::new();
        if self.memory.of(at).is_latin {
            for language in Language::beside_english() {
                let stem = self.memory.own_stem(at, language);
                if !others.iter().any(|other| other == stem) {
                    others.push(stem.to_owned());
                }
            }
        }
        Asked { term, others }
    }

    fn take(&mut self, text: &str, purpose: Purpose) -> Tally {
        self.words.clear();
        let mut meeting =
            Meeting { memory: &mut self.memory, words: &mut self.words, tally: Tally::default() };
        words::scan(text, purpose, &mut self.room, &mut meeting);
        meeting.tally
    }

    fn write(&mut self, language: Language, terms: &mut String) {
        self.stops.clear();
        for &at in &self.words {
            let met = self.memory.of(at as usize);
            if !met.stop.in_text(language) {
                push(self.memory.term(at as usize), terms);
            } else if met.seen != self.pieces {
                met.seen = self.pieces;
                // One that was pushed out of the memory and met again has another number.
                let word = self.memory.word(at as usize);
                if !self.stops.iter().any(|known| self.memory.word(*known as usize) == word) {
                    self.stops.push(at);
                }
            }
        }
        for &at in &self.stops {
            push(self.memory.term(at as usize), terms);
        }
        if language.has_own_stems() {
            self.write_own(language, terms);
        }
    }

    fn write_own(&mut self, language: Language, terms: &mut String) {
        for &at in &self.words {
            let met = self.memory.of(at as usize);
            if met.is_latin && !met.stop.in_text(language) {
                push(self.memory.own_stem(at as usize, language), terms);
            }
        }
    }
}

fn push(term: &str, terms: &mut String) {
    terms.push_str(term);
    terms.push(' ');
}

/// Where a text may be parted: behind a blank, if there is one not far from the end.
fn piece_end(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let end = text.floor_char_boundary(PIECE);
    let near = text.floor_char_boundary(PIECE - 1024);
    text[near..end].rfind(|c: char| c.is_ascii_whitespace()).map_or(end, |at| near + at + 1)
}

/// Meets the words of a text.
struct Meeting<'a> {
    memory: &'a mut Memory,
    words: &'a mut Vec<u32>,
    tally: Tally,
}

impl Taker for Meeting<'_> {
    fn take(&mut self, word: &str) {
        let at = self.memory.meet(word);
        self.tally.add(self.memory.of(at).stop);
        self.words.push(at as u32);
    }
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The term every text that has the word is known by.
    pub term: String,
    /// Terms that forms of it have in texts of other languages.
    pub others: Vec<String>,
}

impl Asked {
    /// Whether a term of a text is a form of the word.
    pub fn is(&self, term: &str) -> bool {
        self.term == term || (term.ends_with(OWN) && self.others.iter().any(|other| other == term))
    }
}

/// Appends the terms of a text, each followed by a blank. For many texts an [`Indexer`] is faster.
pub fn index(text: &str, terms: &mut String) {
    Indexer::new().index(text, terms);
}

/// What is looked for: the terms that tell texts apart, each once, in the order they were asked.
/// Stop words are among them only where nothing else is asked.
pub fn query(text: &str) -> Vec<String> {
    asked(text).into_iter().map(|asked| asked.term).collect()
}

/// The same, with what other languages make of each word.
pub fn asked(text: &str) -> Vec<Asked> {
    Indexer::new().asked(text)
}

/// Whether a word says nothing about what a text is about, in any of the languages known here. A
/// word that means something in English is none, though another language may have it: `war`.
pub fn is_stop(word: &str) -> bool {
    let mut low = String::with_capacity(word.len());
    fold::lower(word, &mut low);
    stop::of(&low).in_request(Language::ENGLISH)
}

/// A text in one spelling: lower case, without diacritics. For comparing beginnings; its words keep
/// their endings.
pub fn fold(text: &str) -> String {
    let mut low = String::with_capacity(text.len());
    let mut folded = String::with_capacity(text.len());
    fold::lower(text, &mut low);
    fold::fold(&low, &mut folded);
    folded
}

#[cfg(test)]
mod tests;

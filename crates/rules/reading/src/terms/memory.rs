//! What an indexer remembers of the words it has met: their terms, and which are stop words.
//!
//! A text has few words many times, so nearly all of them are looked up. It forgets everything when
//! it holds too much, and gives up looking soon: a text made to collide costs stems, not time.

use std::collections::HashMap;

use super::language::{self, Language};
use super::stop::{self, Stop};

/// More words than this are not remembered.
const MOST: usize = 1 << 16;

/// Nor more letters than this.
const MOST_LETTERS: usize = 1 << 22;

/// How many slots are looked at for a word.
const PROBES: usize = 8;

/// A word that was met. Small, because nearly every word of a text looks at one.
#[derive(Debug)]
pub(super) struct Met {
    word: Span,
    term: Span,
    pub(super) stop: Stop,
    /// The number of the text in which it was last met as a stop word.
    pub(super) seen: u32,
    pub(super) is_latin: bool,
}

/// A piece of the letters.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    length: u32,
}

/// A word's number, counted from 1, beside a part of its hash.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    number: u32,
    tag: u32,
}

/// The words that were met.
#[derive(Debug, Default)]
pub(super) struct Memory {
    letters: String,
    met: Vec<Met>,
    slots: Vec<Slot>,
    /// The stems of words in the last language they were asked for.
    own: HashMap<usize, (Language, Span)>,
}

impl Memory {
    /// Forgets everything if it is too much. What `meet` gave before is void then.
    pub(super) fn make_room(&mut self) {
        if self.met.len() >= MOST || self.letters.len() >= MOST_LETTERS {
            *self = Self::default();
        }
    }

    /// The number of a word, which is in lower case.
    pub(super) fn meet(&mut self, word: &str) -> usize {
        if self.met.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(word.as_bytes());
        let (first, tag) = (hash as usize, (hash >> 32) as u32);
        let mask = self.slots.len() - 1;
        let mut at = first & mask;
        for probe in 0..PROBES {
            at = first.wrapping_add(probe) & mask;
            let slot = self.slots[at];
            let Some(number) = (slot.number as usize).checked_sub(1) else { break };
            if slot.tag == tag && self.word(number) == word {
                return number;
            }
        }
        self.slots[at] = Slot { number: self.met.len() as u32 + 1, tag };
        self.add(word)
    }

    fn add(&mut self, word: &str) -> usize {
        let stored = self.store(|letters| letters.push_str(word));
        let mut term = self.store(|letters| language::term(word, letters));
        let is_prefix = word.starts_with(self.piece(term));
        if is_prefix {
            // Nearly all are: what is read together stands together.
            self.letters.truncate(term.start as usize);
            term.start = stored.start;
        }
        let is_latin = language::is_latin(word);
        self.met.push(Met { word: stored, term, stop: stop::of(word), is_latin, seen: 0 });
        self.met.len() - 1
    }

    fn store(&mut self, write: impl FnOnce(&mut String)) -> Span {
        let start = self.letters.len() as u32;
        write(&mut self.letters);
        Span { start, length: self.letters.len() as u32 - start }
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(256);
        let mut slots = vec![Slot::default(); count];
        for (number, met) in (1..).zip(&self.met) {
            let hash = hash(self.piece(met.word).as_bytes());
            let places = (0..PROBES).map(|probe| (hash as usize).wrapping_add(probe) & (count - 1));
            if let Some(free) = { places }.find(|place| slots[*place].number == 0) {
                slots[free] = Slot { number, tag: (hash >> 32) as u32 };
            }
        }
        self.slots = slots;
    }

    fn piece(&self, span: Span) -> &str {
        let start = span.start as usize;
        &self.letters[start..start + span.length as usize]
    }

    /// What is known of a word that was met.
    pub(super) fn of(&mut self, at: usize) -> &mut Met {
        &mut self.met[at]
    }

    /// The word itself.
    pub(super) fn word(&self, at: usize) -> &str {
        self.piece(self.met[at].word)
    }

    /// The term every text that has it is known by.
    pub(super) fn term(&self, at: usize) -> &str {
        self.piece(self.met[at].term)
    }

    /// Its stem in a text of that language.
    pub(super) fn own_stem(&mut self, at: usize, language: Language) -> &str {
        let span = match self.own.get(&at) {
            Some((of, span)) if *of == language => *span,
            _ => {
                let word = self.word(at).to_owned();
                let span = self.store(|letters| language::own_stem(language, &word, letters));
                self.own.insert(at, (language, span));
                span
            }
        };
        self.piece(span)
    }
}

/// Takes a word eight letters at a time, the last of which may overlap those before.
fn hash(word: &[u8]) -> u64 {
    let mut state = word.len() as u64;
    if let Some(last) = word.last_chunk::<8>() {
        for eight in word.as_chunks::<8>().0 {
            state = mixed(state, u64::from_le_bytes(*eight));
        }
        return finished(mixed(state, u64::from_le_bytes(*last)));
    }
    let few = match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => word.iter().fold(0, |few, byte| few << 8 | u64::from(*byte)),
    };
    finished(mixed(state, few))
}

fn mixed(state: u64, letters: u64) -> u64 {
    (state.rotate_left(5) ^ letters).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The upper half of a product is the better one.
fn finished(state: u64) -> u64 {
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_met_again() {
        let mut memory = Memory::default();
        let first = memory.meet("connections");
        for number in 0..5_000 {
            memory.meet(&format!("word{number}"));
        }
        assert_eq!(memory.term(first), "connect");
        assert_eq!(memory.term(memory.met.len() - 1), "word4999");
        let again = memory.meet("connections");
        assert_eq!(memory.word(again), "connections");
    }

    #[test]
    fn it_forgets_rather_than_grow() {
        let mut memory = Memory::default();
        for number in 0..3 * MOST {
            memory.make_room();
            memory.meet(&number.to_string());
        }
        assert!(memory.met.len() <= MOST);
        assert!(memory.letters.len() < 64 * MOST);
    }

    #[test]
    fn stems_of_several_languages_are_kept_apart() {
        let mut memory = Memory::default();
        let at = memory.meet("abbandonare");
        let german = Language::of_code("de").expect("German");
        let italian = Language::of_code("it").expect("Italian");
        assert_eq!(memory.own_stem(at, italian), "abbandon_");
        assert_eq!(memory.own_stem(at, german), "abbandonar_");
        assert_eq!(memory.own_stem(at, italian), "abbandon_");
        assert_eq!(memory.term(at), "abbandonar");
    }
}

//! A cache of words: their terms, and which are stop words.
//!
//! A text has few distinct words, so nearly all are found in the cache. The cache is emptied when
//! it is full, and a look-up stops after a few slots: a text made to collide costs stemming, not
//! time.

use std::collections::HashMap;

use super::language::{self, Language};
use super::stop_words::{self, StopWord};

/// The maximum number of words.
const MOST: usize = 1 << 16;

/// The maximum number of letters.
const MOST_LETTERS: usize = 1 << 22;

/// The maximum number of slots probed for a word.
const PROBES: usize = 8;

/// A cached word. It is small, because nearly every word of a text reads one.
#[derive(Debug)]
pub(super) struct WordEntry {
    word: BufferSpan,
    term: BufferSpan,
    pub(super) stop_word: StopWord,
    /// The number of the text in which it last occurred as a stop word.
    pub(super) seen: u32,
    pub(super) is_latin: bool,
}

/// A range in the buffer of letters.
#[derive(Debug, Clone, Copy)]
struct BufferSpan {
    start: u32,
    length: u32,
}

/// A word's number, from 1, with a part of its hash.
#[derive(Debug, Clone, Copy, Default)]
struct HashSlot {
    number: u32,
    tag: u32,
}

/// The cache.
#[derive(Debug, Default)]
pub(super) struct WordCache {
    letters: String,
    entries: Vec<WordEntry>,
    slots: Vec<HashSlot>,
    /// The stems of words in the language they were last requested for.
    language_stems: HashMap<usize, (Language, BufferSpan)>,
}

impl WordCache {
    /// Empties the cache if it is full. Numbers that `intern` returned before become invalid.
    pub(super) fn make_room(&mut self) {
        if self.entries.len() >= MOST || self.letters.len() >= MOST_LETTERS {
            *self = Self::default();
        }
    }

    /// Returns the number of a word in lower case and adds it if necessary.
    pub(super) fn intern(&mut self, word: &str) -> usize {
        if self.entries.len() * 2 >= self.slots.len() {
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
        self.slots[at] = HashSlot { number: self.entries.len() as u32 + 1, tag };
        self.add(word)
    }

    fn add(&mut self, word: &str) -> usize {
        let stored = self.store(|letters| letters.push_str(word));
        let mut term = self.store(|letters| language::push_term(word, letters));
        let is_prefix = word.starts_with(self.piece(term));
        if is_prefix {
            // Most terms are a prefix of the word and share its letters.
            self.letters.truncate(term.start as usize);
            term.start = stored.start;
        }
        let is_latin = language::is_latin(word);
        self.entries.push(WordEntry {
            word: stored,
            term,
            stop_word: stop_words::lookup(word),
            is_latin,
            seen: 0,
        });
        self.entries.len() - 1
    }

    fn store(&mut self, write: impl FnOnce(&mut String)) -> BufferSpan {
        let start = self.letters.len() as u32;
        write(&mut self.letters);
        BufferSpan { start, length: self.letters.len() as u32 - start }
    }

    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(256);
        let mut slots = vec![HashSlot::default(); count];
        for (number, met) in (1..).zip(&self.entries) {
            let hash = hash(self.piece(met.word).as_bytes());
            let places = (0..PROBES).map(|probe| (hash as usize).wrapping_add(probe) & (count - 1));
            if let Some(free) = { places }.find(|place| slots[*place].number == 0) {
                slots[free] = HashSlot { number, tag: (hash >> 32) as u32 };
            }
        }
        self.slots = slots;
    }

    fn piece(&self, span: BufferSpan) -> &str {
        let start = span.start as usize;
        &self.letters[start..start + span.length as usize]
    }

    /// Returns the entry of a word.
    pub(super) fn entry_mut(&mut self, at: usize) -> &mut WordEntry {
        &mut self.entries[at]
    }

    /// Returns the word itself.
    pub(super) fn word(&self, at: usize) -> &str {
        self.piece(self.entries[at].word)
    }

    /// Returns the main term of a word.
    pub(super) fn term(&self, at: usize) -> &str {
        self.piece(self.entries[at].term)
    }

    /// Returns the stem of a word in this language.
    pub(super) fn language_stem(&mut self, at: usize, language: Language) -> &str {
        let span = match self.language_stems.get(&at) {
            Some((of, span)) if *of == language => *span,
            _ => {
                let word = self.word(at).to_owned();
                let span =
                    self.store(|letters| language::push_language_stem(language, &word, letters));
                self.language_stems.insert(at, (language, span));
                span
            }
        };
        self.piece(span)
    }
}

/// Hashes a word eight letters at a time. The last group can overlap the one before.
fn hash(word: &[u8]) -> u64 {
    let mut state = word.len() as u64;
    if let Some(last) = word.last_chunk::<8>() {
        for eight in word.as_chunks::<8>().0 {
            state = mix(state, u64::from_le_bytes(*eight));
        }
        return finalize(mix(state, u64::from_le_bytes(*last)));
    }
    let few = match (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        _ => word.iter().fold(0, |few, byte| few << 8 | u64::from(*byte)),
    };
    finalize(mix(state, few))
}

fn mix(state: u64, letters: u64) -> u64 {
    (state.rotate_left(5) ^ letters).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Finalizes a hash. The upper half of a product is better distributed.
fn finalize(state: u64) -> u64 {
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_met_again() {
        let mut memory = WordCache::default();
        let first = memory.intern("connections");
        for number in 0..5_000 {
            memory.intern(&format!("word{number}"));
        }
        assert_eq!(memory.term(first), "connect");
        assert_eq!(memory.term(memory.entries.len() - 1), "word4999");
        let again = memory.intern("connections");
        assert_eq!(memory.word(again), "connections");
    }

    #[test]
    fn it_forgets_rather_than_grow() {
        let mut memory = WordCache::default();
        for number in 0..3 * MOST {
            memory.make_room();
            memory.intern(&number.to_string());
        }
        assert!(memory.entries.len() <= MOST);
        assert!(memory.letters.len() < 64 * MOST);
    }

    #[test]
    fn stems_of_several_languages_are_kept_apart() {
        let mut memory = WordCache::default();
        let at = memory.intern("abbandonare");
        let german = Language::of_code("de").expect("German");
        let italian = Language::of_code("it").expect("Italian");
        assert_eq!(memory.language_stem(at, italian), "abbandon_");
        assert_eq!(memory.language_stem(at, german), "abbandonar_");
        assert_eq!(memory.language_stem(at, italian), "abbandon_");
        assert_eq!(memory.term(at), "abbandonar");
    }
}

//! Converts words to terms.
//!
//! A term is a stem or a concept of the lexicon. Documents and queries both use this module, so
//! that their terms match.

use crate::word_info::{self, WordInfo};
use crate::words::{self, SearchWord, WordKind};
use toolgate_terms::stem;

use crate::{IndexedCapability, SearchField, hashing, similar_words};

/// A word with its stem.
#[derive(Debug, Clone)]
pub(crate) struct StemToken {
    /// The word as it was split off.
    pub(crate) word: SearchWord,
    /// Its stem.
    pub(crate) stem: String,
    /// The hash of the stem.
    pub(crate) hash: u64,
    /// What is known about the word.
    pub(crate) info: WordInfo,
}

/// The key of a posting list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TermKey {
    /// A stem, by its number in the index.
    Word(u32),
    /// A concept, by its number in the lexicon.
    Concept(u32),
}

/// Returns the tokens of a text, at most `limit`.
pub(crate) fn tokens(text: &str, limit: usize) -> Vec<StemToken> {
    words::words(text, limit).into_iter().map(token).collect()
}

/// Splits all texts of a document into tokens, at most `limit` words of each.
pub(crate) fn tokenize(
    document: &IndexedCapability,
    limit: usize,
) -> Vec<(SearchField, Vec<StemToken>)> {
    let texts = document.texts.iter();
    texts.map(|(field, text)| (*field, tokenize_field(*field, text, limit))).collect()
}

/// Returns the tokens of a document's field. Names also yield the parts of joined words.
fn tokenize_field(field: SearchField, text: &str, limit: usize) -> Vec<StemToken> {
    let mut tokens = tokens(text, limit);
    if matches!(
        field,
        SearchField::Name | SearchField::Title | SearchField::Server | SearchField::Tag
    ) {
        let parts: Vec<StemToken> = tokens.iter().flat_map(parts).collect();
        tokens.extend(parts);
    }
    tokens
}

fn parts(token: &StemToken) -> Vec<StemToken> {
    let plain = token.word.kind == WordKind::Plain && token.info.importance == 1.0;
    let stems = plain.then(|| similar_words::split_name(&token.word.text)).flatten();
    let part = |stem: String| StemToken {
        word: SearchWord { kind: WordKind::Joined, ..token.word.clone() },
        hash: hashing::hash(&stem),
        info: token.info,
        stem,
    };
    stems.into_iter().flatten().map(part).collect()
}

fn token(word: SearchWord) -> StemToken {
    let stem = match word.kind {
        WordKind::Plain | WordKind::Joined => stem::english(&word.text),
        WordKind::Number | WordKind::Pair => word.text.clone(),
    };
    let hash = hashing::hash(&stem);
    let background = word_info::word_info(&word.text);
    StemToken { word, stem, hash, info: background }
}

/// Returns the tokens of a lexicon phrase without filler words. Returns none if only stop words are
/// left: `how do I` must not become `how`.
pub(crate) fn phrase(text: &str) -> Vec<StemToken> {
    // Capitals would be treated as camel case.
    let mut tokens = tokens(&text.to_lowercase(), usize::MAX);
    tokens.retain(can_connect);
    match &tokens[..] {
        [only] if only.info.is_stop_word() => Vec::new(),
        _ => tokens,
    }
}

/// Returns the tokens that can belong to a phrase.
pub(crate) fn phrase_tokens(tokens: &[StemToken]) -> Vec<&StemToken> {
    tokens.iter().filter(|token| can_connect(token)).collect()
}

fn can_connect(token: &StemToken) -> bool {
    token.word.kind != WordKind::Joined && !token.info.is_phrase_filler
}

/// Returns true if a token is indexed.
pub(crate) fn is_indexed(token: &StemToken) -> bool {
    token.word.kind != WordKind::Number && !token.info.is_stop_word()
}

//! From words to terms: what documents and queries are compared in.
//!
//! A term is a stem or a concept of the lexicon. Both sides come through here, so that they meet.

use crate::background::{self, Background};
use crate::words::{self, Kind, Word};
use crate::{Field, hashed, similar, stem};

/// A word with its stem.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    /// The word as it was cut out.
    pub(crate) word: Word,
    /// Its stem.
    pub(crate) stem: String,
    /// The hash of the stem.
    pub(crate) hash: u64,
    /// What is known about the word.
    pub(crate) background: Background,
}

/// What postings are kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A stem, by its number in the index.
    Word(u32),
    /// A concept, by its number in the lexicon.
    Concept(u32),
}

/// The tokens of a text, at most `limit` of them.
pub(crate) fn tokens(text: &str, limit: usize) -> Vec<Token> {
    words::words(text, limit).into_iter().map(token).collect()
}

/// The tokens of a text of a document: those of a name with the parts of words written as one.
pub(crate) fn of_field(field: Field, text: &str, limit: usize) -> Vec<Token> {
    let mut tokens = tokens(text, limit);
    if matches!(field, Field::Name | Field::Title | Field::Server | Field::Tag) {
        let parts: Vec<Token> = tokens.iter().flat_map(parts).collect();
        tokens.extend(parts);
    }
    tokens
}

fn parts(token: &Token) -> Vec<Token> {
    let plain = token.word.kind == Kind::Plain && token.background.importance == 1.0;
    let stems = plain.then(|| similar::parts_of_name(&token.word.text)).flatten();
    let part = |stem: String| Token {
        word: Word { kind: Kind::Joined, ..token.word.clone() },
        hash: hashed::hash(&stem),
        background: token.background,
        stem,
    };
    stems.into_iter().flatten().map(part).collect()
}

fn token(word: Word) -> Token {
    let stem = match word.kind {
        Kind::Plain | Kind::Joined => stem::stem(&word.text),
        Kind::Number | Kind::Pair => word.text.clone(),
    };
    let hash = hashed::hash(&stem);
    let background = background::of(&word.text);
    Token { word, stem, hash, background }
}

/// The tokens of a phrase of the lexicon, without what phrases are read across. None, if what is
/// left says nothing: `how do I` must not become `how`.
pub(crate) fn phrase(text: &str) -> Vec<Token> {
    // Capitals would be taken for humps.
    let mut tokens = tokens(&text.to_lowercase(), usize::MAX);
    tokens.retain(can_connect);
    match &tokens[..] {
        [only] if only.background.is_empty() => Vec::new(),
        _ => tokens,
    }
}

/// The tokens of a text that can belong to a phrase.
pub(crate) fn connected(tokens: &[Token]) -> Vec<&Token> {
    tokens.iter().filter(|token| can_connect(token)).collect()
}

fn can_connect(token: &Token) -> bool {
    token.word.kind != Kind::Joined && !token.background.passed_over
}

/// Whether a token is worth a posting.
pub(crate) fn is_indexed(token: &Token) -> bool {
    token.word.kind != Kind::Number && !token.background.is_empty()
}

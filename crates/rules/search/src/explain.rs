//! Explains which words of a hit matched which words of the query.
//!
//! Only hits are explained, so their texts are tokenized again instead of storing the position of
//! every word.

use crate::SearchField;
use crate::hit::{MatchKind, TermMatch};
use crate::index::{CapabilityIndex, IndexEntry};
use crate::lexicon::{Lexicon, LexiconEntry};
use crate::query::QueryNeed;
use crate::terms::{self, StemToken, TermKey};
use crate::words::WordKind;

/// The maximum number of matches per hit.
const MOST: usize = 8;
/// The maximum number of words read from one text.
const MOST_WORDS: usize = 500;

/// Returns the matches of one document, in the order of the query.
pub(crate) fn explain_matches(
    index: &CapabilityIndex,
    indexed: &IndexEntry,
    needs: &[QueryNeed],
) -> Vec<TermMatch> {
    let mut places: Option<Vec<(SearchField, Vec<StemToken>)>> = None;
    let mut matches: Vec<TermMatch> = Vec::new();
    for need in needs {
        let Some(way) = need.terms.iter().find(|way| indexed.has_term(way.key)) else {
            continue;
        };
        let places = places.get_or_insert_with(|| terms::tokenize(&indexed.document, MOST_WORDS));
        let found = find(index, places, way.key).map(|(field, word)| {
            let how = match way.kind {
                MatchKind::Exact if word != need.query_words => MatchKind::Stem,
                how => how,
            };
            TermMatch { field, word, query_word: need.query_words.clone(), kind: how }
        });
        matches.extend(found.filter(|found| !is_redundant(&matches, found)));
        if matches.len() >= MOST {
            break;
        }
    }
    matches
}

/// Returns true if the match is already in the list, or adds only a topic to a better match.
fn is_redundant(matches: &[TermMatch], found: &TermMatch) -> bool {
    let same = |known: &TermMatch| known.word == found.word && known.field == found.field;
    matches.contains(found) || found.kind == MatchKind::Topic && matches.iter().any(same)
}

/// Finds the field and the word or phrase that match a term.
fn find(
    index: &CapabilityIndex,
    places: &[(SearchField, Vec<StemToken>)],
    key: TermKey,
) -> Option<(SearchField, String)> {
    let in_text = |tokens: &[StemToken]| match key {
        TermKey::Word(_) => {
            let stem = index.postings.stem(key)?;
            Some(tokens.iter().find(|token| token.stem == stem)?.word.text.clone())
        }
        TermKey::Concept(concept) => find_concept(tokens, concept),
    };
    places.iter().find_map(|(field, tokens)| Some((*field, in_text(tokens)?)))
}

/// Finds the word or phrase that belongs to a concept or topic.
fn find_concept(tokens: &[StemToken], concept: u32) -> Option<String> {
    let lexicon = Lexicon::get();
    let stands_for = |entry: &LexiconEntry| {
        entry.concepts.iter().any(|known| known.0 == concept) || entry.topics.contains(&concept)
    };
    let mut joined = tokens.iter().filter(|token| token.word.kind == WordKind::Joined);
    if let Some(token) = joined.find(|token| lexicon.entry(&token.stem).is_some_and(stands_for)) {
        return Some(token.word.text.clone());
    }
    let connected = terms::phrase_tokens(tokens);
    (0..connected.len()).find_map(|at| {
        let mut entries = lexicon.entries_at_start(&connected[at..]);
        let (taken, _) = entries.find(|(_, entry)| stands_for(entry))?;
        let words = connected[at..at + taken].iter().map(|token| token.word.text.as_str());
        Some(words.collect::<Vec<_>>().join(" "))
    })
}

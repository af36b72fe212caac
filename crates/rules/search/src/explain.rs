//! Which words of a hit met which words of the query.
//!
//! Only hits are explained, so their texts are cut into words a second time instead of keeping
//! the place of every word of every document.

use crate::hit::{How, Match};
use crate::index::{Index, Indexed};
use crate::lexicon::{Entry, Lexicon};
use crate::query::Need;
use crate::terms::{self, Key, Token};
use crate::words::Kind;
use crate::{Document, Field};

/// More reasons than this help nobody.
const MOST: usize = 8;
/// Words read of one text: a reason is seldom further down.
const MOST_WORDS: usize = 500;

/// The matches of one document, in the order of the query.
pub(crate) fn why(index: &Index, indexed: &Indexed, needs: &[Need]) -> Vec<Match> {
    let mut places: Option<Vec<(Field, Vec<Token>)>> = None;
    let mut matches: Vec<Match> = Vec::new();
    for need in needs {
        let Some(way) = need.ways.iter().find(|way| indexed.holds(way.key)) else {
            continue;
        };
        let places = places.get_or_insert_with(|| cut(&indexed.document));
        let found = find(index, places, way.key).map(|(field, word)| {
            let how = match way.how {
                How::Exact if word != need.asked => How::Stem,
                how => how,
            };
            Match { field, word, asked: need.asked.clone(), how }
        });
        matches.extend(found.filter(|found| !is_said(&matches, found)));
        if matches.len() >= MOST {
            break;
        }
    }
    matches
}

/// Whether a reason is there already; that a word is of the subject, too, is none beside another.
fn is_said(matches: &[Match], found: &Match) -> bool {
    let same = |known: &Match| known.word == found.word && known.field == found.field;
    matches.contains(found) || found.how == How::Topic && matches.iter().any(same)
}

fn cut(document: &Document) -> Vec<(Field, Vec<Token>)> {
    let texts = document.texts.iter();
    texts.map(|(field, text)| (*field, terms::of_field(*field, text, MOST_WORDS))).collect()
}

/// Where the term stands: the field, and the word or phrase.
fn find(index: &Index, places: &[(Field, Vec<Token>)], key: Key) -> Option<(Field, String)> {
    let in_text = |tokens: &[Token]| match key {
        Key::Word(_) => {
            let stem = index.postings().stem(key)?;
            Some(tokens.iter().find(|token| token.stem == stem)?.word.text.clone())
        }
        Key::Concept(concept) => expressing(tokens, concept),
    };
    places.iter().find_map(|(field, tokens)| Some((*field, in_text(tokens)?)))
}

/// The word or phrase that stands for a concept or topic.
fn expressing(tokens: &[Token], concept: u32) -> Option<String> {
    let lexicon = Lexicon::get();
    let stands_for = |entry: &Entry| {
        entry.concepts.iter().any(|known| known.0 == concept) || entry.topics.contains(&concept)
    };
    let mut joined = tokens.iter().filter(|token| token.word.kind == Kind::Joined);
    if let Some(token) = joined.find(|token| lexicon.word(&token.stem).is_some_and(stands_for)) {
        return Some(token.word.text.clone());
    }
    let connected = terms::connected(tokens);
    (0..connected.len()).find_map(|at| {
        let mut entries = lexicon.beginning(&connected[at..]);
        let (taken, _) = entries.find(|(_, entry)| stands_for(entry))?;
        let words = connected[at..at + taken].iter().map(|token| token.word.text.as_str());
        Some(words.collect::<Vec<_>>().join(" "))
    })
}

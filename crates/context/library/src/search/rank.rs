//! The second stage of a search: reads the candidates and computes their scores.
//!
//! The score of a passage is the sum of its words' weights, with rarer words weighing more (BM25).
//! Words in title, headings and path count in addition to the text, and words near each other count
//! again. Half of the score is that of the whole document, so that passages of a document about the
//! subject come before chance matches. Words of the best candidates then add a little to all (see
//! `feedback`), and of equal passages the newer wins.

use std::collections::HashMap;

use super::library_query::WeightedLibraryQuery;
use super::term_matches::{QueryWordMatches, TermMatcher};
use crate::PassageHit;
use crate::prepared_document::searchable_path;
use crate::totals::LibraryTotals;

/// The saturation of repeated words (BM25).
const K1: f64 = 1.1;

/// The influence of a text's length (BM25).
const B: f64 = 0.6;

/// The weights of a word in the title, in headings and in the path, relative to the text.
const TITLE: f64 = 0.3;
const HEADING: f64 = 0.2;
const PATH: f64 = 0.1;

/// The share of the document in a passage's score.
const DOCUMENT: f64 = 0.5;

/// The weight of two words near each other, and their maximum distance.
const NEAR: f64 = 0.2;
const NEAR_ENOUGH: usize = 8;

/// A passage that the index has found.
pub(super) struct PassageCandidate {
    pub(super) hit: PassageHit,
    pub(super) document: i64,
    pub(super) document_length: i64,
}

/// A candidate with its matches and its score.
pub(super) struct RankedCandidate {
    pub(super) candidate: PassageCandidate,
    pub(super) title: QueryWordMatches,
    heading: QueryWordMatches,
    path: QueryWordMatches,
    pub(super) body: QueryWordMatches,
    pub(super) score: f64,
}

/// The average lengths of passages and documents in the library.
pub(super) struct AverageLengths {
    passage: f64,
    document: f64,
}

impl AverageLengths {
    pub(super) fn new(totals: &LibraryTotals) -> Self {
        let length = totals.length as f64;
        Self {
            passage: (length / totals.passages.max(1) as f64).max(1.0),
            document: (length / totals.documents.max(1) as f64).max(1.0),
        }
    }

    /// Returns the BM25 length factor of a passage.
    pub(super) fn passage_length_factor(&self, read: &RankedCandidate) -> f64 {
        1.0 - B + B * read.body.terms.len() as f64 / self.passage
    }

    fn document_length_factor(&self, read: &RankedCandidate) -> f64 {
        1.0 - B + B * read.candidate.document_length as f64 / self.document
    }
}

/// Returns the BM25 weight of a number of occurrences.
pub(super) fn saturate(count: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1)
}

/// Computes the scores of the candidates. Returns them sorted, best first.
pub(super) fn rank_candidates(
    candidates: Vec<PassageCandidate>,
    matcher: &mut TermMatcher,
    query: &WeightedLibraryQuery,
    usual: &AverageLengths,
) -> Vec<RankedCandidate> {
    let read = |candidate: PassageCandidate| RankedCandidate {
        title: matcher.scan_text(&candidate.hit.title),
        heading: matcher.scan_text(&candidate.hit.heading),
        path: matcher.scan_text(searchable_path(&candidate.hit.key, &candidate.hit.origin)),
        body: matcher.scan_text(&candidate.hit.text),
        score: 0.0,
        candidate,
    };
    let mut read: Vec<RankedCandidate> = candidates.into_iter().map(read).collect();
    let documents = count_words_by_document(&read, query.words.len());
    for passage in &mut read {
        passage.score =
            score_passage(passage, query, &documents[&passage.candidate.document], usual)
                + NEAR * proximity_score(passage, query, usual);
    }
    sort_by_score(&mut read);
    read
}

pub(super) fn sort_by_score(read: &mut [RankedCandidate]) {
    read.sort_by(|one, other| other.score.total_cmp(&one.score));
}

/// Counts each word in each document. This counts only passages that are candidates, because the
/// others contain no significant word.
fn count_words_by_document(read: &[RankedCandidate], words: usize) -> HashMap<i64, Vec<f64>> {
    let mut documents = HashMap::new();
    for passage in read {
        let counts =
            documents.entry(passage.candidate.document).or_insert_with(|| vec![0.0; words]);
        passage.body.add_counts(counts, 1.0);
    }
    documents
}

fn score_passage(
    passage: &RankedCandidate,
    query: &WeightedLibraryQuery,
    document: &[f64],
    usual: &AverageLengths,
) -> f64 {
    let mut about = vec![0.0; query.words.len()];
    passage.title.add_counts(&mut about, TITLE);
    passage.heading.add_counts(&mut about, HEADING);
    passage.path.add_counts(&mut about, PATH);
    let mut body = about.clone();
    passage.body.add_counts(&mut body, 1.0 / usual.passage_length_factor(passage));
    let whole = usual.document_length_factor(passage);
    let words = query.words.iter().zip(about).zip(body).zip(document);
    let worth = words.map(|(((word, about), body), document)| {
        let document = saturate(about + document / whole);
        word.weight * ((1.0 - DOCUMENT) * saturate(body) + DOCUMENT * document)
    });
    worth.sum()
}

/// Returns the score of words near each other. Nearer words count more.
fn proximity_score(
    passage: &RankedCandidate,
    query: &WeightedLibraryQuery,
    usual: &AverageLengths,
) -> f64 {
    let mut pairs: HashMap<(usize, usize), f64> = HashMap::new();
    let places = &passage.body.places;
    for (index, &(word, place)) in places.iter().enumerate() {
        let following = places[index + 1..].iter();
        for &(other, there) in following.take_while(|next| next.1 - place <= NEAR_ENOUGH) {
            if word != other {
                let pair = (word.min(other), word.max(other));
                *pairs.entry(pair).or_default() += 1.0 / (there - place) as f64;
            }
        }
    }
    let length = usual.passage_length_factor(passage);
    let worth = pairs.into_iter().map(|((one, other), near)| {
        let weight = query.words[one].weight.min(query.words[other].weight);
        weight * saturate(near / length)
    });
    worth.sum()
}

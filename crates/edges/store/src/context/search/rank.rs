//! The second stage: candidates are read and weighed.
//!
//! A passage is worth what its words are: each the more, the rarer it is (BM25), with words of the
//! title, the headings and the path added to those of the text, and words that stand near each
//! other counted once more. Half of it is what the whole document is worth in the same way, so that
//! a passage of a document that is about the question comes before a chance find. What the best ones
//! have in common then counts a little for all (see `feedback`), and between equals the newer wins.

use std::collections::HashMap;

use super::asked::Weighed;
use super::sighting::{Lookout, Sighting};
use crate::context::Hit;
use crate::context::prepared::path;
use crate::context::totals::Totals;

/// When the weight of a word that is repeated is half of what it can become.
const K1: f64 = 1.1;

/// How much a text's length counts against it.
const B: f64 = 0.6;

/// What a word of the title, of headings and of the path counts beside one of the text.
const TITLE: f64 = 0.3;
const HEADING: f64 = 0.2;
const PATH: f64 = 0.1;

/// How much of a passage's worth is that of its document.
const DOCUMENT: f64 = 0.5;

/// What two words that stand together count, and how far apart they may be for that.
const NEAR: f64 = 0.2;
const NEAR_ENOUGH: usize = 8;

/// A passage that may fit.
pub(super) struct Candidate {
    pub(super) hit: Hit,
    pub(super) document: i64,
    pub(super) document_length: i64,
}

/// A candidate that was read.
pub(super) struct Read {
    pub(super) candidate: Candidate,
    pub(super) title: Sighting,
    heading: Sighting,
    path: Sighting,
    pub(super) body: Sighting,
    pub(super) score: f64,
}

/// What is usual in the library.
pub(super) struct Usual {
    passage: f64,
    document: f64,
}

impl Usual {
    pub(super) fn new(totals: &Totals) -> Self {
        let length = totals.length as f64;
        Self {
            passage: (length / totals.passages.max(1) as f64).max(1.0),
            document: (length / totals.documents.max(1) as f64).max(1.0),
        }
    }

    /// How long a passage is beside the usual one, as far as that counts.
    pub(super) fn passage_length(&self, read: &Read) -> f64 {
        1.0 - B + B * read.body.terms.len() as f64 / self.passage
    }

    fn document_length(&self, read: &Read) -> f64 {
        1.0 - B + B * read.candidate.document_length as f64 / self.document
    }
}

/// What a number of occurrences is worth.
pub(super) fn saturated(count: f64) -> f64 {
    count * (K1 + 1.0) / (count + K1)
}

/// Reads the candidates and weighs them, best first.
pub(super) fn weigh(
    candidates: Vec<Candidate>,
    lookout: &mut Lookout,
    query: &Weighed,
    usual: &Usual,
) -> Vec<Read> {
    let read = |candidate: Candidate| Read {
        title: lookout.see(&candidate.hit.title),
        heading: lookout.see(&candidate.hit.heading),
        path: lookout.see(path(&candidate.hit.key, &candidate.hit.origin)),
        body: lookout.see(&candidate.hit.text),
        score: 0.0,
        candidate,
    };
    let mut read: Vec<Read> = candidates.into_iter().map(read).collect();
    let documents = whole_documents(&read, query.words.len());
    for passage in &mut read {
        passage.score = worth(passage, query, &documents[&passage.candidate.document], usual)
            + NEAR * nearness(passage, query, usual);
    }
    best_first(&mut read);
    read
}

pub(super) fn best_first(read: &mut [Read]) {
    read.sort_by(|one, other| other.score.total_cmp(&one.score));
}

/// How often each word stands in each document, as far as its passages are candidates: the others
/// have no word that tells much.
fn whole_documents(read: &[Read], words: usize) -> HashMap<i64, Vec<f64>> {
    let mut documents = HashMap::new();
    for passage in read {
        let counts =
            documents.entry(passage.candidate.document).or_insert_with(|| vec![0.0; words]);
        passage.body.count(counts, 1.0);
    }
    documents
}

fn worth(passage: &Read, query: &Weighed, document: &[f64], usual: &Usual) -> f64 {
    let mut about = vec![0.0; query.words.len()];
    passage.title.count(&mut about, TITLE);
    passage.heading.count(&mut about, HEADING);
    passage.path.count(&mut about, PATH);
    let mut body = about.clone();
    passage.body.count(&mut body, 1.0 / usual.passage_length(passage));
    let whole = usual.document_length(passage);
    let words = query.words.iter().zip(about).zip(body).zip(document);
    let worth = words.map(|(((word, about), body), document)| {
        let document = saturated(about + document / whole);
        word.weight * ((1.0 - DOCUMENT) * saturated(body) + DOCUMENT * document)
    });
    worth.sum()
}

/// What the words are worth that stand near each other, the nearer the more.
fn nearness(passage: &Read, query: &Weighed, usual: &Usual) -> f64 {
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
    let length = usual.passage_length(passage);
    let worth = pairs.into_iter().map(|((one, other), near)| {
        let weight = query.words[one].weight.min(query.words[other].weight);
        weight * saturated(near / length)
    });
    worth.sum()
}

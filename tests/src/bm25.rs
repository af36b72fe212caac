//! Plain BM25, as the textbooks have it: what the product's search is measured against.
//!
//! One document per tool, its name and its description; words are lower-cased and split wherever a
//! character is neither letter nor digit, and a CJK character is a word by itself. `k1` is 1.2 and
//! `b` is 0.75. No stop words, no stemming, no fields, no synonyms: whatever helps beyond this is
//! what the product's search has to show.

use std::collections::HashMap;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// An index of texts.
pub struct Bm25Index {
    documents: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    holding: HashMap<String, f64>,
    mean_length: f64,
}

impl Bm25Index {
    /// Indexes texts; a document is its place in them.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut documents, mut lengths) = (Vec::new(), Vec::new());
        let mut holding = HashMap::new();
        for text in texts {
            let words = words(text);
            lengths.push(words.len() as f64);
            let mut counts = HashMap::new();
            for word in words {
                *counts.entry(word).or_insert(0.0) += 1.0;
            }
            for word in counts.keys().cloned() {
                *holding.entry(word).or_insert(0.0) += 1.0;
            }
            documents.push(counts);
        }
        let mean_length = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        Self { documents, lengths, holding, mean_length }
    }

    /// The best documents for a query, best first; those without any of its words are left out.
    pub fn search(&self, query: &str, limit: usize) -> Vec<usize> {
        let words = words(query);
        let score =
            |document: usize| words.iter().map(|word| self.weight(word, document)).sum::<f64>();
        let scored = (0..self.documents.len()).map(|document| (document, score(document)));
        let mut scored: Vec<_> = scored.filter(|(_, score)| *score > 0.0).collect();
        scored.sort_by(|(_, left), (_, right)| right.total_cmp(left));
        scored.into_iter().take(limit).map(|(document, _)| document).collect()
    }

    fn weight(&self, word: &str, document: usize) -> f64 {
        let Some(count) = self.documents[document].get(word) else {
            return 0.0;
        };
        let holding = self.holding.get(word).copied().unwrap_or_default();
        let all = self.documents.len() as f64;
        let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
        let length = 1.0 - B + B * self.lengths[document] / self.mean_length;
        rarity * count * (K1 + 1.0) / (count + K1 * length)
    }
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if !character.is_alphanumeric() || is_cjk(character) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if is_cjk(character) {
            words.push(character.to_string());
        } else if character.is_alphanumeric() {
            word.push(character);
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Scripts that write no spaces between words, as far as BM25 is concerned.
fn is_cjk(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_marks_and_cjk_at_every_character() {
        assert_eq!(words("Read_File2, 天気を-Show"), ["read", "file2", "天", "気", "を", "show"]);
    }

    #[test]
    fn a_rare_word_counts_more_than_a_common_one_and_a_short_text_more_than_a_long_one() {
        let index =
            Bm25Index::new(["get a card", "get a board", "get a board with all that is on it"]);
        assert_eq!(index.search("get card", 5), [0, 1, 2]);
        assert_eq!(index.search("board", 5), [1, 2]);
        assert_eq!(index.search("nothing", 5), [0; 0]);
    }
}

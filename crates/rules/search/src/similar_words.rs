//! Handles words that are not in the index: typing errors, common prefixes and compounds.
//!
//! A mistyped word is compared with every stem of the index. A cheap filter makes that take
//! microseconds for tens of thousands of stems, so no extra data structure is needed.

use crate::index::CapabilityIndex;
use crate::lexicon::Lexicon;
use crate::terms::TermKey;
use toolgate_terms::stem;

/// The minimum length of a word for typing errors. Shorter words have too many neighbours.
const SHORTEST_TYPO: usize = 5;
/// The length from which two errors are accepted.
const TWO_SLIPS: usize = 8;
/// The minimum length of a compound.
const SHORTEST_COMPOUND: usize = 7;
/// The minimum length of a part of a compound.
const SHORTEST_PART: usize = 3;
/// The minimum length of a part of a name, where the split is less certain.
const SHORTEST_PART_OF_NAME: usize = 4;
/// The minimum length of a common prefix.
const SHORTEST_KIN: usize = 5;
/// The maximum number of letters after the common prefix.
const SHORT_ENDING: usize = 2;
const LONG_ENDING: usize = 4;
/// Linking elements of German compounds.
const LINKS: &[&str] = &["", "s", "n", "en", "es", "er"];
/// The maximum number of similar stems per word.
const MOST: usize = 3;

/// Returns the stems nearest to an unknown word, nearest first.
pub(crate) fn find_typo_matches(index: &CapabilityIndex, stem: &str) -> Vec<TermKey> {
    let letters: Vec<char> = stem.chars().collect();
    if letters.len() < SHORTEST_TYPO || letters.len() > 32 {
        return Vec::new();
    }
    let most = if letters.len() >= TWO_SLIPS { 2 } else { 1 };
    let shape = WordShape::of(stem);
    let mut found: Vec<(usize, &str, TermKey)> = Vec::new();
    for (other, key) in index.postings.stems(|other| other.is_near(shape, most)) {
        if let Some(distance) = distance(&letters, other, most) {
            found.push((distance, other, key));
        }
    }
    found.sort_unstable();
    let nearest = found.first().map_or(0, |best| best.0);
    found.into_iter().take_while(|hit| hit.0 == nearest).take(MOST).map(|hit| hit.2).collect()
}

/// Returns the stems that share a long prefix with an unknown word, nearest first: `photograph` and
/// `photo`, `japanes` and `japan`.
pub(crate) fn find_prefix_matches(index: &CapabilityIndex, stem: &str) -> Vec<TermKey> {
    let Some(&first) = stem.as_bytes().first().filter(|_| stem.len() >= SHORTEST_KIN) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, &str, TermKey)> = Vec::new();
    for (other, key) in index.postings.stems(|other| other.first == first) {
        let same = stem.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
        let (ending, longer) = (stem.len() - same, other.len() - same);
        let (ending, longer) = (ending.min(longer), ending.max(longer));
        if same >= SHORTEST_KIN && ending <= SHORT_ENDING && longer <= LONG_ENDING {
            found.push((longer, other, key));
        }
    }
    found.sort_unstable();
    found.into_iter().take(MOST).map(|hit| hit.2).collect()
}

/// A summary of a word that rules out distant words quickly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordShape {
    first: u8,
    bytes: u8,
    /// A bit set of the letters.
    letters: u64,
}

impl WordShape {
    /// Returns the shape of a word.
    pub(crate) fn of(word: &str) -> Self {
        Self {
            first: word.as_bytes().first().copied().unwrap_or_default(),
            bytes: word.len().min(255) as u8,
            letters: word.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63)),
        }
    }

    /// Returns true if so many errors can lead from one word to the other.
    ///
    /// The first letter must be the same: people seldom mistype it, and `olive` is not `live`.
    fn is_near(self, other: Self, slips: usize) -> bool {
        let slips = 2 * slips as u32;
        self.first == other.first
            && u32::from(self.bytes.abs_diff(other.bytes)) <= slips
            && (self.letters ^ other.letters).count_ones() <= slips
    }
}

/// Returns the edit distance (changes, omissions, insertions, swaps) if it is at most `most`.
fn distance(letters: &[char], other: &str, most: usize) -> Option<usize> {
    let other: Vec<char> = other.chars().collect();
    if letters.len().abs_diff(other.len()) > most || other.len() < SHORTEST_TYPO - 1 {
        return None;
    }
    let width = other.len() + 1;
    let mut before: Vec<usize> = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (row, letter) in letters.iter().enumerate() {
        let mut now = vec![row + 1; width];
        for column in 1..width {
            let same = usize::from(*letter != other[column - 1]);
            let mut cost = (last[column - 1] + same).min(last[column] + 1).min(now[column - 1] + 1);
            let swapped = row > 0
                && column > 1
                && *letter == other[column - 2]
                && letters[row - 1] == other[column - 1];
            if swapped {
                cost = cost.min(before[column - 2] + 1);
            }
            now[column] = cost;
        }
        if now.iter().all(|&cost| cost > most) {
            return None;
        }
        before = std::mem::replace(&mut last, now);
    }
    Some(last[width - 1]).filter(|&cost| cost <= most)
}

/// Splits a compound into two stems, if the lexicon or a document knows both.
pub(crate) fn split_compound(index: &CapabilityIndex, word: &str) -> Option<[String; 2]> {
    split_word(word, SHORTEST_PART, |stem| {
        index.postings.key(stem).is_some() || is_in_lexicon(stem)
    })
}

/// Splits a name such as `airquality` into two stems, if the lexicon knows both but not the whole.
/// Other documents do not count, because they can be removed.
pub(crate) fn split_name(word: &str) -> Option<[String; 2]> {
    if word.len() < SHORTEST_COMPOUND || is_in_lexicon(&stem::english(word)) {
        return None;
    }
    split_word(word, SHORTEST_PART_OF_NAME, is_in_lexicon)
}

fn is_in_lexicon(stem: &str) -> bool {
    Lexicon::get().entry(stem).is_some()
}

fn split_word(word: &str, shortest: usize, is_known: impl Fn(&str) -> bool) -> Option<[String; 2]> {
    if word.len() < SHORTEST_COMPOUND || !word.is_ascii() {
        return None;
    }
    let known = |part: &str| Some(stem::english(part)).filter(|stem| is_known(stem));
    // Try the more even split first: `news` `letter`, not `new` `sletter`.
    let mut cuts: Vec<usize> = (shortest..=word.len() - shortest).collect();
    cuts.sort_by_key(|cut| (2 * cut).abs_diff(word.len()));
    cuts.into_iter().find_map(|cut| {
        let (head, tail) = word.split_at(cut);
        let tail = known(tail)?;
        let heads = LINKS.iter().filter_map(|link| head.strip_suffix(link));
        let head = heads.filter(|head| head.len() >= shortest).find_map(known)?;
        Some([head, tail])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: &str, other: &str) -> bool {
        let letters: Vec<char> = one.chars().collect();
        distance(&letters, other, 1).is_some()
    }

    #[test]
    fn one_slip_is_one_letter_or_one_swap() {
        assert!(near("wether", "weather"));
        assert!(near("wearther", "weather"));
        assert!(near("waether", "weather"));
        assert!(!near("wethre", "weather"));
    }
}

//! Words nobody indexed: what they were probably meant to be, and what they are made of.
//!
//! A mistyped word is compared with every stem of the index, after a filter so cheap that tens of
//! thousands of them cost microseconds; no structure has to be kept up to date for it.

use crate::index::Index;
use crate::lexicon::Lexicon;
use crate::stem;
use crate::terms::Key;

/// Shorter words have too many neighbours.
const SHORTEST_TYPO: usize = 5;
/// From here on two slips are forgiven.
const TWO_SLIPS: usize = 8;
/// Shorter words are no compounds.
const SHORTEST_COMPOUND: usize = 7;
/// The least letters of a part.
const SHORTEST_PART: usize = 3;
/// The least letters of a part of a name: nobody looks at whether the cut makes sense.
const SHORTEST_PART_OF_NAME: usize = 4;
/// The least letters that words share at their beginning to be of one kind.
const SHORTEST_KIN: usize = 5;
/// The most letters that the one has after them, and the other.
const SHORT_ENDING: usize = 2;
const LONG_ENDING: usize = 4;
/// What joins the parts of German compounds.
const LINKS: &[&str] = &["", "s", "n", "en", "es", "er"];
/// Neighbours of one word that are considered.
const MOST: usize = 3;

/// The stems nearest to a word that is not one of them, nearest first.
pub(crate) fn typos(index: &Index, stem: &str) -> Vec<Key> {
    let letters: Vec<char> = stem.chars().collect();
    if letters.len() < SHORTEST_TYPO || letters.len() > 32 {
        return Vec::new();
    }
    let most = if letters.len() >= TWO_SLIPS { 2 } else { 1 };
    let shape = Shape::of(stem);
    let mut found: Vec<(usize, &str, Key)> = Vec::new();
    for (other, key) in index.postings().stems(|other| other.is_near(shape, most)) {
        if let Some(distance) = distance(&letters, other, most) {
            found.push((distance, other, key));
        }
    }
    found.sort_unstable();
    let nearest = found.first().map_or(0, |best| best.0);
    found.into_iter().take_while(|hit| hit.0 == nearest).take(MOST).map(|hit| hit.2).collect()
}

/// The stems that begin like a word that is not one of them, so far that they belong together:
/// `photograph` and `photo`, `japanes` and `japan`; the nearest first.
pub(crate) fn kin(index: &Index, stem: &str) -> Vec<Key> {
    let Some(&first) = stem.as_bytes().first().filter(|_| stem.len() >= SHORTEST_KIN) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, &str, Key)> = Vec::new();
    for (other, key) in index.postings().stems(|other| other.first == first) {
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

/// A word in short: enough to tell that another cannot be near.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    first: u8,
    bytes: u8,
    /// Which letters it holds.
    letters: u64,
}

impl Shape {
    /// The shape of a word.
    pub(crate) fn of(word: &str) -> Self {
        Self {
            first: word.as_bytes().first().copied().unwrap_or_default(),
            bytes: word.len().min(255) as u8,
            letters: word.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63)),
        }
    }

    /// Whether so many slips may lead from one to the other.
    ///
    /// People seldom mistype the first letter, and `olive` is not `live`.
    fn is_near(self, other: Self, slips: usize) -> bool {
        let slips = 2 * slips as u32;
        self.first == other.first
            && u32::from(self.bytes.abs_diff(other.bytes)) <= slips
            && (self.letters ^ other.letters).count_ones() <= slips
    }
}

/// How many letters must be changed, left out, put in or swapped, if at most `most`.
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

/// The two words a word is made of, as stems, if the lexicon or a document knows both.
pub(crate) fn parts(index: &Index, word: &str) -> Option<[String; 2]> {
    cut(word, SHORTEST_PART, |stem| index.postings().key(stem).is_some() || is_in_lexicon(stem))
}

/// The two words a name is made of (`airquality`), as stems, if the lexicon knows both and not the
/// whole. Other documents do not count here: they may go.
pub(crate) fn parts_of_name(word: &str) -> Option<[String; 2]> {
    if word.len() < SHORTEST_COMPOUND || is_in_lexicon(&stem::stem(word)) {
        return None;
    }
    cut(word, SHORTEST_PART_OF_NAME, is_in_lexicon)
}

fn is_in_lexicon(stem: &str) -> bool {
    Lexicon::get().word(stem).is_some()
}

fn cut(word: &str, shortest: usize, is_known: impl Fn(&str) -> bool) -> Option<[String; 2]> {
    if word.len() < SHORTEST_COMPOUND || !word.is_ascii() {
        return None;
    }
    let known = |part: &str| Some(stem::stem(part)).filter(|stem| is_known(stem));
    // The more even cut first: `news` `letter`, not `new` `sletter`.
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

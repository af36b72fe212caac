//! What the index is asked for: which passages it shall rank.
//!
//! To rank a passage costs the index twenty times as much as to pass by it, so only [`RANKED`] of
//! them are ranked, and the words decide which. Those that stand in few passages bring candidates
//! alone, the rarest first. Of the others a passage must have several: they are dealt out into
//! groups, and it must have a word of each, of so many groups that few enough passages are likely to
//! have that. One common word alone is looked for among the newest passages.
//!
//! Each word stands in the question only once for that, since the index adds up what each mention of
//! it is worth. Words that bring nobody still count where they stand: then all are mentioned twice.

use super::asked::{Weighed, Word};
use crate::context::totals::Totals;

/// How many passages the index may rank.
const RANKED: f64 = 4_000.0;

/// How much of that words may bring alone: the rest is for those that must stand together.
const ALONE: f64 = 0.7 * RANKED;

/// How many passages the words that bring nobody may stand in: the index goes through them all.
const PASSED: i64 = 20_000;

/// How often a word that is asked again and again counts here.
const REPEATED: usize = 3;

/// Where to look for candidates.
#[derive(Debug, PartialEq)]
pub(super) struct Look {
    /// In the index's own language.
    pub(super) matching: String,
    /// From which passage on.
    pub(super) since: i64,
}

/// Where to look, one after the other until there are enough.
pub(super) fn looks(query: &Weighed, totals: &Totals) -> Vec<Look> {
    if !query.phrases.is_empty() {
        let phrases = query.phrases.iter().map(|terms| format!("\"{}\"", terms.join(" ")));
        return vec![Look { matching: phrases.collect::<Vec<_>>().join(" AND "), since: 0 }];
    }
    let Some(rarest) = query.words.first() else { return Vec::new() };
    let newest = Look { matching: any(rarest), since: newest(rarest, totals) };
    let (alone, rest) = query.words.split_at(alone(&query.words));
    let left = RANKED - alone.iter().map(|word| word.passages as f64).sum::<f64>();
    let groups = groups(rest, left, totals.passages.max(1) as f64);
    match (alone.is_empty(), groups) {
        (true, None) => vec![newest],
        (true, Some(groups)) => vec![ranked(query, alone, &groups), newest],
        (false, groups) => vec![ranked(query, alone, &groups.unwrap_or_default())],
    }
}

/// How many of the words bring candidates alone, of words sorted by rarity.
fn alone(words: &[Word]) -> usize {
    let mut brought = 0.0;
    let bringing = words.iter().take_while(|word| {
        brought += word.passages as f64;
        brought <= ALONE
    });
    bringing.count()
}

/// The words of which passages must have several, dealt out: of all ways that bring no more than
/// `most` passages the one that brings most. The commonest words may have no place in it.
fn groups(words: &[Word], most: f64, all: f64) -> Option<Vec<Vec<&Word>>> {
    let ways = (2..=words.len()).flat_map(|count| (2..=count).map(move |groups| (count, groups)));
    let ways = ways.map(|(count, groups)| {
        let mut dealt = vec![Vec::new(); groups];
        words[..count].iter().enumerate().for_each(|(at, word)| dealt[at % groups].push(word));
        (likely(&dealt, all), dealt)
    });
    let fitting = ways.filter(|(passages, _)| *passages <= most);
    fitting.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, dealt)| dealt)
}

/// How many passages are likely to have a word of each group.
fn likely(groups: &[Vec<&Word>], all: f64) -> f64 {
    let share = |group: &Vec<&Word>| {
        let passages: i64 = group.iter().map(|word| word.passages).sum();
        (passages as f64 / all).min(1.0)
    };
    all * groups.iter().map(share).product::<f64>()
}

/// Passages that have a word that stands alone or one of each group.
fn ranked(query: &Weighed, alone: &[Word], groups: &[Vec<&Word>]) -> Look {
    let mut bringing: Vec<String> = alone.iter().map(any).collect();
    let grouped = groups.iter().map(|group| group.iter().map(|word| any(word)).collect::<Vec<_>>());
    let grouped: Vec<String> = grouped.map(|group| format!("({})", group.join(" OR "))).collect();
    if !grouped.is_empty() {
        bringing.push(format!("({})", grouped.join(" AND ")));
    }
    let bringing = bringing.join(" OR ");
    let used = alone.len() + groups.iter().map(Vec::len).sum::<usize>();
    let others = passed_by(&query.words[used..]);
    if others.is_empty() {
        return Look { matching: bringing, since: 0 };
    }
    let again: Vec<String> =
        query.words[..used].iter().chain(others).chain(others).map(any).collect();
    Look { matching: format!("({bringing}) AND ({})", again.join(" OR ")), since: 0 }
}

/// Those of the other words that count, though they bring nobody.
fn passed_by(words: &[Word]) -> &[Word] {
    let mut passed = 0;
    let count = words.iter().take_while(|word| {
        passed += word.passages;
        passed <= PASSED
    });
    &words[..count.count()]
}

/// Any form of a word, said as often as it was asked, since the index adds up what is said.
fn any(word: &Word) -> String {
    let quoted: Vec<String> = word.terms.iter().map(|term| format!("\"{term}\"")).collect();
    vec![quoted.join(" OR "); word.times.min(REPEATED)].join(" OR ")
}

/// From which passage on a word is likely to stand in few enough passages.
fn newest(word: &Word, totals: &Totals) -> i64 {
    let share = (RANKED / word.passages.max(1) as f64).min(1.0);
    totals.next_passage - (totals.next_passage as f64 * share).ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(term: &str, passages: i64) -> Word {
        Word { terms: vec![term.to_owned()], passages, times: 1, weight: 1.0 }
    }

    fn looked(words: &[(&str, i64)]) -> Vec<Look> {
        let totals = Totals {
            documents: 100_000,
            passages: 1_000_000,
            bytes: 0,
            length: 0,
            next_passage: 1_000_001,
            latest: None,
        };
        let words = words.iter().map(|(term, passages)| word(term, *passages)).collect();
        looks(&Weighed { words, phrases: Vec::new() }, &totals)
    }

    fn only(words: &[(&str, i64)]) -> String {
        let mut looks = looked(words);
        assert_eq!(looks.len(), 1, "{looks:?}");
        looks.remove(0).matching
    }

    #[test]
    fn rare_words_bring_candidates_and_a_common_one_alone_does_not() {
        let matching = only(&[("rare", 10), ("known", 2_000), ("common", 500_000)]);
        assert_eq!(matching, r#""rare" OR "known""#);
    }

    #[test]
    fn a_word_that_brings_nobody_counts_as_much_as_the_others() {
        let matching = only(&[("rare", 10), ("known", 5_000)]);
        assert_eq!(matching, r#"("rare") AND ("rare" OR "known" OR "known")"#);
    }

    #[test]
    fn common_words_bring_candidates_together() {
        let matching = only(&[("rare", 10), ("a", 50_000), ("b", 60_000)]);
        assert_eq!(matching, r#""rare" OR (("a") AND ("b"))"#);
        let words = [("a", 20_000), ("b", 20_000), ("c", 30_000), ("d", 40_000)];
        assert_eq!(looked(&words)[0].matching, r#"(("a" OR "c") AND ("b" OR "d"))"#);
    }

    #[test]
    fn so_many_must_stand_together_that_few_passages_have_them() {
        let words = [("a", 100_000), ("b", 100_000), ("c", 100_000), ("d", 150_000)];
        assert_eq!(looked(&words)[0].matching, r#"(("a" OR "d") AND ("b") AND ("c"))"#);
    }

    #[test]
    fn where_no_word_is_rare_the_newest_are_looked_at_too() {
        let looks = looked(&[("a", 50_000), ("b", 50_000)]);
        assert_eq!((looks[1].matching.as_str(), looks.len()), ("\"a\"", 2));
        assert!(looks[1].since > 900_000, "{looks:?}");
        let looks = looked(&[("a", 500_000)]);
        assert_eq!(looks.len(), 1);
        assert!(looks[0].since > 950_000, "{looks:?}");
        assert!(looked(&[]).is_empty());
    }
}

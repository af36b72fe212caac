//! Builds the index queries that select the passages to rank.
//!
//! Ranking a passage costs the index twenty times as much as skipping it, so it ranks only about
//! [`RANKED`] passages. Rare words select candidates alone, the rarest first. Of the other words, a
//! candidate must contain several: they are distributed into groups, and a candidate must contain a
//! word of each group. The number of groups is chosen so that few enough passages are likely to
//! match. A single common word is searched only in the newest passages.
//!
//! A query contains each word only once, because the index adds the weight of every mention. If
//! further words only add to the score and select no candidates, all words are mentioned twice.

use super::library_query::{LibraryQueryWord, WeightedLibraryQuery};
use crate::totals::LibraryTotals;

/// The maximum number of passages that the index ranks.
const RANKED: f64 = 4_000.0;

/// How many of those may come from single words. The rest is for groups of words.
const ALONE: f64 = 0.7 * RANKED;

/// The maximum number of passages with words that only add to the score. The index reads them all.
const PASSED: i64 = 20_000;

/// The maximum number of times that a repeated word counts.
const REPEATED: usize = 3;

/// One query to the index.
#[derive(Debug, PartialEq)]
pub(super) struct IndexQuery {
    /// The expression in the query language of the index.
    pub(super) matching: String,
    /// The first passage to search.
    pub(super) since: i64,
}

/// Returns the queries to run in order until there are enough candidates.
pub(super) fn plan_index_queries(
    query: &WeightedLibraryQuery,
    totals: &LibraryTotals,
) -> Vec<IndexQuery> {
    if !query.phrases.is_empty() {
        let phrases = query.phrases.iter().map(|terms| format!("\"{}\"", terms.join(" ")));
        return vec![IndexQuery { matching: phrases.collect::<Vec<_>>().join(" AND "), since: 0 }];
    }
    let Some(rarest) = query.words.first() else { return Vec::new() };
    let newest =
        IndexQuery { matching: any_form(rarest), since: first_recent_passage(rarest, totals) };
    let (alone, rest) = query.words.split_at(count_standalone_words(&query.words));
    let left = RANKED - alone.iter().map(|word| word.passages as f64).sum::<f64>();
    let groups = group_words(rest, left, totals.passages.max(1) as f64);
    match (alone.is_empty(), groups) {
        (true, None) => vec![newest],
        (true, Some(groups)) => vec![ranked_query(query, alone, &groups), newest],
        (false, groups) => vec![ranked_query(query, alone, &groups.unwrap_or_default())],
    }
}

/// Returns how many of the words select candidates alone. The words are sorted by rarity.
fn count_standalone_words(words: &[LibraryQueryWord]) -> usize {
    let mut brought = 0.0;
    let bringing = words.iter().take_while(|word| {
        brought += word.passages as f64;
        brought <= ALONE
    });
    bringing.count()
}

/// Distributes words into groups. Of all distributions that select at most `most` passages, returns
/// the one that selects most. It may leave out the most common words.
fn group_words(
    words: &[LibraryQueryWord],
    most: f64,
    all: f64,
) -> Option<Vec<Vec<&LibraryQueryWord>>> {
    let ways = (2..=words.len()).flat_map(|count| (2..=count).map(move |groups| (count, groups)));
    let ways = ways.map(|(count, groups)| {
        let mut dealt = vec![Vec::new(); groups];
        words[..count].iter().enumerate().for_each(|(at, word)| dealt[at % groups].push(word));
        (expected_passages(&dealt, all), dealt)
    });
    let fitting = ways.filter(|(passages, _)| *passages <= most);
    fitting.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, dealt)| dealt)
}

/// Returns the expected number of passages with a word of each group.
fn expected_passages(groups: &[Vec<&LibraryQueryWord>], all: f64) -> f64 {
    let share = |group: &Vec<&LibraryQueryWord>| {
        let passages: i64 = group.iter().map(|word| word.passages).sum();
        (passages as f64 / all).min(1.0)
    };
    all * groups.iter().map(share).product::<f64>()
}

/// Builds the query for passages with one of the single words or a word of each group.
fn ranked_query(
    query: &WeightedLibraryQuery,
    alone: &[LibraryQueryWord],
    groups: &[Vec<&LibraryQueryWord>],
) -> IndexQuery {
    let mut bringing: Vec<String> = alone.iter().map(any_form).collect();
    let grouped =
        groups.iter().map(|group| group.iter().map(|word| any_form(word)).collect::<Vec<_>>());
    let grouped: Vec<String> = grouped.map(|group| format!("({})", group.join(" OR "))).collect();
    if !grouped.is_empty() {
        bringing.push(format!("({})", grouped.join(" AND ")));
    }
    let bringing = bringing.join(" OR ");
    let used = alone.len() + groups.iter().map(Vec::len).sum::<usize>();
    let others = extra_words(&query.words[used..]);
    if others.is_empty() {
        return IndexQuery { matching: bringing, since: 0 };
    }
    let again: Vec<String> =
        query.words[..used].iter().chain(others).chain(others).map(any_form).collect();
    IndexQuery { matching: format!("({bringing}) AND ({})", again.join(" OR ")), since: 0 }
}

/// Returns those of the other words that add to the score without selecting candidates.
fn extra_words(words: &[LibraryQueryWord]) -> &[LibraryQueryWord] {
    let mut passed = 0;
    let count = words.iter().take_while(|word| {
        passed += word.passages;
        passed <= PASSED
    });
    &words[..count.count()]
}

/// Returns an expression for any form of a word, repeated as often as in the query, because the
/// index adds the weight of every mention.
fn any_form(word: &LibraryQueryWord) -> String {
    let quoted: Vec<String> = word.terms.iter().map(|term| format!("\"{term}\"")).collect();
    vec![quoted.join(" OR "); word.times.min(REPEATED)].join(" OR ")
}

/// Returns the first of the newest passages among which few enough are likely to contain a word.
fn first_recent_passage(word: &LibraryQueryWord, totals: &LibraryTotals) -> i64 {
    let share = (RANKED / word.passages.max(1) as f64).min(1.0);
    totals.next_passage - (totals.next_passage as f64 * share).ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(term: &str, passages: i64) -> LibraryQueryWord {
        LibraryQueryWord { terms: vec![term.to_owned()], passages, times: 1, weight: 1.0 }
    }

    fn looked(words: &[(&str, i64)]) -> Vec<IndexQuery> {
        let totals = LibraryTotals {
            documents: 100_000,
            passages: 1_000_000,
            bytes: 0,
            length: 0,
            next_passage: 1_000_001,
            latest: None,
        };
        let words = words.iter().map(|(term, passages)| word(term, *passages)).collect();
        plan_index_queries(&WeightedLibraryQuery { words, phrases: Vec::new() }, &totals)
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

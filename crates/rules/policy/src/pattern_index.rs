//! Finds the patterns that a text can match without trying all of them.
//!
//! Most patterns start or end with literal text and are looked up by it. A pattern that is found
//! may still not match, but one that is not found does not.

use std::collections::{BTreeMap, HashMap};

use crate::glob::{Glob, GlobLiteral};

/// The numbers of patterns, or of the rules they belong to.
pub(crate) type RuleNumbers = Vec<u32>;

/// An index of patterns by their literal parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatternIndex {
    whole: HashMap<Box<str>, RuleNumbers>,
    heads: PatternAffixIndex,
    tails: PatternAffixIndex,
    /// Patterns without a literal prefix or suffix that contain a `/`.
    slashed: RuleNumbers,
    /// Other patterns without a literal prefix or suffix.
    rest: RuleNumbers,
}

/// Patterns by their literal prefixes or suffixes, grouped by length.
type PatternAffixIndex = BTreeMap<usize, HashMap<Box<[u8]>, RuleNumbers>>;

impl PatternIndex {
    /// Adds a pattern.
    pub fn add(&mut self, glob: &Glob, number: u32) {
        let numbers = match glob.certain_part() {
            GlobLiteral::Whole(text) => return self.add_whole(text, number),
            GlobLiteral::Head(head) => affix_numbers(&mut self.heads, head),
            GlobLiteral::Tail(tail) => affix_numbers(&mut self.tails, tail),
            GlobLiteral::Nothing if glob.as_str().contains('/') => &mut self.slashed,
            GlobLiteral::Nothing => &mut self.rest,
        };
        numbers.push(number);
    }

    /// Adds a pattern that matches exactly this text.
    pub fn add_whole(&mut self, text: &str, number: u32) {
        self.whole.entry(text.into()).or_default().push(number);
    }

    /// Adds a pattern that matches every text.
    pub fn add_any(&mut self, number: u32) {
        self.rest.push(number);
    }

    /// Returns how many patterns are found together with one that has this literal part.
    pub fn match_count(&self, literal: GlobLiteral<'_>) -> usize {
        let cut = |all: &PatternAffixIndex, text: &str| {
            let numbers = all.get(&text.len());
            numbers.and_then(|numbers| numbers.get(text.as_bytes())).map_or(0, Vec::len)
        };
        match literal {
            GlobLiteral::Whole(text) => self.whole.get(text).map_or(0, Vec::len),
            GlobLiteral::Head(head) => cut(&self.heads, head),
            GlobLiteral::Tail(tail) => cut(&self.tails, tail),
            GlobLiteral::Nothing => self.rest.len() + self.slashed.len(),
        }
    }

    /// Returns true if there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
            && self.heads.is_empty()
            && self.tails.is_empty()
            && self.slashed.is_empty()
            && self.rest.is_empty()
    }

    /// Appends the patterns that a text can match, in no particular order. A pattern that was added
    /// twice may occur twice.
    pub fn find(&self, text: &str, found: &mut RuleNumbers) {
        found.extend(&self.rest);
        if !self.slashed.is_empty() && text.contains('/') {
            found.extend(&self.slashed);
        }
        if !self.whole.is_empty() {
            found.extend(self.whole.get(text).into_iter().flatten());
        }
        let text = text.as_bytes();
        for (length, numbers) in &self.heads {
            let head = text.get(..*length);
            found.extend(head.and_then(|head| numbers.get(head)).into_iter().flatten());
        }
        for (length, numbers) in &self.tails {
            let tail = text.len().checked_sub(*length).map(|from| &text[from..]);
            found.extend(tail.and_then(|tail| numbers.get(tail)).into_iter().flatten());
        }
    }
}

fn affix_numbers<'c>(all: &'c mut PatternAffixIndex, text: &str) -> &'c mut RuleNumbers {
    all.entry(text.len()).or_default().entry(text.as_bytes().into()).or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn whatever_a_text_fits_is_found(
            patterns in prop::collection::vec("[ab/ü*?]{0,6}", 0..20), text in "[ab/ü]{0,6}",
        ) {
            let mut texts = PatternIndex::default();
            let globs: Vec<_> = patterns.iter().map(|pattern| Glob::text_pattern(pattern)).collect();
            (0..).zip(&globs).for_each(|(number, glob)| texts.add(glob, number));
            let mut found = RuleNumbers::new();
            texts.find(&text, &mut found);
            for (number, glob) in (0..).zip(&globs) {
                prop_assert!(!glob.matches(&text) || found.contains(&number), "{:?}", glob);
            }
            prop_assert_eq!(texts.is_empty(), globs.is_empty());
        }
    }

    #[test]
    fn what_begins_and_ends_otherwise_is_not_looked_at() {
        let mut texts = PatternIndex::default();
        for number in 0..1_000 {
            texts.add(&Glob::text_pattern(&format!("/{number}/*")), number);
            texts.add(&Glob::text_pattern(&format!("*.{number}")), 1_000 + number);
            texts.add(&Glob::text_pattern(&format!("{number}")), 2_000 + number);
        }
        let mut found = RuleNumbers::new();
        texts.find("/12/a.3", &mut found);
        assert_eq!(found, [12, 1_003]);
    }
}

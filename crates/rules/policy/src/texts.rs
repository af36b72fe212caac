//! Many patterns, and those among them that a text can fit, without trying them all.
//!
//! Most patterns have a beginning or an end without signs; they are looked up by it. What is found
//! may still not fit, but what is not found does not.

use std::collections::HashMap;

use crate::glob::{Glob, Literal};

/// Numbers of patterns, or of the rules they belong to.
pub(crate) type Numbers = Vec<u32>;

/// Patterns by what is certain of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    whole: HashMap<Box<str>, Numbers>,
    /// By their beginnings, and by their ends; those of one length together.
    heads: Vec<Cuts>,
    tails: Vec<Cuts>,
    /// Those of which nothing is certain but that there is a `/` somewhere.
    slashed: Numbers,
    /// Those of which nothing is certain.
    rest: Numbers,
}

/// Texts of one length, cut out of longer ones.
#[derive(Debug, Clone, Default)]
struct Cuts {
    length: usize,
    numbers: HashMap<Box<[u8]>, Numbers>,
}

impl Texts {
    /// Adds a pattern.
    pub fn add(&mut self, glob: &Glob, number: u32) {
        let numbers = match glob.literal() {
            Literal::Whole(text) => return self.add_whole(text, number),
            Literal::Head(head) => numbers(&mut self.heads, head),
            Literal::Tail(tail) => numbers(&mut self.tails, tail),
            Literal::Nothing if glob.as_str().contains('/') => &mut self.slashed,
            Literal::Nothing => &mut self.rest,
        };
        numbers.push(number);
    }

    /// Adds one that is exactly this text.
    pub fn add_whole(&mut self, text: &str, number: u32) {
        self.whole.entry(text.into()).or_default().push(number);
    }

    /// Adds one that every text fits.
    pub fn add_any(&mut self, number: u32) {
        self.rest.push(number);
    }

    /// How many are found whenever one is of which this is certain.
    pub fn crowd(&self, literal: Literal<'_>) -> usize {
        let cut = |all: &[Cuts], text: &str| {
            let cuts = all.iter().find(|cuts| cuts.length == text.len());
            cuts.and_then(|cuts| cuts.numbers.get(text.as_bytes())).map_or(0, Vec::len)
        };
        match literal {
            Literal::Whole(text) => self.whole.get(text).map_or(0, Vec::len),
            Literal::Head(head) => cut(&self.heads, head),
            Literal::Tail(tail) => cut(&self.tails, tail),
            Literal::Nothing => self.rest.len() + self.slashed.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty()
            && self.heads.is_empty()
            && self.tails.is_empty()
            && self.slashed.is_empty()
            && self.rest.is_empty()
    }

    /// Those that a text can fit, in no order; one that was added twice may come twice.
    pub fn find(&self, text: &str, found: &mut Numbers) {
        found.extend(&self.rest);
        if !self.slashed.is_empty() && text.contains('/') {
            found.extend(&self.slashed);
        }
        if !self.whole.is_empty() {
            found.extend(self.whole.get(text).into_iter().flatten());
        }
        let text = text.as_bytes();
        let at = |cuts: &Cuts| text.len().checked_sub(cuts.length);
        for cuts in &self.heads {
            let head = at(cuts).map(|_| &text[..cuts.length]);
            found.extend(head.and_then(|head| cuts.numbers.get(head)).into_iter().flatten());
        }
        for cuts in &self.tails {
            let tail = at(cuts).map(|from| &text[from..]);
            found.extend(tail.and_then(|tail| cuts.numbers.get(tail)).into_iter().flatten());
        }
    }
}

fn numbers<'c>(all: &'c mut Vec<Cuts>, text: &str) -> &'c mut Numbers {
    let length = text.len();
    let at = all.iter().position(|cuts| cuts.length == length).unwrap_or_else(|| {
        all.push(Cuts { length, numbers: HashMap::new() });
        all.len() - 1
    });
    all[at].numbers.entry(text.as_bytes().into()).or_default()
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
            let mut texts = Texts::default();
            let globs: Vec<_> = patterns.iter().map(|pattern| Glob::text(pattern)).collect();
            (0..).zip(&globs).for_each(|(number, glob)| texts.add(glob, number));
            let mut found = Numbers::new();
            texts.find(&text, &mut found);
            for (number, glob) in (0..).zip(&globs) {
                prop_assert!(!glob.fits(&text) || found.contains(&number), "{:?}", glob);
            }
            prop_assert_eq!(texts.is_empty(), globs.is_empty());
        }
    }

    #[test]
    fn what_begins_and_ends_otherwise_is_not_looked_at() {
        let mut texts = Texts::default();
        for number in 0..1_000 {
            texts.add(&Glob::text(&format!("/{number}/*")), number);
            texts.add(&Glob::text(&format!("*.{number}")), 1_000 + number);
            texts.add(&Glob::text(&format!("{number}")), 2_000 + number);
        }
        let mut found = Numbers::new();
        texts.find("/12/a.3", &mut found);
        assert_eq!(found, [12, 1_003]);
    }
}

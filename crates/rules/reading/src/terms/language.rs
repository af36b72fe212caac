//! The languages whose words are known here, and what their stemmers make of them.
//!
//! The stemmers are Snowball's. A script that one language stands for is stemmed by it wherever it
//! is met; Latin letters are shared by many, so every word has the English stem, and in a text of
//! another language that language's stem beside it.

use std::borrow::Cow;

use frostem::{Algorithm, Stemmer};

use super::fold;

/// A language in Latin letters, by its place in [`Language::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language(u8);

/// A set of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Languages(u32);

impl Languages {
    pub(super) fn add(&mut self, language: Language) {
        self.0 |= 1 << language.0;
    }

    pub(super) fn has(self, language: Language) -> bool {
        self.0 & (1 << language.0) != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Language> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = left.trailing_zeros();
            // Takes the lowest bit away.
            left &= left.wrapping_sub(1);
            (first < u32::BITS).then_some(Language(first as u8))
        })
    }
}

/// The code of each in the list of stop words, and its stemmer. English is the first.
const KNOWN: [(&str, Algorithm); Language::COUNT] = [
    ("en", Algorithm::English),
    ("de", Algorithm::German),
    ("fr", Algorithm::French),
    ("es", Algorithm::Spanish),
    ("it", Algorithm::Italian),
    ("pt", Algorithm::Portuguese),
    ("nl", Algorithm::Dutch),
    ("sv", Algorithm::Swedish),
    ("da", Algorithm::Danish),
    ("no", Algorithm::Norwegian),
    ("fi", Algorithm::Finnish),
    ("pl", Algorithm::Polish),
    ("cs", Algorithm::Czech),
    ("hu", Algorithm::Hungarian),
    ("ro", Algorithm::Romanian),
    ("tr", Algorithm::Turkish),
    ("ru", Algorithm::Russian),
];

impl Language {
    pub(super) const COUNT: usize = 17;
    pub(super) const ENGLISH: Self = Self(0);

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..).take(Self::COUNT).map(Self)
    }

    /// Those whose stems stand beside the English ones.
    pub(super) fn beside_english() -> impl Iterator<Item = Self> {
        Self::all().filter(|language| language.has_own_stems())
    }

    pub(super) fn of_code(code: &str) -> Option<Self> {
        Self::all().find(|language| language.code() == code)
    }

    pub(super) fn at(self) -> usize {
        usize::from(self.0)
    }

    /// Russian words have their own stem as the only one: no other language here shares the script.
    pub(super) fn has_own_stems(self) -> bool {
        self != Self::ENGLISH && self.code() != "ru"
    }

    fn code(self) -> &'static str {
        KNOWN[self.at()].0
    }

    fn algorithm(self) -> Algorithm {
        KNOWN[self.at()].1
    }
}

/// What a script has for a stemmer.
enum Script {
    Latin,
    Of(Algorithm),
    Unknown,
}

fn script(word: &str) -> Script {
    match word.chars().next() {
        Some('a'..='z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') => Script::Latin,
        Some('\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}') => Script::Of(Algorithm::Greek),
        Some('\u{400}'..='\u{52f}') => Script::Of(Algorithm::Russian),
        Some('\u{600}'..='\u{6ff}') => Script::Of(Algorithm::Arabic),
        Some('\u{900}'..='\u{97f}') => Script::Of(Algorithm::Hindi),
        _ => Script::Unknown,
    }
}

/// Appends the term every text that has the word is known by. The word is in lower case.
pub(super) fn term(word: &str, out: &mut String) {
    if word.bytes().any(|byte| byte.is_ascii_digit()) {
        return fold::fold(word, out);
    }
    match script(word) {
        Script::Latin => {
            let mut folded = String::with_capacity(word.len());
            fold::fold(word, &mut folded);
            out.push_str(&stem(Algorithm::English, &folded));
        }
        // Their stemmers know marked letters.
        Script::Of(algorithm) => fold::fold(&stem(algorithm, word), out),
        Script::Unknown => fold::fold(word, out),
    }
}

/// Whether a language beside English has a stem for the word.
pub(super) fn is_latin(word: &str) -> bool {
    matches!(script(word), Script::Latin) && !word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Appends the stem a text of that language has for the word, told from English ones by its end.
pub(super) fn own_stem(language: Language, word: &str, out: &mut String) {
    fold::fold(&stem(language.algorithm(), word), out);
    out.push(OWN);
}

/// Ends a stem that is not English.
pub(super) const OWN: char = '_';

/// The shortest word that has an ending.
const LEAST: usize = 3;

fn stem(algorithm: Algorithm, word: &str) -> Cow<'_, str> {
    if word.len() < LEAST {
        return Cow::Borrowed(word);
    }
    let stem = Stemmer::new(algorithm).stem(word);
    if stem.is_empty() { Cow::Borrowed(word) } else { stem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> String {
        let mut out = String::new();
        term(word, &mut out);
        out
    }

    fn own(code: &str, word: &str) -> String {
        let mut out = String::new();
        own_stem(Language::of_code(code).expect("a language"), word, &mut out);
        out
    }

    #[test]
    fn english_forms_meet() {
        for family in [
            &["connect", "connected", "connecting", "connections"][..],
            &["query", "queries", "querying"],
            &["run", "running", "runs"],
            &["policy", "policies"],
        ] {
            let stems: std::collections::BTreeSet<_> = family.iter().map(|word| of(word)).collect();
            assert_eq!(stems.len(), 1, "{family:?}: {stems:?}");
        }
    }

    #[test]
    fn forms_of_other_languages_meet() {
        assert_eq!(own("de", "häuser"), own("de", "haus"));
        assert_eq!(own("de", "haus"), "haus_");
        assert_eq!(own("fr", "nationales"), own("fr", "national"));
        assert_eq!(own("es", "canciones"), own("es", "canción"));
        assert_eq!(own("it", "abbandonata"), own("it", "abbandonare"));
        assert_eq!(own("nl", "lichamelijk"), own("nl", "lichamelijke"));
        assert_eq!(of("книги"), of("книга"));
        assert_eq!(of("δρόμος"), of("δρόμοι"));
    }

    #[test]
    fn what_has_no_ending_stays() {
        for word in ["s3", "sha256", "go", "2024", "天気", "c"] {
            assert_eq!(of(word), word);
        }
    }
}

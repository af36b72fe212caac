//! The supported languages and their stemmers.
//!
//! The stemmers are Snowball's. A script with one supported language always uses its stemmer. Latin
//! letters are shared by many languages: every word has its English stem, and in a text of another
//! language also the stem of that language.

use toolgate_terms::fold;
use toolgate_terms::stem::{Algorithm, snowball as stem};

/// A language, by its index in [`Language::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Language(u8);

/// A set of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LanguageSet(u32);

impl LanguageSet {
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
            // Clears the lowest bit.
            left &= left.wrapping_sub(1);
            (first < u32::BITS).then_some(Language(first as u8))
        })
    }
}

/// The code of each language in the list of stop words, and its stemmer. English is the first.
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

    /// Returns the languages whose stems are added to the English ones.
    pub(super) fn beside_english() -> impl Iterator<Item = Self> {
        Self::all().filter(|language| language.has_own_stems())
    }

    pub(super) fn of_code(code: &str) -> Option<Self> {
        Self::all().find(|language| language.code() == code)
    }

    pub(super) fn at(self) -> usize {
        usize::from(self.0)
    }

    /// Returns false for Russian: its stem is the main term, because no other supported language
    /// shares the script.
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

/// How words of a script are stemmed.
enum WordScript {
    Latin,
    Stemmed(Algorithm),
    Unknown,
}

fn script(word: &str) -> WordScript {
    match word.chars().next() {
        Some('a'..='z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}') => WordScript::Latin,
        Some('\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}') => {
            WordScript::Stemmed(Algorithm::Greek)
        }
        Some('\u{400}'..='\u{52f}') => WordScript::Stemmed(Algorithm::Russian),
        Some('\u{600}'..='\u{6ff}') => WordScript::Stemmed(Algorithm::Arabic),
        Some('\u{900}'..='\u{97f}') => WordScript::Stemmed(Algorithm::Hindi),
        _ => WordScript::Unknown,
    }
}

/// Appends the main term of a word in lower case.
pub(super) fn push_term(word: &str, out: &mut String) {
    if word.bytes().any(|byte| byte.is_ascii_digit()) {
        return fold::fold(word, out);
    }
    match script(word) {
        WordScript::Latin => {
            let mut folded = String::with_capacity(word.len());
            fold::fold(word, &mut folded);
            out.push_str(&stem(Algorithm::English, &folded));
        }
        // These stemmers need the diacritics.
        WordScript::Stemmed(algorithm) => fold::fold(&stem(algorithm, word), out),
        WordScript::Unknown => fold::fold(word, out),
    }
}

/// Returns true if a language other than English can have a stem for the word.
pub(super) fn is_latin(word: &str) -> bool {
    matches!(script(word), WordScript::Latin) && !word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Appends the stem of the word in this language, marked by [`OWN`].
pub(super) fn push_language_stem(language: Language, word: &str, out: &mut String) {
    fold::fold(&stem(language.algorithm(), word), out);
    out.push(OWN);
}

/// The mark at the end of a stem that is not English.
pub(super) const OWN: char = '_';

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> String {
        let mut out = String::new();
        push_term(word, &mut out);
        out
    }

    fn own(code: &str, word: &str) -> String {
        let mut out = String::new();
        push_language_stem(Language::of_code(code).expect("a language"), word, &mut out);
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

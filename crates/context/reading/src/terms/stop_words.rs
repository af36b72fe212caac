//! Stop words of the supported languages, and language detection by them.
//!
//! Stop words are indexed once for each text, because a query can consist of nothing else.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::language::{Language, LanguageSet};
use toolgate_terms::fold;

/// What is known about a stop word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StopWord {
    /// The languages in which it is a stop word.
    pub(super) languages: LanguageSet,
    /// Whether it can be an English word that is not a stop word.
    pub(super) may_be_english: bool,
}

impl StopWord {
    /// Returns true if it is a stop word in a text of this language.
    pub(super) fn is_stop_in_text(self, language: Language) -> bool {
        self.languages.has(Language::ENGLISH) || self.languages.has(language)
    }

    /// Returns true if it is a stop word in a query of this language. A query is short and its
    /// language often a guess, so a word without English meaning is a stop word in any.
    pub(super) fn is_stop_in_request(self, language: Language) -> bool {
        self.is_stop_in_text(language) || (!self.languages.is_empty() && !self.may_be_english)
    }
}

/// Looks up a word in lower case.
pub(super) fn lookup(word: &str) -> StopWord {
    static TABLE: OnceLock<HashMap<String, StopWord>> = OnceLock::new();
    TABLE.get_or_init(table).get(word).copied().unwrap_or_default()
}

fn table() -> HashMap<String, StopWord> {
    let mut table: HashMap<String, StopWord> = HashMap::new();
    let lines = include_str!("stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    for (code, words) in lines.filter_map(|line| line.split_once(':')) {
        for word in words.split_whitespace() {
            // Also without diacritics, as people type it without such a keyboard.
            let mut folded = String::new();
            fold::fold(word, &mut folded);
            note(table.entry(folded).or_default(), code);
            note(table.entry(word.to_owned()).or_default(), code);
        }
    }
    table
}

fn note(stop: &mut StopWord, code: &str) {
    match Language::of_code(code) {
        Some(language) => stop.languages.add(language),
        None => stop.may_be_english = true,
    }
}

/// Counts stop words by language to detect the language of a text.
#[derive(Debug, Default)]
pub(super) struct LanguageTally {
    counts: [u32; Language::COUNT],
    words: u32,
}

/// The minimum number of stop words for a decision.
const LEAST: u32 = 3;

/// At least one of this many words must be a stop word of the language.
const ONE_IN: u32 = 12;

impl LanguageTally {
    pub(super) fn add(&mut self, stop: StopWord) {
        self.words += 1;
        for language in stop.languages.iter() {
            self.counts[language.at()] += 1;
        }
    }

    /// Returns the language of a text: English unless another one is clear.
    pub(super) fn text_language(&self) -> Language {
        let (best, count) = self.best();
        let is_plain = count >= LEAST && count.saturating_mul(ONE_IN) >= self.words;
        if is_plain { best } else { Language::ENGLISH }
    }

    /// Returns the language of a query, which is short.
    pub(super) fn request_language(&self) -> Language {
        let (best, count) = self.best();
        if count > 1 { best } else { Language::ENGLISH }
    }

    /// Returns the language with the most stop words; the first one in a tie.
    fn best(&self) -> (Language, u32) {
        let counted = Language::all().map(|language| (language, self.counts[language.at()]));
        counted.fold((Language::ENGLISH, 0), |best, next| if next.1 > best.1 { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Language {
        let mut tally = LanguageTally::default();
        text.split_whitespace().for_each(|word| tally.add(lookup(&word.to_lowercase())));
        tally.text_language()
    }

    #[test]
    fn a_text_is_known_by_its_small_words() {
        for (code, text) in [
            ("en", "The house on the hill was sold and nobody knows who the new owner is"),
            (
                "de",
                "Das Haus auf dem Berg wurde verkauft und niemand weiß wer die neue Besitzerin ist",
            ),
            (
                "fr",
                "La maison sur la colline a été vendue et personne ne sait qui est le propriétaire",
            ),
            ("es", "La casa en la colina fue vendida y nadie sabe quién es el nuevo dueño de ella"),
            (
                "it",
                "La casa sulla collina è stata venduta e nessuno sa chi sia il nuovo proprietario",
            ),
            ("pt", "A casa na colina foi vendida e ninguém sabe quem é o novo dono dela"),
            ("nl", "Het huis op de heuvel is verkocht en niemand weet wie de nieuwe eigenaar is"),
            ("sv", "Huset på kullen har sålts och ingen vet vem som är den nya ägaren till det"),
            (
                "pl",
                "Dom na wzgórzu został sprzedany i nikt nie wie kto jest jego nowym właścicielem",
            ),
            ("ru", "Дом на холме был продан и никто не знает кто его новый владелец"),
            ("en", "parse config token stream error handler"),
        ] {
            assert_eq!(Some(language(text)), Language::of_code(code), "{text}");
        }
    }

    #[test]
    fn words_with_two_meanings_are_stop_words_where_the_language_is_clear() {
        let german = Language::of_code("de").expect("German");
        assert!(lookup("war").is_stop_in_text(german) && lookup("war").is_stop_in_request(german));
        assert!(
            !lookup("war").is_stop_in_text(Language::ENGLISH)
                && !lookup("war").is_stop_in_request(Language::ENGLISH)
        );
        assert!(lookup("nicht").is_stop_in_request(Language::ENGLISH));
        assert!(lookup("the").is_stop_in_text(german));
        assert!(lookup("können").languages == lookup("konnen").languages);
    }

    #[test]
    fn every_language_has_its_words() {
        for language in Language::all() {
            let words = table().into_values().filter(|stop| stop.languages.has(language)).count();
            assert!(words > 80, "{language:?}: {words}");
        }
    }
}

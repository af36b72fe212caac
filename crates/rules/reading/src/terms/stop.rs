//! Words that say nothing about what a text is about, in the languages known here; and by them, which
//! language a text is in.
//!
//! They are kept in the index all the same, once for each text: somebody may look for nothing else.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::fold;
use super::language::{Language, Languages};

/// What is known of a stop word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stop {
    /// The languages it is a stop word of.
    pub(super) of: Languages,
    /// Whether it may mean something in English, which is not one of them.
    pub(super) may_mean: bool,
}

impl Stop {
    /// Whether it is nothing but a stop word in a text of that language.
    pub(super) fn in_text(self, language: Language) -> bool {
        self.of.has(Language::ENGLISH) || self.of.has(language)
    }

    /// Whether it is one in a request in that language. A request is short, so its language is often
    /// a guess: what means nothing in English is a stop word in any.
    pub(super) fn in_request(self, language: Language) -> bool {
        self.in_text(language) || (!self.of.is_empty() && !self.may_mean)
    }
}

/// What is known of a word in lower case.
pub(super) fn of(word: &str) -> Stop {
    static TABLE: OnceLock<HashMap<String, Stop>> = OnceLock::new();
    TABLE.get_or_init(table).get(word).copied().unwrap_or_default()
}

fn table() -> HashMap<String, Stop> {
    let mut table: HashMap<String, Stop> = HashMap::new();
    let lines = include_str!("stop_words.txt").lines().filter(|line| !line.starts_with('#'));
    for (code, words) in lines.filter_map(|line| line.split_once(':')) {
        for word in words.split_whitespace() {
            // Also as people write it who have no such key.
            let mut folded = String::new();
            fold::fold(word, &mut folded);
            note(table.entry(folded).or_default(), code);
            note(table.entry(word.to_owned()).or_default(), code);
        }
    }
    table
}

fn note(stop: &mut Stop, code: &str) {
    match Language::of_code(code) {
        Some(language) => stop.of.add(language),
        None => stop.may_mean = true,
    }
}

/// Counts stop words to tell a text's language.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: [u32; Language::COUNT],
    words: u32,
}

/// Fewer stop words than this tell nothing.
const LEAST: u32 = 3;

/// Every so many words of a text at least one is a stop word of its language.
const ONE_IN: u32 = 12;

impl Tally {
    pub(super) fn add(&mut self, stop: Stop) {
        self.words += 1;
        for language in stop.of.iter() {
            self.counts[language.at()] += 1;
        }
    }

    /// The language of a text: English unless another one is plain.
    pub(super) fn of_text(&self) -> Language {
        let (best, count) = self.best();
        let is_plain = count >= LEAST && count.saturating_mul(ONE_IN) >= self.words;
        if is_plain { best } else { Language::ENGLISH }
    }

    /// The language of a request, which is short.
    pub(super) fn of_request(&self) -> Language {
        let (best, count) = self.best();
        if count > 1 { best } else { Language::ENGLISH }
    }

    /// The language with the most stop words; of those with as many, the first.
    fn best(&self) -> (Language, u32) {
        let counted = Language::all().map(|language| (language, self.counts[language.at()]));
        counted.fold((Language::ENGLISH, 0), |best, next| if next.1 > best.1 { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language(text: &str) -> Language {
        let mut tally = Tally::default();
        text.split_whitespace().for_each(|word| tally.add(of(&word.to_lowercase())));
        tally.of_text()
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
        assert!(of("war").in_text(german) && of("war").in_request(german));
        assert!(!of("war").in_text(Language::ENGLISH) && !of("war").in_request(Language::ENGLISH));
        assert!(of("nicht").in_request(Language::ENGLISH));
        assert!(of("the").in_text(german));
        assert!(of("können").of == of("konnen").of);
    }

    #[test]
    fn every_language_has_its_words() {
        for language in Language::all() {
            let words = table().into_values().filter(|stop| stop.of.has(language)).count();
            assert!(words > 80, "{language:?}: {words}");
        }
    }
}

//! The lexicon: concepts as lists of synonymous words and phrases, and words that point to others.
//!
//! The files under `lexicon/` contain one concept per line, with members separated by `|` and an
//! optional weight (`0.5:`) if they are less than synonyms. In `a > b`, `a` in a query finds `b` in
//! a tool, but not the reverse. `#` begins a comment, and at the beginning of a line a section;
//! the words of one section form a topic. This module parses the files once; `query` applies the
//! weights.

use std::sync::OnceLock;

use crate::hashing::{self, EMPTY_PHRASE, HashKeyMap, HashKeySet};
use crate::terms::{self, StemToken};

/// What the sections of a lexicon file mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LexiconSectionKind {
    /// Each section is a topic: its words are related.
    Topics,
    /// Actions, which belong to no topic, wherever else the words occur.
    Actions,
    /// Sections only structure the file.
    Headings,
}

const TEXTS: &[(LexiconSectionKind, &str)] = &[
    (LexiconSectionKind::Headings, include_str!("lexicon/abbreviations.txt")),
    (LexiconSectionKind::Actions, include_str!("lexicon/actions.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/communication.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/developer.txt")),
    (LexiconSectionKind::Headings, include_str!("lexicon/entities.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/files_and_text.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/food_and_health.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/home_and_transport.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/knowledge_and_education.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/media.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/money.txt")),
    (LexiconSectionKind::Headings, include_str!("lexicon/other_languages.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/security_and_network.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/shopping_and_work.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/sport_and_games.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/time_and_units.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/travel_and_places.txt")),
    (LexiconSectionKind::Topics, include_str!("lexicon/weather_and_nature.txt")),
];

/// The maximum number of words of a phrase.
pub(crate) const LONGEST_PHRASE: usize = 6;

/// Particles of phrasal verbs: `turn the lights off`.
const PARTICLES: &[&str] =
    &["up", "down", "off", "out", "away", "back", "over", "into", "on", "together", "aside"];

/// The maximum number of words between the two words of such a phrase.
const WIDEST_GAP: usize = 2;

/// What the lexicon knows about one word or phrase.
#[derive(Debug, Default)]
pub(crate) struct LexiconEntry {
    /// Its concepts, each with the weight of the line.
    pub(crate) concepts: Vec<(u32, f32)>,
    /// Its topics. They are numbered like concepts, but are much wider.
    pub(crate) topics: Vec<u32>,
    /// Whether it is an action, so that it belongs to no topic.
    pub(crate) is_action: bool,
    /// What it points to if it occurs in a query.
    pub(crate) points_to: Vec<LexiconTarget>,
}

/// A word or phrase that another one points to.
#[derive(Debug, Clone)]
pub(crate) struct LexiconTarget {
    /// The stems of its words.
    pub(crate) stems: Vec<String>,
    /// The weight of the line.
    pub(crate) weight: f32,
}

/// All entries of the lexicon, by the hash of their stems.
pub(crate) struct Lexicon {
    entries: HashKeyMap<LexiconEntry>,
    /// The hashes of phrase prefixes, which tell whether a look-up can continue.
    beginnings: HashKeySet,
    concepts: u32,
}

impl Lexicon {
    /// Returns the built-in lexicon.
    pub(crate) fn get() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| Self::read(TEXTS))
    }

    /// Returns the number of concepts and topics. They are numbered from 0.
    pub(crate) fn concepts(&self) -> usize {
        self.concepts as usize
    }

    /// Returns the entry of one stem.
    pub(crate) fn entry(&self, stem: &str) -> Option<&LexiconEntry> {
        self.entries.get(&hashing::combine_hashes(EMPTY_PHRASE, hashing::hash(stem)))
    }

    /// Returns the entries that begin at the first of these tokens, with their length in tokens.
    pub(crate) fn entries_at_start<'a>(
        &'a self,
        tokens: &'a [&'a StemToken],
    ) -> impl Iterator<Item = (usize, &'a LexiconEntry)> {
        let mut state = EMPTY_PHRASE;
        let mut at = 0;
        let mut goes_on = true;
        std::iter::from_fn(move || {
            while goes_on && at < tokens.len().min(LONGEST_PHRASE) {
                state = hashing::combine_hashes(state, tokens[at].hash);
                at += 1;
                goes_on = self.beginnings.contains(&state);
                if let Some(entry) = self.entries.get(&state) {
                    return Some((at, entry));
                }
            }
            None
        })
    }

    /// Returns the entries of two words that are separated in these tokens, such as `throw` this
    /// old `away`. The first token is the first word, and only content words can be between.
    pub(crate) fn separated_entries<'a>(
        &'a self,
        tokens: &'a [&'a StemToken],
    ) -> impl Iterator<Item = (usize, &'a LexiconEntry)> {
        let first = tokens.first().map(|token| hashing::combine_hashes(EMPTY_PHRASE, token.hash));
        let first = first.filter(|state| self.beginnings.contains(state));
        first.into_iter().flat_map(move |state| {
            let between = tokens[1..].iter().take(WIDEST_GAP);
            let gap = between.take_while(|token| !token.info.is_stop_word()).count();
            (2..tokens.len().min(2 + gap)).filter_map(move |at| {
                let last = tokens[at];
                let small = last.info.is_stop_word();
                if small && !PARTICLES.contains(&last.word.text.as_str()) {
                    return None;
                }
                Some((at + 1, self.entries.get(&hashing::combine_hashes(state, tokens[at].hash))?))
            })
        })
    }

    fn read(texts: &[(LexiconSectionKind, &str)]) -> Self {
        let mut lexicon =
            Self { entries: HashKeyMap::default(), beginnings: HashKeySet::default(), concepts: 0 };
        for (sections, text) in texts {
            let mut topic = None;
            for line in text.lines() {
                if line.starts_with('#') && *sections == LexiconSectionKind::Topics {
                    topic = Some(lexicon.next_number());
                }
                let line = line.split('#').next().unwrap_or_default().trim();
                if !line.is_empty() {
                    lexicon.line(line, topic);
                }
                if *sections == LexiconSectionKind::Actions {
                    line.split('>').flat_map(phrases).for_each(|tokens| {
                        lexicon.entry_mut(&tokens).is_action = true;
                    });
                }
            }
        }
        lexicon
    }

    fn line(&mut self, line: &str, topic: Option<u32>) {
        let (weight, members) = match line.split_once(':') {
            Some((weight, rest)) => match weight.trim().parse() {
                Ok(weight) => (weight, rest),
                Err(_) => (1.0, line),
            },
            None => (1.0, line),
        };
        match members.split_once('>') {
            Some((from, to)) => self.pointers(from, to, weight),
            None => self.concept(members, weight),
        }
        if let Some(topic) = topic {
            self.topic(members, topic);
        }
    }

    /// Returns the next number of a concept or topic.
    fn next_number(&mut self) -> u32 {
        self.concepts += 1;
        self.concepts - 1
    }

    fn topic(&mut self, line: &str, topic: u32) {
        for tokens in line.split('>').flat_map(phrases) {
            let entry = self.entry_mut(&tokens);
            if !entry.is_action && entry.topics.last() != Some(&topic) {
                entry.topics.push(topic);
            }
        }
    }

    fn concept(&mut self, members: &str, weight: f32) {
        let concept = self.next_number();
        for tokens in phrases(members) {
            let entry = self.entry_mut(&tokens);
            if entry.concepts.last().is_none_or(|last| last.0 != concept) {
                entry.concepts.push((concept, weight));
            }
        }
    }

    fn pointers(&mut self, from: &str, to: &str, weight: f32) {
        let targets: Vec<LexiconTarget> = phrases(to)
            .map(|tokens| LexiconTarget {
                stems: tokens.into_iter().map(|token| token.stem).collect(),
                weight,
            })
            .collect();
        for tokens in phrases(from) {
            self.entry_mut(&tokens).points_to.extend(targets.iter().cloned());
        }
    }

    fn entry_mut(&mut self, tokens: &[StemToken]) -> &mut LexiconEntry {
        let mut state = EMPTY_PHRASE;
        for (at, token) in tokens.iter().enumerate() {
            state = hashing::combine_hashes(state, token.hash);
            if at + 1 < tokens.len() {
                self.beginnings.insert(state);
            }
        }
        self.entries.entry(state).or_default()
    }
}

/// Splits one side of a line into its phrases.
fn phrases(members: &str) -> impl Iterator<Item = Vec<StemToken>> {
    let all = members.split('|').map(terms::phrase);
    all.filter(|tokens| !tokens.is_empty() && tokens.len() <= LONGEST_PHRASE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(one: &str, other: &str) -> bool {
        let lexicon = Lexicon::get();
        let concepts = |text: &str| -> Vec<u32> {
            let tokens = terms::phrase(text);
            let tokens: Vec<&StemToken> = tokens.iter().collect();
            let entry = lexicon.entries_at_start(&tokens).last().map(|found| found.1);
            entry.iter().flat_map(|entry| &entry.concepts).map(|concept| concept.0).collect()
        };
        concepts(one).iter().any(|concept| concepts(other).contains(concept))
    }

    #[test]
    fn members_of_a_line_share_a_concept() {
        assert!(shared("delete", "remove"));
        assert!(shared("removing", "deleted"));
        assert!(!shared("delete", "create"));
    }

    #[test]
    fn lines_are_read_with_weights_pointers_and_comments() {
        let lexicon = Lexicon::read(&[(
            LexiconSectionKind::Headings,
            "# nothing\nfolder | directory\n0.5: x b | c d e # x\np q > r | z t\n",
        )]);
        assert_eq!(lexicon.concepts(), 2);
        assert_eq!(lexicon.entry("folder").unwrap().concepts, [(0, 1.0)]);
        let tokens = terms::phrase("p q");
        let tokens: Vec<&StemToken> = tokens.iter().collect();
        let (taken, entry) = lexicon.entries_at_start(&tokens).next().unwrap();
        assert_eq!((taken, entry.points_to.len()), (2, 2));
        assert_eq!(entry.points_to[1].stems, ["z", "t"]);
    }

    #[test]
    fn a_section_is_a_topic() {
        let text = "# air\nplane > flight\n\n# water\nboat | ship\n";
        let lexicon = Lexicon::read(&[(LexiconSectionKind::Topics, text)]);
        let topics = |word: &str| {
            lexicon.entry(&toolgate_terms::stem::english(word)).unwrap().topics.clone()
        };
        assert_eq!(topics("plane"), topics("flight"));
        assert_eq!(topics("boat"), topics("ship"));
        assert_ne!(topics("plane"), topics("boat"));
    }
}

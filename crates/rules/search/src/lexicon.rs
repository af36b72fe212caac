//! What else a thing may be called: concepts as lists of words and phrases, and phrases that point
//! to words.
//!
//! The texts under `lexicon/` are plain: one concept per line, members separated by `|`, a weight
//! before it (`0.5:`) where they are less than synonyms, `a > b` where `a` in a query finds `b` in
//! a tool and not the other way. `#` begins a comment, and at the beginning of a line a section:
//! what stands in one section has to do with each other, which is a topic. This file reads them
//! once. What the weights do to a score is decided in `query`.

use std::sync::OnceLock;

use crate::hashed::{self, Hashes, NOTHING, Table};
use crate::terms::{self, Token};

/// What the sections of a text are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sections {
    /// One thing each: words of the same section have to do with each other.
    Topics,
    /// What is done, whatever with: no topic, wherever else the words stand.
    Actions,
    /// Only to make the text readable.
    Headings,
}

const TEXTS: &[(Sections, &str)] = &[
    (Sections::Headings, include_str!("lexicon/abbreviations.txt")),
    (Sections::Actions, include_str!("lexicon/actions.txt")),
    (Sections::Topics, include_str!("lexicon/communication.txt")),
    (Sections::Topics, include_str!("lexicon/developer.txt")),
    (Sections::Headings, include_str!("lexicon/entities.txt")),
    (Sections::Topics, include_str!("lexicon/files_and_text.txt")),
    (Sections::Topics, include_str!("lexicon/food_and_health.txt")),
    (Sections::Topics, include_str!("lexicon/home_and_transport.txt")),
    (Sections::Topics, include_str!("lexicon/knowledge_and_education.txt")),
    (Sections::Topics, include_str!("lexicon/media.txt")),
    (Sections::Topics, include_str!("lexicon/money.txt")),
    (Sections::Headings, include_str!("lexicon/other_languages.txt")),
    (Sections::Topics, include_str!("lexicon/security_and_network.txt")),
    (Sections::Topics, include_str!("lexicon/shopping_and_work.txt")),
    (Sections::Topics, include_str!("lexicon/sport_and_games.txt")),
    (Sections::Topics, include_str!("lexicon/time_and_units.txt")),
    (Sections::Topics, include_str!("lexicon/travel_and_places.txt")),
    (Sections::Topics, include_str!("lexicon/weather_and_nature.txt")),
];

/// More words than this are no phrase.
pub(crate) const LONGEST_PHRASE: usize = 6;

/// What a verb is parted from: `turn the lights off`.
const PARTICLES: &[&str] =
    &["up", "down", "off", "out", "away", "back", "over", "into", "on", "together", "aside"];

/// Words that may stand between the two of a phrase.
const WIDEST_GAP: usize = 2;

/// What is known about one word or phrase.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    /// The concepts it belongs to, each with the weight of that line.
    pub(crate) concepts: Vec<(u32, f32)>,
    /// The topics it belongs to: like concepts, numbered with them, but much wider.
    pub(crate) topics: Vec<u32>,
    /// Whether it is something done, so that it belongs to no topic.
    pub(crate) is_action: bool,
    /// What it points to, when it stands in a query.
    pub(crate) points_to: Vec<Target>,
}

/// What a word or phrase points to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The word, or the words of a phrase, as stems.
    pub(crate) stems: Vec<String>,
    /// The weight of the line.
    pub(crate) weight: f32,
}

/// All entries, found by the hash of their stems.
pub(crate) struct Lexicon {
    entries: Table<Entry>,
    /// Hashes of the beginnings of phrases: where a look-up may go on.
    beginnings: Hashes,
    concepts: u32,
}

impl Lexicon {
    /// The lexicon that is built in.
    pub(crate) fn get() -> &'static Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        LEXICON.get_or_init(|| Self::read(TEXTS))
    }

    /// How many concepts and topics there are: they are numbered from 0.
    pub(crate) fn concepts(&self) -> usize {
        self.concepts as usize
    }

    /// What is known about one stem.
    pub(crate) fn word(&self, stem: &str) -> Option<&Entry> {
        self.entries.get(&hashed::and(NOTHING, hashed::hash(stem)))
    }

    /// The entries that begin at the first of these tokens, with how many tokens each takes.
    pub(crate) fn beginning<'a>(
        &'a self,
        tokens: &'a [&'a Token],
    ) -> impl Iterator<Item = (usize, &'a Entry)> {
        let mut state = NOTHING;
        let mut at = 0;
        let mut goes_on = true;
        std::iter::from_fn(move || {
            while goes_on && at < tokens.len().min(LONGEST_PHRASE) {
                state = hashed::and(state, tokens[at].hash);
                at += 1;
                goes_on = self.beginnings.contains(&state);
                if let Some(entry) = self.entries.get(&state) {
                    return Some((at, entry));
                }
            }
            None
        })
    }

    /// The entries of two words of which the first is the first of these tokens and the second
    /// one of the next few: `throw` this old `away`. Only words of content may stand between.
    pub(crate) fn apart<'a>(
        &'a self,
        tokens: &'a [&'a Token],
    ) -> impl Iterator<Item = (usize, &'a Entry)> {
        let first = tokens.first().map(|token| hashed::and(NOTHING, token.hash));
        let first = first.filter(|state| self.beginnings.contains(state));
        first.into_iter().flat_map(move |state| {
            let between = tokens[1..].iter().take(WIDEST_GAP);
            let gap = between.take_while(|token| !token.background.is_empty()).count();
            (2..tokens.len().min(2 + gap)).filter_map(move |at| {
                let last = tokens[at];
                let small = last.background.is_empty();
                if small && !PARTICLES.contains(&last.word.text.as_str()) {
                    return None;
                }
                Some((at + 1, self.entries.get(&hashed::and(state, tokens[at].hash))?))
            })
        })
    }

    fn read(texts: &[(Sections, &str)]) -> Self {
        let mut lexicon =
            Self { entries: Table::default(), beginnings: Hashes::default(), concepts: 0 };
        for (sections, text) in texts {
            let mut topic = None;
            for line in text.lines() {
                if line.starts_with('#') && *sections == Sections::Topics {
                    topic = Some(lexicon.number());
                }
                let line = line.split('#').next().unwrap_or_default().trim();
                if !line.is_empty() {
                    lexicon.line(line, topic);
                }
                if *sections == Sections::Actions {
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

    /// The next number of a concept or topic.
    fn number(&mut self) -> u32 {
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
        let concept = self.number();
        for tokens in phrases(members) {
            let entry = self.entry_mut(&tokens);
            if entry.concepts.last().is_none_or(|last| last.0 != concept) {
                entry.concepts.push((concept, weight));
            }
        }
    }

    fn pointers(&mut self, from: &str, to: &str, weight: f32) {
        let targets: Vec<Target> = phrases(to)
            .map(|tokens| Target {
                stems: tokens.into_iter().map(|token| token.stem).collect(),
                weight,
            })
            .collect();
        for tokens in phrases(from) {
            self.entry_mut(&tokens).points_to.extend(targets.iter().cloned());
        }
    }

    fn entry_mut(&mut self, tokens: &[Token]) -> &mut Entry {
        let mut state = NOTHING;
        for (at, token) in tokens.iter().enumerate() {
            state = hashed::and(state, token.hash);
            if at + 1 < tokens.len() {
                self.beginnings.insert(state);
            }
        }
        self.entries.entry(state).or_default()
    }
}

/// The members of one side of a line.
fn phrases(members: &str) -> impl Iterator<Item = Vec<Token>> {
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
            let tokens: Vec<&Token> = tokens.iter().collect();
            let entry = lexicon.beginning(&tokens).last().map(|found| found.1);
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
            Sections::Headings,
            "# nothing\nfolder | directory\n0.5: x b | c d e # x\np q > r | z t\n",
        )]);
        assert_eq!(lexicon.concepts(), 2);
        assert_eq!(lexicon.word("folder").unwrap().concepts, [(0, 1.0)]);
        let tokens = terms::phrase("p q");
        let tokens: Vec<&Token> = tokens.iter().collect();
        let (taken, entry) = lexicon.beginning(&tokens).next().unwrap();
        assert_eq!((taken, entry.points_to.len()), (2, 2));
        assert_eq!(entry.points_to[1].stems, ["z", "t"]);
    }

    #[test]
    fn a_section_is_a_topic() {
        let text = "# air\nplane > flight\n\n# water\nboat | ship\n";
        let lexicon = Lexicon::read(&[(Sections::Topics, text)]);
        let topics = |word: &str| lexicon.word(&crate::stem::stem(word)).unwrap().topics.clone();
        assert_eq!(topics("plane"), topics("flight"));
        assert_eq!(topics("boat"), topics("ship"));
        assert_ne!(topics("plane"), topics("boat"));
    }
}

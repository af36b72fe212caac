//! Parses a request into needs: its words, their synonyms, and how much each counts.
//!
//! A request is a short text or a long story. Everything in it that can matter becomes a
//! [`QueryNeed`]; `rank` scores how well documents meet the needs.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entities::{self, QueryEntity};
use crate::focus::QueryBackground;
use crate::hit::MatchKind;
use crate::index::CapabilityIndex;
use crate::intent::{self, ReadWriteIntent};
use crate::lexicon::{Lexicon, LexiconEntry, LexiconTarget};
use crate::terms::{self, StemToken, TermKey};
use crate::words::WordKind;
use toolgate_terms::stem;

use crate::{definition, similar_words, weights};

/// The maximum length of a request, in bytes.
const LONGEST: usize = 8 * 1024;
/// The maximum number of words of a request.
const MOST_WORDS: usize = 400;
/// The maximum number of needs. The most important ones are kept.
const MOST_NEEDS: usize = 48;
/// How many tokens after a part the joined identifier is searched.
const MOST_HUMPS: usize = 8;
/// The maximum number of unknown words that are compared with every stem as typing errors.
const MOST_TYPOS: usize = 6;
/// The maximum number of unknown words that are compared with every stem by prefix.
const MOST_KIN: usize = 12;

/// A parsed request.
#[derive(Debug)]
pub(crate) struct CapabilityQuery {
    /// The needs of the request.
    pub(crate) needs: Vec<QueryNeed>,
    /// Whether it reads or writes.
    pub(crate) intent: ReadWriteIntent,
}

/// One thing that a request asks for.
#[derive(Debug)]
pub(crate) struct QueryNeed {
    /// The words of the request.
    pub(crate) query_words: String,
    /// Its weight.
    pub(crate) importance: f32,
    /// The terms that meet it, best first.
    pub(crate) terms: Vec<NeedTerm>,
}

/// A term that meets a need.
#[derive(Debug)]
pub(crate) struct NeedTerm {
    /// The term.
    pub(crate) key: TermKey,
    /// How well it meets the need, relative to the word itself.
    pub(crate) weight: f32,
    /// How the term is related to the word.
    pub(crate) kind: MatchKind,
}

/// Parses a request.
pub(crate) fn read(index: &CapabilityIndex, text: &str) -> CapabilityQuery {
    let text = definition::truncate_text(text, LONGEST);
    let entities = entities::find(text);
    let tokens = terms::tokens(text, MOST_WORDS);
    let mut reader = ToolQueryParser {
        index,
        text,
        needs: Vec::new(),
        typos: MOST_TYPOS,
        kin: MOST_KIN,
        topics: BTreeMap::new(),
        quoted: quoted(text),
        focus: QueryBackground::of(text, &tokens),
    };
    reader.words(&tokens, &entities);
    reader.phrases(&terms::phrase_tokens(&tokens), &entities);
    reader.entities(&entities);
    reader.topics();
    CapabilityQuery { needs: reader.finish(), intent: intent::request_intent(text, &tokens) }
}

/// Builds the needs of a request.
struct ToolQueryParser<'a> {
    index: &'a CapabilityIndex,
    text: &'a str,
    needs: Vec<QueryNeed>,
    typos: usize,
    kin: usize,
    /// The weight of each topic in the request, and its first words.
    topics: BTreeMap<u32, (f32, String)>,
    quoted: Vec<Range<usize>>,
    focus: QueryBackground,
}

impl ToolQueryParser<'_> {
    /// Adds a need for each word.
    fn words(&mut self, tokens: &[StemToken], entities: &[QueryEntity]) {
        for (at, token) in tokens.iter().enumerate() {
            if self.is_duplicate_form(tokens, at) {
                continue;
            }
            let importance = self.importance(token, entities);
            if importance == 0.0 {
                continue;
            }
            let mut ways = self.matching_terms(token);
            if let Some(next) = tokens.get(at + 1) {
                self.add_joined(token, next, &mut ways);
            }
            self.push(&token.word.text, importance, ways);
        }
    }

    /// Returns true if this is the form of an identifier, parts or joined, that does not count.
    fn is_duplicate_form(&self, tokens: &[StemToken], at: usize) -> bool {
        let token = &tokens[at];
        let known = |token: &StemToken| {
            self.index.postings.key(&token.stem).is_some()
                || Lexicon::get().entry(&token.stem).is_some()
        };
        if token.word.kind == WordKind::Joined {
            return !known(token);
        }
        let whole = tokens[at + 1..].iter().take(MOST_HUMPS).find(|other| {
            other.word.kind == WordKind::Joined
                && (other.word.start..other.word.end).contains(&token.word.start)
        });
        whole.is_some_and(known)
    }

    fn importance(&self, token: &StemToken, entities: &[QueryEntity]) -> f32 {
        let inside = |ranges: &Range<usize>| ranges.contains(&token.word.start);
        if entities.iter().any(|entity| inside(&entity.range)) {
            return 0.0;
        }
        let mut importance = match token.word.kind {
            WordKind::Number => weights::NUMBER,
            _ => token.info.importance,
        };
        if self.quoted.iter().any(inside) {
            importance *= weights::QUOTED;
        }
        importance * self.focus.weight_at(token.word.start)
    }

    fn matching_terms(&mut self, token: &StemToken) -> Vec<NeedTerm> {
        let mut ways = Vec::new();
        let exact = self.index.postings.key(&token.stem);
        ways.extend(exact.map(|key| NeedTerm { key, weight: 1.0, kind: MatchKind::Exact }));
        let entry = Lexicon::get().entry(&token.stem);
        if let Some(entry) = entry {
            push_synonyms(entry, weights::SYNONYM, MatchKind::Synonym, &mut ways);
        }
        let known = exact.is_some() || entry.is_some();
        if exact.is_none() && token.word.kind == WordKind::Plain {
            self.add_prefix_matches(&token.stem, &mut ways);
        }
        if known || token.word.kind == WordKind::Number {
            return ways;
        }
        let parts = similar_words::split_compound(self.index, &token.word.text);
        for part in parts.iter().flatten() {
            self.add_stem(part, (weights::PART, weights::SYNONYM), MatchKind::Part, &mut ways);
        }
        if parts.is_none() && self.typos > 0 {
            self.typos -= 1;
            let keys = similar_words::find_typo_matches(self.index, &token.stem);
            ways.extend(keys.into_iter().map(|key| NeedTerm {
                key,
                weight: weights::TYPO,
                kind: MatchKind::Typo,
            }));
        }
        ways
    }

    /// Adds stems with a common prefix: `photograph` where documents say `photo`.
    fn add_prefix_matches(&mut self, stem: &str, ways: &mut Vec<NeedTerm>) {
        if self.kin > 0 {
            self.kin -= 1;
            let keys = similar_words::find_prefix_matches(self.index, stem);
            let way = |key| NeedTerm { key, weight: weights::KIN, kind: MatchKind::Stem };
            ways.extend(keys.into_iter().map(way));
        }
    }

    /// Adds the joined form: `time zone` where documents say `timezone`.
    fn add_joined(&self, token: &StemToken, next: &StemToken, ways: &mut Vec<NeedTerm>) {
        if token.word.kind != WordKind::Plain || next.word.kind != WordKind::Plain {
            return;
        }
        let whole = stem::english(&format!("{}{}", token.word.text, next.word.text));
        self.add_stem(&whole, (weights::JOINED, weights::SYNONYM), MatchKind::Part, ways);
    }

    fn add_stem(
        &self,
        stem: &str,
        (weight, synonym): (f32, f32),
        how: MatchKind,
        ways: &mut Vec<NeedTerm>,
    ) {
        ways.extend(self.index.postings.key(stem).map(|key| NeedTerm { key, weight, kind: how }));
        if let Some(entry) = Lexicon::get().entry(stem) {
            push_synonyms(entry, weight * synonym, how, ways);
        }
    }

    /// Adds phrases of the lexicon, and what words and phrases point to.
    fn phrases(&mut self, tokens: &[&StemToken], entities: &[QueryEntity]) {
        for at in 0..tokens.len() {
            let rest = &tokens[at..];
            let apart = Lexicon::get().separated_entries(rest);
            for (taken, entry) in Lexicon::get().entries_at_start(rest).chain(apart) {
                let span = &rest[..taken];
                let asked = &self.text[span[0].word.start..span[taken - 1].word.end];
                let importance = match span {
                    [only] => self.importance(only, entities),
                    _ => self.phrase_importance(span, entities),
                };
                if taken > 1 {
                    self.phrase(asked, importance, span, entry);
                }
                for target in &entry.points_to {
                    self.add_target(
                        asked,
                        target,
                        importance * weights::POINTED,
                        MatchKind::Synonym,
                    );
                }
                self.count_topics(asked, importance, entry);
            }
        }
    }

    /// Counts the topics of a word or phrase.
    fn count_topics(&mut self, asked: &str, importance: f32, entry: &LexiconEntry) {
        for topic in &entry.topics {
            let (sum, _) = self.topics.entry(*topic).or_insert_with(|| (0.0, asked.to_owned()));
            *sum += importance / entry.topics.len() as f32;
        }
    }

    /// Returns the weight of a phrase: that of its most important word, or a little for stop words.
    fn phrase_importance(&self, span: &[&StemToken], entities: &[QueryEntity]) -> f32 {
        let most = span.iter().map(|token| self.importance(token, entities)).fold(0.0, f32::max);
        most.max(weights::SMALL_PHRASE)
    }

    fn phrase(&mut self, asked: &str, importance: f32, span: &[&StemToken], entry: &LexiconEntry) {
        let mut ways = Vec::new();
        push_synonyms(entry, 1.0, MatchKind::Synonym, &mut ways);
        if ways.is_empty() && entry.points_to.is_empty() {
            return;
        }
        for need in &mut self.needs {
            if span.iter().any(|token| token.word.text == need.query_words) {
                need.importance *= weights::IN_PHRASE;
            }
        }
        self.push(asked, importance, ways);
    }

    fn add_target(&mut self, asked: &str, target: &LexiconTarget, importance: f32, how: MatchKind) {
        let importance = importance * target.weight;
        for stem in &target.stems {
            let mut ways = Vec::new();
            self.add_stem(stem, (1.0, weights::POINTED_SYNONYM), how, &mut ways);
            let importance = importance / target.stems.len() as f32;
            self.push(asked, importance, ways);
        }
    }

    /// Adds a need for each topic. The more of the request is about it, the more it counts.
    fn topics(&mut self) {
        for (topic, (sum, asked)) in std::mem::take(&mut self.topics) {
            let ways = vec![NeedTerm {
                key: TermKey::Concept(topic),
                weight: 1.0,
                kind: MatchKind::Topic,
            }];
            self.push(&asked, weights::TOPIC * sum / (sum + 1.0), ways);
        }
    }

    fn entities(&mut self, entities: &[QueryEntity]) {
        for entity in entities {
            let asked = &self.text[entity.range.clone()];
            for word in entity.related_words {
                let target = LexiconTarget { stems: vec![stem::english(word)], weight: 1.0 };
                let importance = weights::PATTERN * self.focus.weight_at(entity.range.start);
                self.add_target(asked, &target, importance, MatchKind::Pattern);
            }
        }
    }

    /// Adds a need. Needs with the same best term are merged and keep the greater weight.
    fn push(&mut self, asked: &str, importance: f32, ways: Vec<NeedTerm>) {
        let Some(first) = ways.first().filter(|_| importance > 0.0) else {
            return;
        };
        let same = self.needs.iter_mut().find(|need| need.terms[0].key == first.key);
        match same {
            Some(need) => need.importance = need.importance.max(importance),
            None => self.needs.push(QueryNeed {
                query_words: asked.to_owned(),
                importance,
                terms: ways,
            }),
        }
    }

    fn finish(mut self) -> Vec<QueryNeed> {
        if self.needs.len() > MOST_NEEDS {
            self.needs.sort_by(|a, b| b.importance.total_cmp(&a.importance));
            self.needs.truncate(MOST_NEEDS);
        }
        self.needs
    }
}

fn push_synonyms(entry: &LexiconEntry, weight: f32, how: MatchKind, ways: &mut Vec<NeedTerm>) {
    let clear = weights::clarity(entry.concepts.len());
    ways.extend(entry.concepts.iter().map(|&(concept, line)| NeedTerm {
        key: TermKey::Concept(concept),
        weight: weight * line * clear,
        kind: how,
    }));
}

/// Returns the ranges between quotes.
fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let closing = match c {
            '"' => Some('"'),
            '“' | '„' => Some('”'),
            '«' => Some('»'),
            '「' => Some('」'),
            '\'' | '‘' if !before.is_alphanumeric() => Some(if c == '\'' { '\'' } else { '’' }),
            _ => None,
        };
        match open {
            Some((start, end)) if c == end || (end == '”' && c == '“') => {
                ranges.push(start..at);
                open = None;
            }
            None => open = closing.map(|end| (at, end)),
            Some(_) => {}
        }
        before = c;
    }
    ranges
}

//! What a request needs: its words, what else they may be called, and how much each counts.
//!
//! A request is a short text or a long story. Everything in it that may matter becomes a [`Need`];
//! how well a document meets the needs is decided in `rank`.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::entities::{self, Entity};
use crate::focus::Focus;
use crate::hit::How;
use crate::index::Index;
use crate::lexicon::{Entry, Lexicon, Target};
use crate::manner::{self, Manner};
use crate::terms::{self, Key, Token};
use crate::words::Kind;
use crate::{definition, similar, stem, weights};

/// Bytes of a request that are read.
const LONGEST: usize = 8 * 1024;
/// Words of a request that are read.
const MOST_WORDS: usize = 400;
/// Needs that are ranked by: of more, those that count most.
const MOST_NEEDS: usize = 48;
/// How far behind a hump the whole identifier is looked for.
const MOST_HUMPS: usize = 8;
/// Unknown words that are compared with every stem.
const MOST_TYPOS: usize = 6;
/// Words that no document holds and whose beginnings are compared with every stem.
const MOST_KIN: usize = 12;

/// What a request asks for.
#[derive(Debug)]
pub(crate) struct Query {
    /// Everything in it that may matter.
    pub(crate) needs: Vec<Need>,
    /// Whether it is about knowing or doing.
    pub(crate) manner: Manner,
}

/// One thing a request asks for.
#[derive(Debug)]
pub(crate) struct Need {
    /// The words of the request.
    pub(crate) asked: String,
    /// How much it counts.
    pub(crate) importance: f32,
    /// The terms that meet it, the best first.
    pub(crate) ways: Vec<Way>,
}

/// A term that meets a need.
#[derive(Debug)]
pub(crate) struct Way {
    /// The term.
    pub(crate) key: Key,
    /// How well it does, beside the word itself.
    pub(crate) weight: f32,
    /// In which way.
    pub(crate) how: How,
}

/// Reads a request.
pub(crate) fn read(index: &Index, text: &str) -> Query {
    let text = definition::bounded(text, LONGEST);
    let entities = entities::find(text);
    let tokens = terms::tokens(text, MOST_WORDS);
    let mut reader = Reader {
        index,
        text,
        needs: Vec::new(),
        typos: MOST_TYPOS,
        kin: MOST_KIN,
        topics: BTreeMap::new(),
        quoted: quoted(text),
        focus: Focus::of(text, &tokens),
    };
    reader.words(&tokens, &entities);
    reader.phrases(&terms::connected(&tokens), &entities);
    reader.entities(&entities);
    reader.topics();
    Query { needs: reader.finish(), manner: manner::of_request(text, &tokens) }
}

struct Reader<'a> {
    index: &'a Index,
    text: &'a str,
    needs: Vec<Need>,
    typos: usize,
    kin: usize,
    /// How much of the request is about each topic, and the first words that are.
    topics: BTreeMap<u32, (f32, String)>,
    quoted: Vec<Range<usize>>,
    focus: Focus,
}

impl Reader<'_> {
    /// A need for each word.
    fn words(&mut self, tokens: &[Token], entities: &[Entity]) {
        for (at, token) in tokens.iter().enumerate() {
            if self.is_doubled(tokens, at) {
                continue;
            }
            let importance = self.importance(token, entities);
            if importance == 0.0 {
                continue;
            }
            let mut ways = self.ways_of(token);
            if let Some(next) = tokens.get(at + 1) {
                self.joined(token, next, &mut ways);
            }
            self.push(&token.word.text, importance, ways);
        }
    }

    /// Whether an identifier counts as its humps or as the whole, and this is the other one.
    fn is_doubled(&self, tokens: &[Token], at: usize) -> bool {
        let token = &tokens[at];
        let known = |token: &Token| {
            self.index.postings().key(&token.stem).is_some()
                || Lexicon::get().word(&token.stem).is_some()
        };
        if token.word.kind == Kind::Joined {
            return !known(token);
        }
        let whole = tokens[at + 1..].iter().take(MOST_HUMPS).find(|other| {
            other.word.kind == Kind::Joined
                && (other.word.start..other.word.end).contains(&token.word.start)
        });
        whole.is_some_and(known)
    }

    fn importance(&self, token: &Token, entities: &[Entity]) -> f32 {
        let inside = |ranges: &Range<usize>| ranges.contains(&token.word.start);
        if entities.iter().any(|entity| inside(&entity.range)) {
            return 0.0;
        }
        let mut importance = match token.word.kind {
            Kind::Number => weights::NUMBER,
            _ => token.background.importance,
        };
        if self.quoted.iter().any(inside) {
            importance *= weights::QUOTED;
        }
        importance * self.focus.at(token.word.start)
    }

    fn ways_of(&mut self, token: &Token) -> Vec<Way> {
        let mut ways = Vec::new();
        let exact = self.index.postings().key(&token.stem);
        ways.extend(exact.map(|key| Way { key, weight: 1.0, how: How::Exact }));
        let entry = Lexicon::get().word(&token.stem);
        if let Some(entry) = entry {
            synonyms(entry, weights::SYNONYM, How::Synonym, &mut ways);
        }
        let known = exact.is_some() || entry.is_some();
        if exact.is_none() && token.word.kind == Kind::Plain {
            self.kin(&token.stem, &mut ways);
        }
        if known || token.word.kind == Kind::Number {
            return ways;
        }
        let parts = similar::parts(self.index, &token.word.text);
        for part in parts.iter().flatten() {
            self.by_stem(part, weights::PART, How::Part, &mut ways);
        }
        if parts.is_none() && self.typos > 0 {
            self.typos -= 1;
            let keys = similar::typos(self.index, &token.stem);
            ways.extend(keys.into_iter().map(|key| Way {
                key,
                weight: weights::TYPO,
                how: How::Typo,
            }));
        }
        ways
    }

    /// `photograph` where documents say `photo`.
    fn kin(&mut self, stem: &str, ways: &mut Vec<Way>) {
        if self.kin > 0 {
            self.kin -= 1;
            let keys = similar::kin(self.index, stem);
            let way = |key| Way { key, weight: weights::KIN, how: How::Stem };
            ways.extend(keys.into_iter().map(way));
        }
    }

    /// `time zone` where documents say `timezone`.
    fn joined(&self, token: &Token, next: &Token, ways: &mut Vec<Way>) {
        if token.word.kind != Kind::Plain || next.word.kind != Kind::Plain {
            return;
        }
        let whole = stem::stem(&format!("{}{}", token.word.text, next.word.text));
        self.by_stem(&whole, weights::JOINED, How::Part, ways);
    }

    fn by_stem(&self, stem: &str, weight: f32, how: How, ways: &mut Vec<Way>) {
        ways.extend(self.index.postings().key(stem).map(|key| Way { key, weight, how }));
        if let Some(entry) = Lexicon::get().word(stem) {
            synonyms(entry, weight * weights::SYNONYM, how, ways);
        }
    }

    /// Phrases the lexicon knows, and what words and phrases point to and are about.
    fn phrases(&mut self, tokens: &[&Token], entities: &[Entity]) {
        for at in 0..tokens.len() {
            let rest = &tokens[at..];
            let apart = Lexicon::get().apart(rest);
            for (taken, entry) in Lexicon::get().beginning(rest).chain(apart) {
                let span = &rest[..taken];
                let asked = &self.text[span[0].word.start..span[taken - 1].word.end];
                let importance = match span {
                    [only] => self.importance(only, entities),
                    _ => self.importance_of(span, entities),
                };
                if taken > 1 {
                    self.phrase(asked, importance, span, entry);
                }
                for target in &entry.points_to {
                    self.pointed(asked, target, importance * weights::POINTED, How::Synonym);
                }
                self.about(asked, importance, entry);
            }
        }
    }

    /// Counts the topics of a word or phrase.
    fn about(&mut self, asked: &str, importance: f32, entry: &Entry) {
        for topic in &entry.topics {
            let (sum, _) = self.topics.entry(*topic).or_insert_with(|| (0.0, asked.to_owned()));
            *sum += importance / entry.topics.len() as f32;
        }
    }

    /// A phrase counts like the word of it that counts most; one of small words a little.
    fn importance_of(&self, span: &[&Token], entities: &[Entity]) -> f32 {
        let most = span.iter().map(|token| self.importance(token, entities)).fold(0.0, f32::max);
        most.max(weights::SMALL_PHRASE)
    }

    fn phrase(&mut self, asked: &str, importance: f32, span: &[&Token], entry: &Entry) {
        let mut ways = Vec::new();
        synonyms(entry, 1.0, How::Synonym, &mut ways);
        if ways.is_empty() && entry.points_to.is_empty() {
            return;
        }
        for need in &mut self.needs {
            if span.iter().any(|token| token.word.text == need.asked) {
                need.importance *= weights::IN_PHRASE;
            }
        }
        self.push(asked, importance, ways);
    }

    fn pointed(&mut self, asked: &str, target: &Target, importance: f32, how: How) {
        let importance = importance * target.weight;
        for stem in &target.stems {
            let mut ways = Vec::new();
            ways.extend(self.index.postings().key(stem).map(|key| Way { key, weight: 1.0, how }));
            if let Some(entry) = Lexicon::get().word(stem) {
                synonyms(entry, weights::POINTED_SYNONYM, how, &mut ways);
            }
            let importance = importance / target.stems.len() as f32;
            self.push(asked, importance, ways);
        }
    }

    /// A need for each topic: the more of the request is about it, the nearer to its full worth.
    fn topics(&mut self) {
        for (topic, (sum, asked)) in std::mem::take(&mut self.topics) {
            let ways = vec![Way { key: Key::Concept(topic), weight: 1.0, how: How::Topic }];
            self.push(&asked, weights::TOPIC * sum / (sum + 1.0), ways);
        }
    }

    fn entities(&mut self, entities: &[Entity]) {
        for entity in entities {
            let asked = &self.text[entity.range.clone()];
            for word in entity.points_to {
                let target = Target { stems: vec![stem::stem(word)], weight: 1.0 };
                let importance = weights::PATTERN * self.focus.at(entity.range.start);
                self.pointed(asked, &target, importance, How::Pattern);
            }
        }
    }

    /// Adds a need. One that is met by the same term first counts once, as much as the greater.
    fn push(&mut self, asked: &str, importance: f32, ways: Vec<Way>) {
        let Some(first) = ways.first().filter(|_| importance > 0.0) else {
            return;
        };
        let same = self.needs.iter_mut().find(|need| need.ways[0].key == first.key);
        match same {
            Some(need) => need.importance = need.importance.max(importance),
            None => self.needs.push(Need { asked: asked.to_owned(), importance, ways }),
        }
    }

    fn finish(mut self) -> Vec<Need> {
        if self.needs.len() > MOST_NEEDS {
            self.needs.sort_by(|a, b| b.importance.total_cmp(&a.importance));
            self.needs.truncate(MOST_NEEDS);
        }
        self.needs
    }
}

fn synonyms(entry: &Entry, weight: f32, how: How, ways: &mut Vec<Way>) {
    let clear = weights::clarity(entry.concepts.len());
    ways.extend(entry.concepts.iter().map(|&(concept, line)| Way {
        key: Key::Concept(concept),
        weight: weight * line * clear,
        how,
    }));
}

/// What stands between quotes.
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

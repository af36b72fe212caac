//! Extracts sentences that answer a question.
//!
//! A sentence answers if it, together with its context, covers the question: every name and number,
//! the thing asked for, and most of the other words; and if it has what the question wants, such as
//! a number, a date or a name. Shared words alone are not enough: if the most specific word is
//! missing nearby, the sentence does not answer, unless it and its context cover nearly all the
//! others.
//!
//! Nothing is inferred or rephrased, and no sentence is judged to be true.

use toolgate_reading::terms;

use crate::question::{self, ParsedQuestion, QuestionAnswerKind, QuestionTerm, QuestionTermClass};
use crate::units::{SentenceContext, SentenceUnit, units};
use crate::words::StemSet;
use crate::{PassageSpan, SourcePassage, answer_fit, document_names};

/// The sentences of the given passages that answer a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtractedAnswer {
    /// The sentences, best first; empty if the passages do not support an answer.
    pub sentences: Vec<PassageSpan>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// Words of the question that the best candidates do not cover.
    pub missing: Vec<String>,
}

/// Returns the sentences that answer a question, with the confidence and the missing words.
///
/// `share` returns the share of all passages in the store (0 to 1) that contain a term of
/// [`toolgate_reading::terms::query_term_strings`]. If it returns `None`, the given passages are
/// counted instead.
pub fn ground_answer(
    question: &str,
    passages: &[SourcePassage<'_>],
    share: &dyn Fn(&str) -> Option<f64>,
) -> ExtractedAnswer {
    let mut question = question::read(question);
    document_names::mark_document_names(&mut question, passages);
    if question.terms.is_empty() {
        return ExtractedAnswer::default();
    }
    let pages: Vec<AnalyzedPassage> = passages.iter().map(AnalyzedPassage::of).collect();
    let weights = weights(&question, &pages, share);
    let judge = SentenceScorer { question: &question, weights: &weights };
    let mut found: Vec<SentenceScore> = Vec::new();
    let best = passages.iter().map(|passage| passage.score).fold(f64::MIN, f64::max);
    for (passage, page) in pages.iter().enumerate() {
        let standing = rank_score(passages[passage].score, best, passage);
        let document = document_stems(passages, &pages, passage);
        for unit in 0..page.units.len() {
            let mut verdict = judge.score_sentence(passages[passage].text, page, unit, &document);
            verdict.rank += STANDING * standing;
            verdict.place = (passage, unit);
            found.push(verdict);
        }
    }
    found.sort_by(|one, other| other.rank.total_cmp(&one.rank).then(one.place.cmp(&other.place)));
    match found.iter().find(|verdict| verdict.answers) {
        Some(first) => ExtractedAnswer {
            sentences: gather(&question, passages, &pages, &found, first),
            confidence: first.support.min(1.0),
            missing: first.missing.clone(),
        },
        None => no_answer(&found),
    }
}

/// Returns an empty answer with the confidence and missing words of the best candidates.
fn no_answer(found: &[SentenceScore]) -> ExtractedAnswer {
    let nearest = found.iter().max_by(|one, other| one.support.total_cmp(&other.support));
    let missing = nearest.map(|nearest| nearest.missing.clone()).unwrap_or_default();
    ExtractedAnswer { sentences: Vec::new(), confidence: 0.0, missing }
}

/// The weight of a passage's search rank.
const STANDING: f64 = 0.12;

/// The share of the question's weight that must be covered.
const ENOUGH: f64 = 0.6;

/// The threshold above which it does not matter which words are missing. `SURE_OF` weighs three
/// coverages for it: by anything, by the sentence itself, and by its context.
const SURE: f64 = 0.7;
const SURE_OF: [f64; 3] = [0.5, 0.2, 0.3];

/// The share of the plain words that must be covered nearby.
const PLAIN: f64 = 0.5;

/// The same for yes/no and how questions, where each plain word can be the point.
const STRICT: f64 = 0.75;

/// The share of the question that the headings must cover if the sentence has none of its words.
const ANNOUNCED: f64 = 0.8;

/// The match strength from which a word counts as covered.
const MET: f64 = 0.5;

/// The maximum number of sentences, without list items after a colon.
const SENTENCES: usize = 3;

/// The maximum number of items or code blocks that follow a sentence that announces them.
const FOLLOWING: usize = 8;

/// A passage with its sentences and stems.
struct AnalyzedPassage {
    units: Vec<SentenceUnit>,
    title_stems: StemSet,
    all_stems: StemSet,
}

impl AnalyzedPassage {
    fn of(passage: &SourcePassage<'_>) -> Self {
        let units = units(passage);
        let mut whole = StemSet::of(passage.heading);
        for unit in &units {
            whole.join(&unit.stems);
        }
        let mut title = StemSet::of(passage.title);
        title.add(document_names::path_tail(passage.path));
        Self { units, title_stems: title, all_stems: whole }
    }
}

/// Returns the stems of the other passages of the same document.
fn document_stems(
    passages: &[SourcePassage<'_>],
    pages: &[AnalyzedPassage],
    passage: usize,
) -> StemSet {
    let mut all = pages[passage].all_stems.clone();
    let own = &passages[passage];
    if !(own.path.is_empty() && own.title.is_empty()) {
        for (other, page) in pages.iter().enumerate() {
            let same = passages[other].path == own.path && passages[other].title == own.title;
            if other != passage && same {
                all.join(&page.all_stems);
            }
        }
    }
    all
}

fn rank_score(score: f64, best: f64, place: usize) -> f64 {
    let by_score =
        if best > 0.0 && score.is_finite() { (score / best).clamp(0.0, 1.0) } else { 0.0 };
    let by_place = 1.0 / (1.0 + place as f64 / 4.0);
    0.5 * by_score + 0.5 * by_place
}

/// Returns the weight of each word of the question, by its class and its rarity.
fn weights(
    question: &ParsedQuestion,
    pages: &[AnalyzedPassage],
    share: &dyn Fn(&str) -> Option<f64>,
) -> Vec<f64> {
    let weigh = |term: &QuestionTerm| {
        let class = match term.class {
            QuestionTermClass::Specific => 1.0,
            QuestionTermClass::Plain => 0.7,
            QuestionTermClass::Verb => 0.45,
            QuestionTermClass::Weak => 0.2,
        };
        let holding = pages.iter().filter(|page| page.all_stems.contains(&term.stem)).count();
        let known = terms::query_term_strings(&term.word)
            .iter()
            .filter_map(|term| share(term))
            .reduce(f64::min);
        let rarity = match known {
            Some(share) => rarity(share).max(0.2),
            // The given passages were found by these words, so they contain them more often than
            // others do.
            None => rarity(holding as f64 / pages.len().max(1) as f64).max(0.6),
        };
        class * (0.4 + 0.6 * rarity)
    };
    question.terms.iter().map(weigh).collect()
}

/// Maps the share of passages to a rarity: 0 for every passage, 1 for one in a thousand.
fn rarity(share: f64) -> f64 {
    (-(share.clamp(0.001, 1.0)).ln() / 1000_f64.ln()).clamp(0.0, 1.0)
}

/// How well one sentence answers the question.
#[derive(Debug, Clone, Default)]
struct SentenceScore {
    place: (usize, usize),
    answers: bool,
    support: f64,
    rank: f64,
    missing: Vec<String>,
}

/// Scores sentences against one question.
struct SentenceScorer<'a> {
    question: &'a ParsedQuestion,
    weights: &'a [f64],
}

impl SentenceScorer<'_> {
    fn score_sentence(
        &self,
        text: &str,
        page: &AnalyzedPassage,
        place: usize,
        document: &StemSet,
    ) -> SentenceScore {
        let unit = &page.units[place];
        if !unit.is_statement {
            return SentenceScore::default();
        }
        let context = SentenceContext::of(&page.units, place);
        let words = text.get(unit.start..unit.end).unwrap_or("");
        let fits = answer_fit::check_fit(self.question.answer_kind, words, unit.is_code);
        let mut sums = QuestionCoverageSums::default();
        let mut missing = Vec::new();
        for (term, weight) in self.question.terms.iter().zip(self.weights) {
            let mut met = self.term_coverage(term, unit, &context, page, document);
            if fits == answer_fit::AnswerFit::Has && term.is_implied_by(self.question.answer_kind) {
                met = TermCoverage { own: 1.0, local: 1.0, best: 1.0, ..met };
            }
            sums.count(term, *weight, &met);
            if met.best < MET {
                missing.push(term.word.clone());
            }
        }
        let support = sums.share(sums.met);
        let near = sums.share(sums.own);
        let wanted = self.question.answer_kind;
        let holds = sums.covers_required(wanted) && support >= ENOUGH
            || sums.certainty() >= SURE && !unit.is_code;
        let answers = fits.can_answer() && !sums.lacks_name && sums.covers_verb(wanted) && holds;
        let code = if unit.is_code && self.question.answer_kind != QuestionAnswerKind::Procedure {
            0.35
        } else {
            0.0
        };
        let about = 0.15 * sums.share(sums.titled);
        let rank =
            support + 0.35 * near + about + 0.1 * fits.bonus() - answer_fit::noise(words) - code;
        SentenceScore { place: (0, place), answers, support, rank, missing }
    }

    fn term_coverage(
        &self,
        term: &QuestionTerm,
        unit: &SentenceUnit,
        context: &SentenceContext<'_>,
        page: &AnalyzedPassage,
        document: &StemSet,
    ) -> TermCoverage {
        let own = match_strength(term, &unit.stems);
        let heading =
            context.headings.iter().map(|stems| match_strength(term, stems)).fold(0.0, f64::max);
        let near = context.near.iter().map(|stems| match_strength(term, stems)).fold(0.0, f64::max);
        let far = match term.class {
            // Mentioning a document's name in passing does not make it the subject.
            QuestionTermClass::Specific if term.names_document => (0.45, 0.4),
            QuestionTermClass::Specific => (0.45, 0.3),
            _ => (0.3, 0.15),
        };
        let best = own
            .max(0.85 * heading)
            .max(0.85 * match_strength(term, &page.title_stems))
            .max(0.7 * near)
            .max(far.0 * match_strength(term, &page.all_stems))
            .max(far.1 * match_strength(term, document));
        let titled = match_strength(term, &page.title_stems);
        TermCoverage { own, titled, local: own.max(0.85 * heading).max(0.7 * near), best }
    }
}

/// How far one word of the question is covered: by the sentence, by its headings, by its context,
/// and by the best of all.
struct TermCoverage {
    own: f64,
    titled: f64,
    local: f64,
    best: f64,
}

/// The coverage of a question, summed over its words.
#[derive(Default)]
struct QuestionCoverageSums {
    all: f64,
    met: f64,
    own: f64,
    local: f64,
    titled: f64,
    plain: f64,
    plain_met: f64,
    verbs: f64,
    verbs_met: f64,
    lacks_required: bool,
    /// A name or number of the question is not covered.
    lacks_name: bool,
    /// The previous word qualifies this one and is not covered.
    other_kind: bool,
}

impl QuestionCoverageSums {
    fn count(&mut self, term: &QuestionTerm, weight: f64, met: &TermCoverage) {
        self.all += weight;
        self.met += weight * met.best;
        self.own += weight * met.own;
        self.local += weight * met.local;
        self.titled += weight * met.titled;
        // Another kind of the same thing is a different thing.
        self.lacks_required |= self.other_kind && met.best >= MET;
        self.other_kind = term.qualifies_next && met.best < MET;
        match term.class {
            QuestionTermClass::Specific => self.lacks_name |= met.best < MET,
            QuestionTermClass::Plain => {
                self.plain += weight;
                self.plain_met += if met.best >= MET { weight } else { 0.0 };
            }
            QuestionTermClass::Verb => {
                self.verbs += weight;
                self.verbs_met += if met.best >= MET { weight } else { 0.0 };
            }
            QuestionTermClass::Weak => {}
        }
        self.lacks_required |= term.is_focus && met.local < MET;
    }

    /// Returns a sum as a share of the weight of all words.
    fn share(&self, sum: f64) -> f64 {
        if self.all > 0.0 { sum / self.all } else { 0.0 }
    }

    /// Returns how much of the question is covered in all, from 0 to 1.
    fn certainty(&self) -> f64 {
        let met = [self.met, self.own, self.local].into_iter().zip(SURE_OF);
        self.share(met.map(|(met, counts)| met * counts).sum())
    }

    /// Returns true if the verb is covered where it must be: in questions about a yes or no, a name
    /// or a procedure. Other answers can use another verb.
    fn covers_verb(&self, wanted: QuestionAnswerKind) -> bool {
        let said = self.verbs_met > 0.0 || self.verbs == 0.0;
        match wanted {
            QuestionAnswerKind::YesNo | QuestionAnswerKind::Name => said,
            QuestionAnswerKind::Procedure => {
                said || self.plain > 0.0 && self.plain_met >= self.plain
            }
            _ => true,
        }
    }

    /// Returns true if everything required is covered.
    fn covers_required(&self, wanted: QuestionAnswerKind) -> bool {
        let plain = if matches!(wanted, QuestionAnswerKind::YesNo | QuestionAnswerKind::Procedure) {
            STRICT
        } else {
            PLAIN
        };
        // Directly below the question, an answer need not repeat its words.
        let speaks = self.own > 0.0 || self.local >= ANNOUNCED * self.all;
        !self.lacks_required && speaks && self.plain_met >= plain * self.plain
    }
}

/// Returns how strongly the stems match a word: by itself, by all its pieces, or by a synonym.
fn match_strength(term: &QuestionTerm, stems: &StemSet) -> f64 {
    if stems.contains(&term.stem) {
        1.0
    } else if !term.pieces.is_empty() && term.pieces.iter().all(|piece| stems.contains(piece)) {
        0.95
    } else if term.synonyms.iter().any(|phrase| phrase.iter().all(|word| stems.contains(word))) {
        0.85
    } else {
        0.0
    }
}

/// Returns the best sentence with what it announces, and others that score nearly as well.
fn gather(
    question: &ParsedQuestion,
    passages: &[SourcePassage<'_>],
    pages: &[AnalyzedPassage],
    found: &[SentenceScore],
    first: &SentenceScore,
) -> Vec<PassageSpan> {
    let mut spans: Vec<PassageSpan> = Vec::new();
    let near = first.rank * 0.93;
    let good = found.iter().filter(|verdict| verdict.answers && verdict.rank >= near);
    for verdict in good.take(SENTENCES) {
        let (passage, place) = verdict.place;
        let unit = &pages[passage].units[place];
        push_unique(&mut spans, passages, passage, unit);
        if verdict.place != first.place {
            continue;
        }
        for next in
            following(passages[passage].text, &pages[passage].units, place, question.answer_kind)
        {
            push_unique(&mut spans, passages, passage, next);
        }
    }
    spans
}

/// Adds a sentence unless one with the same words is already there.
fn push_unique(
    spans: &mut Vec<PassageSpan>,
    passages: &[SourcePassage<'_>],
    passage: usize,
    unit: &SentenceUnit,
) {
    let span = PassageSpan { passage, start: unit.start, end: unit.end };
    let words = span.text_in(passages);
    if !spans.iter().any(|known| known.text_in(passages) == words) {
        spans.push(span);
    }
}

/// Returns what a sentence announces: items or code after its colon, and code after a sentence that
/// explains how to do something.
fn following<'a>(
    text: &str,
    units: &'a [SentenceUnit],
    place: usize,
    wanted: QuestionAnswerKind,
) -> Vec<&'a SentenceUnit> {
    let unit = &units[place];
    let announces = text.get(unit.start..unit.end).is_some_and(|words| words.ends_with(':'));
    let Some(next) = units.get(place + 1) else { return Vec::new() };
    let code = next.is_code && (announces || wanted == QuestionAnswerKind::Procedure);
    if code {
        vec![next]
    } else if announces {
        units[place + 1..].iter().take_while(|next| next.is_item).take(FOLLOWING).collect()
    } else {
        Vec::new()
    }
}

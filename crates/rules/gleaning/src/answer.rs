//! Sentences that answer a question, or none.
//!
//! A sentence answers if it, read where it stands, speaks of what the question speaks of: every
//! name and number of the question, the thing that is asked for, and most of the rest; and if it
//! has what such a question wants, a number or a date or a name. Sharing words is not enough: a
//! question whose telling word is nowhere near is not answered here, unless nearly all the others
//! are in the sentence itself and around it.
//!
//! Nothing is concluded or phrased, and sentences are not judged to be true.

use toolgate_reading::terms;

use crate::question::{self, Class, Question, Term, Wanted};
use crate::units::{Context, Unit, units};
use crate::words::Stems;
use crate::{Leaf, Span, called, looks};

/// What the passages say to a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The sentences that answer it, best first; none where the passages do not support an answer.
    pub sentences: Vec<Span>,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Words of the question that the passages do not speak of where they come nearest.
    pub missing: Vec<String>,
}

/// The sentences that answer a question; none where the passages do not support an answer.
pub fn answer(question: &str, leaves: &[Leaf<'_>]) -> Vec<Span> {
    ground(question, leaves, &|_| None).sentences
}

/// The same, with how sure it is and what was missed.
///
/// `share` says what part of all passages of the store (0 to 1) holds a term, one of those that
/// [`toolgate_reading::terms::query`] makes of the question; where it does not know, the given
/// passages are counted.
pub fn ground(question: &str, leaves: &[Leaf<'_>], share: &dyn Fn(&str) -> Option<f64>) -> Answer {
    let mut question = question::read(question);
    called::name_documents(&mut question, leaves);
    if question.terms.is_empty() {
        return Answer::default();
    }
    let pages: Vec<Page> = leaves.iter().map(Page::of).collect();
    let weights = weights(&question, &pages, share);
    let judge = Judge { question: &question, weights: &weights };
    let mut found: Vec<Verdict> = Vec::new();
    let best = leaves.iter().map(|leaf| leaf.score).fold(f64::MIN, f64::max);
    for (leaf, page) in pages.iter().enumerate() {
        let standing = standing(leaves[leaf].score, best, leaf);
        let document = document(leaves, &pages, leaf);
        for unit in 0..page.units.len() {
            let mut verdict = judge.unit(leaves[leaf].text, page, unit, &document);
            verdict.rank += STANDING * standing;
            verdict.place = (leaf, unit);
            found.push(verdict);
        }
    }
    found.sort_by(|one, other| other.rank.total_cmp(&one.rank).then(one.place.cmp(&other.place)));
    match found.iter().find(|verdict| verdict.answers) {
        Some(first) => Answer {
            sentences: gather(&question, leaves, &pages, &found, first),
            confidence: first.support.min(1.0),
            missing: first.missing.clone(),
        },
        None => refused(&found),
    }
}

/// What is said where nothing answers: how near the nearest came, and what it lacked.
fn refused(found: &[Verdict]) -> Answer {
    let nearest = found.iter().max_by(|one, other| one.support.total_cmp(&other.support));
    let missing = nearest.map(|nearest| nearest.missing.clone()).unwrap_or_default();
    Answer { sentences: Vec::new(), confidence: 0.0, missing }
}

/// How much a passage's own standing among the found ones counts.
const STANDING: f64 = 0.12;

/// The part of the weight of the question that must be met.
const ENOUGH: f64 = 0.6;

/// How much of a question is met, by anything, by the sentence itself and by what stands around it,
/// where it does not matter which words are not; and how much those count.
const SURE: f64 = 0.7;
const SURE_OF: [f64; 3] = [0.5, 0.2, 0.3];

/// The part of its plain words that must be met nearby.
const PLAIN: f64 = 0.5;

/// The same where the question is whether, or how: there each of them may be the point.
const STRICT: f64 = 0.75;

/// The part of a question that stands above what answers it, where that has none of its words.
const ANNOUNCED: f64 = 0.8;

/// From here on a word counts as met.
const MET: f64 = 0.5;

/// At most so many sentences answer, list items behind a colon not counted.
const SENTENCES: usize = 3;

/// At most so many items or pieces of code come along with the sentence that announces them.
const FOLLOWING: usize = 8;

/// A passage, prepared.
struct Page {
    units: Vec<Unit>,
    title: Stems,
    whole: Stems,
}

impl Page {
    fn of(leaf: &Leaf<'_>) -> Self {
        let units = units(leaf);
        let mut whole = Stems::of(leaf.heading);
        for unit in &units {
            whole.join(&unit.stems);
        }
        let mut title = Stems::of(leaf.title);
        title.add(called::place_of(leaf.path));
        Self { units, title, whole }
    }
}

/// What the other passages of the same document speak of.
fn document(leaves: &[Leaf<'_>], pages: &[Page], leaf: usize) -> Stems {
    let mut all = pages[leaf].whole.clone();
    let own = &leaves[leaf];
    if !(own.path.is_empty() && own.title.is_empty()) {
        for (other, page) in pages.iter().enumerate() {
            let same = leaves[other].path == own.path && leaves[other].title == own.title;
            if other != leaf && same {
                all.join(&page.whole);
            }
        }
    }
    all
}

fn standing(score: f64, best: f64, place: usize) -> f64 {
    let by_score =
        if best > 0.0 && score.is_finite() { (score / best).clamp(0.0, 1.0) } else { 0.0 };
    let by_place = 1.0 / (1.0 + place as f64 / 4.0);
    0.5 * by_score + 0.5 * by_place
}

/// How much each word of the question weighs: by what it is, and by how rare it is.
fn weights(question: &Question, pages: &[Page], share: &dyn Fn(&str) -> Option<f64>) -> Vec<f64> {
    let weigh = |term: &Term| {
        let class = match term.class {
            Class::Specific => 1.0,
            Class::Plain => 0.7,
            Class::Verb => 0.45,
            Class::Thin => 0.2,
        };
        let holding = pages.iter().filter(|page| page.whole.have(&term.stem)).count();
        let known = terms::query(&term.word).iter().filter_map(|term| share(term)).reduce(f64::min);
        let rarity = match known {
            Some(share) => rarity(share).max(0.2),
            // Passages that were found by these words have them more often than others.
            None => rarity(holding as f64 / pages.len().max(1) as f64).max(0.6),
        };
        class * (0.4 + 0.6 * rarity)
    };
    question.terms.iter().map(weigh).collect()
}

/// From 0 for what every passage has to 1 for what one in a thousand has.
fn rarity(share: f64) -> f64 {
    (-(share.clamp(0.001, 1.0)).ln() / 1000_f64.ln()).clamp(0.0, 1.0)
}

/// How well a sentence answers.
#[derive(Debug, Clone, Default)]
struct Verdict {
    place: (usize, usize),
    answers: bool,
    support: f64,
    rank: f64,
    missing: Vec<String>,
}

struct Judge<'a> {
    question: &'a Question,
    weights: &'a [f64],
}

impl Judge<'_> {
    fn unit(&self, text: &str, page: &Page, place: usize, document: &Stems) -> Verdict {
        let unit = &page.units[place];
        if !unit.speaks {
            return Verdict::default();
        }
        let context = Context::of(&page.units, place);
        let words = text.get(unit.start..unit.end).unwrap_or("");
        let fits = looks::fits(self.question.wanted, words, unit.code);
        let mut sums = Sums::default();
        let mut missing = Vec::new();
        for (term, weight) in self.question.terms.iter().zip(self.weights) {
            let mut met = self.met(term, unit, &context, page, document);
            if fits == looks::Fit::Has && term.is_kind_of(self.question.wanted) {
                met = Met { own: 1.0, local: 1.0, best: 1.0, ..met };
            }
            sums.count(term, *weight, &met);
            if met.best < MET {
                missing.push(term.word.clone());
            }
        }
        let support = sums.support();
        let near = sums.near();
        let wanted = self.question.wanted;
        let holds = sums.holds(wanted) && support >= ENOUGH || sums.sure() >= SURE && !unit.code;
        let answers = fits.may() && !sums.unnamed && sums.done(wanted) && holds;
        let code = if unit.code && self.question.wanted != Wanted::Manner { 0.35 } else { 0.0 };
        let about = 0.15 * sums.titled();
        let rank = support + 0.35 * near + about + 0.1 * fits.bonus() - looks::noise(words) - code;
        Verdict { place: (0, place), answers, support, rank, missing }
    }

    fn met(
        &self,
        term: &Term,
        unit: &Unit,
        context: &Context<'_>,
        page: &Page,
        document: &Stems,
    ) -> Met {
        let own = hit(term, &unit.stems);
        let heading = context.headings.iter().map(|stems| hit(term, stems)).fold(0.0, f64::max);
        let near = context.near.iter().map(|stems| hit(term, stems)).fold(0.0, f64::max);
        let far = match term.class {
            // Who speaks of one thing and mentions another by the way does not speak of the other.
            Class::Specific if term.names => (0.45, 0.4),
            Class::Specific => (0.45, 0.3),
            _ => (0.3, 0.15),
        };
        let best = own
            .max(0.85 * heading)
            .max(0.85 * hit(term, &page.title))
            .max(0.7 * near)
            .max(far.0 * hit(term, &page.whole))
            .max(far.1 * hit(term, document));
        let titled = hit(term, &page.title);
        Met { own, titled, local: own.max(0.85 * heading).max(0.7 * near), best }
    }
}

/// How far a word of the question is met: by the sentence, by it and what stands around it, and by
/// anything that counts.
struct Met {
    own: f64,
    titled: f64,
    local: f64,
    best: f64,
}

#[derive(Default)]
struct Sums {
    all: f64,
    met: f64,
    own: f64,
    local: f64,
    titled: f64,
    plain: f64,
    plain_met: f64,
    verbs: f64,
    verbs_met: f64,
    lacks: bool,
    /// A name or a number of the question was not met.
    unnamed: bool,
    /// The word before said which one is meant, and was not met.
    other_kind: bool,
}

impl Sums {
    fn count(&mut self, term: &Term, weight: f64, met: &Met) {
        self.all += weight;
        self.met += weight * met.best;
        self.own += weight * met.own;
        self.local += weight * met.local;
        self.titled += weight * met.titled;
        // Another kind of the same thing is another thing.
        self.lacks |= self.other_kind && met.best >= MET;
        self.other_kind = term.tells_which && met.best < MET;
        match term.class {
            Class::Specific => self.unnamed |= met.best < MET,
            Class::Plain => {
                self.plain += weight;
                self.plain_met += if met.best >= MET { weight } else { 0.0 };
            }
            Class::Verb => {
                self.verbs += weight;
                self.verbs_met += if met.best >= MET { weight } else { 0.0 };
            }
            Class::Thin => {}
        }
        self.lacks |= term.focus && met.local < MET;
    }

    fn support(&self) -> f64 {
        if self.all > 0.0 { self.met / self.all } else { 0.0 }
    }

    fn near(&self) -> f64 {
        if self.all > 0.0 { self.own / self.all } else { 0.0 }
    }

    /// How much of the question is met, all in all.
    fn sure(&self) -> f64 {
        let met = [self.met, self.own, self.local].into_iter().zip(SURE_OF);
        let met: f64 = met.map(|(met, counts)| met * counts).sum();
        if self.all > 0.0 { met / self.all } else { 0.0 }
    }

    fn titled(&self) -> f64 {
        if self.all > 0.0 { self.titled / self.all } else { 0.0 }
    }

    /// Where the question is what somebody does, or whether, its verb is the question; elsewhere an
    /// answer may say it otherwise.
    fn done(&self, wanted: Wanted) -> bool {
        let said = self.verbs_met > 0.0 || self.verbs == 0.0;
        match wanted {
            Wanted::Verdict | Wanted::Name => said,
            Wanted::Manner => said || self.plain > 0.0 && self.plain_met >= self.plain,
            _ => true,
        }
    }

    /// Whether what must be met is.
    fn holds(&self, wanted: Wanted) -> bool {
        let plain = if matches!(wanted, Wanted::Verdict | Wanted::Manner) { STRICT } else { PLAIN };
        // Below the question itself an answer need not repeat any of its words.
        let speaks = self.own > 0.0 || self.local >= ANNOUNCED * self.all;
        !self.lacks && speaks && self.plain_met >= plain * self.plain
    }
}

/// How far a word is met by these: itself, all its pieces, or another word for it.
fn hit(term: &Term, stems: &Stems) -> f64 {
    if stems.have(&term.stem) {
        1.0
    } else if !term.pieces.is_empty() && term.pieces.iter().all(|piece| stems.have(piece)) {
        0.95
    } else if term.others.iter().any(|phrase| phrase.iter().all(|word| stems.have(word))) {
        0.85
    } else {
        0.0
    }
}

/// The best sentence with what belongs to it, and others that answer nearly as well.
fn gather(
    question: &Question,
    leaves: &[Leaf<'_>],
    pages: &[Page],
    found: &[Verdict],
    first: &Verdict,
) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let near = first.rank * 0.93;
    let good = found.iter().filter(|verdict| verdict.answers && verdict.rank >= near);
    for verdict in good.take(SENTENCES) {
        let (leaf, place) = verdict.place;
        let unit = &pages[leaf].units[place];
        keep(&mut spans, leaves, leaf, unit);
        if verdict.place != first.place {
            continue;
        }
        for next in following(leaves[leaf].text, &pages[leaf].units, place, question.wanted) {
            keep(&mut spans, leaves, leaf, next);
        }
    }
    spans
}

/// Keeps a sentence unless the same words are there already.
fn keep(spans: &mut Vec<Span>, leaves: &[Leaf<'_>], leaf: usize, unit: &Unit) {
    let span = Span { leaf, start: unit.start, end: unit.end };
    let words = span.of(leaves);
    if !spans.iter().any(|known| known.of(leaves) == words) {
        spans.push(span);
    }
}

/// What a sentence announces: the items or the code behind its colon, and the code behind a
/// sentence that tells how.
fn following<'a>(text: &str, units: &'a [Unit], place: usize, wanted: Wanted) -> Vec<&'a Unit> {
    let unit = &units[place];
    let announces = text.get(unit.start..unit.end).is_some_and(|words| words.ends_with(':'));
    let Some(next) = units.get(place + 1) else { return Vec::new() };
    let code = next.code && (announces || wanted == Wanted::Manner);
    if code {
        vec![next]
    } else if announces {
        units[place + 1..].iter().take_while(|next| next.item).take(FOLLOWING).collect()
    } else {
        Vec::new()
    }
}

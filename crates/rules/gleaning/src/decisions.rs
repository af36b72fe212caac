//! What was decided, with its reason, its day and its people where they are stated.
//!
//! Proposals, questions and what is still to be decided are left out. A record whose status says
//! that it was rejected or superseded is told, with that standing; a proposed one is not.

use std::ops::Range;

use crate::blocks::Shape;
use crate::cues::{self, Line};
use crate::sections::{Piece, Section, pieces};
use crate::{Leaf, Span, dates, people};

/// How a decision stands today, as far as its document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// It holds.
    Accepted,
    /// It was decided against.
    Rejected,
    /// A later one took its place.
    Superseded,
}

/// A decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The sentence that says what was decided.
    pub span: Span,
    /// Why, where it is stated.
    pub reason: Option<Span>,
    /// When, in the words it is stated in.
    pub date: Option<Span>,
    /// The same as `YYYY-MM-DD`, where the words give a whole date.
    pub day: Option<String>,
    /// Who decided, where it is stated.
    pub people: Vec<Span>,
    /// How it stands.
    pub standing: Standing,
}

/// What was decided according to these passages, in their order.
pub fn decisions(leaves: &[Leaf<'_>]) -> Vec<Decision> {
    let read: Vec<Vec<Piece>> = leaves.iter().map(|leaf| pieces(leaf.heading, leaf.text)).collect();
    let records: Vec<Record> = read
        .iter()
        .enumerate()
        .map(|(place, pieces)| Record::of(leaves[place].text, place, pieces))
        .collect();
    let mut found = Vec::new();
    for (place, pieces) in read.iter().enumerate() {
        let record = whole_record(leaves, &records, place);
        if record.proposed {
            continue;
        }
        let reader = Reader { text: leaves[place].text, leaf: place, record };
        for at in 0..pieces.len() {
            reader.piece(pieces, at, &mut found);
        }
    }
    found
}

/// What a document says of all its decisions: its labels and sections.
#[derive(Debug, Clone, Default)]
struct Record {
    standing: Option<Standing>,
    proposed: bool,
    date: Option<(Span, Option<String>)>,
    people: Vec<Span>,
    reason: Option<Span>,
}

impl Record {
    fn of(text: &str, leaf: usize, pieces: &[Piece]) -> Self {
        let mut record = Self::default();
        let span = |range: Range<usize>| Span { leaf, start: range.start, end: range.end };
        let mut status_next = false;
        for piece in pieces {
            let words = text.get(piece.block.body..piece.block.end).unwrap_or("");
            if let Shape::Heading(_) = piece.block.shape {
                status_next = Line::of(words).begins("status|statut|estado").is_some();
                continue;
            }
            let label = piece.label_of(text).map(Line::of);
            let rest = text.get(piece.rest..piece.block.end).unwrap_or("");
            let labelled =
                |names: &str| label.as_ref().is_some_and(|label| label.begins(names).is_some());
            if status_next || labelled("status|statut|estado") {
                record.status(rest);
                status_next = false;
            } else if labelled(cues::DATES) && record.date.is_none() {
                record.date = dates::days(rest).into_iter().next().map(|day| {
                    (span(piece.rest + day.range.start..piece.rest + day.range.end), day.iso)
                });
            } else if labelled(cues::DECIDERS) {
                let names = people::names(text, piece.rest..piece.block.end);
                record.people.extend(names.into_iter().map(span));
            } else if piece.section == Section::Reasons && record.reason.is_none() {
                record.reason = piece.sentences(text).into_iter().next().map(span);
            }
        }
        record
    }

    fn status(&mut self, words: &str) {
        let line = Line::of(words);
        if line.has("superseded|replaced|deprecated|ersetzt|remplacé|reemplazada") {
            self.standing = Some(Standing::Superseded);
        } else if line.has("rejected|declined|abgelehnt|rejeté|rechazada") {
            self.standing = Some(Standing::Rejected);
        } else if line.has(
            "proposed|draft|pending|rfc|under discussion|vorgeschlagen|entwurf|proposé|propuesta",
        ) {
            self.proposed = true;
        }
    }
}

/// The record of the document a passage is of: its own, and what passages of the same title add.
fn whole_record(leaves: &[Leaf<'_>], records: &[Record], place: usize) -> Record {
    let mut record = records[place].clone();
    let title = leaves[place].title;
    // Notes of many things have one title and many decisions; only a record has a status.
    let same = |other: usize| other != place && !title.is_empty() && leaves[other].title == title;
    for (other, theirs) in records.iter().enumerate().filter(|(other, _)| same(*other)) {
        let _ = other;
        record.standing = record.standing.or(theirs.standing);
        record.proposed |= theirs.proposed;
        if record.date.is_none() {
            record.date.clone_from(&theirs.date);
        }
        if record.people.is_empty() {
            record.people.clone_from(&theirs.people);
        }
        record.reason = record.reason.or(theirs.reason);
    }
    record
}

/// Words by which a sentence says that something was decided.
const DECIDED: &str = "\
    we decided|we've decided|we have decided|was decided|were decided|has been decided|is decided|\
    i decided|they decided|team decided|everyone agreed|decided to|decided on|decided against|\
    decided that|decided not to|we agreed|we've agreed|we have agreed|was agreed|it's agreed|\
    agreed to|agreed that|agreed on|all agreed|we chose|we have chosen|we picked|\
    we settled on|settled on|we opted for|opted for|we're going with|we are going with|\
    we'll go with|we will go with|we went with|decision is|decision was|decision is to|\
    was approved|has been approved|were approved|was rejected|approved the|resolved to|\
    signed off on|wir haben entschieden|wir haben uns entschieden|wir haben beschlossen|\
    haben beschlossen|wurde beschlossen|wurde entschieden|beschlossen wurde|haben uns auf|\
    haben uns für|haben uns geeinigt|nous avons décidé|a été décidé|avons choisi|on a décidé|\
    avons convenu|hemos decidido|se decidió|se ha decidido|decidimos|se acordó|acordamos|\
    hemos acordado|se aprobó|a été approuvé|wurde genehmigt";

/// Plans that are decisions if they say which thing is taken.
const CHOICE: &str = "\
    we will use|we will adopt|we will switch to|we will stick with|we will keep|we will not use|\
    we'll use|we'll adopt|we'll keep|we'll stick with|we'll switch to|we will move to|\
    we will no longer|wir verwenden künftig|wir nutzen künftig|nous utiliserons|usaremos|\
    utilizaremos";

/// Words that make it no decision.
const OPEN: &str = "\
    to be decided|need to decide|needs to decide|have to decide|has to decide|must decide|\
    should decide|not decided|not yet decided|haven't decided|have not decided|hasn't decided|\
    hasn't been decided|not been decided|nothing was decided|didn't decide|did not decide|\
    not agreed|haven't agreed|have not agreed|no decision|undecided|could not agree|\
    couldn't agree|if we decide|when we decide|until we decide|once we decide|before we decide|\
    if we agreed|proposed that|proposes|propose to|suggested that we|suggests|might decide|\
    may decide|will decide|let's decide|could use|decide whether|nicht entschieden|\
    noch nicht entschieden|müssen entscheiden|noch nicht beschlossen|keine entscheidung|\
    n'avons pas décidé|pas encore décidé|pas été décidé|aucune décision|no se decidió|\
    no hemos decidido|falta decidir|no se acordó|would be decided|unless|decision is pending|\
    decision is still|decision is needed|decision is due|decision was postponed|decision is open|\
    nobody agreed";

/// Words a reason begins with.
const BECAUSE: &str = "\
    because|since|due to|so that|in order to|as it|as this|as we|given that|owing to|\
    on the grounds that|weil|da|denn|damit|um zu|wegen|aufgrund|parce que|car|afin de|puisque|\
    en raison de|porque|ya que|debido a|puesto que|para que|dado que";

/// Words by which a sentence of its own gives the reason for the one before it.
const REASON: &str = "\
    reason|reasons|rationale|the reason|because|this is because|why|main reason|this avoids|\
    this way|this lets|that way|otherwise|grund|begründung|der grund|dadurch|la raison|raison|\
    motif|la razón|razón|motivo|el motivo|así";

struct Reader<'a> {
    text: &'a str,
    leaf: usize,
    record: Record,
}

impl Reader<'_> {
    fn piece(&self, pieces: &[Piece], at: usize, found: &mut Vec<Decision>) {
        let piece = &pieces[at];
        if matches!(
            piece.block.shape,
            Shape::Heading(_) | Shape::Code | Shape::Furniture | Shape::Item(Some(_))
        ) {
            return;
        }
        let sentences = piece.sentences(self.text);
        let under = piece.section == Section::Decisions;
        let mut first = true;
        for (nth, sentence) in sentences.iter().enumerate() {
            let words = &self.text[sentence.clone()];
            let line = Line::of(words);
            let open = line.has(OPEN) || words.ends_with(['?', '？']) || line.len() < 2;
            let reason = line.begins(REASON).is_some();
            // Below the heading every item is one, and the first sentence of a paragraph.
            let told = under && first && !reason && (piece.is_item() || opens(pieces, at));
            first &= open;
            if open
                || !(told || line.has(DECIDED) || chooses(&line) || labelled(words, &line))
                || self.is_head(piece)
            {
                continue;
            }
            let gives = |next: &&Range<usize>| {
                Line::of(&self.text[(*next).clone()]).begins(REASON).is_some()
            };
            let next =
                sentences.get(nth + 1).filter(gives).cloned().or_else(|| self.below(pieces, at));
            found.push(self.decision(sentence.clone(), next, &line));
        }
    }

    /// The head of a table of decisions is none.
    fn is_head(&self, piece: &Piece) -> bool {
        let words = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        piece.block.shape == Shape::Row
            && Line::of(words).begins("decision|decisions|topic|what|date|no|nr|id").is_some()
    }

    /// What stands right below, where it could give the reason.
    fn below(&self, pieces: &[Piece], at: usize) -> Option<Range<usize>> {
        let heading =
            pieces.get(at + 1).is_some_and(|next| matches!(next.block.shape, Shape::Heading(_)));
        let next = pieces.get(at + 1 + usize::from(heading))?;
        let words = self.text.get(next.block.body..next.block.end)?;
        let gives = next.section == Section::Reasons || Line::of(words).begins(REASON).is_some();
        gives
            .then_some(next.block.body..next.block.end)
            .filter(|_| !heading || next.section == Section::Reasons)
    }

    fn decision(&self, range: Range<usize>, next: Option<Range<usize>>, line: &Line) -> Decision {
        let words = &self.text[range.clone()];
        let day = dates::days(words).into_iter().find(|day| said_on(words, day));
        let (date, iso) = match day {
            Some(day) => (
                Some(self.span(range.start + day.range.start..range.start + day.range.end)),
                day.iso,
            ),
            None => self.record.date.clone().map_or((None, None), |(span, iso)| (Some(span), iso)),
        };
        let mut people = self.deciders(range.clone(), line);
        if people.is_empty() {
            people.clone_from(&self.record.people);
        }
        let rejected = line
            .has("was rejected|were rejected|rejected the|abgelehnt|rejeté|rechazado|rechazada");
        let standing = self.record.standing.unwrap_or(if rejected {
            Standing::Rejected
        } else {
            Standing::Accepted
        });
        Decision {
            span: self.span(range.clone()),
            reason: self.reason(range, next, line).or(self.record.reason),
            date,
            day: iso,
            people,
            standing,
        }
    }

    fn reason(&self, range: Range<usize>, next: Option<Range<usize>>, line: &Line) -> Option<Span> {
        // Not at the beginning: `Since Monday we …` is when.
        if let Some(start) = line
            .find(BECAUSE)
            .filter(|(place, _)| *place > 1)
            .and_then(|(place, _)| line.start(place))
        {
            let end = range.start
                + self.text[range.clone()].trim_end_matches(['.', '!', ')', '*', '_']).len();
            return (range.start + start < end).then(|| self.span(range.start + start..end));
        }
        let words = self.text.get(range.clone())?;
        if let Some(at) = words.find(
            ["reason:", "Reason:", "rationale:", "Grund:", "Begründung:"]
                .into_iter()
                .find(|mark| words.contains(mark))
                .unwrap_or("\u{0}"),
        ) {
            let from = at + words[at..].find(':')? + 1;
            let from = from + words[from..].len() - words[from..].trim_start().len();
            let end = words.trim_end_matches(['.', ')', ' ']).len();
            return (from < end).then(|| self.span(range.start + from..range.start + end));
        }
        let next = next?;
        let words = self.text.get(next.clone())?;
        let told = crate::blocks::label(words).map_or(0, |colon| {
            words.len() - words[colon..].trim_start_matches([':', '*', '_', ' ']).len()
        });
        (next.start + told < next.end).then(|| self.span(next.start + told..next.end))
    }

    /// `Anna and Bob decided …`, `agreed by Carl`, `… (Anna, Bob)`.
    fn deciders(&self, range: Range<usize>, line: &Line) -> Vec<Span> {
        let words = &self.text[range.clone()];
        let spans = |from: usize, to: usize| -> Vec<Span> {
            people::names(self.text, range.start + from..range.start + to)
                .into_iter()
                .map(|range| self.span(range))
                .collect()
        };
        let verb = line.find("decided|agreed|chose|approved|picked|opted|settled|haben|ont décidé|a décidé|decidieron|decidió|acordaron");
        if let Some(at) =
            verb.and_then(|(place, _)| line.start(place)).filter(|at| *at < 60 && *at > 0)
        {
            let found = spans(0, at);
            if !found.is_empty() {
                return found;
            }
        }
        let by = line.find("decided by|agreed by|approved by|chosen by|made by|beschlossen von|entschieden von|décidé par|decidido por|aprobado por");
        if let Some(at) = by.and_then(|(_, next)| line.start(next)) {
            let end = words[at..].find(['.', ';', ':']).map_or(words.len(), |length| at + length);
            return spans(at, end);
        }
        bracket(words).map(|(from, to)| spans(from, to)).unwrap_or_default()
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span { leaf: self.leaf, start: range.start, end: range.end }
    }
}

/// What stands in brackets at the end of a sentence.
fn bracket(words: &str) -> Option<(usize, usize)> {
    let end = words.trim_end_matches(['.', ' ']).strip_suffix(')')?.len();
    let from = words[..end].rfind('(')? + 1;
    Some((from, end))
}

/// Whether a day in a sentence is when it was decided, not by when something happens.
fn said_on(words: &str, day: &dates::Day) -> bool {
    let last = cues::word_before(words, day.range.start);
    let by = "by|until|till|before|from|for|due|bis|ab|avant|antes|hasta|starting|to|after|in|next";
    day.iso.is_some() && !cues::among(by, &last)
}

/// `2026-04-11 Decision: …`: a label within the paragraph.
fn labelled(words: &str, line: &Line) -> bool {
    let label = line.find(cues::DECISIONS).filter(|(place, _)| *place <= 2);
    let end = label.and_then(|(_, next)| line.end(next - 1));
    end.is_some_and(|end| words[end..].trim_start_matches(['*', '_', ' ']).starts_with(':'))
}

fn chooses(line: &Line) -> bool {
    line.find(CHOICE).is_some_and(|(place, _)| place <= 3)
}

/// Whether a paragraph is the first below the heading of decisions.
fn opens(pieces: &[Piece], at: usize) -> bool {
    let own = pieces[at].label.is_some() && pieces[at].section == Section::Decisions;
    let before = at.checked_sub(1).map(|before| &pieces[before]);
    own || before.is_none_or(|before| {
        before.section != Section::Decisions
            || matches!(before.block.shape, Shape::Heading(_))
            || before.rest >= before.block.end
    })
}

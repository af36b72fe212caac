//! Extracts decisions, with reason, date and people where the text states them.
//!
//! Proposals, questions and pending decisions are left out. A decision record with the status
//! rejected or superseded is included with that status; a proposed one is not.

use std::ops::Range;

use crate::cues::{self, SentenceWords};
use crate::layout::TextBlockKind;
use crate::sections::{NotePiece, NoteSection, pieces};
use crate::{PassageSpan, SourcePassage, dates, people};

/// The current status of a decision, as far as its document states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExtractedDecisionStatus {
    /// It is in force.
    Accepted,
    /// It was rejected.
    Rejected,
    /// A later decision replaced it.
    Superseded,
}

/// A decision found in a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedDecision {
    /// The sentence that states it.
    pub span: PassageSpan,
    /// The reason, if stated.
    pub reason: Option<PassageSpan>,
    /// The date as the text states it.
    pub date: Option<PassageSpan>,
    /// The date as `YYYY-MM-DD`, if the text states a whole date.
    pub day: Option<String>,
    /// The people who decided, if stated.
    pub people: Vec<PassageSpan>,
    /// The current status.
    pub status: ExtractedDecisionStatus,
}

/// Extracts the decisions of these passages, in order.
pub fn extract_decisions(passages: &[SourcePassage<'_>]) -> Vec<ExtractedDecision> {
    let read: Vec<Vec<NotePiece>> =
        passages.iter().map(|passage| pieces(passage.heading, passage.text)).collect();
    let records: Vec<DocumentDecisions> = read
        .iter()
        .enumerate()
        .map(|(place, pieces)| DocumentDecisions::of(passages[place].text, place, pieces))
        .collect();
    let mut found = Vec::new();
    for (place, pieces) in read.iter().enumerate() {
        let record = merge_records(passages, &records, place);
        if record.proposed {
            continue;
        }
        let reader = DecisionExtractor { text: passages[place].text, passage: place, record };
        for at in 0..pieces.len() {
            reader.piece(pieces, at, &mut found);
        }
    }
    found
}

/// What a document states about all its decisions, in labels and sections.
#[derive(Debug, Clone, Default)]
struct DocumentDecisions {
    status: Option<ExtractedDecisionStatus>,
    proposed: bool,
    date: Option<(PassageSpan, Option<String>)>,
    people: Vec<PassageSpan>,
    reason: Option<PassageSpan>,
}

impl DocumentDecisions {
    fn of(text: &str, passage: usize, pieces: &[NotePiece]) -> Self {
        let mut record = Self::default();
        let span =
            |range: Range<usize>| PassageSpan { passage, start: range.start, end: range.end };
        let mut status_next = false;
        for piece in pieces {
            let words = text.get(piece.block.body..piece.block.end).unwrap_or("");
            if let TextBlockKind::Heading(_) = piece.block.kind {
                status_next =
                    SentenceWords::of(words).starts_with("status|statut|estado").is_some();
                continue;
            }
            let label = piece.label_of(text).map(SentenceWords::of);
            let rest = text.get(piece.content_start..piece.block.end).unwrap_or("");
            let labelled = |names: &str| {
                label.as_ref().is_some_and(|label| label.starts_with(names).is_some())
            };
            if status_next || labelled("status|statut|estado") {
                record.read_status(rest);
                status_next = false;
            } else if labelled(cues::DATES) && record.date.is_none() {
                record.date = dates::find_dates(rest)
                    .into_iter()
                    .next()
                    .map(|day| (span(day.range_from(piece.content_start)), day.iso));
            } else if labelled(cues::DECIDERS) {
                let names = people::names(text, piece.content_start..piece.block.end);
                record.people.extend(names.into_iter().map(span));
            } else if piece.section == NoteSection::Reasons && record.reason.is_none() {
                record.reason = piece.sentences(text).into_iter().next().map(span);
            }
        }
        record
    }

    fn read_status(&mut self, words: &str) {
        let line = SentenceWords::of(words);
        if line.has("superseded|replaced|deprecated|ersetzt|remplacé|reemplazada") {
            self.status = Some(ExtractedDecisionStatus::Superseded);
        } else if line.has("rejected|declined|abgelehnt|rejeté|rechazada") {
            self.status = Some(ExtractedDecisionStatus::Rejected);
        } else if line.has(
            "proposed|draft|pending|rfc|under discussion|vorgeschlagen|entwurf|proposé|propuesta",
        ) {
            self.proposed = true;
        }
    }
}

/// Returns the record of a passage's document: its own, merged with passages of the same title.
fn merge_records(
    passages: &[SourcePassage<'_>],
    records: &[DocumentDecisions],
    place: usize,
) -> DocumentDecisions {
    let mut record = records[place].clone();
    let title = passages[place].title;
    // Notes can have one title and many unrelated decisions; only a decision record has a status.
    let same = |other: usize| other != place && !title.is_empty() && passages[other].title == title;
    for (_, theirs) in records.iter().enumerate().filter(|(other, _)| same(*other)) {
        record.status = record.status.or(theirs.status);
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

/// Phrases that state a decision.
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

/// Phrases of plans, which are decisions if they choose something.
const CHOICE: &str = "\
    we will use|we will adopt|we will switch to|we will stick with|we will keep|we will not use|\
    we'll use|we'll adopt|we'll keep|we'll stick with|we'll switch to|we will move to|\
    we will no longer|wir verwenden künftig|wir nutzen künftig|nous utiliserons|usaremos|\
    utilizaremos";

/// Phrases that rule out a decision.
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

/// Words that begin a reason.
const BECAUSE: &str = "\
    because|since|due to|so that|in order to|as it|as this|as we|given that|owing to|\
    on the grounds that|weil|da|denn|damit|um zu|wegen|aufgrund|parce que|car|afin de|puisque|\
    en raison de|porque|ya que|debido a|puesto que|para que|dado que";

/// Words that begin a sentence with the reason for the previous one.
const REASON: &str = "\
    reason|reasons|rationale|the reason|because|this is because|why|main reason|this avoids|\
    this way|this lets|that way|otherwise|grund|begründung|der grund|dadurch|la raison|raison|\
    motif|la razón|razón|motivo|el motivo|así";

/// Extracts decisions from one passage.
struct DecisionExtractor<'a> {
    text: &'a str,
    passage: usize,
    record: DocumentDecisions,
}

impl DecisionExtractor<'_> {
    fn piece(&self, pieces: &[NotePiece], at: usize, found: &mut Vec<ExtractedDecision>) {
        let piece = &pieces[at];
        if matches!(
            piece.block.kind,
            TextBlockKind::Heading(_)
                | TextBlockKind::Code
                | TextBlockKind::Boilerplate
                | TextBlockKind::Item(Some(_))
        ) {
            return;
        }
        let sentences = piece.sentences(self.text);
        let under = piece.section == NoteSection::Decisions;
        let mut first = true;
        for (nth, sentence) in sentences.iter().enumerate() {
            let words = &self.text[sentence.clone()];
            let line = SentenceWords::of(words);
            let open = line.has(OPEN) || words.ends_with(['?', '？']) || line.len() < 2;
            let reason = line.starts_with(REASON).is_some();
            // Below a heading of decisions, every item is one, and the first sentence of a
            // paragraph.
            let told =
                under && first && !reason && (piece.is_item() || is_first_in_section(pieces, at));
            first &= open;
            if open
                || !(told
                    || line.has(DECIDED)
                    || states_choice(&line)
                    || has_decision_label(words, &line))
                || self.is_head(piece)
            {
                continue;
            }
            let gives = |next: &&Range<usize>| {
                SentenceWords::of(&self.text[(*next).clone()]).starts_with(REASON).is_some()
            };
            let next = sentences
                .get(nth + 1)
                .filter(gives)
                .cloned()
                .or_else(|| self.reason_below(pieces, at));
            found.push(self.decision(sentence.clone(), next, &line));
        }
    }

    /// Returns true if the piece is the header of a table of decisions.
    fn is_head(&self, piece: &NotePiece) -> bool {
        let words = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        piece.block.kind == TextBlockKind::Row
            && SentenceWords::of(words)
                .starts_with("decision|decisions|topic|what|date|no|nr|id")
                .is_some()
    }

    /// Returns the text directly below that can state the reason.
    fn reason_below(&self, pieces: &[NotePiece], at: usize) -> Option<Range<usize>> {
        let heading = pieces
            .get(at + 1)
            .is_some_and(|next| matches!(next.block.kind, TextBlockKind::Heading(_)));
        let next = pieces.get(at + 1 + usize::from(heading))?;
        let words = self.text.get(next.block.body..next.block.end)?;
        let gives = next.section == NoteSection::Reasons
            || SentenceWords::of(words).starts_with(REASON).is_some();
        gives
            .then_some(next.block.body..next.block.end)
            .filter(|_| !heading || next.section == NoteSection::Reasons)
    }

    fn decision(
        &self,
        range: Range<usize>,
        next: Option<Range<usize>>,
        line: &SentenceWords,
    ) -> ExtractedDecision {
        let words = &self.text[range.clone()];
        let day = dates::find_dates(words).into_iter().find(|day| is_decision_date(words, day));
        let (date, iso) = match day {
            Some(day) => (Some(self.span(day.range_from(range.start))), day.iso),
            None => self.record.date.clone().map_or((None, None), |(span, iso)| (Some(span), iso)),
        };
        let mut people = self.deciders(range.clone(), line);
        if people.is_empty() {
            people.clone_from(&self.record.people);
        }
        let rejected = line
            .has("was rejected|were rejected|rejected the|abgelehnt|rejeté|rechazado|rechazada");
        let standing = self.record.status.unwrap_or(if rejected {
            ExtractedDecisionStatus::Rejected
        } else {
            ExtractedDecisionStatus::Accepted
        });
        ExtractedDecision {
            span: self.span(range.clone()),
            reason: self.reason(range, next, line).or(self.record.reason),
            date,
            day: iso,
            people,
            status: standing,
        }
    }

    fn reason(
        &self,
        range: Range<usize>,
        next: Option<Range<usize>>,
        line: &SentenceWords,
    ) -> Option<PassageSpan> {
        // Not at the beginning: `Since Monday we …` is a date.
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
        let told = crate::layout::label_end(words).map_or(0, |colon| {
            words.len() - words[colon..].trim_start_matches([':', '*', '_', ' ']).len()
        });
        (next.start + told < next.end).then(|| self.span(next.start + told..next.end))
    }

    /// Finds people in `Anna and Bob decided …`, `agreed by Carl`, `… (Anna, Bob)`.
    fn deciders(&self, range: Range<usize>, line: &SentenceWords) -> Vec<PassageSpan> {
        let words = &self.text[range.clone()];
        let spans = |from: usize, to: usize| -> Vec<PassageSpan> {
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

    fn span(&self, range: Range<usize>) -> PassageSpan {
        PassageSpan { passage: self.passage, start: range.start, end: range.end }
    }
}

/// Returns the text in brackets at the end of a sentence.
fn bracket(words: &str) -> Option<(usize, usize)> {
    let end = words.trim_end_matches(['.', ' ']).strip_suffix(')')?.len();
    let from = words[..end].rfind('(')? + 1;
    Some((from, end))
}

/// Returns true if a date states when it was decided, not a deadline.
fn is_decision_date(words: &str, day: &dates::DateMention) -> bool {
    let last = cues::word_before(words, day.range.start);
    let by = "by|until|till|before|from|for|due|bis|ab|avant|antes|hasta|starting|to|after|in|next";
    day.iso.is_some() && !cues::list_contains(by, &last)
}

/// Returns true for a label within a paragraph, such as `2026-04-11 Decision: …`.
fn has_decision_label(words: &str, line: &SentenceWords) -> bool {
    let label = line.find(cues::DECISIONS).filter(|(place, _)| *place <= 2);
    let end = label.and_then(|(_, next)| line.end(next - 1));
    end.is_some_and(|end| words[end..].trim_start_matches(['*', '_', ' ']).starts_with(':'))
}

fn states_choice(line: &SentenceWords) -> bool {
    line.find(CHOICE).is_some_and(|(place, _)| place <= 3)
}

/// Returns true if a paragraph is the first below the heading of decisions.
fn is_first_in_section(pieces: &[NotePiece], at: usize) -> bool {
    let own = pieces[at].label.is_some() && pieces[at].section == NoteSection::Decisions;
    let before = at.checked_sub(1).map(|before| &pieces[before]);
    own || before.is_none_or(|before| {
        before.section != NoteSection::Decisions
            || matches!(before.block.kind, TextBlockKind::Heading(_))
            || before.content_start >= before.block.end
    })
}

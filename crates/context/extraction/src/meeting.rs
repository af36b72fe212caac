//! Extracts attendees, topics, decisions and actions from minutes or a transcript.
//!
//! Minutes are parsed by headings and labels, transcripts by speakers. Nothing is summarized: a
//! topic is a heading, an agenda item, or what a speaker announces as the next topic.

use std::collections::HashSet;
use std::ops::Range;

use crate::cues::{SentenceWords, list_contains};
use crate::layout::TextBlockKind;
use crate::sections::{NotePiece, NoteSection, pieces, section_named};
use crate::{
    ExtractedDecision, OpenLoop, OpenLoopKind, PassageSpan, SourcePassage, extract_decisions,
    extract_open_loops, people, speakers, table,
};

/// The contents of a meeting. All spans refer to the one text, so their `passage` is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeetingExtract {
    /// The attendees, each once.
    pub attendees: Vec<PassageSpan>,
    /// The topics.
    pub topics: Vec<PassageSpan>,
    /// The decisions.
    pub decisions: Vec<ExtractedDecision>,
    /// The tasks that somebody took on or was given.
    pub actions: Vec<OpenLoop>,
}

/// Extracts the contents of a meeting from minutes or a transcript.
pub fn extract_meeting(text: &str) -> MeetingExtract {
    let pieces = pieces("", text);
    let passage = SourcePassage { title: "", path: "", heading: "", text, score: 0.0 };
    let mut attendees = AttendeeNameCollector::new(text);
    collect_attendees(text, &pieces, &mut attendees);
    speakers::turns(text).into_iter().for_each(|speaker| attendees.add(speaker));
    let decisions = extract_decisions(&[passage]);
    let loops = extract_open_loops(&[passage])
        .into_iter()
        .filter(|open| open.kind != OpenLoopKind::Question);
    let decided = |span: &PassageSpan| decisions.iter().any(|decision| decision.span == *span);
    let actions = loops.filter(|open| !decided(&open.span)).collect();
    MeetingExtract { attendees: attendees.spans, topics: topics(text, &pieces), decisions, actions }
}

fn span(range: Range<usize>) -> PassageSpan {
    PassageSpan { passage: 0, start: range.start, end: range.end }
}

/// Collects names without duplicates, ignoring case.
struct AttendeeNameCollector<'a> {
    text: &'a str,
    known: HashSet<String>,
    spans: Vec<PassageSpan>,
}

impl<'a> AttendeeNameCollector<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, known: HashSet::new(), spans: Vec::new() }
    }

    fn add(&mut self, range: Range<usize>) {
        let name = self.text.get(range.clone()).unwrap_or("").to_lowercase();
        if !name.is_empty() && self.known.insert(name) {
            self.spans.push(span(range));
        }
    }
}

/// Collects the names after `Present:` and below `Attendees`.
fn collect_attendees(text: &str, pieces: &[NotePiece], names: &mut AttendeeNameCollector<'_>) {
    for piece in pieces.iter().filter(|piece| piece.section == NoteSection::People) {
        match piece.block.kind {
            TextBlockKind::Heading(_) | TextBlockKind::Code | TextBlockKind::Boilerplate => {}
            TextBlockKind::Row => {
                // The first cell if it is a name; a table header has none.
                let head = table::cells(text, piece).into_iter().next();
                let head = head.filter(|cell| {
                    !SentenceWords::of(&text[cell.clone()]).word(0).starts_with("name")
                });
                head.into_iter()
                    .flat_map(|cell| people::names(text, cell))
                    .take(1)
                    .for_each(|name| names.add(name));
            }
            TextBlockKind::Item(_) | TextBlockKind::Prose => {
                // `Anna: chair` is a person with a role.
                let own = piece
                    .label
                    .clone()
                    .filter(|label| section_named(&text[label.clone()]) == NoteSection::Other);
                match own.and_then(|label| people::whole_name(text, label)) {
                    Some(name) => names.add(name),
                    None => people::names(text, piece.content_start..piece.block.end)
                        .into_iter()
                        .for_each(|name| names.add(name)),
                }
            }
        }
    }
}

/// Phrases by which a speaker announces the next topic.
const NEXT: &str = "\
    next topic|next item|next up|first topic|first item|moving on to|move on to|let's talk about|\
    let's discuss|turning to|on the agenda is|next point|nächstes thema|nächster punkt|\
    erstes thema|kommen wir zu|kommen wir zum|kommen wir zur|passons à|prochain point|\
    prochain sujet|parlons de|pasemos a|siguiente tema|siguiente punto|hablemos de|last topic|\
    final topic|last item|letztes thema";

/// Words between such a phrase and the topic.
const FILLER: &str = "is|was|the|on|our|agenda|ist|die|der|das|est|le|la|es|el|then|now";

fn topics(text: &str, pieces: &[NotePiece]) -> Vec<PassageSpan> {
    let mut names = AttendeeNameCollector::new(text);
    let agenda = pieces.iter().any(|piece| piece.section == NoteSection::Agenda && piece.is_item());
    for (place, piece) in pieces.iter().enumerate() {
        let words = text.get(piece.content_start..piece.block.end).unwrap_or("");
        match piece.block.kind {
            TextBlockKind::Heading(depth) => {
                // The first heading is the title of the meeting.
                let title = place == 0 && depth <= 1;
                if piece.section == NoteSection::Other && !title && !agenda {
                    names.add(trim_topic(text, piece.block.body..piece.block.end));
                }
            }
            TextBlockKind::Item(_) | TextBlockKind::Row if piece.section == NoteSection::Agenda => {
                names.add(trim_topic(text, piece.block.body..piece.block.end))
            }
            TextBlockKind::Prose
                if piece.section == NoteSection::Agenda
                    && piece.label.is_some()
                    && !words.is_empty() =>
            {
                collect_agenda(text, piece, &mut names)
            }
            TextBlockKind::Prose | TextBlockKind::Item(_) => {
                for sentence in piece.sentences(text) {
                    if let Some(range) = spoken_topic(text, sentence) {
                        names.add(range);
                    }
                }
            }
            _ => {}
        }
    }
    names.spans
}

/// Collects the topics of `Agenda: budget, hiring; logo`.
fn collect_agenda(text: &str, piece: &NotePiece, names: &mut AttendeeNameCollector<'_>) {
    let mut start = piece.content_start;
    for part in text[piece.content_start..piece.block.end].split([',', ';', '\n']) {
        let lead = part.len() - part.trim_start().len();
        let trimmed = part.trim().trim_end_matches('.');
        if !trimmed.is_empty() {
            names.add(start + lead..start + lead + trimmed.len());
        }
        start += part.len() + 1;
    }
}

/// Returns a topic without its number, its emphasis and its duration.
fn trim_topic(text: &str, range: Range<usize>) -> Range<usize> {
    let words = &text[range.clone()];
    let line = words.split('\n').next().unwrap_or(words);
    let lead = line.len()
        - line
            .trim_start_matches(|c: char| {
                c.is_ascii_digit() || matches!(c, '.' | ')' | '*' | '_' | ' ' | '|')
            })
            .len();
    let cut = line
        .find(" (")
        .filter(|at| *at > lead && line[*at..].contains(|c: char| c.is_ascii_digit()))
        .unwrap_or(line.len());
    let end = line[..cut].trim_end_matches(['*', '_', ' ', ':', '.', '|', '#']).len();
    if end <= lead { range } else { range.start + lead..range.start + end }
}

/// Returns the topic that a speaker announces.
fn spoken_topic(text: &str, sentence: Range<usize>) -> Option<Range<usize>> {
    let words = &text[sentence.clone()];
    let line = SentenceWords::of(words);
    let (place, mut next) = line.find(NEXT)?;
    if place > 6 {
        return None;
    }
    while list_contains(FILLER, line.word(next)) {
        next += 1;
    }
    let from = line.start(next)?;
    let reach = words[from..]
        .find(['.', ',', '!', '?', ';', '\n'])
        .map_or(words.len(), |length| from + length);
    (reach > from && line.len() - next <= 14)
        .then_some(sentence.start + from..sentence.start + reach)
}

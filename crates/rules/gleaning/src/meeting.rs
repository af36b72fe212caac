//! What a meeting was about, from its minutes or a transcript.
//!
//! Minutes are read by their headings and labels, transcripts by who speaks. Nothing is summed up:
//! a topic is a heading, an item of the agenda, or what a speaker calls the next topic.

use std::collections::HashSet;
use std::ops::Range;

use crate::blocks::Shape;
use crate::cues::{Line, among};
use crate::sections::{Piece, Section, named, pieces};
use crate::{Decision, Kind, Leaf, Span, decisions, open_loops, people, speakers, table};

/// A meeting. All spans are of the one text it was read from: their `leaf` is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meeting {
    /// Who was there, each once.
    pub attendees: Vec<Span>,
    /// What was spoken about.
    pub topics: Vec<Span>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What somebody is to do.
    pub actions: Vec<Action>,
}

/// Something somebody is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What.
    pub what: Span,
    /// Who, where it is stated.
    pub owner: Option<Span>,
    /// By when, in the words it is stated in.
    pub due: Option<Span>,
    /// The same as `YYYY-MM-DD`, where the words give a whole date.
    pub date: Option<String>,
}

/// What these minutes or this transcript tell.
pub fn meeting(text: &str) -> Meeting {
    let pieces = pieces("", text);
    let leaf = Leaf { title: "", path: "", heading: "", text, score: 0.0 };
    let turns = speakers::turns(text);
    let mut attendees = Names::new(text);
    listed(text, &pieces, &mut attendees);
    for turn in &turns {
        attendees.add(turn.speaker.clone());
    }
    let decisions = decisions(&[leaf]);
    let loops = open_loops(&[leaf]).into_iter().filter(|open| open.kind != Kind::Question);
    let decided = |span: &Span| decisions.iter().any(|decision| decision.span == *span);
    let actions = loops
        .filter(|open| !decided(&open.span))
        .map(|open| Action { what: open.span, owner: open.owner, due: open.due, date: open.date })
        .collect();
    Meeting { attendees: attendees.spans, topics: topics(text, &pieces), decisions, actions }
}

fn span(range: Range<usize>) -> Span {
    Span { leaf: 0, start: range.start, end: range.end }
}

/// Names, each once, whatever the letters' size.
struct Names<'a> {
    text: &'a str,
    known: HashSet<String>,
    spans: Vec<Span>,
}

impl<'a> Names<'a> {
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

/// Names behind `Present:` and below `Attendees`.
fn listed(text: &str, pieces: &[Piece], names: &mut Names<'_>) {
    for piece in pieces.iter().filter(|piece| piece.section == Section::People) {
        match piece.block.shape {
            Shape::Heading(_) | Shape::Code | Shape::Furniture => {}
            Shape::Row => {
                // The first cell that is a name; the head of the table has none.
                let head = table::cells(text, piece).into_iter().next();
                let head =
                    head.filter(|cell| !Line::of(&text[cell.clone()]).word(0).starts_with("name"));
                head.into_iter()
                    .flat_map(|cell| people::names(text, cell))
                    .take(1)
                    .for_each(|name| names.add(name));
            }
            Shape::Item(_) | Shape::Prose => {
                // `Anna: chair` is a person and her role.
                let own = piece
                    .label
                    .clone()
                    .filter(|label| named(&text[label.clone()]) == Section::Other);
                match own.and_then(|label| people::whole_name(text, label)) {
                    Some(name) => names.add(name),
                    None => people::names(text, piece.rest..piece.block.end)
                        .into_iter()
                        .for_each(|name| names.add(name)),
                }
            }
        }
    }
}

/// Phrases by which a speaker goes to the next topic.
const NEXT: &str = "\
    next topic|next item|next up|first topic|first item|moving on to|move on to|let's talk about|\
    let's discuss|turning to|on the agenda is|next point|nächstes thema|nächster punkt|\
    erstes thema|kommen wir zu|kommen wir zum|kommen wir zur|passons à|prochain point|\
    prochain sujet|parlons de|pasemos a|siguiente tema|siguiente punto|hablemos de|last topic|\
    final topic|last item|letztes thema";

/// Words between such a phrase and the topic.
const FILLER: &str = "is|was|the|on|our|agenda|ist|die|der|das|est|le|la|es|el|then|now";

fn topics(text: &str, pieces: &[Piece]) -> Vec<Span> {
    let mut names = Names::new(text);
    let agenda = pieces.iter().any(|piece| piece.section == Section::Agenda && piece.is_item());
    for (place, piece) in pieces.iter().enumerate() {
        let words = text.get(piece.rest..piece.block.end).unwrap_or("");
        match piece.block.shape {
            Shape::Heading(depth) => {
                // The first heading is the meeting's own title.
                let title = place == 0 && depth <= 1;
                if piece.section == Section::Other && !title && !agenda {
                    names.add(topic(text, piece.block.body..piece.block.end));
                }
            }
            Shape::Item(_) | Shape::Row if piece.section == Section::Agenda => {
                names.add(topic(text, piece.block.body..piece.block.end))
            }
            Shape::Prose
                if piece.section == Section::Agenda
                    && piece.label.is_some()
                    && !words.is_empty() =>
            {
                spoken_list(text, piece, &mut names)
            }
            Shape::Prose | Shape::Item(_) => {
                for sentence in piece.sentences(text) {
                    if let Some(range) = spoken(text, sentence) {
                        names.add(range);
                    }
                }
            }
            _ => {}
        }
    }
    names.spans
}

/// `Agenda: budget, hiring; logo`.
fn spoken_list(text: &str, piece: &Piece, names: &mut Names<'_>) {
    let mut start = piece.rest;
    for part in text[piece.rest..piece.block.end].split([',', ';', '\n']) {
        let lead = part.len() - part.trim_start().len();
        let trimmed = part.trim().trim_end_matches('.');
        if !trimmed.is_empty() {
            names.add(start + lead..start + lead + trimmed.len());
        }
        start += part.len() + 1;
    }
}

/// A topic without its number, its emphasis and the minutes it gets.
fn topic(text: &str, range: Range<usize>) -> Range<usize> {
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

/// What a speaker calls the next topic.
fn spoken(text: &str, sentence: Range<usize>) -> Option<Range<usize>> {
    let words = &text[sentence.clone()];
    let line = Line::of(words);
    let (place, mut next) = line.find(NEXT)?;
    if place > 6 {
        return None;
    }
    while among(FILLER, line.word(next)) {
        next += 1;
    }
    let from = line.start(next)?;
    let reach = words[from..]
        .find(['.', ',', '!', '?', ';', '\n'])
        .map_or(words.len(), |length| from + length);
    (reach > from && line.len() - next <= 14)
        .then_some(sentence.start + from..sentence.start + reach)
}

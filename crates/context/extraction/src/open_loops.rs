//! Extracts open loops: tasks, questions and promises.
//!
//! Ticked, struck-through and finished items are left out. Instructions to a reader (`you need to
//! …`) are not tasks.

use std::ops::Range;

use crate::cues::{SentenceWords, list_contains, word_before};
use crate::layout::{TextBlockKind, label_end};
use crate::sections::{NotePiece, NoteSection, pieces};
use crate::table::ActionItemTable;
use crate::{PassageSpan, SourcePassage, dates, people, speakers};

/// The kind of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpenLoopKind {
    /// A task.
    Task,
    /// A question that the text does not answer.
    Question,
    /// Something that a person said they would do.
    Promise,
}

/// An open task, question or promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLoop {
    /// The kind.
    pub kind: OpenLoopKind,
    /// The sentence that states it.
    pub span: PassageSpan,
    /// The owner, if stated.
    pub owner: Option<PassageSpan>,
    /// The due date as the text states it.
    pub due: Option<PassageSpan>,
    /// The due date as `YYYY-MM-DD`, if the text states a whole date.
    pub date: Option<String>,
}

/// Extracts the open loops of these passages, in order.
pub fn extract_open_loops(passages: &[SourcePassage<'_>]) -> Vec<OpenLoop> {
    let mut found = Vec::new();
    for (place, passage) in passages.iter().enumerate() {
        let turns = speakers::turns(passage.text);
        let mut reader =
            OpenLoopExtractor { text: passage.text, passage: place, turns, found: Vec::new() };
        reader.read(&pieces(passage.heading, passage.text));
        found.append(&mut reader.found);
    }
    found
}

/// Extracts open loops from one passage.
struct OpenLoopExtractor<'a> {
    text: &'a str,
    passage: usize,
    /// The speakers, if the text is a transcript.
    turns: Vec<Range<usize>>,
    found: Vec<OpenLoop>,
}

/// Markers that turn the rest of the line into a task.
const MARKS: &str = "TODO|FIXME|XXX|TBD";

/// Phrases at the beginning of a sentence that make it a task.
const BEGINS: &str = "\
    todo|to do|to-do|fixme|action|action item|action point|ai|next step|follow up|follow-up|\
    noch zu tun|offen|zu erledigen|aufgabe|à faire|reste à|il reste à|pendiente|por hacer|tarea|\
    reminder to|don't forget to|remember to";

/// Phrases anywhere in a sentence that make it a task.
const STILL: &str = "\
    still needs|still need|still has to|still have to|still to do|remains to be|yet to be|\
    needs to be done|has to be done|needs follow-up|need to follow up|action item|to be done|\
    to be decided|to be confirmed|to be clarified|noch zu tun|muss noch|müssen noch|\
    steht noch aus|noch offen|noch zu klären|reste à faire|il reste à|doit encore|queda por|\
    falta por|está pendiente|hay que|todavía falta";

/// Beginnings of a sentence that state who has to do something.
const WE_NEED: &str = "\
    need to|needs to|we need to|we must|we have to|we still need|we should|someone needs to|\
    somebody needs to|someone has to|somebody has to|someone should|i need to|i have to|i must|\
    wir müssen|ich muss|jemand muss|nous devons|il faut|je dois|quelqu'un doit|tenemos que|\
    debemos|tengo que|alguien tiene que";

/// Promises in the first person.
const WILL: &str = "\
    i'll|i will|we'll|we will|i am going to|i'm going to|we're going to|i promise|i can take|\
    i'll take|ich werde|wir werden|ich schicke|ich kümmere|ich mache|ich melde|ich übernehme|\
    je vais|nous allons|je m'en occupe|je m'occupe|voy a|vamos a|me encargo|yo me encargo";

/// Verbs of a narrator, which are not promises.
const NARRATIVE: &str = "\
    see|assume|use|need|have|be|find|notice|learn|show|explain|describe|focus|discuss|consider|\
    now|call|denote|never|not|often|then|only|first|always|probably|get|adopt|go|keep|switch|\
    stick|assumed|no";

/// Verbs after a name that make a promise.
const DEEDS: &str = "\
    send|write|prepare|check|review|fix|ask|call|follow|update|contact|draft|schedule|set|\
    organise|organize|talk|share|look|create|finish|investigate|provide|deliver|book|order|\
    arrange|add|publish|test|reach|get|take|own|handle|do|make|run|present|collect|confirm|\
    clarify|document|file|open|close|upload|email|mail|invite|find|report|circulate|coordinate|\
    complete|submit|post|push|merge|move|start|sync|speak|bring|buy|pay|print|translate|deploy|\
    migrate|estimate|research|propose|summarise|summarize|compile|verify|rename|remove|back|meet|\
    evaluate|measure|design|build|implement|work|try|see|announce|interview|negotiate|renew|\
    cancel|sign|help|rotate|replace|tell";

/// Verbs of states, which are not promises.
const STATES: &str = "be|have|need|not|never|always|become|remain|stay|exist|no|";

/// Phrases that mark something as finished.
const BEHIND: &str = "\
    done|completed|erledigt|fertig|fait|terminé|hecho|resolved|cancelled|canceled|obsolete|\
    wontfix|won't fix";

impl OpenLoopExtractor<'_> {
    fn read(&mut self, pieces: &[NotePiece]) {
        let tables = ActionItemTable::all(self.text, pieces);
        for (place, piece) in pieces.iter().enumerate() {
            if self.is_done(piece) {
                continue;
            }
            match piece.block.kind {
                TextBlockKind::Heading(_) | TextBlockKind::Boilerplate => {}
                TextBlockKind::Code => self.code(piece),
                TextBlockKind::Row => {
                    self.row(piece, tables.iter().find(|table| table.holds(place)))
                }
                TextBlockKind::Item(Some(false)) => {
                    self.push_loop(OpenLoopKind::Task, piece.block.body..piece.block.end, piece)
                }
                TextBlockKind::Item(_) | TextBlockKind::Prose => self.words(pieces, place),
            }
        }
    }

    fn is_done(&self, piece: &NotePiece) -> bool {
        let words = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        let line = SentenceWords::of(words);
        let marked = ["~~", "✅", "☑"].iter().any(|mark| words.starts_with(mark))
            || words.ends_with(['✅', '✔']);
        let said = line.len() > 1
            && list_contains(BEHIND, line.word(line.len() - 1))
            && words
                .trim_end_matches(['*', '_', '.', '!'])
                .ends_with(|c: char| c.is_alphabetic() || c == ')')
            && words.contains([':', '(', '-', '–', '—']);
        let led = line.starts_with(BEHIND).is_some() && words.contains([':', ']', '-', '–']);
        piece.block.kind == TextBlockKind::Item(Some(true))
            || piece.section == NoteSection::Done
            || marked
            || led
            || said && piece.is_item()
    }

    /// Extracts tasks from comments in code.
    fn code(&mut self, piece: &NotePiece) {
        let mut start = piece.block.body;
        let code = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        for line in code.split_inclusive('\n') {
            if let Some(at) = mark(line) {
                let end = start + line.trim_end().len();
                self.push_loop(OpenLoopKind::Task, start + at..end, piece);
            }
            start += line.len();
        }
    }

    /// Extracts a task from a row of a table of tasks, except its header.
    fn row(&mut self, piece: &NotePiece, table: Option<&ActionItemTable>) {
        let Some(row) = table.and_then(|table| table.row(self.text, piece)) else {
            if piece.section == NoteSection::Tasks && table.is_none() {
                self.push_loop(OpenLoopKind::Task, piece.block.body..piece.block.end, piece);
            }
            return;
        };
        if row.done || row.head {
            return;
        }
        let days = row.due.clone().map(|due| dates::find_dates(&self.text[due]));
        let date = days.and_then(|days| days.into_iter().find_map(|day| day.iso));
        self.found.push(OpenLoop {
            kind: OpenLoopKind::Task,
            span: self.span(row.task),
            owner: row.owner.map(|owner| self.span(owner)),
            due: row.due.map(|due| self.span(due)),
            date,
        });
    }

    fn words(&mut self, pieces: &[NotePiece], place: usize) {
        let piece = &pieces[place];
        let label = piece.label_of(self.text).unwrap_or("");
        let labelled =
            SentenceWords::of(label).starts_with(BEGINS).is_some() || list_contains(MARKS, label);
        if labelled && piece.content_start < piece.block.end
            || piece.section == NoteSection::Tasks && piece.is_item()
        {
            self.push_loop(OpenLoopKind::Task, piece.block.body..piece.block.end, piece);
            return;
        }
        let sentences = piece.sentences(self.text);
        for (nth, sentence) in sentences.iter().enumerate() {
            let words = &self.text[sentence.clone()];
            if words.ends_with(['?', '？']) {
                let rest = &sentences[nth + 1..];
                if crate::unanswered::is_unanswered(self.text, pieces, place, words, rest) {
                    self.push_loop(OpenLoopKind::Question, sentence.clone(), piece);
                }
            } else if let Some(at) = mark(words) {
                self.push_loop(OpenLoopKind::Task, sentence.start + at..sentence.end, piece);
            } else if let Some(kind) =
                classify_sentence(words).filter(|_| piece.section != NoteSection::Decisions)
            {
                self.push_loop(kind, sentence.clone(), piece);
            }
        }
    }

    fn push_loop(&mut self, kind: OpenLoopKind, range: Range<usize>, piece: &NotePiece) {
        let words = self.text.get(range.clone()).unwrap_or("");
        if SentenceWords::of(words).len() == 0 {
            return;
        }
        // A date before a name is not part of it: `2026-04-20: Carl promised …`.
        let dated = words.len()
            - words.trim_start_matches(|c: char| c.is_ascii_digit() || "-.: ".contains(c)).len();
        let stated = people::owner(self.text, range.start + dated..range.end)
            .or_else(|| self.owner_after_label(&range));
        // The speaker makes the promise.
        let speaker = piece.label.clone().filter(|label| {
            crate::sections::section_named(&self.text[label.clone()]) == NoteSection::Other
        });
        let speaker = speaker.and_then(|label| people::whole_name(self.text, label));
        let speaks = || {
            speakers::speaker_at(&self.turns, range.start).filter(|_| kind == OpenLoopKind::Promise)
        };
        let owner = match kind {
            OpenLoopKind::Question => None,
            OpenLoopKind::Task | OpenLoopKind::Promise => stated.or(speaker).or_else(speaks),
        };
        let day = if kind == OpenLoopKind::Question { None } else { find_due_date(words) };
        let due = day.as_ref().map(|day| self.span(day.range_from(range.start)));
        let date = day.and_then(|day| day.iso);
        let span = self.span(range);
        if self.found.iter().rev().take(4).any(|known| known.span == span) {
            return;
        }
        let owner = owner.map(|owner| self.span(owner));
        self.found.push(OpenLoop { kind, span, owner, due, date });
    }

    /// Returns the owner after the label of a task: `Action: Anna checks …`.
    fn owner_after_label(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let words = self.text.get(range.clone())?;
        let colon = label_end(words)?;
        SentenceWords::of(&words[..colon]).starts_with(BEGINS)?;
        let rest = words[colon..].trim_start_matches([':', '*', '_', ' ', '\n']);
        let start = range.end - rest.len();
        let leads = || {
            let length = people::name_length(rest)?;
            let told = rest[length..].trim_start().starts_with(char::is_lowercase);
            told.then_some(start..start + length)
        };
        people::owner(self.text, start..range.end).or_else(leads)
    }

    fn span(&self, range: Range<usize>) -> PassageSpan {
        PassageSpan { passage: self.passage, start: range.start, end: range.end }
    }
}

/// Returns the offset of a marker such as `TODO`.
fn mark(words: &str) -> Option<usize> {
    MARKS.split('|').find_map(|mark| {
        let at = words.find(mark)?;
        let before = words[..at].chars().next_back();
        let behind = words[at + mark.len()..].chars().next();
        let apart = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '`');
        let opens = behind.is_some_and(|c| matches!(c, ':' | '(' | ' ' | '!' | '-'));
        // `TBD` at the end of a sentence marks the sentence itself.
        let ends = mark == "TBD" && behind.is_none_or(|c| matches!(c, '.' | ')' | ','));
        (apart && (opens || ends)).then_some(if mark == "TBD" { 0 } else { at })
    })
}

/// Returns what a sentence opens, by its words.
fn classify_sentence(words: &str) -> Option<OpenLoopKind> {
    let line = SentenceWords::of(words);
    if line.has("will not|won't|no longer|werden nicht|werde nicht|ne vais pas|if i|if we") {
        return None;
    }
    if let Some((_, next)) = line.find(WILL) {
        let we = line.has("we will|we'll|we're going to|wir werden|nous allons|vamos a");
        return (!(we && list_contains(NARRATIVE, line.word(next))))
            .then_some(OpenLoopKind::Promise);
    }
    if promised_by_name(words) {
        return Some(OpenLoopKind::Promise);
    }
    let begins = line.starts_with(BEGINS).is_some_and(|next| line.start(next).is_some());
    let colon = words.find([':', '-']).is_some_and(|at| at < 24);
    if begins && colon
        || line
            .starts_with(
                "reminder to|don't forget to|remember to|il reste à|follow up with|follow up on",
            )
            .is_some()
    {
        return Some(OpenLoopKind::Task);
    }
    let asked = line.starts_with(WE_NEED).is_some() || needed_by_name(words);
    (asked || line.has(STILL)).then_some(OpenLoopKind::Task)
}

/// Returns true for `Anna will send …`, `Bob to review …`, `2026-04-20: Carl promised to call`.
fn promised_by_name(words: &str) -> bool {
    let dated = words.trim_start_matches(|c: char| c.is_ascii_digit() || "-.: ".contains(c));
    let bare = dated.trim_start_matches(['*', '_', '@', '[', ' ']);
    let handle = || (bare.len() < dated.len()).then(|| bare.find(' ')).flatten();
    let Some(length) = people::name_length(bare).or_else(handle) else { return false };
    let line = SentenceWords::of(&bare[length..]);
    let at = match line.word(0) {
        // `Anna and Bob will …`.
        "and" | "und" | "et" | "y" => 2,
        _ => 0,
    };
    let next = at + 1 + usize::from(list_contains("to|also", line.word(at + 1)));
    let verb = line.word(next);
    // A full name is a person; a single capitalized word can be anything.
    let whole = bare[..length].contains(' ') && !list_contains(STATES, verb);
    match line.word(at) {
        "will" => list_contains(DEEDS, verb) || whole,
        "to" => list_contains(DEEDS, verb) || whole && at == 0,
        "promised" | "agreed" | "volunteered" | "offered" => next > at + 1 && !verb.is_empty(),
        "wird" | "va" | "übernimmt" | "kümmert" => line.len() > at + 1,
        _ => false,
    }
}

/// Returns true for `Anna needs to …`, `Bob must …`.
fn needed_by_name(words: &str) -> bool {
    let Some(length) = people::name_length(words) else { return false };
    let line = SentenceWords::of(&words[length..]);
    let needs = line.starts_with(
        "needs to|has to|should|must|is to|still needs to|muss|soll|doit|debe|tiene que",
    );
    needs.is_some_and(|next| {
        list_contains(DEEDS, line.word(next))
            || matches!(line.word(0), "muss" | "soll" | "doit" | "debe" | "tiene")
    })
}

/// Words before a due date.
const BY: &str = "\
    by|until|till|due|before|on|deadline|bis|spätestens|fällig|am|zum|avant|d'ici|pour|le|antes|\
    para|el|del|hasta|date|this|next|the|end|of|vor|den|later|than|for";

/// Words before a date in the past.
const WAS: &str = "\
    since|from|seit|vom|depuis|desde|created|opened|reported|dated|of|in|after|nach|last";

/// Returns the due date, if stated.
fn find_due_date(words: &str) -> Option<dates::DateMention> {
    let days = dates::find_dates(words);
    let stated = days.iter().find(|day| list_contains(BY, &word_before(words, day.range.start)));
    stated
        .or_else(|| {
            days.iter().find(|day| !list_contains(WAS, &word_before(words, day.range.start)))
        })
        .cloned()
}

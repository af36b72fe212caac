//! What is still open: tasks, questions, promises.
//!
//! What is ticked, struck through or said to be done is not. Descriptions of what a reader needs to
//! do (`you need to …`) are no tasks of anybody here.

use std::ops::Range;

use crate::blocks::{Shape, label};
use crate::cues::{Line, among, word_before};
use crate::sections::{Piece, Section, pieces};
use crate::table::Table;
use crate::{Leaf, Span, dates, people, speakers};

/// What kind of thing is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Something to be done.
    Task,
    /// A question nobody answered where it stands.
    Question,
    /// Something somebody said they would do.
    Promise,
}

/// Something that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenLoop {
    /// What kind it is.
    pub kind: Kind,
    /// The sentence that says so.
    pub span: Span,
    /// Whose it is, where that is stated.
    pub owner: Option<Span>,
    /// When it is due, in the words it is stated in.
    pub due: Option<Span>,
    /// The same as `YYYY-MM-DD`, where the words give a whole date.
    pub date: Option<String>,
}

/// What is still open in these passages, in their order.
pub fn open_loops(leaves: &[Leaf<'_>]) -> Vec<OpenLoop> {
    let mut found = Vec::new();
    for (place, leaf) in leaves.iter().enumerate() {
        let turns = speakers::turns(leaf.text);
        let mut reader = Reader { text: leaf.text, leaf: place, turns, found: Vec::new() };
        reader.read(&pieces(leaf.heading, leaf.text));
        found.append(&mut reader.found);
    }
    found
}

struct Reader<'a> {
    text: &'a str,
    leaf: usize,
    /// Who speaks, where it is a transcript.
    turns: Vec<speakers::Turn>,
    found: Vec<OpenLoop>,
}

/// A mark that makes a task of the rest of the line.
const MARKS: &str = "TODO|FIXME|XXX|TBD";

/// Words at the beginning that make a task of a sentence.
const BEGINS: &str = "\
    todo|to do|to-do|fixme|action|action item|action point|ai|next step|follow up|follow-up|\
    noch zu tun|offen|zu erledigen|aufgabe|à faire|reste à|il reste à|pendiente|por hacer|tarea|\
    reminder to|don't forget to|remember to";

/// Words anywhere that make a task of a sentence.
const STILL: &str = "\
    still needs|still need|still has to|still have to|still to do|remains to be|yet to be|\
    needs to be done|has to be done|needs follow-up|need to follow up|action item|to be done|\
    to be decided|to be confirmed|to be clarified|noch zu tun|muss noch|müssen noch|\
    steht noch aus|noch offen|noch zu klären|reste à faire|il reste à|doit encore|queda por|\
    falta por|está pendiente|hay que|todavía falta";

/// Who has to do it, where the sentence begins so.
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

/// What a writer does, not what somebody promised.
const NARRATIVE: &str = "\
    see|assume|use|need|have|be|find|notice|learn|show|explain|describe|focus|discuss|consider|\
    now|call|denote|never|not|often|then|only|first|always|probably|get|adopt|go|keep|switch|\
    stick|assumed|no";

/// What follows a name that promises.
const DEEDS: &str = "\
    send|write|prepare|check|review|fix|ask|call|follow|update|contact|draft|schedule|set|\
    organise|organize|talk|share|look|create|finish|investigate|provide|deliver|book|order|\
    arrange|add|publish|test|reach|get|take|own|handle|do|make|run|present|collect|confirm|\
    clarify|document|file|open|close|upload|email|mail|invite|find|report|circulate|coordinate|\
    complete|submit|post|push|merge|move|start|sync|speak|bring|buy|pay|print|translate|deploy|\
    migrate|estimate|research|propose|summarise|summarize|compile|verify|rename|remove|back|meet|\
    evaluate|measure|design|build|implement|work|try|see|announce|interview|negotiate|renew|\
    cancel|sign|help|rotate|replace|tell";

/// What is no deed, whoever will do it.
const STATES: &str = "be|have|need|not|never|always|become|remain|stay|exist|no|";

/// What says that a thing is behind us.
const BEHIND: &str = "\
    done|completed|erledigt|fertig|fait|terminé|hecho|resolved|cancelled|canceled|obsolete|\
    wontfix|won't fix";

impl Reader<'_> {
    fn read(&mut self, pieces: &[Piece]) {
        let tables = Table::all(self.text, pieces);
        for (place, piece) in pieces.iter().enumerate() {
            if self.is_behind(piece) {
                continue;
            }
            match piece.block.shape {
                Shape::Heading(_) | Shape::Furniture => {}
                Shape::Code => self.code(piece),
                Shape::Row => self.row(piece, tables.iter().find(|table| table.holds(place))),
                Shape::Item(Some(false)) => {
                    self.keep(Kind::Task, piece.block.body..piece.block.end, piece)
                }
                Shape::Item(_) | Shape::Prose => self.words(pieces, place),
            }
        }
    }

    fn is_behind(&self, piece: &Piece) -> bool {
        let words = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        let line = Line::of(words);
        let marked = words.starts_with("~~")
            || words.starts_with("✅")
            || words.starts_with("☑")
            || words.ends_with("✅")
            || words.ends_with("✔");
        let said = line.len() > 1
            && among(BEHIND, line.word(line.len() - 1))
            && words
                .trim_end_matches(['*', '_', '.', '!'])
                .ends_with(|c: char| c.is_alphabetic() || c == ')')
            && words.contains([':', '(', '-', '–', '—']);
        let led = line.begins(BEHIND).is_some() && words.contains([':', ']', '-', '–']);
        piece.block.shape == Shape::Item(Some(true))
            || piece.section == Section::Done
            || marked
            || led
            || said && piece.is_item()
    }

    /// Comments in code that say what is to be done.
    fn code(&mut self, piece: &Piece) {
        let mut start = piece.block.body;
        let code = self.text.get(piece.block.body..piece.block.end).unwrap_or("");
        for line in code.split_inclusive('\n') {
            if let Some(at) = mark(line) {
                let end = start + line.trim_end().len();
                self.keep(Kind::Task, start + at..end, piece);
            }
            start += line.len();
        }
    }

    /// A row of a table of tasks, but not its head.
    fn row(&mut self, piece: &Piece, table: Option<&Table>) {
        let Some(row) = table.and_then(|table| table.row(self.text, piece)) else {
            if piece.section == Section::Tasks && table.is_none() {
                self.keep(Kind::Task, piece.block.body..piece.block.end, piece);
            }
            return;
        };
        if row.done || row.head {
            return;
        }
        let days = row.due.clone().map(|due| dates::days(&self.text[due]));
        let date = days.and_then(|days| days.into_iter().find_map(|day| day.iso));
        self.found.push(OpenLoop {
            kind: Kind::Task,
            span: self.span(row.what),
            owner: row.owner.map(|owner| self.span(owner)),
            due: row.due.map(|due| self.span(due)),
            date,
        });
    }

    fn words(&mut self, pieces: &[Piece], place: usize) {
        let piece = &pieces[place];
        let label = piece.label_of(self.text).unwrap_or("");
        let labelled = Line::of(label).begins(BEGINS).is_some() || among(MARKS, label);
        if labelled && piece.rest < piece.block.end {
            self.keep(Kind::Task, piece.block.body..piece.block.end, piece);
            return;
        }
        if piece.section == Section::Tasks && piece.is_item() {
            self.keep(Kind::Task, piece.block.body..piece.block.end, piece);
            return;
        }
        let sentences = piece.sentences(self.text);
        for (nth, sentence) in sentences.iter().enumerate() {
            let words = &self.text[sentence.clone()];
            if words.ends_with(['?', '？']) {
                let rest = &sentences[nth + 1..];
                if crate::unanswered::unanswered(self.text, pieces, place, words, rest) {
                    self.keep(Kind::Question, sentence.clone(), piece);
                }
            } else if let Some(at) = mark(words) {
                self.keep(Kind::Task, sentence.start + at..sentence.end, piece);
            } else if let Some(kind) = kind(words).filter(|_| piece.section != Section::Decisions) {
                self.keep(kind, sentence.clone(), piece);
            }
        }
    }

    fn keep(&mut self, kind: Kind, range: Range<usize>, piece: &Piece) {
        let words = self.text.get(range.clone()).unwrap_or("");
        if Line::of(words).len() == 0 {
            return;
        }
        // A date before a name is not part of it: `2026-04-20: Carl promised …`.
        let dated = words.len()
            - words.trim_start_matches(|c: char| c.is_ascii_digit() || "-.: ".contains(c)).len();
        let stated = people::owner(self.text, range.start + dated..range.end)
            .or_else(|| self.owner_behind(&range));
        // Whoever speaks promises.
        let speaker = piece
            .label
            .clone()
            .filter(|label| crate::sections::named(&self.text[label.clone()]) == Section::Other);
        let speaker = speaker.and_then(|label| people::whole_name(self.text, label));
        let speaks = || speakers::at(&self.turns, range.start).filter(|_| kind == Kind::Promise);
        let owner = match kind {
            Kind::Question => None,
            Kind::Task | Kind::Promise => stated.or(speaker).or_else(speaks),
        };
        let day = if kind == Kind::Question { None } else { due(words) };
        let (due, date) = match day {
            Some(day) => {
                (Some(range.start + day.range.start..range.start + day.range.end), day.iso)
            }
            None => (None, None),
        };
        let span = self.span(range);
        if self.found.iter().rev().take(4).any(|known| known.span == span) {
            return;
        }
        let owner = owner.map(|owner| self.span(owner));
        let due = due.map(|due| self.span(due));
        self.found.push(OpenLoop { kind, span, owner, due, date });
    }

    /// Whose it is behind the label that makes it a task: `Action: Anna checks …`.
    fn owner_behind(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let words = self.text.get(range.clone())?;
        let colon = label(words)?;
        Line::of(&words[..colon]).begins(BEGINS)?;
        let rest = words[colon..].trim_start_matches([':', '*', '_', ' ', '\n']);
        let start = range.end - rest.len();
        let leads = || {
            let length = people::name_at(rest)?;
            let told = rest[length..].trim_start().starts_with(char::is_lowercase);
            told.then_some(start..start + length)
        };
        people::owner(self.text, start..range.end).or_else(leads)
    }

    fn span(&self, range: Range<usize>) -> Span {
        Span { leaf: self.leaf, start: range.start, end: range.end }
    }
}

/// Where a mark like `TODO` begins that makes a task of what follows it.
fn mark(words: &str) -> Option<usize> {
    MARKS.split('|').find_map(|mark| {
        let at = words.find(mark)?;
        let before = words[..at].chars().next_back();
        let behind = words[at + mark.len()..].chars().next();
        let apart = before.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '`');
        let opens = behind.is_some_and(|c| matches!(c, ':' | '(' | ' ' | '!' | '-'));
        // `TBD` at the end of a sentence is what is to be done.
        let ends = mark == "TBD" && behind.is_none_or(|c| matches!(c, '.' | ')' | ','));
        (apart && (opens || ends)).then_some(if mark == "TBD" { 0 } else { at })
    })
}

/// What a sentence makes open, by its words.
fn kind(words: &str) -> Option<Kind> {
    let line = Line::of(words);
    if line.has("will not|won't|no longer|werden nicht|werde nicht|ne vais pas|if i|if we") {
        return None;
    }
    if let Some((_, next)) = line.find(WILL) {
        let we = line.has("we will|we'll|we're going to|wir werden|nous allons|vamos a");
        return (!(we && among(NARRATIVE, line.word(next)))).then_some(Kind::Promise);
    }
    if promised_by_name(words) {
        return Some(Kind::Promise);
    }
    let begins = line.begins(BEGINS).is_some_and(|next| line.start(next).is_some());
    let colon = words.find([':', '-']).is_some_and(|at| at < 24);
    if begins && colon
        || line
            .begins(
                "reminder to|don't forget to|remember to|il reste à|follow up with|follow up on",
            )
            .is_some()
    {
        return Some(Kind::Task);
    }
    let asked = line.begins(WE_NEED).is_some() || needed_by_name(words);
    (asked || line.has(STILL)).then_some(Kind::Task)
}

/// `Anna will send …`, `Bob to review …`, `2026-04-20: Carl promised to call`.
fn promised_by_name(words: &str) -> bool {
    let dated = words.trim_start_matches(|c: char| c.is_ascii_digit() || "-.: ".contains(c));
    let bare = dated.trim_start_matches(['*', '_', '@', '[', ' ']);
    let handle = || (bare.len() < dated.len()).then(|| bare.find(' ')).flatten();
    let Some(length) = people::name_at(bare).or_else(handle) else { return false };
    let line = Line::of(&bare[length..]);
    let at = match line.word(0) {
        // `Anna and Bob will …`.
        "and" | "und" | "et" | "y" => 2,
        _ => 0,
    };
    let next = at + 1 + usize::from(among("to|also", line.word(at + 1)));
    let verb = line.word(next);
    // A whole name is somebody's; a single word with a capital may be anything's.
    let whole = bare[..length].contains(' ') && !among(STATES, verb);
    match line.word(at) {
        "will" => among(DEEDS, verb) || whole,
        "to" => among(DEEDS, verb) || whole && at == 0,
        "promised" | "agreed" | "volunteered" | "offered" => next > at + 1 && !verb.is_empty(),
        "wird" | "va" | "übernimmt" | "kümmert" => line.len() > at + 1,
        _ => false,
    }
}

/// `Anna needs to …`, `Bob must …`.
fn needed_by_name(words: &str) -> bool {
    let Some(length) = people::name_at(words) else { return false };
    let line = Line::of(&words[length..]);
    let needs = line
        .begins("needs to|has to|should|must|is to|still needs to|muss|soll|doit|debe|tiene que");
    needs.is_some_and(|next| {
        among(DEEDS, line.word(next))
            || matches!(line.word(0), "muss" | "soll" | "doit" | "debe" | "tiene")
    })
}

/// Words before a day by which something is due.
const BY: &str = "\
    by|until|till|due|before|on|deadline|bis|spätestens|fällig|am|zum|avant|d'ici|pour|le|antes|\
    para|el|del|hasta|date|this|next|the|end|of|vor|den|later|than|for";

/// Words before a day on which something was.
const WAS: &str = "\
    since|from|seit|vom|depuis|desde|created|opened|reported|dated|of|in|after|nach|last";

/// When it is due, if that is stated.
fn due(words: &str) -> Option<dates::Day> {
    let days = dates::days(words);
    let stated = days.iter().find(|day| among(BY, &word_before(words, day.range.start)));
    stated
        .or_else(|| days.iter().find(|day| !among(WAS, &word_before(words, day.range.start))))
        .cloned()
}

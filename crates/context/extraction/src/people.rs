//! Finds names of people in notes: owners, deciders, attendees.
//!
//! A name is one to three capitalized words, or a handle. Whether it is a person is judged only by
//! its position (`Anna to …`, `@anna`, `(Bob)`).

use std::ops::Range;

use crate::cues::{self, SentenceWords};
use crate::words::listed;

/// Capitalized words that are not names, in lower case.
const NO_NAMES: &str = " \
    i we you he she it they this that these those the a an there here what who when where why \
    how if in on at for from to as and or but so then also not no yes ok okay please note todo \
    fixme xxx done action actions decision decisions item items next step steps open question \
    questions owner due deadline date all everyone everybody someone somebody anyone nobody team \
    both each every some any monday tuesday wednesday thursday friday saturday sunday january \
    february march april may june july august september october november december today tomorrow \
    status topic agenda notes summary reason agreed decided minutes meeting attendees present \
    participants follow reminder info idea update link wir ich sie er es der die das ein eine und \
    oder aber wenn dann nicht kein alle jeder man heute morgen montag dienstag mittwoch \
    donnerstag freitag samstag sonntag thema frage aufgabe entscheidung nous je vous il elle ils \
    elles le la les un une des et ou mais on ce cette tous nosotros yo usted él ella ellos el los \
    las una y o pero todos esto esta important warning example our my your their his her its let \
    let's after before once since while because using use see add remove fix make new first \
    second last only most more many much several one two three can could should would will must \
    might may do does did is are was were be been has have had q a tbd wip asap fyi rest answer \
    resolved accepted rejected superseded deprecated proposed approved lunes martes miércoles \
    jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche absent \
    apologies regrets guests need needs still thanks hello hi dear best regards great fine good \
    okay right sure well maybe perhaps let's please morning however therefore thus hence also \
    again ";

fn is_name_word(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next().is_some_and(char::is_uppercase);
    let plain = word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'));
    let small = word.trim_end_matches('.').to_lowercase();
    first && plain && word.len() <= 30 && !listed(NO_NAMES, &small)
}

/// Returns the length in bytes of the name at the start: one to three capitalized words.
pub(crate) fn name_length(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('@') {
        let length = handle_length(rest);
        return (length > 0).then_some(length + 1);
    }
    let mut end = 0;
    let mut at = 0;
    for _ in 0..3 {
        let rest = &text[at..];
        let word = rest
            .find(|c: char| !(c.is_alphabetic() || matches!(c, '-' | '\'' | '’')))
            .unwrap_or(rest.len());
        // The full stop of an initial belongs to the name.
        let dot = usize::from(word <= 2 && rest[word..].starts_with('.') && at > 0);
        if word == 0 || !is_name_word(&rest[..word]) {
            break;
        }
        end = at + word + dot;
        if !text[end..].starts_with(' ') {
            break;
        }
        at = end + 1;
    }
    (end > 0).then_some(end)
}

fn handle_length(text: &str) -> usize {
    let length = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(text.len());
    text[..length].trim_end_matches('.').len()
}

/// Returns the name if the range contains nothing else but punctuation.
pub(crate) fn whole_name(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let words = text.get(range.clone())?;
    let lead = words.len() - words.trim_start_matches([' ', '*', '_', '[', '(', '`', '@']).len();
    let bare = words[lead..].trim_end_matches([' ', '*', '_', ']', ')', '`', '.', ',', ';', ':']);
    let at = words[..lead].ends_with('@');
    let fits =
        if at { handle_length(bare) == bare.len() } else { name_length(bare) == Some(bare.len()) };
    (!bare.is_empty() && fits).then(|| range.start + lead..range.start + lead + bare.len())
}

/// Conjunctions before the last name of an enumeration.
const AND: &[&str] = &[" and ", " und ", " et ", " y ", " sowie ", " e "];

/// Returns the names in an enumeration, without roles and brackets: `Anna Kovács (chair), Bob and
/// @carl`.
pub(crate) fn names(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let Some(words) = text.get(range.clone()) else { return Vec::new() };
    let mut found = Vec::new();
    let mut start = 0;
    let mut depth = 0_u32;
    for (at, c) in words.char_indices() {
        let cut = match c {
            '(' | '[' => {
                depth += 1;
                0
            }
            ')' | ']' => {
                depth = depth.saturating_sub(1);
                0
            }
            ',' | ';' | '&' | '|' | '•' | '\n' | '/' => c.len_utf8(),
            ' ' => {
                AND.iter().find(|and| words[at..].starts_with(**and)).map_or(0, |and| and.len() - 1)
            }
            _ => 0,
        };
        if cut > 0 && depth == 0 && at >= start {
            found.extend(first_name(text, range.start + start..range.start + at));
            start = at + cut;
        }
    }
    if start < words.len() {
        found.extend(first_name(text, range.start + start..range.end));
    }
    found
}

/// Returns the name at the start of the range.
fn first_name(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let words = text.get(range.clone())?;
    let lead = words.len() - words.trim_start_matches([' ', '*', '_', '\t', '-', '[', '`']).len();
    let bare = &words[lead..];
    let (skip, length) = match bare.strip_prefix('@') {
        Some(rest) => (1, handle_length(rest)),
        None => (0, name_length(bare).unwrap_or(0)),
    };
    let from = range.start + lead + skip;
    (length > 0).then_some(from..from + length)
}

/// Returns the owner that a sentence states.
pub(crate) fn owner(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let words = text.get(range.clone())?;
    let base = range.start;
    let shift = |found: Range<usize>| base + found.start..base + found.end;
    if let Some(at) =
        words.find('@').filter(|at| !words[..*at].ends_with(|c: char| c.is_alphanumeric()))
    {
        let length = handle_length(&words[at + 1..]);
        if length > 0 {
            return Some(shift(at + 1..at + 1 + length));
        }
    }
    labelled_owner(words)
        .or_else(|| leading_owner(words))
        .or_else(|| bracketed_owner(words))
        .or_else(|| trailing_owner(words))
        .map(shift)
}

/// Finds `owner: Anna`, `assigned to Anna`, `TODO(anna)`.
fn labelled_owner(words: &str) -> Option<Range<usize>> {
    for mark in ["TODO(", "FIXME(", "XXX("] {
        if let Some(at) = words.find(mark) {
            let from = at + mark.len();
            let length = handle_length(&words[from..]);
            return (length > 0 && words[from + length..].starts_with(')'))
                .then_some(from..from + length);
        }
    }
    let line = SentenceWords::of(words);
    let (_, behind) =
        line.find("assigned to|owned by|zugewiesen an|asignado a|assigné à").or_else(|| {
            let found = line.find(cues::OWNERS)?;
            // A label ends with a colon.
            words[line.end(found.1 - 1)?..]
                .trim_start_matches(['*', '_', ' '])
                .starts_with(':')
                .then_some(found)
        })?;
    let from = line.start(behind)?;
    name_length(&words[from..]).map(|length| from..from + length)
}

/// What follows a name before its task.
const TO_DO: &str = "\
    to|will|needs|should|must|has|shall|is|agreed|promised|volunteered|takes|owns|can|wird|soll|\
    muss|kümmert|übernimmt|va|doit|se|debe|tiene|hará|enviará|schickt|prüft|macht|schreibt|klärt|\
    holt|erstellt|informiert|bereitet|and|und|et|y";

/// Finds `Anna: …`, `Anna to …`, `Anna will …`, `[Anna] …`, `**Anna** …`, `Anna - …`.
fn leading_owner(words: &str) -> Option<Range<usize>> {
    let lead = words.len() - words.trim_start_matches(['*', '_', '[', '(', ' ']).len();
    let length = name_length(&words[lead..])?;
    let behind = &words[lead + length..];
    let marked = behind.trim_start_matches(['*', '_']);
    let closed = lead > 0 && behind.starts_with([']', ')']);
    let next = marked.trim_start();
    let verb = next.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    let apart = marked.starts_with(':')
        || ["- ", "– ", "— ", "-> ", "→"].iter().any(|dash| next.starts_with(dash));
    let told = marked.starts_with(' ') && cues::list_contains(TO_DO, verb);
    (closed || apart || told).then_some(lead..lead + length)
}

/// Finds `… (Bob)`, `… (Bob, by Friday)`, `… [Bob]`.
fn bracketed_owner(words: &str) -> Option<Range<usize>> {
    let open = words.rfind(['(', '['])?;
    let inside = &words[open + 1..];
    let close = inside.find([')', ']'])?;
    let length = name_length(inside)?;
    let behind = inside[length..close].trim_start();
    let alone = behind.is_empty()
        || behind.starts_with([',', ';', ':', '/', '&', '-', '–'])
        || ["by ", "bis ", "and "].iter().any(|word| behind.starts_with(word));
    // `[Report](url)` is a link, not a person.
    let link = inside[close..].starts_with("](");
    (alone && !link).then_some(open + 1..open + 1 + length)
}

/// Finds `… — Anna`, `… -> Anna`.
fn trailing_owner(words: &str) -> Option<Range<usize>> {
    let (at, mark) = [" — ", " – ", " - ", " -> ", " → ", " => "]
        .iter()
        .filter_map(|mark| words.rfind(mark).map(|at| (at, mark.len())))
        .max()?;
    let from = at + mark;
    let length = name_length(&words[from..])?;
    let behind = words[from + length..].trim_start();
    let ends = behind.is_empty()
        || behind.starts_with([',', '(', ';', '.'])
        || behind.starts_with("by ")
        || behind.starts_with("bis ");
    ends.then_some(from..from + length)
}

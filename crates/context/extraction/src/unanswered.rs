//! Checks whether a text answers its own questions.

use std::ops::Range;

use crate::cues::SentenceWords;
use crate::layout::TextBlockKind;
use crate::sections::{NotePiece, NoteSection};

/// Words that leave a question open.
const UNKNOWN: &str = "\
    tbd|unclear|unknown|don't know|do not know|nobody knows|nobody knew|no one knows|not sure|\
    no idea|good question|still open|open|to be clarified|to be decided|need to find out|\
    needs clarification|will find out|no answer|not decided|undecided|unklar|weiß nicht|\
    wissen nicht|keine ahnung|offen|noch zu klären|pas sûr|on ne sait pas|je ne sais pas|\
    à clarifier|no sé|no sabemos|por aclarar|let me check|i'll check|have to check|need to check|\
    will check|get back to";

/// Questions that want no answer.
const RHETORICAL: &str = "right|ok|okay|isn't it|no|oder|n'est-ce pas|verdad|why|how|really";

/// Returns true if nothing answers the question: neither the rest of its piece (`rest`), nor the
/// next piece.
pub(crate) fn is_unanswered(
    text: &str,
    pieces: &[NotePiece],
    place: usize,
    question: &str,
    rest: &[Range<usize>],
) -> bool {
    let line = SentenceWords::of(question);
    let tag = line.len() <= 2 && pieces[place].section != NoteSection::Questions;
    let idea = line.starts_with("maybe|perhaps|vielleicht|peut-être|quizás").is_some();
    if idea || tag || line.len() <= 3 && line.starts_with(RHETORICAL).is_some() {
        return false;
    }
    let asked = |range: &Range<usize>| text[range.clone()].ends_with(['?', '？']);
    if let Some(next) = rest.iter().find(|range| !asked(range)) {
        return is_open(&text[next.clone()]);
    }
    let Some(next) = pieces.get(place + 1) else { return true };
    let words = text.get(next.content_start..next.block.end).unwrap_or("");
    if replies(text, &pieces[place], next) { is_open(words) } else { true }
}

fn is_open(words: &str) -> bool {
    SentenceWords::of(words).has(UNKNOWN) || words.trim_end().ends_with(['?', '？'])
}

/// Returns true if a piece looks like an answer to the previous one.
fn replies(text: &str, asks: &NotePiece, next: &NotePiece) -> bool {
    let words = text.get(next.block.body..next.block.end).unwrap_or("");
    let marked = words.starts_with("->") || words.starts_with('→') || words.starts_with("=>");
    let label = next.label_of(text).map(SentenceWords::of);
    let answers = label
        .is_some_and(|label| label.starts_with("a|answer|antwort|réponse|respuesta").is_some());
    if marked || answers {
        return true;
    }
    match (asks.block.kind, next.block.kind) {
        // A nested list answers the item above it; the next item of the same list does not.
        (TextBlockKind::Item(_), TextBlockKind::Item(_)) => next.block.indent > asks.block.indent,
        (TextBlockKind::Item(_), _) => false,
        (TextBlockKind::Prose, TextBlockKind::Heading(_)) => false,
        // The next speaker answers; a new section of the notes does not.
        (TextBlockKind::Prose, TextBlockKind::Prose) => {
            next.section == asks.section && asks.section != NoteSection::Questions
        }
        (
            TextBlockKind::Prose,
            TextBlockKind::Item(_) | TextBlockKind::Row | TextBlockKind::Code,
        ) => asks.section != NoteSection::Questions,
        _ => false,
    }
}

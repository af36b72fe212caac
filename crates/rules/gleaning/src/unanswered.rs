//! Whether a question was answered where it stands.

use std::ops::Range;

use crate::blocks::Shape;
use crate::cues::Line;
use crate::sections::{Piece, Section};

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

/// Whether nobody answers this question: not in the same piece behind it (`rest`), and not in the
/// piece that follows.
pub(crate) fn unanswered(
    text: &str,
    pieces: &[Piece],
    place: usize,
    question: &str,
    rest: &[Range<usize>],
) -> bool {
    let line = Line::of(question);
    let tag = line.len() <= 2 && pieces[place].section != Section::Questions;
    let idea = line.begins("maybe|perhaps|vielleicht|peut-être|quizás").is_some();
    if idea || tag || line.len() <= 3 && line.begins(RHETORICAL).is_some() {
        return false;
    }
    let asked = |range: &Range<usize>| text[range.clone()].ends_with(['?', '？']);
    if let Some(next) = rest.iter().find(|range| !asked(range)) {
        return is_open(&text[next.clone()]);
    }
    let Some(next) = pieces.get(place + 1) else { return true };
    let words = text.get(next.rest..next.block.end).unwrap_or("");
    if replies(text, &pieces[place], next) { is_open(words) } else { true }
}

fn is_open(words: &str) -> bool {
    Line::of(words).has(UNKNOWN) || words.trim_end().ends_with(['?', '？'])
}

/// Whether a piece is what an answer to the one before it would look like.
fn replies(text: &str, asks: &Piece, next: &Piece) -> bool {
    let words = text.get(next.block.body..next.block.end).unwrap_or("");
    let marked = words.starts_with("->") || words.starts_with('→') || words.starts_with("=>");
    let label = next.label_of(text).map(Line::of);
    let answers =
        label.is_some_and(|label| label.begins("a|answer|antwort|réponse|respuesta").is_some());
    if marked || answers {
        return true;
    }
    match (asks.block.shape, next.block.shape) {
        // A list below an item answers it; the next item of the same list does not.
        (Shape::Item(_), Shape::Item(_)) => next.block.indent > asks.block.indent,
        (Shape::Item(_), _) => false,
        (Shape::Prose, Shape::Heading(_)) => false,
        // Whoever speaks next answers; a new part of the notes does not.
        (Shape::Prose, Shape::Prose) => {
            next.section == asks.section && asks.section != Section::Questions
        }
        (Shape::Prose, Shape::Item(_) | Shape::Row | Shape::Code) => {
            asks.section != Section::Questions
        }
        _ => false,
    }
}

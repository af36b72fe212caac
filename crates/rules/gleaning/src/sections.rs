//! A text piece by piece, each with the part of the notes it stands in: tasks, questions,
//! decisions, people.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::blocks::{Block, Shape, blocks, label};
use crate::cues::{self, Line};
use crate::sentences;

/// The part of notes a piece stands in, by the heading or label above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Tasks,
    Questions,
    Decisions,
    People,
    Absent,
    Agenda,
    Reasons,
    Done,
    /// A heading that is no topic.
    Plain,
    /// Anything else.
    Other,
}

/// A piece with its part.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// The piece.
    pub(crate) block: Block,
    /// Where it stands.
    pub(crate) section: Section,
    /// Where its words begin behind a label; its body's beginning where it has none.
    pub(crate) rest: usize,
    /// The label's own words.
    pub(crate) label: Option<Range<usize>>,
}

impl Piece {
    /// Its sentences, without its label.
    pub(crate) fn sentences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let block = Block { body: self.rest, ..self.block };
        if block.body < block.end {
            sentences::of_block(text, &block, &mut found);
        }
        found
    }

    /// Whether it is an item of a list or a row of a table.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self.block.shape, Shape::Item(_) | Shape::Row)
    }

    /// The words of its label.
    pub(crate) fn label_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(self.label.clone()?)
    }
}

/// Which words announce which part; where two parts fit, the earlier one counts.
const PARTS: [(&str, Section); 9] = [
    (cues::ABSENT, Section::Absent),
    (cues::DONE, Section::Done),
    (cues::QUESTIONS, Section::Questions),
    (cues::TASKS, Section::Tasks),
    (cues::DECISIONS, Section::Decisions),
    (cues::PEOPLE, Section::People),
    (cues::AGENDA, Section::Agenda),
    (cues::REASONS, Section::Reasons),
    (cues::PLAIN, Section::Plain),
];

/// A phrase that announces a part, with the place of the part.
type Announced = (&'static str, usize);

/// The phrases of all parts by their first word: every label of a text is looked up.
static BY_WORD: LazyLock<HashMap<&str, Vec<Announced>>> = LazyLock::new(|| {
    let mut table: HashMap<&str, Vec<Announced>> = HashMap::new();
    for (part, (phrases, _)) in PARTS.iter().enumerate() {
        for phrase in phrases.split('|') {
            let first = phrase.split(' ').next().unwrap_or(phrase);
            table.entry(first).or_default().push((phrase, part));
        }
    }
    table
});

/// The longest heading that may announce a part, in bytes.
const LONGEST: usize = 80;

/// What part of notes these words announce; `Other` where they announce none: `Decision`, `3.
/// Action items:`, `Key decisions (2)`, but no whole sentence.
pub(crate) fn named(words: &str) -> Section {
    // `Why another one?` asks; `Reasons` announces.
    if words.len() > LONGEST || words.trim_end().ends_with('?') {
        return Section::Other;
    }
    let line = Line::of(words);
    let numbered = line.word(0).bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let first = usize::from(numbered && line.len() > 1);
    let left = line.len() - first;
    if left == 0 || line.len() > 6 {
        return Section::Other;
    }
    let fits = |place: usize, phrase: &str| {
        // The whole of it, or all but a word or two around it.
        let Some(end) = line.stands(place, phrase) else { return false };
        place == first && left <= end - place + 2 || left <= 3 && end == line.len()
    };
    let parts = (first..line.len()).flat_map(|place| {
        let known = BY_WORD.get(line.word(place)).into_iter().flatten();
        known.filter(move |(phrase, _)| fits(place, phrase)).map(|(_, part)| *part)
    });
    parts.min().map_or(Section::Other, |part| PARTS[part].1)
}

/// The pieces of a text that stands under a heading.
pub(crate) fn pieces(heading: &str, text: &str) -> Vec<Piece> {
    let mut section = named(heading.rsplit(" > ").next().unwrap_or(heading));
    let mut under: Option<Section> = None;
    let mut found: Vec<Piece> = Vec::new();
    for block in blocks(text) {
        let words = text.get(block.body..block.end).unwrap_or("");
        if let Shape::Heading(_) = block.shape {
            section = named(words);
            under = None;
            found.push(Piece { block, section, rest: block.body, label: None });
            continue;
        }
        let (label, rest) = labelled(words, block.body);
        let own = label.clone().map(|range| named(text.get(range).unwrap_or("")));
        let announces = own.filter(|own| *own != Section::Other && rest >= block.end);
        // Only what belongs to a list keeps the part its announcement gave it.
        let listed = matches!(block.shape, Shape::Item(_) | Shape::Row);
        if announces.is_some() {
            under = announces;
        } else if !listed && block.shape == Shape::Prose {
            under = announced(words);
        }
        let section = own.filter(|own| *own != Section::Other).or(under).unwrap_or(section);
        found.push(Piece { block, section, rest, label });
    }
    found
}

/// A line without a label may still announce a list: `Next steps`, `**Decisions**`.
fn announced(words: &str) -> Option<Section> {
    let bare = words.trim_matches(['*', '_', ':', ' ']);
    (bare.len() < 40 && !bare.contains(['.', ',', '\n']))
        .then(|| named(bare))
        .filter(|section| *section != Section::Other)
}

/// The label words begin with, and where what it labels begins.
fn labelled(words: &str, base: usize) -> (Option<Range<usize>>, usize) {
    let Some(colon) = label(words) else { return (None, base) };
    let stamp = crate::blocks::stamp(&words[..colon]);
    let name = &words[stamp..colon];
    let bare = name.trim_start_matches(['*', '_', ' ']);
    let start = stamp + name.len() - bare.len();
    let end = start + bare.trim_end_matches(['*', '_', ' ']).len();
    let behind = words[colon..].trim_start_matches([':', '：', '*', '_', ' ', '\t', '\n', '\r']);
    (Some(base + start..base + end), base + words.len() - behind.len())
}

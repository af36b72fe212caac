//! Splits notes into pieces, each with the section it belongs to: tasks, questions, decisions,
//! people.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::cues::{self, SentenceWords};
use crate::layout::{TextBlock, TextBlockKind, blocks, label_end};
use crate::sentences;

/// The section of notes that a piece belongs to, by the heading or label above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteSection {
    Tasks,
    Questions,
    Decisions,
    People,
    Absent,
    Agenda,
    Reasons,
    Done,
    /// A heading that is not a topic.
    Plain,
    /// Anything else.
    Other,
}

/// A block with its section.
#[derive(Debug, Clone)]
pub(crate) struct NotePiece {
    /// The block.
    pub(crate) block: TextBlock,
    /// The section.
    pub(crate) section: NoteSection,
    /// The start of its words after the label, or of its body if it has none.
    pub(crate) content_start: usize,
    /// The byte range of the label.
    pub(crate) label: Option<Range<usize>>,
}

impl NotePiece {
    /// Returns its sentences, without the label.
    pub(crate) fn sentences(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let block = TextBlock { body: self.content_start, ..self.block };
        if block.body < block.end {
            sentences::block_sentences(text, &block, &mut found);
        }
        found
    }

    /// Returns true for a list item or a table row.
    pub(crate) fn is_item(&self) -> bool {
        matches!(self.block.kind, TextBlockKind::Item(_) | TextBlockKind::Row)
    }

    /// Returns the text of the label.
    pub(crate) fn label_of<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(self.label.clone()?)
    }
}

/// The phrases that announce each section. If several match, the first one wins.
const PARTS: [(&str, NoteSection); 9] = [
    (cues::ABSENT, NoteSection::Absent),
    (cues::DONE, NoteSection::Done),
    (cues::QUESTIONS, NoteSection::Questions),
    (cues::TASKS, NoteSection::Tasks),
    (cues::DECISIONS, NoteSection::Decisions),
    (cues::PEOPLE, NoteSection::People),
    (cues::AGENDA, NoteSection::Agenda),
    (cues::REASONS, NoteSection::Reasons),
    (cues::PLAIN, NoteSection::Plain),
];

/// A phrase that announces a section, with the index of the section.
type SectionPhrase = (&'static str, usize);

/// The phrases by their first word, because every label of a text is looked up.
static BY_WORD: LazyLock<HashMap<&str, Vec<SectionPhrase>>> = LazyLock::new(|| {
    let mut table: HashMap<&str, Vec<SectionPhrase>> = HashMap::new();
    for (part, (phrases, _)) in PARTS.iter().enumerate() {
        for phrase in phrases.split('|') {
            let first = phrase.split(' ').next().unwrap_or(phrase);
            table.entry(first).or_default().push((phrase, part));
        }
    }
    table
});

/// The maximum length of a heading that announces a section, in bytes.
const LONGEST: usize = 80;

/// Returns the section that these words announce, or `Other`: `Decision`, `3. Action items:`, `Key
/// decisions (2)`, but no whole sentence.
pub(crate) fn section_named(words: &str) -> NoteSection {
    // `Why another one?` is a question, not an announcement.
    if words.len() > LONGEST || words.trim_end().ends_with('?') {
        return NoteSection::Other;
    }
    let line = SentenceWords::of(words);
    let numbered = line.word(0).bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let first = usize::from(numbered && line.len() > 1);
    let left = line.len() - first;
    if left == 0 || line.len() > 6 {
        return NoteSection::Other;
    }
    let fits = |place: usize, phrase: &str| {
        // The phrase must be all of it, except for a word or two.
        let Some(end) = line.match_at(place, phrase) else { return false };
        place == first && left <= end - place + 2 || left <= 3 && end == line.len()
    };
    let parts = (first..line.len()).flat_map(|place| {
        let known = BY_WORD.get(line.word(place)).into_iter().flatten();
        known.filter(move |(phrase, _)| fits(place, phrase)).map(|(_, part)| *part)
    });
    parts.min().map_or(NoteSection::Other, |part| PARTS[part].1)
}

/// Splits a text below a heading into pieces.
pub(crate) fn pieces(heading: &str, text: &str) -> Vec<NotePiece> {
    let mut section = section_named(heading.rsplit(" > ").next().unwrap_or(heading));
    let mut under: Option<NoteSection> = None;
    let mut found: Vec<NotePiece> = Vec::new();
    for block in blocks(text) {
        let words = text.get(block.body..block.end).unwrap_or("");
        if let TextBlockKind::Heading(_) = block.kind {
            section = section_named(words);
            under = None;
            found.push(NotePiece { block, section, content_start: block.body, label: None });
            continue;
        }
        let (label, rest) = split_label(words, block.body);
        let own = label.clone().map(|range| section_named(text.get(range).unwrap_or("")));
        let announces = own.filter(|own| *own != NoteSection::Other && rest >= block.end);
        // Only items of the announced list belong to its section.
        let listed = matches!(block.kind, TextBlockKind::Item(_) | TextBlockKind::Row);
        if announces.is_some() {
            under = announces;
        } else if !listed && block.kind == TextBlockKind::Prose {
            under = announced(words);
        }
        let section = own.filter(|own| *own != NoteSection::Other).or(under).unwrap_or(section);
        found.push(NotePiece { block, section, content_start: rest, label });
    }
    found
}

/// Returns the section that a line without a label announces: `Next steps`, `**Decisions**`.
fn announced(words: &str) -> Option<NoteSection> {
    let bare = words.trim_matches(['*', '_', ':', ' ']);
    (bare.len() < 40 && !bare.contains(['.', ',', '\n']))
        .then(|| section_named(bare))
        .filter(|section| *section != NoteSection::Other)
}

/// Returns the label at the start, and the offset of the text after it.
fn split_label(words: &str, base: usize) -> (Option<Range<usize>>, usize) {
    let Some(colon) = label_end(words) else { return (None, base) };
    let stamp = crate::layout::timestamp_length(&words[..colon]);
    let name = &words[stamp..colon];
    let bare = name.trim_start_matches(['*', '_', ' ']);
    let start = stamp + name.len() - bare.len();
    let end = start + bare.trim_end_matches(['*', '_', ' ']).len();
    let behind = words[colon..].trim_start_matches([':', '：', '*', '_', ' ', '\t', '\n', '\r']);
    (Some(base + start..base + end), base + words.len() - behind.len())
}

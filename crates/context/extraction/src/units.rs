//! The sentences of a passage as candidates for an answer, with their context.

use crate::layout::{TextBlock, TextBlockKind, blocks};
use crate::words::StemSet;
use crate::{SourcePassage, sentences};

/// A sentence of a passage.
#[derive(Debug, Default)]
pub(crate) struct SentenceUnit {
    /// The start, in bytes.
    pub(crate) start: usize,
    /// The end (exclusive), in bytes.
    pub(crate) end: usize,
    /// Whether it is a statement: not a heading, a question or a link target.
    pub(crate) is_statement: bool,
    /// The level, if it is a heading or a question above the next sentences.
    pub(crate) heading_depth: Option<u8>,
    /// Whether it is a list item or a table row.
    pub(crate) is_item: bool,
    /// Whether it is code.
    pub(crate) is_code: bool,
    /// The stems of its words.
    pub(crate) stems: StemSet,
}

/// The heading level of a question: below all headings.
const QUESTION: u8 = 7;

/// Returns the sentences of a passage in order.
pub(crate) fn units(passage: &SourcePassage<'_>) -> Vec<SentenceUnit> {
    let mut found = vec![heading_of(passage)];
    for block in blocks(passage.text) {
        let mut ranges = Vec::new();
        sentences::block_sentences(passage.text, &block, &mut ranges);
        found.extend(ranges.into_iter().map(|range| unit(passage.text, &block, range)));
    }
    found
}

/// Returns the headings above a passage as an empty unit with their stems.
fn heading_of(passage: &SourcePassage<'_>) -> SentenceUnit {
    let stems = StemSet::of(passage.heading);
    SentenceUnit { heading_depth: Some(0), stems, ..SentenceUnit::default() }
}

fn unit(text: &str, block: &TextBlock, range: std::ops::Range<usize>) -> SentenceUnit {
    let words = text.get(range.clone()).unwrap_or("");
    let asks = words.ends_with(['?', '？']) && !matches!(block.kind, TextBlockKind::Code);
    let heads = match block.kind {
        TextBlockKind::Heading(depth) => Some(depth),
        _ => asks.then_some(QUESTION),
    };
    SentenceUnit {
        start: range.start,
        end: range.end,
        is_statement: heads.is_none() && block.kind != TextBlockKind::Boilerplate,
        heading_depth: heads,
        is_item: matches!(block.kind, TextBlockKind::Item(_) | TextBlockKind::Row),
        is_code: block.kind == TextBlockKind::Code,
        stems: StemSet::of(words),
    }
}

/// The context of a sentence.
pub(crate) struct SentenceContext<'a> {
    /// The headings and the question above it.
    pub(crate) headings: Vec<&'a StemSet>,
    /// The sentences next to it, and the sentence that announces its list.
    pub(crate) near: Vec<&'a StemSet>,
}

/// How many sentences back a heading or the start of a list is searched.
const BACK: usize = 40;

impl<'a> SentenceContext<'a> {
    /// Returns the context of the sentence at this index.
    pub(crate) fn of(units: &'a [SentenceUnit], place: usize) -> Self {
        let mut headings = Vec::new();
        let mut near = Vec::new();
        let mut depth = u8::MAX;
        let mut list = units[place].is_item;
        for unit in units[..place].iter().rev().take(BACK) {
            if let Some(heads) = unit.heading_depth.filter(|heads| *heads < depth) {
                headings.push(&unit.stems);
                depth = heads;
            }
            if list && !unit.is_item {
                near.push(&unit.stems);
                list = false;
            }
        }
        if depth > 0 && place > 0 {
            headings.push(&units[0].stems);
        }
        near.extend(adjacent_units(units, place).map(|unit| &unit.stems));
        Self { headings, near }
    }
}

/// Returns the sentences directly before and after, unless a heading is between. Items of a list
/// are not context for each other.
fn adjacent_units(units: &[SentenceUnit], place: usize) -> impl Iterator<Item = &SentenceUnit> {
    let before = place.checked_sub(1).and_then(|before| units.get(before));
    let behind = units.get(place + 1);
    let item = units[place].is_item;
    before.into_iter().chain(behind).filter(move |unit| {
        unit.heading_depth.is_none_or(|heads| heads == QUESTION) && !(item && unit.is_item)
    })
}

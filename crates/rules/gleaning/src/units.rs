//! The sentences of a passage as an answer is looked for among them, and what stands around each.

use crate::blocks::{Block, Shape, blocks};
use crate::words::Stems;
use crate::{Leaf, sentences};

/// A sentence of a passage.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte behind its last.
    pub(crate) end: usize,
    /// Whether it says something: headings, questions and link targets do not.
    pub(crate) speaks: bool,
    /// Whether it is a heading or a question, which the next ones stand under.
    pub(crate) heads: Option<u8>,
    /// Whether it is an item of a list or a row of a table.
    pub(crate) item: bool,
    /// Whether it is code.
    pub(crate) code: bool,
    /// What it speaks of.
    pub(crate) stems: Stems,
}

/// Where a question counts among the headings: below all of them.
const QUESTION: u8 = 7;

/// The sentences of a passage, in order.
pub(crate) fn units(leaf: &Leaf<'_>) -> Vec<Unit> {
    let mut found = vec![heading_of(leaf)];
    for block in blocks(leaf.text) {
        let mut ranges = Vec::new();
        sentences::of_block(leaf.text, &block, &mut ranges);
        found.extend(ranges.into_iter().map(|range| unit(leaf.text, &block, range)));
    }
    found
}

/// The headings a passage stands under, as if they stood in it: an empty place with their words.
fn heading_of(leaf: &Leaf<'_>) -> Unit {
    let stems = Stems::of(leaf.heading);
    Unit { start: 0, end: 0, speaks: false, heads: Some(0), item: false, code: false, stems }
}

fn unit(text: &str, block: &Block, range: std::ops::Range<usize>) -> Unit {
    let words = text.get(range.clone()).unwrap_or("");
    let asks = words.ends_with(['?', '？']) && !matches!(block.shape, Shape::Code);
    let heads = match block.shape {
        Shape::Heading(depth) => Some(depth),
        _ => asks.then_some(QUESTION),
    };
    Unit {
        start: range.start,
        end: range.end,
        speaks: heads.is_none() && block.shape != Shape::Furniture,
        heads,
        item: matches!(block.shape, Shape::Item(_) | Shape::Row),
        code: block.shape == Shape::Code,
        stems: Stems::of(words),
    }
}

/// What stands around a sentence.
pub(crate) struct Context<'a> {
    /// Headings and the question above it.
    pub(crate) headings: Vec<&'a Stems>,
    /// The sentences beside it, and what announces the list it is in.
    pub(crate) near: Vec<&'a Stems>,
}

/// How far back a heading or the beginning of a list is looked for.
const BACK: usize = 40;

impl<'a> Context<'a> {
    /// Of the sentence at this place.
    pub(crate) fn of(units: &'a [Unit], place: usize) -> Self {
        let mut headings = Vec::new();
        let mut near = Vec::new();
        let mut depth = u8::MAX;
        let mut list = units[place].item;
        for unit in units[..place].iter().rev().take(BACK) {
            if let Some(heads) = unit.heads.filter(|heads| *heads < depth) {
                headings.push(&unit.stems);
                depth = heads;
            }
            if list && !unit.item {
                near.push(&unit.stems);
                list = false;
            }
        }
        if depth > 0 && place > 0 {
            headings.push(&units[0].stems);
        }
        near.extend(beside(units, place).map(|unit| &unit.stems));
        Self { headings, near }
    }
}

/// The sentences right before and behind, as far as no heading is between. Items of a list do not
/// speak of each other.
fn beside(units: &[Unit], place: usize) -> impl Iterator<Item = &Unit> {
    let before = place.checked_sub(1).and_then(|before| units.get(before));
    let behind = units.get(place + 1);
    let item = units[place].item;
    before.into_iter().chain(behind).filter(move |unit| {
        unit.heads.is_none_or(|heads| heads == QUESTION) && !(item && unit.item)
    })
}

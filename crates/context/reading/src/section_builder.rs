//! Builds the passages of a document with headings. A heading goes with the text below it.

use std::ops::Range;

use crate::ParsedDocument;
use crate::outline::Outline;
use crate::passage_builder::{BlockSplitting, PassageBuilder, PassageLocationTracker};

/// Adds blocks to passages under the headings above them.
#[derive(Debug)]
pub(crate) struct SectionBuilder {
    pub(crate) passages: PassageBuilder,
    outline: Outline,
    path: String,
    /// The start of headings without text below them yet.
    lead: Option<usize>,
}

impl SectionBuilder {
    pub(crate) fn new(locations: PassageLocationTracker) -> Self {
        let passages = PassageBuilder::new(locations);
        Self { passages, outline: Outline::default(), path: String::new(), lead: None }
    }

    /// Adds a block. It includes the headings directly before it.
    pub(crate) fn block(&mut self, text: &str, block: Range<usize>, kind: BlockSplitting) {
        let start = self.lead.take().unwrap_or(block.start);
        self.passages.add(text, start..block.end, &self.path, kind);
    }

    /// Begins a section with the heading that starts at this offset.
    pub(crate) fn heading(&mut self, text: &str, level: usize, words: &str, start: usize) {
        let is_below = self.outline.level().is_some_and(|open| open < level);
        if self.lead.is_some() && !is_below {
            self.block(text, start..start, BlockSplitting::Prose);
        }
        self.lead.get_or_insert(start);
        self.outline.enter(level, words);
        self.path = self.outline.path();
    }

    /// Returns the document.
    pub(crate) fn finish(mut self, text: &str, title: String) -> ParsedDocument {
        if self.lead.is_some() {
            self.block(text, text.len()..text.len(), BlockSplitting::Prose);
        }
        self.passages.finish(text, title)
    }
}

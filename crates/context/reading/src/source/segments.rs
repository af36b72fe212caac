//! Splits source code into segments between the starts of items, and merges small neighbours into
//! one passage: accessors, constants, the head of a class and its first method.

use std::ops::Range;

use crate::outline::Outline;
use crate::passage_builder::{BlockSplitting, PassageBuilder};

/// The length below which neighbouring items share a passage.
const SMALL: usize = 600;

/// The length below which the head of a class is merged with what follows.
const HEAD: usize = 160;

/// The maximum number of names in one heading.
const MOST_NAMES: usize = 6;

/// A segment under one heading.
#[derive(Debug)]
struct SourceCodeSegment {
    range: Range<usize>,
    parent: String,
    names: Vec<String>,
}

impl SourceCodeSegment {
    fn heading(&self) -> String {
        let names = self.names.join(", ");
        match (self.parent.is_empty(), names.is_empty()) {
            (true, _) => names,
            (false, true) => self.parent.clone(),
            (false, false) => format!("{} > {names}", self.parent),
        }
    }

    fn can_merge(&self, next: &SourceCodeSegment) -> bool {
        let both = next.range.end - self.range.start;
        let are_siblings = self.parent == next.parent
            && self.names.len() + next.names.len() <= MOST_NAMES
            && self.names.is_empty() == next.names.is_empty();
        both <= SMALL && are_siblings
    }
}

/// Merges small segments and passes them to the passage builder.
#[derive(Debug)]
pub(super) struct SourceSegmentMerger<'a> {
    text: &'a str,
    passages: &'a mut PassageBuilder,
    /// The start of the current segment.
    start: usize,
    pending: Option<SourceCodeSegment>,
}

impl<'a> SourceSegmentMerger<'a> {
    pub(super) fn new(text: &'a str, passages: &'a mut PassageBuilder) -> Self {
        Self { text, passages, start: 0, pending: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.passages.is_full()
    }

    /// Ends the current segment, whose headings are in `outline`.
    pub(super) fn end(&mut self, at: usize, outline: &Outline) {
        let range = self.start..at;
        self.start = at;
        if range.is_empty() {
            return;
        }
        let (parent, own) = outline.parent_and_own();
        let names = if own.is_empty() { Vec::new() } else { vec![own.to_owned()] };
        self.add(SourceCodeSegment { range, parent, names });
    }

    fn add(&mut self, mut next: SourceCodeSegment) {
        match self.pending.take() {
            Some(mut waiting) if waiting.can_merge(&next) => {
                waiting.range.end = next.range.end;
                waiting.names.append(&mut next.names);
                self.pending = Some(waiting);
            }
            Some(waiting) if waiting.range.len() < HEAD && waiting.heading() == next.parent => {
                next.range.start = waiting.range.start;
                self.pending = Some(next);
            }
            Some(waiting) => {
                self.emit(&waiting);
                self.pending = Some(next);
            }
            None => self.pending = Some(next),
        }
    }

    fn emit(&mut self, segment: &SourceCodeSegment) {
        let range = segment.range.clone();
        self.passages.add(self.text, range, &segment.heading(), BlockSplitting::Whole);
    }

    /// Ends the last segment.
    pub(super) fn finish(mut self, at: usize, outline: &Outline) {
        self.end(at, outline);
        if let Some(waiting) = self.pending.take() {
            self.emit(&waiting);
        }
    }
}

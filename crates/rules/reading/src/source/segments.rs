//! The stretches of a program between the beginnings of its items, and which of them share a passage.
//!
//! Small neighbours do: accessors, constants, the head of a class and its first method.

use std::ops::Range;

use crate::outline::Outline;
use crate::passages::{Kind, Passages};

/// Items together shorter than this share a passage.
const SMALL: usize = 600;

/// The head of a class that is shorter than this goes with what follows.
const HEAD: usize = 160;

/// So many names stand in one heading.
const MOST_NAMES: usize = 6;

/// A stretch under one heading.
#[derive(Debug)]
struct Segment {
    range: Range<usize>,
    parent: String,
    names: Vec<String>,
}

impl Segment {
    fn heading(&self) -> String {
        let names = self.names.join(", ");
        match (self.parent.is_empty(), names.is_empty()) {
            (true, _) => names,
            (false, true) => self.parent.clone(),
            (false, false) => format!("{} > {names}", self.parent),
        }
    }

    fn takes(&self, next: &Segment) -> bool {
        let both = next.range.end - self.range.start;
        let are_siblings = self.parent == next.parent
            && self.names.len() + next.names.len() <= MOST_NAMES
            && self.names.is_empty() == next.names.is_empty();
        both <= SMALL && are_siblings
    }
}

#[derive(Debug)]
pub(super) struct Segments<'a, 'b> {
    passages: &'b mut Passages<'a>,
    /// Where the stretch at hand begins.
    start: usize,
    waiting: Option<Segment>,
}

impl<'a, 'b> Segments<'a, 'b> {
    pub(super) fn new(passages: &'b mut Passages<'a>) -> Self {
        Self { passages, start: 0, waiting: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.passages.is_full()
    }

    /// Ends the stretch at hand, which stands under this outline.
    pub(super) fn end(&mut self, at: usize, outline: &Outline) {
        let range = self.start..at;
        self.start = at;
        if range.is_empty() {
            return;
        }
        let (parent, own) = outline.parent_and_own();
        let names = if own.is_empty() { Vec::new() } else { vec![own.to_owned()] };
        self.add(Segment { range, parent, names });
    }

    fn add(&mut self, mut next: Segment) {
        match self.waiting.take() {
            Some(mut waiting) if waiting.takes(&next) => {
                waiting.range.end = next.range.end;
                waiting.names.append(&mut next.names);
                self.waiting = Some(waiting);
            }
            Some(waiting) if waiting.range.len() < HEAD && waiting.heading() == next.parent => {
                next.range.start = waiting.range.start;
                self.waiting = Some(next);
            }
            Some(waiting) => {
                self.pass_on(&waiting);
                self.waiting = Some(next);
            }
            None => self.waiting = Some(next),
        }
    }

    fn pass_on(&mut self, segment: &Segment) {
        self.passages.add(segment.range.clone(), &segment.heading(), Kind::Whole);
    }

    /// Ends the last stretch.
    pub(super) fn finish(mut self, at: usize, outline: &Outline) {
        self.end(at, outline);
        if let Some(waiting) = self.waiting.take() {
            self.pass_on(&waiting);
        }
    }
}

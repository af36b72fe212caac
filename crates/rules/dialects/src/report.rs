//! Collects what is wrong with one file, and knows the line and column of every place in it.

use toolgate_model::{Diagnostic, Origin, Severity};

use crate::FileRef;
use crate::tree::SyntaxError;

/// The findings about one text.
pub(crate) struct Report<'a> {
    text: &'a str,
    at: &'a FileRef,
    line_starts: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub fn new(text: &'a str, at: &'a FileRef) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        Self { text, at, line_starts, diagnostics: Vec::new() }
    }

    pub fn file(&self) -> &'a FileRef {
        self.at
    }

    /// The place of a byte offset, in lines and characters from 1.
    pub fn origin(&self, offset: usize) -> Origin {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.at.origin(count(line), count(before.chars().count() + 1))
    }

    pub fn error(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Error, offset, message.into(), hint.into());
    }

    pub fn warn(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Warning, offset, message.into(), hint.into());
    }

    pub fn syntax(&mut self, error: SyntaxError) {
        let hint = "nothing in this file is used until it is mended";
        self.error(error.at, format!("the file cannot be read: {}", error.message), hint);
    }

    fn push(&mut self, severity: Severity, offset: usize, message: String, hint: String) {
        let hint = Some(hint).filter(|hint| !hint.is_empty());
        self.diagnostics.push(Diagnostic { severity, origin: self.origin(offset), message, hint });
    }

    /// The findings, in the file's order.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|found| (found.origin.line, found.origin.column));
        self.diagnostics
    }
}

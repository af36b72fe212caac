//! Collects the diagnostics of one file, and maps byte offsets to lines and columns.
//!
//! A diagnostic shows the text it is about, but never a value that may be a credential
//! ([`super::excerpt`]).

use std::cell::RefCell;

use toolgate_model::{
    Diagnostic, DiagnosticExcerpt, DiagnosticSeverity, ErrorCode, Origin, ServerName,
};

use super::excerpt::{ExcerptLine, ExcerptVisibility, excerpt, token};
use super::tree::{SyntaxError, TreeMember, TreeNode, TreeValue};
use crate::{FileRef, VariableSyntax};

/// The hint for a file that cannot be read.
pub const UNREADABLE_FILE_HINT: &str = "nothing in this file is used until it is fixed";

/// The diagnostics of one text.
pub(crate) struct FileDiagnostics<'a> {
    pub text: &'a str,
    pub file: &'a FileRef,
    /// The variable syntax of this file.
    pub grammar: VariableSyntax,
    line_starts: Vec<usize>,
    /// The offsets of all keys, sorted; empty if the text could not be parsed.
    keys: Vec<usize>,
    /// The server whose entry is being read.
    pub server: RefCell<Option<ServerName>>,
    diagnostics: RefCell<Vec<Diagnostic>>,
}

impl<'a> FileDiagnostics<'a> {
    pub fn new(text: &'a str, file: &'a FileRef, grammar: VariableSyntax) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        let (keys, server, diagnostics) = (Vec::new(), RefCell::default(), RefCell::default());
        Self { text, file, grammar, line_starts, keys, server, diagnostics }
    }

    /// Records the offsets of all keys: keys may be shown, values may not.
    pub fn index_keys(&mut self, document: &[TreeMember]) {
        collect(document, &mut self.keys);
        self.keys.sort_unstable();
    }

    /// Returns the line and column of a byte offset, counted from 1 in characters.
    pub fn origin(&self, offset: usize) -> Origin {
        let (line, start) = self.line_of(offset);
        let before = self.text.get(start..offset.min(self.text.len())).unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.file.origin(count(line), count(before.chars().count() + 1))
    }

    /// Returns the number of the line that contains an offset, and the offset where the line
    /// begins.
    fn line_of(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        (line, self.line_starts[line - 1])
    }

    /// Reports an error at a position. The caller leaves out the item that it concerns.
    pub fn error(&self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.error_as(ErrorCode::ConfigInvalid, offset, message, hint);
    }

    /// Reports an error with this code.
    pub fn error_as(
        &self,
        code: ErrorCode,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let found = self.diagnostic(code, offset, message, hint);
        self.push(found.severity(DiagnosticSeverity::Error));
    }

    /// Reports an error about a value that is not a credential, and shows the value.
    pub fn error_with_value(
        &self,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let found = self.diagnostic(ErrorCode::ConfigInvalid, offset, message, hint);
        let excerpt = self.excerpt(offset, true);
        self.push(Diagnostic { excerpt, ..found.severity(DiagnosticSeverity::Error) });
    }

    /// Warns about something that has no effect.
    pub fn warn(&self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.warn_as(ErrorCode::ConfigNoEffect, offset, message, hint);
    }

    /// Warns with this code.
    pub fn warn_as(
        &self,
        code: ErrorCode,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(self.diagnostic(code, offset, message, hint));
    }

    pub fn syntax(&self, error: SyntaxError) {
        let message = format!("cannot read the file: {}", error.message);
        self.error_as(ErrorCode::ConfigSyntax, error.at, message, UNREADABLE_FILE_HINT);
    }

    fn push(&self, found: Diagnostic) {
        self.diagnostics.borrow_mut().push(found);
    }

    fn diagnostic(
        &self,
        code: ErrorCode,
        offset: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Diagnostic {
        let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        let (excerpt, server) = (self.excerpt(offset, false), self.server.borrow().clone());
        let warning = Diagnostic::warning(code, self.origin(offset), message);
        Diagnostic { excerpt, server, hint, ..warning }
    }

    /// Returns an excerpt with the token at an offset and the key before it, and nothing else of
    /// the line.
    fn excerpt(&self, offset: usize, shows: bool) -> Option<DiagnosticExcerpt> {
        let (_, start) = self.line_of(offset);
        let before = self.text.get(start..offset)?;
        let after = self.text.get(offset..)?.lines().next().unwrap_or_default();
        let spot = match shows {
            _ if self.keys.binary_search(&offset).is_ok() => ExcerptVisibility::Key,
            _ if self.keys.is_empty() && self.is_header(before, after) => ExcerptVisibility::Key,
            true => ExcerptVisibility::Word,
            false => ExcerptVisibility::Hidden,
        };
        let key = self.key_before(start, offset).map(|key| key - start);
        excerpt(&ExcerptLine { before, after, key }, spot)
    }

    /// Returns true if the token is a name in a table header of a TOML document that could not be
    /// parsed, for example because of a duplicate header.
    fn is_header(&self, before: &str, after: &str) -> bool {
        let is_toml = self.file.path.extension().is_some_and(|it| it == "toml");
        let is_plain = |c: char| c.is_alphanumeric() || "_-.[".contains(c);
        let opens = before.starts_with('[') && before.chars().all(is_plain);
        let (word, rest) = after.split_at(token(after));
        is_toml && opens && word.chars().all(is_plain) && rest.starts_with(']')
    }

    /// Returns the offset of the key on the same line whose value is at `offset`.
    fn key_before(&self, start: usize, offset: usize) -> Option<usize> {
        let next = self.keys.partition_point(|key| *key < offset);
        let key = *self.keys.get(next.checked_sub(1)?)?;
        let between = self.text.get(key.max(start)..offset)?;
        let sign = between.get(token(between)..)?.trim();
        (key >= start && [":", "="].contains(&sign)).then_some(key)
    }

    /// Returns the diagnostics, sorted by position.
    pub fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics.into_inner();
        diagnostics.sort_by_key(|found| (found.origin.line, found.origin.column));
        diagnostics
    }
}

/// Collects the offsets of all keys, unsorted.
fn collect(members: &[TreeMember], keys: &mut Vec<usize>) {
    for member in members {
        keys.push(member.at);
        within(&member.node, keys);
    }
}

fn within(node: &TreeNode, keys: &mut Vec<usize>) {
    match &node.value {
        TreeValue::Table(members) => collect(members, keys),
        TreeValue::List(items) => items.iter().for_each(|item| within(item, keys)),
        _ => {}
    }
}

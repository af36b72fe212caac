//! Collects what is wrong with one file, and knows the line and column of every place in it.
//!
//! A finding shows the text it speaks of, but never a value that could be a credential
//! ([`super::excerpt`]).

use toolgate_model::{Diagnostic, Excerpt, Origin, Severity};

use super::excerpt::{Line, Spot, excerpt, token};
use super::tree::{Member, Node, SyntaxError, Value};
use crate::{FileRef, Grammar};

/// The findings about one text.
pub(crate) struct Report<'a> {
    text: &'a str,
    at: &'a FileRef,
    grammar: Grammar,
    line_starts: Vec<usize>,
    /// Where keys begin, in order; none are known of a text that is no document.
    keys: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub fn new(text: &'a str, at: &'a FileRef, grammar: Grammar) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(index, _)| index + 1)).collect();
        Self { text, at, grammar, line_starts, keys: Vec::new(), diagnostics: Vec::new() }
    }

    /// Takes note of what is a key: keys are shown, values are not.
    pub fn about(&mut self, document: &[Member]) {
        collect(document, &mut self.keys);
        self.keys.sort_unstable();
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn file(&self) -> &'a FileRef {
        self.at
    }

    /// How variables are written in this file.
    pub fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// The place of a byte offset, in lines and characters from 1.
    pub fn origin(&self, offset: usize) -> Origin {
        let (line, start) = self.line_of(offset);
        let before = self.text.get(start..offset.min(self.text.len())).unwrap_or_default();
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.at.origin(count(line), count(before.chars().count() + 1))
    }

    /// The number of the line an offset is on, and where that line begins.
    fn line_of(&self, offset: usize) -> (usize, usize) {
        let offset = offset.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        (line, self.line_starts[line - 1])
    }

    pub fn error(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Error, offset, false, [message.into(), hint.into()]);
    }

    /// The same about a value that is no credential: it is shown.
    pub fn wrong(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Error, offset, true, [message.into(), hint.into()]);
    }

    pub fn warn(&mut self, offset: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Warning, offset, false, [message.into(), hint.into()]);
    }

    pub fn syntax(&mut self, error: SyntaxError) {
        let hint = "nothing in this file is used until it is mended";
        self.error(error.at, format!("the file cannot be read: {}", error.message), hint);
    }

    fn push(&mut self, severity: Severity, offset: usize, shows: bool, said: [String; 2]) {
        let [message, hint] = said;
        let hint = Some(hint).filter(|hint| !hint.is_empty());
        let (origin, excerpt) = (self.origin(offset), self.excerpt(offset, shows));
        self.diagnostics.push(Diagnostic { severity, origin, excerpt, message, hint });
    }

    /// The word at an offset, with the key before it and nothing else of its line.
    fn excerpt(&self, offset: usize, shows: bool) -> Option<Excerpt> {
        let (_, start) = self.line_of(offset);
        let before = self.text.get(start..offset)?;
        let after = self.text.get(offset..)?.lines().next().unwrap_or_default();
        let spot = match shows {
            _ if self.keys.binary_search(&offset).is_ok() => Spot::Key,
            _ if self.keys.is_empty() && self.is_header(before, after) => Spot::Key,
            true => Spot::Word,
            false => Spot::Hidden,
        };
        let key = self.key_before(start, offset).map(|key| key - start);
        excerpt(&Line { before, after, key }, spot)
    }

    /// Whether a word is a name in a header of a TOML document that cannot be read: there headers
    /// stand twice.
    fn is_header(&self, before: &str, after: &str) -> bool {
        let is_toml = self.at.path.extension().is_some_and(|it| it == "toml");
        let is_plain = |c: char| c.is_alphanumeric() || "_-.[".contains(c);
        let opens = before.starts_with('[') && before.chars().all(is_plain);
        let (word, rest) = after.split_at(token(after));
        is_toml && opens && word.chars().all(is_plain) && rest.starts_with(']')
    }

    /// Where the key begins that what stands at an offset is the value of, if it is on its line.
    fn key_before(&self, start: usize, offset: usize) -> Option<usize> {
        let next = self.keys.partition_point(|key| *key < offset);
        let key = *self.keys.get(next.checked_sub(1)?)?;
        let between = self.text.get(key.max(start)..offset)?;
        let sign = between.get(token(between)..)?.trim();
        (key >= start && [":", "="].contains(&sign)).then_some(key)
    }

    /// The findings, in the file's order.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|found| (found.origin.line, found.origin.column));
        self.diagnostics
    }
}

/// Where the keys of a document begin, in no order.
fn collect(members: &[Member], keys: &mut Vec<usize>) {
    for member in members {
        keys.push(member.at);
        within(&member.node, keys);
    }
}

fn within(node: &Node, keys: &mut Vec<usize>) {
    match &node.value {
        Value::Table(members) => collect(members, keys),
        Value::List(items) => items.iter().for_each(|item| within(item, keys)),
        _ => {}
    }
}

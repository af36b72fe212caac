//! A YAML document as written, with positions and unresolved aliases.
//!
//! Readers use the resolved tree of the parent module; edits need this one. Positions are byte
//! offsets, while the parser counts characters. The parser ends some values too late (a quoted
//! string over several lines includes the comment after it), so ends are determined from the text
//! again.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::DEEPEST;
use crate::common::tree::SyntaxError;

/// A value with its position.
#[derive(Debug, Clone)]
pub(crate) struct YamlNode {
    /// Where it begins, including its anchor and tag.
    pub start: usize,
    /// Where its content begins; for a flow collection, right after the bracket.
    pub body: usize,
    /// Where its last character ends.
    pub end: usize,
    /// The number of its anchor; 0 if it has none.
    pub anchor: usize,
    /// Whether its tag makes it a string.
    pub is_text: bool,
    pub kind: YamlNodeKind,
}

/// The kind of a value.
#[derive(Debug, Clone)]
pub(crate) enum YamlNodeKind {
    /// A scalar; a plain one may be a number or another type.
    Scalar { text: String, plain: bool },
    /// An alias of the anchor with this number.
    Alias(usize),
    /// A list, in block or flow style.
    List { items: Vec<YamlNode>, flow: bool },
    /// A table, in block or flow style.
    Table { members: Vec<(YamlNode, YamlNode)>, flow: bool },
}

impl YamlNode {
    /// Returns true if it is the merge key `<<`.
    pub fn is_merge(&self) -> bool {
        matches!(&self.kind, YamlNodeKind::Scalar { text, plain: true } if text == "<<")
    }
}

/// Parses the only document of a text; `None` if it is empty.
pub(crate) fn parse(text: &str) -> Result<Option<YamlNode>, SyntaxError> {
    let places = ByteOffsets::of(text);
    let mut builder = YamlTreeBuilder { text, places: &places, open: Vec::new(), root: None };
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let at = places.byte(error.marker().index());
            SyntaxError { at, message: error.info().to_lowercase() + &tab_hint(text, at) }
        })?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let message = "a second document begins here: keep one per file".to_owned();
                    return Err(SyntaxError { at: places.byte(span.start.index()), message });
                }
            }
            event => builder.event(event, span)?,
        }
    }
    Ok(builder.root)
}

/// Returns a note if there is a tab near an error. Tabs cannot indent in YAML, are hard to see, and
/// cause misleading errors, because the parser continues the previous line.
fn tab_hint(text: &str, at: usize) -> String {
    let line = text[..at].matches('\n').count();
    let is_tabbed = |text: &&str| {
        let content = text.trim_start_matches([' ', '\t']);
        text[..text.len() - content.len()].contains('\t') && !content.trim().is_empty()
    };
    let found = text.lines().enumerate().skip(line).take(2).find(|(_, text)| is_tabbed(text));
    found.map_or_else(String::new, |(line, _)| {
        format!(" (line {} is indented with a tab: use spaces)", line + 1)
    })
}

/// Converts character offsets to byte offsets.
struct ByteOffsets {
    /// Empty if every character is one byte.
    starts: Vec<usize>,
    length: usize,
}

impl ByteOffsets {
    fn of(text: &str) -> Self {
        let starts = match text.is_ascii() {
            true => Vec::new(),
            false => text.char_indices().map(|(byte, _)| byte).collect(),
        };
        Self { starts, length: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        match self.starts.is_empty() {
            true => character.min(self.length),
            false => self.starts.get(character).copied().unwrap_or(self.length),
        }
    }
}

/// Builds the tree from parser events.
struct YamlTreeBuilder<'t> {
    text: &'t str,
    places: &'t ByteOffsets,
    /// The collections around the next value; for a table, with the key that still needs its value.
    open: Vec<(YamlNode, Option<YamlNode>)>,
    root: Option<YamlNode>,
}

impl YamlTreeBuilder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let (start, end) =
            (self.places.byte(span.start.index()), self.places.byte(span.end.index()));
        match event {
            Event::Alias(anchor) => self.add(raw(start, end, 0, None, YamlNodeKind::Alias(anchor))),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let kind = YamlNodeKind::Scalar { text: text.into_owned(), plain };
                let mut scalar = raw(start, end, anchor, tag.as_deref(), kind);
                scalar.body = content_start(self.text, start, end);
                scalar.end = end_of_scalar(self.text, &scalar, style);
                self.add(scalar);
            }
            Event::SequenceStart(anchor, tag) => {
                let kind = YamlNodeKind::List { items: Vec::new(), flow: false };
                self.open(raw(start, end, anchor, tag.as_deref(), kind))?;
            }
            Event::MappingStart(anchor, tag) => {
                let kind = YamlNodeKind::Table { members: Vec::new(), flow: false };
                self.open(raw(start, end, anchor, tag.as_deref(), kind))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, container: YamlNode) -> Result<(), SyntaxError> {
        if self.open.len() >= DEEPEST {
            let message = format!("values are nested more than {DEEPEST} deep");
            return Err(SyntaxError { at: container.start, message });
        }
        self.open.push((container, None));
        Ok(())
    }

    /// Closes a collection: in flow style at its bracket, in block style at the end of its last
    /// value.
    fn close(&mut self, start: usize, end: usize) {
        let Some((mut container, _)) = self.open.pop() else { return };
        let closed = end > start;
        match &mut container.kind {
            YamlNodeKind::List { items, flow } => {
                *flow = closed;
                container.end = items.last().map_or(container.body, |item| item.end);
            }
            YamlNodeKind::Table { members, flow } => {
                *flow = closed;
                container.end =
                    members.last().map_or(container.body, |(key, value)| value.end.max(key.end));
            }
            YamlNodeKind::Scalar { .. } | YamlNodeKind::Alias(_) => {}
        }
        if closed {
            container.end = start + 1;
        }
        self.add(container);
    }

    fn add(&mut self, raw: YamlNode) {
        match self.open.last_mut() {
            None => self.root = Some(raw),
            Some((YamlNode { kind: YamlNodeKind::List { items, .. }, .. }, _)) => items.push(raw),
            Some((YamlNode { kind: YamlNodeKind::Table { members, .. }, .. }, key)) => {
                match key.take() {
                    Some(key) => members.push((key, raw)),
                    None => *key = Some(raw),
                }
            }
            Some(_) => {}
        }
    }
}

fn raw(start: usize, end: usize, anchor: usize, tag: Option<&Tag>, kind: YamlNodeKind) -> YamlNode {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    YamlNode { start, body: end, end, anchor, is_text, kind }
}

/// Returns where the content of a scalar begins, after its anchor and tag.
fn content_start(text: &str, start: usize, end: usize) -> usize {
    let mut at = start;
    while at < end && text[at..end].starts_with(['&', '!']) {
        let rest = &text[at..end];
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let after = &rest[word..];
        at += word + (after.len() - after.trim_start().len());
    }
    at.min(end)
}

fn end_of_scalar(text: &str, scalar: &YamlNode, style: ScalarStyle) -> usize {
    let content = &text[scalar.body..scalar.end];
    let length = match style {
        ScalarStyle::SingleQuoted => quoted_length(content, '\''),
        ScalarStyle::DoubleQuoted => quoted_length(content, '"'),
        _ => None,
    };
    scalar.body + length.unwrap_or(content.trim_end().len())
}

/// Returns the length of a quoted string, including both quotes.
fn quoted_length(content: &str, quote: char) -> Option<usize> {
    let mut rest = content.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' if quote == '"' => drop(rest.next()),
            // In single quotes, a quote is escaped by doubling it.
            '\'' if c == quote && rest.next_if(|(_, next)| *next == '\'').is_some() => {}
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

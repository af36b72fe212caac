//! A YAML document as it is written: what stands where, aliases and all.
//!
//! Readers take the resolved tree of the parent module; edits need this one. Places are byte
//! offsets: the parser counts characters. It closes some values too late (a quoted text over
//! several lines takes the comment behind it along), so ends are looked for in the text again.

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::DEEPEST;
use crate::frame::tree::SyntaxError;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    /// Where it begins, its anchor and tag included.
    pub start: usize,
    /// Where its content begins; for a flow container just behind the bracket.
    pub body: usize,
    /// Where its last character ends.
    pub end: usize,
    /// The number of its anchor; none: zero.
    pub anchor: usize,
    /// Whether its tag says that it is a text.
    pub is_text: bool,
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A scalar; a plain one may mean a number and the like.
    Scalar { text: String, plain: bool },
    /// An alias of the anchor with this number.
    Alias(usize),
    /// A list, in brackets or not.
    List { items: Vec<Raw>, flow: bool },
    /// A table, in braces or not.
    Table { members: Vec<(Raw, Raw)>, flow: bool },
}

impl Raw {
    /// Whether it is the key by which fields are taken over from elsewhere.
    pub fn is_merge(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true } if text == "<<")
    }
}

/// The one document of a text; `None` if there is nothing in it.
pub(crate) fn parse(text: &str) -> Result<Option<Raw>, SyntaxError> {
    let places = Places::of(text);
    let mut builder = Builder { text, places: &places, open: Vec::new(), root: None };
    let mut documents = 0;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let at = places.byte(error.marker().index());
            SyntaxError { at, message: error.info().to_lowercase() + &tabs(text, at) }
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

/// A remark on a tab near a mistake. Tabs cannot indent, which is hard to see and makes for
/// mistakes that seem to be others: the line before is taken to go on.
fn tabs(text: &str, at: usize) -> String {
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

/// From characters to bytes.
struct Places {
    /// Empty where every character is one byte.
    starts: Vec<usize>,
    length: usize,
}

impl Places {
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

struct Builder<'t> {
    text: &'t str,
    places: &'t Places,
    /// The containers around the next value; a table's with the key it has no value for yet.
    open: Vec<(Raw, Option<Raw>)>,
    root: Option<Raw>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), SyntaxError> {
        let (start, end) =
            (self.places.byte(span.start.index()), self.places.byte(span.end.index()));
        match event {
            Event::Alias(anchor) => self.add(raw(start, end, 0, None, Kind::Alias(anchor))),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain;
                let kind = Kind::Scalar { text: text.into_owned(), plain };
                let mut scalar = raw(start, end, anchor, tag.as_deref(), kind);
                scalar.body = behind_properties(self.text, start, end);
                scalar.end = end_of_scalar(self.text, &scalar, style);
                self.add(scalar);
            }
            Event::SequenceStart(anchor, tag) => {
                let kind = Kind::List { items: Vec::new(), flow: false };
                self.open(raw(start, end, anchor, tag.as_deref(), kind))?;
            }
            Event::MappingStart(anchor, tag) => {
                let kind = Kind::Table { members: Vec::new(), flow: false };
                self.open(raw(start, end, anchor, tag.as_deref(), kind))?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(start, end),
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, container: Raw) -> Result<(), SyntaxError> {
        if self.open.len() >= DEEPEST {
            let message = format!("its values lie more than {DEEPEST} deep in one another");
            return Err(SyntaxError { at: container.start, message });
        }
        self.open.push((container, None));
        Ok(())
    }

    /// A container in brackets is closed by one; any other ends with its last value.
    fn close(&mut self, start: usize, end: usize) {
        let Some((mut container, _)) = self.open.pop() else { return };
        let closed = end > start;
        match &mut container.kind {
            Kind::List { items, flow } => {
                *flow = closed;
                container.end = items.last().map_or(container.body, |item| item.end);
            }
            Kind::Table { members, flow } => {
                *flow = closed;
                container.end =
                    members.last().map_or(container.body, |(key, value)| value.end.max(key.end));
            }
            Kind::Scalar { .. } | Kind::Alias(_) => {}
        }
        if closed {
            container.end = start + 1;
        }
        self.add(container);
    }

    fn add(&mut self, raw: Raw) {
        match self.open.last_mut() {
            None => self.root = Some(raw),
            Some((Raw { kind: Kind::List { items, .. }, .. }, _)) => items.push(raw),
            Some((Raw { kind: Kind::Table { members, .. }, .. }, key)) => match key.take() {
                Some(key) => members.push((key, raw)),
                None => *key = Some(raw),
            },
            Some(_) => {}
        }
    }
}

fn raw(start: usize, end: usize, anchor: usize, tag: Option<&Tag>, kind: Kind) -> Raw {
    let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    Raw { start, body: end, end, anchor, is_text, kind }
}

/// Where a scalar's content begins: its anchor and its tag stand before it.
fn behind_properties(text: &str, start: usize, end: usize) -> usize {
    let mut at = start;
    while at < end && text[at..end].starts_with(['&', '!']) {
        let rest = &text[at..end];
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let after = &rest[word..];
        at += word + (after.len() - after.trim_start().len());
    }
    at.min(end)
}

fn end_of_scalar(text: &str, scalar: &Raw, style: ScalarStyle) -> usize {
    let content = &text[scalar.body..scalar.end];
    let length = match style {
        ScalarStyle::SingleQuoted => closing(content, '\''),
        ScalarStyle::DoubleQuoted => closing(content, '"'),
        _ => None,
    };
    scalar.body + length.unwrap_or(content.trim_end().len())
}

/// How long a quoted text is, both quotes included.
fn closing(content: &str, quote: char) -> Option<usize> {
    let mut rest = content.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' if quote == '"' => drop(rest.next()),
            // A single quote is written twice to mean itself.
            '\'' if c == quote && rest.next_if(|(_, next)| *next == '\'').is_some() => {}
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

//! How much a result is, and what of: decided on the skeleton, without reading what lies beside.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::words;
use toolgate_search::tokens::estimate;
use toolgate_wire::large::Aside;
use toolgate_wire::{Frame, Span, scan, string};

/// As much base64 as this stays in a result.
pub(super) const BINARY: u64 = 1 << 20;

/// A result that is too much, by the places of its parts.
pub(super) struct Survey {
    /// The raw result; all places are inside it.
    pub(super) result: Bytes,
    pub(super) parts: Vec<Part>,
    pub(super) structured: Option<Span>,
    /// About how many tokens text and structured output have.
    pub(super) tokens: u64,
}

/// One block of content.
pub(super) enum Part {
    /// Text: the raw string.
    Text(Span),
    /// A picture, a sound, a binary resource.
    Binary(Box<Binary>),
    /// Anything else.
    Other(Box<Other>),
}

pub(super) struct Binary {
    pub(super) block: Span,
    /// The raw string with its data.
    pub(super) data: Span,
    pub(super) mime: String,
    pub(super) words: String,
    /// How long the block is as it is written, with what lies beside.
    pub(super) len: u64,
}

pub(super) struct Other {
    pub(super) block: Span,
    pub(super) words: String,
    /// How long the block is as it is written, with what lies beside.
    pub(super) len: u64,
}

impl Survey {
    /// Looks a tool's result over; `None` if it is none, or not above the limit.
    pub(super) fn of(answer: &Frame, limit: u32) -> Option<Self> {
        let place = answer.result_span()?;
        let result = answer.bytes().slice(place.start()..place.end());
        let look = Look { result: &result, aside: answer.aside() };
        let content = scan::member(&result, "content");
        let parts: Vec<_> = match content {
            Some(array) => {
                let blocks = scan::elements(array.of(&result));
                blocks.map(|block| look.part(block.within(array))).collect()
            }
            None => Vec::new(),
        };
        let structured = scan::member(&result, "structuredContent");
        let (mut text, mut binary) = (0, 0);
        for part in &parts {
            match part {
                Part::Text(raw) => text += look.tokens(*raw),
                Part::Binary(it) => binary += it.len,
                Part::Other(it) => text += look.tokens(it.block),
            }
        }
        let output = structured.map_or(0, |at| look.tokens(at));
        // Clients show their model one of the two.
        let above = text > u64::from(limit) || output > u64::from(limit) || binary > BINARY;
        above.then_some(Self { parts, structured, tokens: text + output, result })
    }

    /// Whether there is any text in it.
    pub(super) fn has_text(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Text(_)))
    }
}

struct Look<'a> {
    result: &'a Bytes,
    aside: Option<&'a Arc<Aside>>,
}

impl Look<'_> {
    fn part(&self, block: Span) -> Part {
        let raw = block.of(self.result);
        let at = |path: &[&str]| scan::pointer(raw, path).map(|span| span.within(block));
        let word = |path: &[&str]| at(path).and_then(|at| self.word(at)).unwrap_or_default();
        let kind = word(&["type"]);
        match (&*kind, at(&["text"]), at(&["resource", "text"]), at(&["resource", "blob"])) {
            ("text", Some(text), ..) | ("resource", _, Some(text), _) if self.is_string(text) => {
                Part::Text(text)
            }
            ("resource", _, _, Some(blob)) => {
                let [uri, mime] = ["uri", "mimeType"].map(|key| word(&["resource", key]));
                self.binary(block, blob, "resource", &mime, &uri)
            }
            ("image" | "audio", ..) => match at(&["data"]) {
                Some(data) => self.binary(block, data, &kind, &word(&["mimeType"]), ""),
                None => self.other(block, words::unknown(&kind)),
            },
            ("resource_link", ..) => self.other(block, words::link(&word(&["uri"]))),
            _ => self.other(block, words::unknown(&kind)),
        }
    }

    /// A short string, for words; one that lies beside is too long for them.
    fn word(&self, at: Span) -> Option<Cow<'_, str>> {
        let raw = at.of(self.result);
        match self.aside.and_then(|aside| aside.hole(raw)) {
            Some(_) => Some("…".into()),
            None => string::decode(raw),
        }
    }

    fn is_string(&self, at: Span) -> bool {
        at.of(self.result).first() == Some(&b'"')
    }

    fn binary(&self, block: Span, data: Span, kind: &str, mime: &str, uri: &str) -> Part {
        let size = words::decoded_size(self.len(data).saturating_sub(2));
        let words = words::binary(kind, mime, uri, size);
        let len = self.len(block);
        Part::Binary(Box::new(Binary { block, data, mime: mime.to_owned(), words, len }))
    }

    fn other(&self, block: Span, words: String) -> Part {
        Part::Other(Box::new(Other { block, words, len: self.len(block) }))
    }

    fn len(&self, at: Span) -> u64 {
        let raw = at.of(self.result);
        self.aside.map_or(raw.len() as u64, |aside| aside.filled_len(&self.slice(at)))
    }

    /// Of what lies beside, a guess must do.
    fn tokens(&self, at: Span) -> u64 {
        let raw = at.of(self.result);
        match self.aside {
            None => u64::from(estimate(raw)),
            Some(aside) => match aside.hole(raw) {
                Some(hole) => u64::from(hole.len / 4),
                None => u64::from(estimate(raw)) + (self.len(at) - raw.len() as u64) / 4,
            },
        }
    }

    fn slice(&self, at: Span) -> Bytes {
        self.result.slice(at.start()..at.end())
    }
}

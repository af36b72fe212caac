//! Measures a result and locates its parts, without reading its detached values.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_bridge::describe;
use toolgate_search::tokens::estimate;
use toolgate_wire::large::DetachedValues;
use toolgate_wire::{Frame, Span, scan, string};

/// The most bytes of base64 that stay in a result.
pub(super) const BINARY: u64 = 1 << 20;

/// A result above the limit, with the positions of its parts.
pub(super) struct ResultLayout {
    /// The raw result. All positions are relative to it.
    pub(super) result: Bytes,
    pub(super) blocks: Vec<ResultBlock>,
    pub(super) structured: Option<Span>,
    /// The approximate number of tokens of text and structured output.
    pub(super) tokens: u64,
}

/// One content block.
pub(super) enum ResultBlock {
    /// Text: the raw string.
    Text(Span),
    /// An image, audio or a binary resource.
    Binary(Box<BinaryBlock>),
    /// Any other block.
    Other(Box<OtherBlock>),
}

/// A block with binary data.
pub(super) struct BinaryBlock {
    pub(super) block: Span,
    /// The raw string with the data.
    pub(super) data: Span,
    pub(super) mime: String,
    pub(super) description: String,
    /// The length of the block including detached values.
    pub(super) len: u64,
}

/// A block that is neither text nor binary.
pub(super) struct OtherBlock {
    pub(super) block: Span,
    pub(super) description: String,
    /// The length of the block including detached values.
    pub(super) len: u64,
}

impl ResultLayout {
    /// Measures a tool result; `None` if the answer has no result, or one within the limit.
    pub(super) fn of(answer: &Frame, limit: u32) -> Option<Self> {
        let place = answer.result_span()?;
        let result = answer.bytes().slice(place.start()..place.end());
        let look = ResultBlockParser { result: &result, aside: answer.detached_values() };
        let content = scan::member(&result, "content");
        let parts: Vec<_> = match content {
            Some(array) => {
                let blocks = scan::elements(array.slice(&result));
                blocks.map(|block| look.part(block.within(array))).collect()
            }
            None => Vec::new(),
        };
        let structured = scan::member(&result, "structuredContent");
        let (mut text, mut binary) = (0, 0);
        for part in &parts {
            match part {
                ResultBlock::Text(raw) => text += look.tokens(*raw),
                ResultBlock::Binary(it) => binary += it.len,
                ResultBlock::Other(it) => text += look.tokens(it.block),
            }
        }
        let output = structured.map_or(0, |at| look.tokens(at));
        // Clients show their model one of the two.
        let above = text > u64::from(limit) || output > u64::from(limit) || binary > BINARY;
        above.then_some(Self { blocks: parts, structured, tokens: text + output, result })
    }

    /// Returns true if there is a text block.
    pub(super) fn has_text(&self) -> bool {
        self.blocks.iter().any(|part| matches!(part, ResultBlock::Text(_)))
    }
}

/// Parses the content blocks of a result.
struct ResultBlockParser<'a> {
    result: &'a Bytes,
    aside: Option<&'a Arc<DetachedValues>>,
}

impl ResultBlockParser<'_> {
    fn part(&self, block: Span) -> ResultBlock {
        let raw = block.slice(self.result);
        let at = |path: &[&str]| scan::pointer(raw, path).map(|span| span.within(block));
        let word = |path: &[&str]| at(path).and_then(|at| self.word(at)).unwrap_or_default();
        let kind = word(&["type"]);
        match (&*kind, at(&["text"]), at(&["resource", "text"]), at(&["resource", "blob"])) {
            ("text", Some(text), ..) | ("resource", _, Some(text), _) if self.is_string(text) => {
                ResultBlock::Text(text)
            }
            ("resource", _, _, Some(blob)) => {
                let [uri, mime] = ["uri", "mimeType"].map(|key| word(&["resource", key]));
                self.binary(block, blob, "resource", &mime, &uri)
            }
            ("image" | "audio", ..) => match at(&["data"]) {
                Some(data) => self.binary(block, data, &kind, &word(&["mimeType"]), ""),
                None => self.other(block, describe::unknown_block(&kind)),
            },
            ("resource_link", ..) => self.other(block, describe::link(&word(&["uri"]))),
            _ => self.other(block, describe::unknown_block(&kind)),
        }
    }

    /// Decodes a short string. A detached one is too long and becomes `…`.
    fn word(&self, at: Span) -> Option<Cow<'_, str>> {
        let raw = at.slice(self.result);
        match self.aside.and_then(|aside| aside.resolve_placeholder(raw)) {
            Some(_) => Some("…".into()),
            None => string::decode(raw),
        }
    }

    fn is_string(&self, at: Span) -> bool {
        at.slice(self.result).first() == Some(&b'"')
    }

    fn binary(&self, block: Span, data: Span, kind: &str, mime: &str, uri: &str) -> ResultBlock {
        let size = describe::decoded_size(self.len(data).saturating_sub(2));
        let words = describe::binary(kind, mime, uri, size);
        let len = self.len(block);
        ResultBlock::Binary(Box::new(BinaryBlock {
            block,
            data,
            mime: mime.to_owned(),
            description: words,
            len,
        }))
    }

    fn other(&self, block: Span, words: String) -> ResultBlock {
        ResultBlock::Other(Box::new(OtherBlock { block, description: words, len: self.len(block) }))
    }

    fn len(&self, at: Span) -> u64 {
        let raw = at.slice(self.result);
        self.aside.map_or(raw.len() as u64, |aside| aside.expanded_len(&self.slice(at)))
    }

    /// Estimates the tokens of a value; detached parts by their length.
    fn tokens(&self, at: Span) -> u64 {
        let raw = at.slice(self.result);
        match self.aside {
            None => u64::from(estimate(raw)),
            Some(aside) => match aside.resolve_placeholder(raw) {
                Some(hole) => u64::from(hole.len / 4),
                None => u64::from(estimate(raw)) + (self.len(at) - raw.len() as u64) / 4,
            },
        }
    }

    fn slice(&self, at: Span) -> Bytes {
        self.result.slice(at.start()..at.end())
    }
}

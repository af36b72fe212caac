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
    /// Any other block.
    Opaque(Box<OpaqueBlock>),
}

/// A block that is not text.
pub(super) struct OpaqueBlock {
    pub(super) block: Span,
    /// The raw string with the data and its media type, for images, audio and binary resources.
    pub(super) data: Option<(Span, String)>,
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
                ResultBlock::Opaque(it) if it.data.is_some() => binary += it.len,
                ResultBlock::Opaque(it) => text += look.tokens(it.block),
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
                None => self.opaque(block, None, describe::unknown_block(&kind)),
            },
            ("resource_link", ..) => self.opaque(block, None, describe::link(&word(&["uri"]))),
            _ => self.opaque(block, None, describe::unknown_block(&kind)),
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
        let description = describe::binary(kind, mime, uri, size);
        self.opaque(block, Some((data, mime.to_owned())), description)
    }

    fn opaque(
        &self,
        block: Span,
        data: Option<(Span, String)>,
        description: String,
    ) -> ResultBlock {
        let len = self.len(block);
        ResultBlock::Opaque(Box::new(OpaqueBlock { block, data, description, len }))
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

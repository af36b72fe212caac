//! Parses the result of a tool for a model and for display.
//!
//! For a model: the joined text, images and audio with their data, and structured output if there
//! is no text. For display: text and short placeholders, without characters that control a
//! terminal. A binary resource is shown as a placeholder with its type and size.

use serde_json::Value;
use toolgate_bridge::describe;
pub use toolgate_model::{escape_invisible, escape_invisible_lines};

/// The parsed result of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultContent {
    /// The text for a model: all texts, including embedded ones, with placeholders for links and
    /// binary resources. If there is no text, the structured output.
    pub text: String,
    /// Binary content with its data, in order.
    pub binary: Vec<BinaryContent>,
    /// Links to resources, in order.
    pub links: Vec<ResourceLink>,
    /// The structured output, if present.
    pub structured: Option<Value>,
    /// True if the tool reported a failure.
    pub is_error: bool,
    /// The text for display, with invisible and terminal control characters escaped.
    pub display: String,
    /// The text for display without escaping, for files and pipes.
    pub plain: String,
}

/// One piece of binary content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryContent {
    /// The kind: `image`, `audio` or `resource`.
    pub kind: String,
    /// The media type; empty if the server did not state it.
    pub mime: String,
    /// The data in base64, as the server sent it.
    pub data: String,
    /// The URI; empty if the server did not state it.
    pub uri: String,
}

/// A link to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLink {
    /// The URI.
    pub uri: String,
    /// The name, as the server sent it.
    pub name: String,
    /// The media type; empty if the server did not state it.
    pub mime: String,
}

/// One parsed content block.
enum ParsedContentBlock {
    Text(String),
    Binary(BinaryContent),
    Link(ResourceLink),
    Unknown(String),
}

/// Parses the result object of a tool.
pub fn parse_result(result: &Value) -> ResultContent {
    let blocks = result["content"].as_array().into_iter().flatten();
    let parts: Vec<_> = blocks.map(part).collect();
    let structured = result.get("structuredContent").cloned();
    let has_text = parts.iter().any(|part| matches!(part, ParsedContentBlock::Text(_)));
    let fallback = structured.as_ref().filter(|_| !has_text);
    let fallback = fallback.map(|it| serde_json::to_string_pretty(it).unwrap_or_default());
    let text = parts.iter().filter_map(ParsedContentBlock::model_text).chain(fallback.clone());
    let plain =
        parts.iter().map(ParsedContentBlock::to_text).chain(fallback.filter(|_| parts.is_empty()));
    let (text, plain) = (joined(text), joined(plain));
    let (mut binary, mut links) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ParsedContentBlock::Binary(content) => binary.push(content),
            ParsedContentBlock::Link(link) => links.push(link),
            ParsedContentBlock::Text(_) | ParsedContentBlock::Unknown(_) => {}
        }
    }
    let (display, is_error) = (escape_invisible_lines(&plain), result["isError"] == true);
    ResultContent { text, binary, links, structured, is_error, display, plain }
}

/// Returns the text of one content block, for example of a prompt message.
pub fn block_text(content: &Value) -> String {
    part(content).to_text()
}

/// Returns the text of a resource's contents.
pub fn resource_text(contents: &Value) -> String {
    embedded(contents).to_text()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

fn word(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}

fn part(block: &Value) -> ParsedContentBlock {
    let kind = word(block, "type");
    match kind.as_str() {
        "text" => ParsedContentBlock::Text(word(block, "text")),
        "image" | "audio" => {
            let (mime, data) = (word(block, "mimeType"), word(block, "data"));
            ParsedContentBlock::Binary(BinaryContent { kind, mime, data, uri: String::new() })
        }
        "resource" => embedded(&block["resource"]),
        "resource_link" => link(block),
        _ => ParsedContentBlock::Unknown(describe::unknown_block(&kind)),
    }
}

fn link(block: &Value) -> ParsedContentBlock {
    let [uri, name, mime] = ["uri", "name", "mimeType"].map(|key| word(block, key));
    ParsedContentBlock::Link(ResourceLink { uri, name, mime })
}

fn embedded(contents: &Value) -> ParsedContentBlock {
    match (contents["text"].as_str(), contents["blob"].as_str()) {
        (Some(text), _) => ParsedContentBlock::Text(text.to_owned()),
        (None, Some(data)) => {
            let (mime, uri) = (word(contents, "mimeType"), word(contents, "uri"));
            let (kind, data) = ("resource".to_owned(), data.to_owned());
            ParsedContentBlock::Binary(BinaryContent { kind, mime, data, uri })
        }
        (None, None) => link(contents),
    }
}

impl BinaryContent {
    /// Returns a placeholder text with the kind, type and size.
    pub fn placeholder(&self) -> String {
        describe::binary(&self.kind, &self.mime, &self.uri, self.size())
    }

    /// Returns the size of the decoded data, in bytes.
    pub fn size(&self) -> u64 {
        let digits = self.data.trim_end().trim_end_matches('=').len();
        describe::decoded_size(digits as u64)
    }
}

impl ParsedContentBlock {
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Unknown(text) => text.clone(),
            Self::Binary(binary) => binary.placeholder(),
            Self::Link(link) => describe::link(&link.uri),
        }
    }

    /// Returns the text for a model. Images and audio have none, because a model gets their data.
    fn model_text(&self) -> Option<String> {
        match self {
            Self::Binary(binary) if binary.kind != "resource" => None,
            part => Some(part.to_text()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_gets_text_and_data_and_a_person_gets_words() {
        let read = parse_result(&json!({ "content": [
            { "type": "text", "text": "hello\u{202e}" },
            { "type": "image", "mimeType": "image/png", "data": "Zm9v" },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/x" },
            { "type": "resource", "resource": { "uri": "x:y", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "x:z", "mimeType": "a/b", "blob": "Zm8=" } },
            { "type": "hologram" },
        ], "structuredContent": { "a": 1 }, "isError": true }));
        let words = "[resource file:///a]\ninside\n[resource x:z a/b, 2 B]\n[hologram]";
        assert_eq!(read.text, format!("hello\u{202e}\n{words}"));
        assert_eq!(read.plain, format!("hello\u{202e}\n[image image/png, 3 B]\n{words}"));
        assert_eq!(read.display, format!("hello⟦U+202E⟧\n[image image/png, 3 B]\n{words}"));
        let kinds: Vec<_> = read.binary.iter().map(|it| (&*it.kind, &*it.data)).collect();
        assert_eq!(kinds, [("image", "Zm9v"), ("resource", "Zm8=")]);
        assert_eq!((read.links.len(), read.links[0].uri.as_str()), (1, "file:///a"));
        assert_eq!((read.structured, read.is_error), (Some(json!({ "a": 1 })), true));
    }

    #[test]
    fn structured_output_is_the_text_where_there_is_no_other() {
        let read = parse_result(&json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!((&*read.text, &*read.plain), ("{\n  \"a\": 1\n}", "{\n  \"a\": 1\n}"));
        let image = json!({ "type": "image", "mimeType": "i/p", "data": "" });
        let read = parse_result(&json!({ "content": [image], "structuredContent": 7 }));
        assert_eq!((&*read.text, &*read.plain), ("7", "[image i/p, 0 B]"));
        let read = parse_result(&json!({}));
        assert_eq!((&*read.text, &*read.display, read.is_error), ("", "", false));
    }
}

//! What a server sent, for a model and for a person.
//!
//! One reading of a result gives both: the parts a model is fed with (text joined, pictures and
//! sounds apart with their data, structured output where there is no text), and the form a person
//! looks at (text, everything else in a word or two, and nothing a terminal would obey). Where text
//! is wanted, a binary resource is a placeholder with its type and size.

use serde_json::Value;
use toolgate_bridge::words;
pub use toolgate_model::{visible, visible_lines};

/// A result, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content {
    /// The text for a model: all texts, embedded ones too, links and binary resources in words.
    /// Structured output is the text where there is no other.
    pub text: String,
    /// What is no text, with its data, in order.
    pub binary: Vec<Binary>,
    /// Links to resources, in order.
    pub links: Vec<Link>,
    /// Structured output, if there is any.
    pub structured: Option<Value>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// What a person is shown; characters that are invisible or mean something to a terminal are
    /// shown as such.
    pub display: String,
    /// The same with its characters as they are, for files and pipes.
    pub plain: String,
}

/// Something binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// What it is: `image`, `audio` or `resource`.
    pub kind: String,
    /// Its type, empty if it is not said.
    pub mime: String,
    /// Its data, in base64 as the server wrote it.
    pub data: String,
    /// Where it comes from, empty if it is not said.
    pub uri: String,
}

/// A link to a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub uri: String,
    /// Its name, in its server's words.
    pub name: String,
    /// Its type, empty if it is not said.
    pub mime: String,
}

/// One block, read.
enum Part {
    Text(String),
    Binary(Binary),
    Link(Link),
    Unknown(String),
}

/// Reads a tool's result object.
pub fn content(result: &Value) -> Content {
    let blocks = result["content"].as_array().into_iter().flatten();
    let parts: Vec<_> = blocks.map(part).collect();
    let structured = result.get("structuredContent").cloned();
    let has_text = parts.iter().any(|part| matches!(part, Part::Text(_)));
    let fallback = structured.as_ref().filter(|_| !has_text);
    let fallback = fallback.map(|it| serde_json::to_string_pretty(it).unwrap_or_default());
    let text = parts.iter().filter_map(Part::for_model).chain(fallback.clone());
    let plain = parts.iter().map(Part::in_words).chain(fallback.filter(|_| parts.is_empty()));
    let (text, plain) = (joined(text), joined(plain));
    Content {
        text,
        display: visible_lines(&plain),
        plain,
        binary: parts.iter().filter_map(Part::binary).collect(),
        links: parts.iter().filter_map(Part::link).collect(),
        structured,
        is_error: result["isError"] == true,
    }
}

/// One block of content, as of a prompt's message, for a person or a pipe.
pub fn block(content: &Value) -> String {
    part(content).in_words()
}

/// The contents of a resource, for a person or a pipe.
pub fn resource(contents: &Value) -> String {
    embedded(contents).in_words()
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}

fn word(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}

fn part(block: &Value) -> Part {
    let kind = word(block, "type");
    match kind.as_str() {
        "text" => Part::Text(word(block, "text")),
        "image" | "audio" => {
            let (mime, data) = (word(block, "mimeType"), word(block, "data"));
            Part::Binary(Binary { kind, mime, data, uri: String::new() })
        }
        "resource" => embedded(&block["resource"]),
        "resource_link" => link(block),
        _ => Part::Unknown(words::unknown(&kind)),
    }
}

fn link(block: &Value) -> Part {
    let [uri, name, mime] = ["uri", "name", "mimeType"].map(|key| word(block, key));
    Part::Link(Link { uri, name, mime })
}

fn embedded(contents: &Value) -> Part {
    match (contents["text"].as_str(), contents["blob"].as_str()) {
        (Some(text), _) => Part::Text(text.to_owned()),
        (None, Some(data)) => {
            let (mime, uri) = (word(contents, "mimeType"), word(contents, "uri"));
            let (kind, data) = ("resource".to_owned(), data.to_owned());
            Part::Binary(Binary { kind, mime, data, uri })
        }
        (None, None) => link(contents),
    }
}

impl Binary {
    /// What stands for it where text is wanted: what it is, of which type and size.
    pub fn placeholder(&self) -> String {
        words::binary(&self.kind, &self.mime, &self.uri, self.size())
    }

    /// How many bytes its data stands for.
    pub fn size(&self) -> u64 {
        let digits = self.data.trim_end().trim_end_matches('=').len();
        words::decoded_size(digits as u64)
    }
}

impl Part {
    fn in_words(&self) -> String {
        match self {
            Self::Text(text) | Self::Unknown(text) => text.clone(),
            Self::Binary(binary) => binary.placeholder(),
            Self::Link(link) => words::link(&link.uri),
        }
    }

    /// What a model reads of it; pictures and sounds it is given as such.
    fn for_model(&self) -> Option<String> {
        match self {
            Self::Binary(binary) if binary.kind != "resource" => None,
            part => Some(part.in_words()),
        }
    }

    fn binary(&self) -> Option<Binary> {
        match self {
            Self::Binary(binary) => Some(binary.clone()),
            _ => None,
        }
    }

    fn link(&self) -> Option<Link> {
        match self {
            Self::Link(link) => Some(link.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_model_gets_text_and_data_and_a_person_gets_words() {
        let read = content(&json!({ "content": [
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
        let read = content(&json!({ "content": [], "structuredContent": { "a": 1 } }));
        assert_eq!((&*read.text, &*read.plain), ("{\n  \"a\": 1\n}", "{\n  \"a\": 1\n}"));
        let image = json!({ "type": "image", "mimeType": "i/p", "data": "" });
        let read = content(&json!({ "content": [image], "structuredContent": 7 }));
        assert_eq!((&*read.text, &*read.plain), ("7", "[image i/p, 0 B]"));
        let read = content(&json!({}));
        assert_eq!((&*read.text, &*read.display, read.is_error), ("", "", false));
    }
}

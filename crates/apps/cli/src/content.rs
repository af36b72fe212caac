//! What servers send, for people: text as it is, everything else in a word or two.

use serde_json::Value;

use crate::{base64, out};

/// One block of content as text.
pub fn block(content: &Value) -> String {
    let word = |key: &str| content[key].as_str().unwrap_or_default();
    match word("type") {
        "text" => word("text").to_owned(),
        kind @ ("image" | "audio") => {
            format!("[{kind} {}, {}]", word("mimeType"), out::size(base64::size(word("data"))))
        }
        "resource" => resource(&content["resource"]),
        "resource_link" => format!("[resource {}]", word("uri")),
        "" => "[content without a type]".to_owned(),
        other => format!("[{other}]"),
    }
}

/// The contents of a resource as text.
pub fn resource(contents: &Value) -> String {
    let word = |key: &str| contents[key].as_str().unwrap_or_default();
    match (contents["text"].as_str(), contents["blob"].as_str()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(blob)) => {
            let size = out::size(base64::size(blob));
            format!("[resource {} {}, {size}]", word("uri"), word("mimeType"))
        }
        (None, None) => format!("[resource {}]", word("uri")),
    }
}

/// The result of a tool as text: its content, or its structured content if that is all there is.
pub fn result(result: &Value) -> String {
    let blocks: Vec<_> = result["content"].as_array().into_iter().flatten().map(block).collect();
    match result.get("structuredContent") {
        Some(structured) if blocks.is_empty() => {
            serde_json::to_string_pretty(structured).unwrap_or_default()
        }
        _ => blocks.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_shown_and_the_rest_named() {
        let shown = result(&json!({ "content": [
            { "type": "text", "text": "hello" },
            { "type": "image", "mimeType": "image/png", "data": "Zm9v" },
            { "type": "resource_link", "uri": "file:///a" },
            { "type": "resource", "resource": { "uri": "x:y", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "x:z", "mimeType": "a/b", "blob": "Zm9v" } },
            { "type": "hologram" },
        ]}));
        assert_eq!(
            shown,
            "hello\n[image image/png, 3 B]\n[resource file:///a]\ninside\n[resource x:z a/b, 3 B]\n\
             [hologram]"
        );
    }

    #[test]
    fn structured_content_is_shown_where_there_is_nothing_else() {
        let both = json!({ "content": [{ "type": "text", "text": "t" }], "structuredContent": 1 });
        assert_eq!(result(&both), "t");
        assert_eq!(
            result(&json!({ "content": [], "structuredContent": { "a": 1 } })),
            "{\n  \"a\": 1\n}"
        );
    }
}

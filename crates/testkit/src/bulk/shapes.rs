//! Builds results of about a given size in different shapes.
//!
//! They are written as text, with escapes and line breaks that an encoder would not produce.

use std::fmt::Write as _;

/// The shapes there are.
pub(super) const ALL: [&str; 6] = ["text", "blocks", "structured", "image", "pretty", "invisible"];
/// The invisible text that the shape "invisible" appends.
const TAGS: &str = "\u{e0041}\u{e0042}";

/// A word that stands once in every text, two thirds into it.
pub const NEEDLE: &str = "Nadel-im-Heuhaufen";

/// What a text is made of, beside its numbers.
const FILLING: &str = "\"zażółć\"\t日本 🙂 some more words to fill it\n";

/// The text of about so many bytes, decoded: numbered lines, with many that are all the same
/// between two of them.
pub fn text(bytes: usize) -> String {
    let paragraph = FILLING.repeat(if bytes < 100_000 { 1 } else { 500 });
    let mut text = String::with_capacity(bytes + paragraph.len() + 100);
    let (mut number, mut hidden) = (0_u64, false);
    while text.len() < bytes {
        number += 1;
        let _ = write!(text, "line {number}: ");
        text.push_str(&paragraph);
        if !hidden && text.len() > bytes / 3 * 2 {
            hidden = true;
            let _ = writeln!(text, "here is the {NEEDLE} of this text");
        }
    }
    text
}

/// A result object of one shape, about so many bytes long; `None` if there is no such shape.
pub fn result(shape: &str, bytes: usize) -> Option<String> {
    Some(match shape {
        "text" => format!(
            r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{{"ok":1.50}}}}"#,
            json_string(&text(bytes))
        ),
        "invisible" => {
            let text = json_string(&format!("{}{TAGS}", text(bytes)));
            format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
        }
        "pretty" => format!(
            "{{\n  \"content\": [\r\n    {{ \"type\": \"text\",\n \"text\": {} }}\n  ],\n  \
             \"structuredContent\": {{\n}},\n \"odd\": 1e400\n}}",
            json_string(&text(bytes))
        ),
        "blocks" => blocks(bytes),
        "structured" => structured(bytes),
        "image" => format!(
            r#"{{"content":[{{"type":"text","text":"a picture"}},{{"type":"image","mimeType":"image/png","data":"{}"}}],"structuredContent":{{}}}}"#,
            "iVBORw0KGgo/+8AB".repeat(bytes / 16)
        ),
        _ => return None,
    })
}

/// A JSON string, with some characters escaped that need not be.
fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('日', "\\u65e5")
}

fn blocks(bytes: usize) -> String {
    let mut content = String::with_capacity(bytes + 10_000);
    let mut number = 0;
    while content.len() < bytes {
        number += 1;
        if number > 1 {
            content.push(',');
        }
        let text = json_string(&text(1000 + number % 7 * 1500));
        let _ = write!(content, r#"{{"type":"text","text":{text}}}"#);
    }
    format!(r#"{{"content":[{content}],"structuredContent":{{}}}}"#)
}

fn structured(bytes: usize) -> String {
    let mut rows = String::with_capacity(bytes + 10_000);
    let mut number = 0;
    while rows.len() < bytes {
        number += 1;
        if number > 1 {
            rows.push(',');
        }
        let _ = write!(rows, r#"{{"row":{number},"text":{}}}"#, json_string(&text(900)));
    }
    format!(
        r#"{{"content":[{{"type":"text","text":"see the rows"}}],"structuredContent":{{"rows":[{rows}]}}}}"#
    )
}

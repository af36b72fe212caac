//! The tool list as prepared bytes, with which every `tools/list` response ends. `answer`
//! implements the tools.

use bytes::Bytes;
use serde_json::{Value, json};

use super::TestEra;

/// How many bytes the prepared blob has, the size the benchmark asks for.
const PREPARED_BLOB: usize = 64 * 1024;

/// The bytes that the server prepares before the first request.
#[derive(Debug)]
pub struct EchoCatalog {
    pub(super) era: TestEra,
    /// `{"tools":[…]}}`: the result and the brace that closes the answer around it.
    pub(super) list_tail: Bytes,
    /// The JSON of a 64 KiB text result, with that same closing brace.
    blob_tail: Bytes,
}

impl EchoCatalog {
    /// A catalog of `tools` tools in all: `echo`, `blob` and generated ones.
    pub fn of(tools: u32, era: TestEra) -> Self {
        let generated = tools.saturating_sub(2);
        let all: Vec<Value> =
            [echo_tool(), blob_tool()].into_iter().chain((0..generated).map(made_tool)).collect();
        EchoCatalog {
            list_tail: Bytes::from(format!(
                r#"{{"tools":{}{}}}}}"#,
                Value::from(all),
                era.cacheable_result_suffix()
            )),
            blob_tail: text_tail(PREPARED_BLOB, era),
            era,
        }
    }

    /// The end of an answer that carries a text of `bytes` bytes.
    pub(super) fn blob_tail(&self, bytes: usize) -> Bytes {
        if bytes == PREPARED_BLOB { self.blob_tail.clone() } else { text_tail(bytes, self.era) }
    }
}

/// The text that `blob` returns for `bytes` bytes; the load generator compares against it.
pub fn blob_text(bytes: usize) -> String {
    ('a'..='z').cycle().take(bytes).collect()
}

fn text_tail(bytes: usize, era: TestEra) -> Bytes {
    // The alphabet needs no escaping in JSON.
    let text = blob_text(bytes);
    let mark = era.result_suffix();
    Bytes::from(format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]{mark}}}}}"#))
}

fn echo_tool() -> Value {
    json!({
        "name": "echo",
        "description": "Returns the text it was given.",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string", "description": "What to return." } },
            "required": ["text"],
        },
    })
}

fn blob_tool() -> Value {
    json!({
        "name": "blob",
        "description": "Returns a text of the size asked for.",
        "inputSchema": {
            "type": "object",
            "properties": { "bytes": { "type": "integer", "minimum": 0, "maximum": 67_108_864 } },
            "required": ["bytes"],
        },
    })
}

/// A tool of the size real ones have: about 730 bytes, most of it schema.
fn made_tool(number: u32) -> Value {
    json!({
        "name": format!("tool_{number:04}"),
        "title": format!("Search collection {number}"),
        "description": format!(
            "Searches collection {number} for records that match a query and returns them with \
             their identifiers, newest first. Use it when the answer depends on stored records."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "Words that must appear in a record." },
                "limit": { "type": "integer", "description": "Most records to return.", "minimum": 1 },
                "order": { "type": "string", "description": "Which records come first.", "enum": ["newest", "oldest", "best"] },
                "fields": { "type": "array", "description": "What to tell of each record.", "items": { "type": "string" } },
            },
            "required": ["query"],
            "additionalProperties": false,
        },
        "annotations": { "readOnlyHint": true, "openWorldHint": false },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_tools_weigh_what_the_benchmark_says() {
        let catalog = EchoCatalog::of(1000, TestEra::Legacy);
        let kilobytes = catalog.list_tail.len() / 1000;
        assert!((700..=760).contains(&kilobytes), "{kilobytes} KB");
    }

    #[test]
    fn the_count_includes_echo_and_blob() {
        for era in [TestEra::Legacy, TestEra::Modern] {
            let catalog = EchoCatalog::of(5, era);
            let result = &catalog.list_tail[..catalog.list_tail.len() - 1];
            let result: Value = serde_json::from_slice(result).unwrap();
            assert_eq!(result["tools"].as_array().unwrap().len(), 5);
            assert_eq!(result.get("resultType").is_some(), era == TestEra::Modern);
        }
    }
}

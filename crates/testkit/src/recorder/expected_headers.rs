//! Collects which arguments must be repeated in `Mcp-Param-*` headers, from the tool lists.
//!
//! It does not validate these declarations: a tool with an invalid one must not be listed, so it is
//! never called.

use std::collections::HashMap;

use serde_json::Value;

/// The expected headers of every tool that was listed so far.
#[derive(Debug, Default)]
pub(super) struct ExpectedHeaders(HashMap<String, Vec<ExpectedHeader>>);

/// One argument that a tool wants repeated in a header.
#[derive(Debug)]
struct ExpectedHeader {
    header: String,
    path: Vec<String>,
}

impl ExpectedHeaders {
    /// Takes note of a page of tools.
    pub(super) fn learn(&mut self, page: &Value) {
        for tool in page["tools"].as_array().into_iter().flatten() {
            let mut wishes = Vec::new();
            collect(&tool["inputSchema"], &[], &mut wishes);
            self.0.insert(tool["name"].as_str().unwrap_or_default().to_owned(), wishes);
        }
    }

    /// The headers that a call of this tool needs, with their values.
    pub(super) fn headers_for_call(&self, tool: &str, arguments: &Value) -> Vec<(&str, String)> {
        let wishes = self.0.get(tool).into_iter().flatten();
        let value = |mirror: &ExpectedHeader| {
            let found = mirror.path.iter().try_fold(arguments, |value, name| value.get(name))?;
            match found {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        };
        wishes.filter_map(|mirror| Some((mirror.header.as_str(), value(mirror)?))).collect()
    }
}

fn collect(schema: &Value, path: &[String], wishes: &mut Vec<ExpectedHeader>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = [path, std::slice::from_ref(name)].concat();
        if let Some(token) = property["x-mcp-header"].as_str() {
            let header = format!("mcp-param-{}", token.to_ascii_lowercase());
            wishes.push(ExpectedHeader { header, path: path.clone() });
        }
        collect(property, &path, wishes);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_are_there_are_due_at_any_depth() {
        let place = json!({ "properties": { "city": { "x-mcp-header": "City" } } });
        let properties = json!({ "where": place, "days": { "x-mcp-header": "Days" } });
        let mut mirrors = ExpectedHeaders::default();
        let tool = json!({ "name": "t", "inputSchema": { "properties": properties } });
        mirrors.learn(&json!({ "tools": [tool] }));
        let due = mirrors.headers_for_call("t", &json!({ "where": { "city": "Köln" }, "days": 3 }));
        let expected = [("mcp-param-city", "Köln".to_owned()), ("mcp-param-days", "3".to_owned())];
        assert_eq!(due, expected);
        assert_eq!(mirrors.headers_for_call("t", &json!({ "days": null })), []);
        assert_eq!(mirrors.headers_for_call("other", &json!({ "days": 3 })), []);
    }
}

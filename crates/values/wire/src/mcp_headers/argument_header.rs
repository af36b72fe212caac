//! Finds the arguments that a tool's schema mirrors in headers, and compares headers with the body.

use serde_json::Value;

use super::{PARAM_PREFIX, decode};
use crate::scan;

const KEYWORD: &str = "x-mcp-header";
/// The largest integer that every peer can represent exactly.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;
/// The deepest schema that is searched. The scanner accepts nothing deeper.
const MAX_DEPTH: usize = 128;

/// Keywords whose value is data, not a schema.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose value maps names to schemas.
const MAPS: [&str; 4] = ["patternProperties", "$defs", "definitions", "dependentSchemas"];

/// A header that mirrors one argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentHeader {
    /// The header name, lower case, with its prefix.
    pub header: String,
    /// The path to the argument, through nested objects.
    pub path: Vec<String>,
}

/// The reason why the `x-mcp-header` marks of a definition are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentHeaderError {
    /// The name is not a valid header token.
    #[error("`x-mcp-header` is not a valid header name: {0}")]
    Token(String),
    /// Two arguments share a header.
    #[error("two arguments use the same header: {0}")]
    Twice(String),
    /// The argument is not a string, integer or boolean. Other types have no unique spelling.
    #[error("the argument for header `{0}` must be a string, an integer or a boolean")]
    Type(String),
    /// The mark is in a schema that does not describe exactly one argument.
    #[error("`x-mcp-header` must mark exactly one argument")]
    Place,
}

/// Returns the mirrored arguments of a raw tool definition. Nearly every tool has none.
pub fn argument_headers(definition: &[u8]) -> Result<Vec<ArgumentHeader>, ArgumentHeaderError> {
    if memchr::memmem::find(definition, KEYWORD.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let schema = scan::member(definition, "inputSchema").map(|span| span.slice(definition));
    let schema = schema.and_then(|schema| serde_json::from_slice(schema).ok());
    let mut found = Vec::new();
    if let Some(schema) = schema {
        collect_properties(&schema, &mut Vec::new(), &mut found)?;
    }
    for (at, rule) in found.iter().enumerate() {
        if found.iter().take(at).any(|earlier: &ArgumentHeader| earlier.header == rule.header) {
            return Err(ArgumentHeaderError::Twice(rule.header.clone()));
        }
    }
    Ok(found)
}

/// Collects the marks of a schema that describes exactly one object.
fn collect_properties(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<ArgumentHeader>,
) -> Result<(), ArgumentHeaderError> {
    let Some(keywords) = schema.as_object() else { return Ok(()) };
    if path.len() > MAX_DEPTH {
        return Err(ArgumentHeaderError::Place);
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value.as_object()) {
            ("properties", Some(named)) => {
                for (name, property) in named {
                    path.push(name.clone());
                    if let Some(mark) = property.get(KEYWORD) {
                        found.push(parse_mark(mark, property, path)?);
                    }
                    collect_properties(property, path, found)?;
                    path.pop();
                }
            }
            (KEYWORD, _) if path.is_empty() => return Err(ArgumentHeaderError::Place),
            (KEYWORD, _) => {}
            _ => reject_marks_below(keyword, value, 0)?,
        }
    }
    Ok(())
}

/// Returns an error if there is a mark below a keyword that does not lead to exactly one argument.
fn reject_marks_below(
    keyword: &str,
    value: &Value,
    depth: usize,
) -> Result<(), ArgumentHeaderError> {
    if DATA.contains(&keyword) || depth > MAX_DEPTH {
        return Ok(());
    }
    match value {
        Value::Array(schemas) => {
            schemas.iter().try_for_each(|schema| reject_marks_in(schema, depth + 1))
        }
        Value::Object(named) if MAPS.contains(&keyword) => {
            named.values().try_for_each(|schema| reject_marks_in(schema, depth + 1))
        }
        schema => reject_marks_in(schema, depth + 1),
    }
}

fn reject_marks_in(schema: &Value, depth: usize) -> Result<(), ArgumentHeaderError> {
    let Some(keywords) = schema.as_object() else { return Ok(()) };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value.as_object()) {
            (KEYWORD, _) => return Err(ArgumentHeaderError::Place),
            ("properties", Some(named)) => {
                named.values().try_for_each(|schema| reject_marks_in(schema, depth + 1))?;
            }
            _ => reject_marks_below(keyword, value, depth)?,
        }
    }
    Ok(())
}

fn parse_mark(
    mark: &Value,
    property: &Value,
    path: &[String],
) -> Result<ArgumentHeader, ArgumentHeaderError> {
    let token = mark.as_str().filter(|token| is_token(token));
    let Some(token) = token else { return Err(ArgumentHeaderError::Token(mark.to_string())) };
    let spelled = |kind: &str| matches!(kind, "string" | "integer" | "boolean");
    let fits = match property.get("type") {
        Some(Value::String(kind)) => spelled(kind),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.next().is_some_and(spelled) && kinds.next().is_none()
        }
        _ => false,
    };
    match fits {
        true => {
            let header = format!("{PARAM_PREFIX}{}", token.to_ascii_lowercase());
            Ok(ArgumentHeader { header, path: path.to_vec() })
        }
        false => Err(ArgumentHeaderError::Type(token.to_owned())),
    }
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    let symbol = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || symbol(byte))
}

impl ArgumentHeader {
    /// Returns the header value for these arguments, before [`super::encode`]. Returns `None` if
    /// the argument is absent, null, or has no spelling.
    pub fn value(&self, arguments: &[u8]) -> Option<String> {
        match self.argument(arguments)? {
            Value::String(text) => Some(text),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => format_integer(&number),
            _ => None,
        }
    }

    fn argument(&self, arguments: &[u8]) -> Option<Value> {
        let path: Vec<_> = self.path.iter().map(String::as_str).collect();
        serde_json::from_slice(scan::pointer(arguments, &path)?.slice(arguments)).ok()
    }

    /// Returns true if a received header agrees with these arguments.
    pub fn matches(&self, header: Option<&[u8]>, arguments: &[u8]) -> bool {
        let Some(header) = header else { return self.value(arguments).is_none() };
        let Some(value) = decode(header) else { return false };
        match self.argument(arguments) {
            Some(Value::String(text)) => value == text,
            Some(Value::Bool(flag)) => value == flag.to_string(),
            Some(Value::Number(number)) => value.parse().ok() == number.as_f64(),
            _ => false,
        }
    }
}

/// Formats an integer in its canonical spelling, however the body spells it.
fn format_integer(number: &serde_json::Number) -> Option<String> {
    let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
    (value.abs() <= MAX_INTEGER).then(|| format!("{value:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: &Value) -> Result<Vec<ArgumentHeader>, ArgumentHeaderError> {
        argument_headers(json!({ "name": "t", "inputSchema": schema }).to_string().as_bytes())
    }

    #[test]
    fn marked_arguments_are_found_through_nested_objects() {
        let found = of(&json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": {
                "flag": { "type": ["boolean", "null"], "x-mcp-header": "X-Flag" } } },
        }}));
        let found = found.unwrap();
        let headers: Vec<_> = found.iter().map(|rule| rule.header.as_str()).collect();
        assert_eq!(headers, ["mcp-param-region", "mcp-param-x-flag"]);
        assert_eq!(found[1].path, ["deep", "flag"]);
    }

    #[test]
    fn an_argument_that_is_called_like_the_mark_is_no_mark() {
        let schema = json!({ "properties": { "x-mcp-header": { "type": "string" } } });
        assert_eq!(of(&schema), Ok(Vec::new()));
        let data = json!({ "properties": { "a": { "default": { "x-mcp-header": "A" } } } });
        assert_eq!(of(&data), Ok(Vec::new()));
    }

    #[test]
    fn marks_that_cannot_be_followed_are_refused() {
        let marked = |kind: &str, name: &str| json!({ "type": kind, "x-mcp-header": name });
        let inside = |property: Value| json!({ "properties": { "a": property } });
        assert!(matches!(of(&inside(marked("number", "A"))), Err(ArgumentHeaderError::Type(_))));
        assert!(matches!(
            of(&inside(json!({ "x-mcp-header": "A" }))),
            Err(ArgumentHeaderError::Type(_))
        ));
        assert!(matches!(of(&inside(marked("string", "A B"))), Err(ArgumentHeaderError::Token(_))));
        assert!(matches!(of(&inside(marked("string", ""))), Err(ArgumentHeaderError::Token(_))));
        let twice =
            json!({ "properties": { "a": marked("string", "A"), "b": marked("string", "a") } });
        assert!(matches!(of(&twice), Err(ArgumentHeaderError::Twice(_))));
    }

    #[test]
    fn marks_off_the_chain_of_properties_are_refused() {
        let marked = json!({ "type": "string", "x-mcp-header": "A" });
        for keyword in ["items", "not", "if", "additionalProperties"] {
            let schema = json!({ "properties": { "a": { keyword: marked.clone() } } });
            assert_eq!(of(&schema), Err(ArgumentHeaderError::Place), "{keyword}");
        }
        assert_eq!(
            of(&json!({ "oneOf": [{ "properties": { "a": marked } }] })),
            Err(ArgumentHeaderError::Place)
        );
        assert_eq!(of(&json!({ "$defs": { "d": marked } })), Err(ArgumentHeaderError::Place));
        assert_eq!(of(&marked), Err(ArgumentHeaderError::Place));
    }

    #[test]
    fn header_and_body_agree_in_meaning() {
        let rule = ArgumentHeader { header: "mcp-param-n".into(), path: vec!["n".into()] };
        let agree = |header: Option<&str>, body: &str| {
            rule.matches(header.map(str::as_bytes), body.as_bytes())
        };
        assert!(agree(Some("42"), r#"{"n":42.0}"#) && agree(Some("42.0"), r#"{"n":42}"#));
        assert!(agree(None, r#"{"n":null}"#) && agree(None, "{}"));
        assert!(agree(Some("=?base64?WsO8cmljaA==?="), r#"{"n":"Zürich"}"#));
        assert!(!agree(Some("41"), r#"{"n":42}"#) && !agree(None, r#"{"n":1}"#));
        assert!(!agree(Some("1.0"), r#"{"n":"1"}"#), "texts are compared as they are");
        assert!(!agree(Some("x"), "{}") && !agree(Some("true"), r#"{"n":false}"#));
    }
}

//! The arguments a tool's schema wants mirrored, and whether a header agrees with the body.

use serde_json::Value;

use super::{PARAM_PREFIX, decode};
use crate::scan;

const KEYWORD: &str = "x-mcp-header";
/// The integers every peer can hold exactly.
const MAX_INTEGER: f64 = 9_007_199_254_740_991.0;
/// Deeper schemas are not searched; the wire admits none that are.
const MAX_DEPTH: usize = 128;

/// Keywords whose value is data, not a schema.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];
/// Keywords whose value maps names to schemas.
const MAPS: [&str; 4] = ["patternProperties", "$defs", "definitions", "dependentSchemas"];

/// One mirrored argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The header, lower case, with its prefix.
    pub header: String,
    /// The way to the argument, through nested objects.
    pub path: Vec<String>,
}

/// Why a definition's marks cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The name is no header token.
    #[error("`x-mcp-header` names no header: {0}")]
    Token(String),
    /// Two arguments share a header.
    #[error("two arguments are mirrored in one header: {0}")]
    Twice(String),
    /// Only strings, integers and booleans have one spelling.
    #[error("the argument mirrored in `{0}` is no string, integer or boolean")]
    Type(String),
    /// The argument may or may not be there, or be there many times.
    #[error("`x-mcp-header` stands where no single argument is meant")]
    Place,
}

/// The mirrored arguments of a raw tool definition; none for nearly every tool there is.
pub fn rules(definition: &[u8]) -> Result<Vec<Rule>, Invalid> {
    if memchr::memmem::find(definition, KEYWORD.as_bytes()).is_none() {
        return Ok(Vec::new());
    }
    let schema = scan::member(definition, "inputSchema").map(|span| span.of(definition));
    let schema = schema.and_then(|schema| serde_json::from_slice(schema).ok());
    let mut found = Vec::new();
    if let Some(schema) = schema {
        properties(&schema, &mut Vec::new(), &mut found)?;
    }
    for (at, rule) in found.iter().enumerate() {
        if found.iter().take(at).any(|earlier: &Rule| earlier.header == rule.header) {
            return Err(Invalid::Twice(rule.header.clone()));
        }
    }
    Ok(found)
}

/// Searches a schema that stands for one object for sure.
fn properties(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Rule>,
) -> Result<(), Invalid> {
    let Some(keywords) = schema.as_object() else { return Ok(()) };
    if path.len() > MAX_DEPTH {
        return Err(Invalid::Place);
    }
    for (keyword, value) in keywords {
        match (keyword.as_str(), value.as_object()) {
            ("properties", Some(named)) => {
                for (name, property) in named {
                    path.push(name.clone());
                    if let Some(mark) = property.get(KEYWORD) {
                        found.push(rule(mark, property, path)?);
                    }
                    properties(property, path, found)?;
                    path.pop();
                }
            }
            (KEYWORD, _) if path.is_empty() => return Err(Invalid::Place),
            (KEYWORD, _) => {}
            _ => unmarked(keyword, value, 0)?,
        }
    }
    Ok(())
}

/// Refuses a mark anywhere below a keyword that does not lead to one argument.
fn unmarked(keyword: &str, value: &Value, depth: usize) -> Result<(), Invalid> {
    if DATA.contains(&keyword) || depth > MAX_DEPTH {
        return Ok(());
    }
    match value {
        Value::Array(schemas) => schemas.iter().try_for_each(|schema| bare(schema, depth + 1)),
        Value::Object(named) if MAPS.contains(&keyword) => {
            named.values().try_for_each(|schema| bare(schema, depth + 1))
        }
        schema => bare(schema, depth + 1),
    }
}

fn bare(schema: &Value, depth: usize) -> Result<(), Invalid> {
    let Some(keywords) = schema.as_object() else { return Ok(()) };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value.as_object()) {
            (KEYWORD, _) => return Err(Invalid::Place),
            ("properties", Some(named)) => {
                named.values().try_for_each(|schema| bare(schema, depth + 1))?;
            }
            _ => unmarked(keyword, value, depth)?,
        }
    }
    Ok(())
}

fn rule(mark: &Value, property: &Value, path: &[String]) -> Result<Rule, Invalid> {
    let token = mark.as_str().filter(|token| is_token(token));
    let Some(token) = token else { return Err(Invalid::Token(mark.to_string())) };
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
            Ok(Rule { header, path: path.to_vec() })
        }
        false => Err(Invalid::Type(token.to_owned())),
    }
}

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    let symbol = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || symbol(byte))
}

impl Rule {
    /// What the header says of these arguments, before [`super::encode`]; `None` if the argument is
    /// absent, null, or has no spelling.
    pub fn value(&self, arguments: &[u8]) -> Option<String> {
        match self.argument(arguments)? {
            Value::String(text) => Some(text),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => integer(&number),
            _ => None,
        }
    }

    fn argument(&self, arguments: &[u8]) -> Option<Value> {
        let path: Vec<_> = self.path.iter().map(String::as_str).collect();
        serde_json::from_slice(scan::pointer(arguments, &path)?.of(arguments)).ok()
    }

    /// Whether a header, as it came, agrees with these arguments.
    pub fn agrees(&self, header: Option<&[u8]>, arguments: &[u8]) -> bool {
        let Some(header) = header else { return self.value(arguments).is_none() };
        let Some(said) = decode(header) else { return false };
        match self.argument(arguments) {
            Some(Value::String(text)) => said == text,
            Some(Value::Bool(flag)) => said == flag.to_string(),
            Some(Value::Number(number)) => said.parse().ok() == number.as_f64(),
            _ => false,
        }
    }
}

/// An integer in its one spelling, whatever the body's.
fn integer(number: &serde_json::Number) -> Option<String> {
    let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
    (value.abs() <= MAX_INTEGER).then(|| format!("{value:.0}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: &Value) -> Result<Vec<Rule>, Invalid> {
        rules(json!({ "name": "t", "inputSchema": schema }).to_string().as_bytes())
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
        assert!(matches!(of(&inside(marked("number", "A"))), Err(Invalid::Type(_))));
        assert!(matches!(of(&inside(json!({ "x-mcp-header": "A" }))), Err(Invalid::Type(_))));
        assert!(matches!(of(&inside(marked("string", "A B"))), Err(Invalid::Token(_))));
        assert!(matches!(of(&inside(marked("string", ""))), Err(Invalid::Token(_))));
        let twice =
            json!({ "properties": { "a": marked("string", "A"), "b": marked("string", "a") } });
        assert!(matches!(of(&twice), Err(Invalid::Twice(_))));
    }

    #[test]
    fn marks_off_the_chain_of_properties_are_refused() {
        let marked = json!({ "type": "string", "x-mcp-header": "A" });
        for keyword in ["items", "not", "if", "additionalProperties"] {
            let schema = json!({ "properties": { "a": { keyword: marked.clone() } } });
            assert_eq!(of(&schema), Err(Invalid::Place), "{keyword}");
        }
        assert_eq!(
            of(&json!({ "oneOf": [{ "properties": { "a": marked } }] })),
            Err(Invalid::Place)
        );
        assert_eq!(of(&json!({ "$defs": { "d": marked } })), Err(Invalid::Place));
        assert_eq!(of(&marked), Err(Invalid::Place));
    }

    #[test]
    fn header_and_body_agree_in_meaning() {
        let rule = Rule { header: "mcp-param-n".into(), path: vec!["n".into()] };
        let agree = |header: Option<&str>, body: &str| {
            rule.agrees(header.map(str::as_bytes), body.as_bytes())
        };
        assert!(agree(Some("42"), r#"{"n":42.0}"#) && agree(Some("42.0"), r#"{"n":42}"#));
        assert!(agree(None, r#"{"n":null}"#) && agree(None, "{}"));
        assert!(agree(Some("=?base64?WsO8cmljaA==?="), r#"{"n":"Zürich"}"#));
        assert!(!agree(Some("41"), r#"{"n":42}"#) && !agree(None, r#"{"n":1}"#));
        assert!(!agree(Some("1.0"), r#"{"n":"1"}"#), "texts are compared as they are");
        assert!(!agree(Some("x"), "{}") && !agree(Some("true"), r#"{"n":false}"#));
    }
}

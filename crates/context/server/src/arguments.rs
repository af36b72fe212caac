//! Strict parsing of tool arguments. A caller that bypasses the gate gets the same messages.

use serde_json::Value;

/// The number of passages returned by default.
pub(crate) const DEFAULT_LIMIT: usize = 8;
/// The maximum number of passages returned.
pub(crate) const MAX_LIMIT: usize = 50;
/// The maximum length of a query, a question or a task, in characters.
pub(crate) const MAX_QUERY_CHARS: usize = 4_000;

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolArguments<'a>(pub &'a Value);

impl<'a> ToolArguments<'a> {
    /// Returns the required argument `name`, which must not be blank.
    pub(crate) fn query(self, name: &str) -> Result<&'a str, String> {
        self.optional_query(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// Returns the optional argument `name`, which must not be blank if present.
    pub(crate) fn optional_query(self, name: &str) -> Result<Option<&'a str>, String> {
        self.text(name)?.map(|text| validate_query(name, text)).transpose()
    }

    /// Returns the optional string argument `name`, of any length.
    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string")),
        }
    }

    /// Returns the `limit` argument or its default.
    pub(crate) fn limit(self) -> Result<usize, String> {
        self.number("limit", (1, MAX_LIMIT), DEFAULT_LIMIT)
    }

    /// Returns the integer argument `name`, which must be within the bounds, or the default.
    pub(crate) fn number(
        self,
        name: &str,
        (least, most): (usize, usize),
        usual: usize,
    ) -> Result<usize, String> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else {
            return Ok(usual);
        };
        // JSON Schema treats `8.0` as an integer.
        let whole = value.as_f64().filter(|it| it.fract() == 0.0);
        let fits = whole.filter(|it| (least as f64..=most as f64).contains(it));
        fits.map(|it| it as usize).ok_or_else(|| range(name, least, most))
    }
}

/// Returns the trimmed query, or an error if it is blank or too long.
pub(crate) fn validate_query<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("`{name}` is empty"));
    }
    match text.chars().nth(MAX_QUERY_CHARS) {
        Some(_) => Err(format!("`{name}` is longer than {MAX_QUERY_CHARS} characters")),
        None => Ok(text),
    }
}

/// Parses a limit from a prompt argument or a URI.
pub(crate) fn parse_limit(text: Option<&str>) -> Result<usize, String> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(DEFAULT_LIMIT);
    };
    let number = text.parse().ok().filter(|number| (1..=MAX_LIMIT).contains(number));
    number.ok_or_else(|| range("limit", 1, MAX_LIMIT))
}

fn range(name: &str, least: usize, most: usize) -> String {
    format!("`{name}` must be a whole number from {least} to {most}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_are_whole_and_between_their_bounds() {
        for (value, expected) in [
            (json!({}), Some(DEFAULT_LIMIT)),
            (json!({ "limit": null }), Some(DEFAULT_LIMIT)),
            (json!({ "limit": 1 }), Some(1)),
            (json!({ "limit": 50.0 }), Some(50)),
            (json!({ "limit": 0 }), None),
            (json!({ "limit": 51 }), None),
            (json!({ "limit": 2.5 }), None),
            (json!({ "limit": "8" }), None),
            (json!({ "limit": -1 }), None),
        ] {
            assert_eq!(ToolArguments(&value).limit().ok(), expected, "{value}");
        }
        assert_eq!(parse_limit(None), Ok(DEFAULT_LIMIT));
        assert_eq!(parse_limit(Some(" 12 ")), Ok(12));
        assert!(parse_limit(Some("many")).is_err());
        assert!(parse_limit(Some("0")).is_err());
    }

    #[test]
    fn a_query_says_something_and_not_too_much() {
        let long = json!({ "query": "x".repeat(MAX_QUERY_CHARS + 1) });
        for (value, fine) in [
            (json!({ "query": " keys " }), true),
            (json!({ "query": "   " }), false),
            (json!({ "query": 7 }), false),
            (json!({}), false),
            (long, false),
        ] {
            assert_eq!(ToolArguments(&value).query("query").is_ok(), fine, "{value}");
        }
    }
}

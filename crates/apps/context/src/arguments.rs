//! Arguments as they are sent, read strictly: whoever calls a tool past the gate is told what is
//! wrong in the same words.

use serde_json::Value;

/// How many passages are given where nobody says.
pub(crate) const LIMIT: usize = 8;
/// How many are given at most.
pub(crate) const MOST: usize = 50;
/// How many characters a query, a question or a task may have.
pub(crate) const QUERY: usize = 4_000;

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a>(pub &'a Value);

impl<'a> Arguments<'a> {
    /// A text that must be there and say something.
    pub(crate) fn query(self, name: &str) -> Result<&'a str, String> {
        self.optional_query(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A text that says something if it is there.
    pub(crate) fn optional_query(self, name: &str) -> Result<Option<&'a str>, String> {
        self.text(name)?.map(|text| query(name, text)).transpose()
    }

    /// A text, of whatever length.
    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{name}` must be a string")),
        }
    }

    /// How many to give.
    pub(crate) fn limit(self) -> Result<usize, String> {
        self.number("limit", (1, MOST), LIMIT)
    }

    /// A whole number between two.
    pub(crate) fn number(
        self,
        name: &str,
        (least, most): (usize, usize),
        usual: usize,
    ) -> Result<usize, String> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else {
            return Ok(usual);
        };
        // `8.0` is a whole number to JSON Schema.
        let whole = value.as_f64().filter(|it| it.fract() == 0.0);
        let fits = whole.filter(|it| (least as f64..=most as f64).contains(it));
        fits.map(|it| it as usize).ok_or_else(|| range(name, least, most))
    }
}

/// What was typed as a query, if it says something.
pub(crate) fn query<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("`{name}` is empty"));
    }
    match text.chars().nth(QUERY) {
        Some(_) => Err(format!("`{name}` is longer than {QUERY} characters")),
        None => Ok(text),
    }
}

/// How many to give, from a prompt's argument or a URI.
pub(crate) fn typed_limit(text: Option<&str>) -> Result<usize, String> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(LIMIT) };
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| range("limit", 1, MOST))
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
            (json!({}), Some(LIMIT)),
            (json!({ "limit": null }), Some(LIMIT)),
            (json!({ "limit": 1 }), Some(1)),
            (json!({ "limit": 50.0 }), Some(50)),
            (json!({ "limit": 0 }), None),
            (json!({ "limit": 51 }), None),
            (json!({ "limit": 2.5 }), None),
            (json!({ "limit": "8" }), None),
            (json!({ "limit": -1 }), None),
        ] {
            assert_eq!(Arguments(&value).limit().ok(), expected, "{value}");
        }
        assert_eq!(typed_limit(None), Ok(LIMIT));
        assert_eq!(typed_limit(Some(" 12 ")), Ok(12));
        assert!(typed_limit(Some("many")).is_err());
        assert!(typed_limit(Some("0")).is_err());
    }

    #[test]
    fn a_query_says_something_and_not_too_much() {
        let long = json!({ "query": "x".repeat(QUERY + 1) });
        for (value, fine) in [
            (json!({ "query": " keys " }), true),
            (json!({ "query": "   " }), false),
            (json!({ "query": 7 }), false),
            (json!({}), false),
            (long, false),
        ] {
            assert_eq!(Arguments(&value).query("query").is_ok(), fine, "{value}");
        }
    }
}

//! Reads the searchable texts of a definition.
//!
//! A definition is untrusted: the length of every text, the depth of a schema and the number of its
//! parameters are limited, and members that do not follow MCP are ignored.

use toolgate_model::Definition;
use toolgate_wire::{scan, string};

use crate::SearchField;

/// The maximum length of a name, a title or a tag, in bytes.
pub(crate) const LONGEST_NAME: usize = 512;
/// The maximum length of a description, in bytes. Later text rarely says what a tool is for.
const LONGEST_DESCRIPTION: usize = 8 * 1024;
/// The maximum length of a parameter's description, in bytes.
const LONGEST_DETAIL: usize = 400;
/// The maximum number of parameters of one definition, including nested ones.
const MOST_PARAMETERS: usize = 128;
/// The maximum number of `enum` values of one parameter.
const MOST_VALUES: usize = 32;
/// The maximum nesting depth of parameters.
const DEEPEST: usize = 5;
/// The maximum size of a schema, in bytes. A larger one is not read at all.
const LARGEST_SCHEMA: usize = 512 * 1024;
/// The maximum number of tags of one capability.
pub(crate) const MOST_TAGS: usize = 32;

/// Returns the texts of a tool by field.
pub(crate) fn texts(definition: &Definition) -> Vec<(SearchField, Box<str>)> {
    let raw = &definition.raw;
    let mut texts =
        vec![(SearchField::Name, Box::from(truncate_text(&definition.name, LONGEST_NAME)))];
    let mut push = |field, text: &str, most| texts.push((field, truncate_text(text, most).into()));
    let title = scan::member_text(raw, "title").or_else(|| annotated_title(raw));
    if let Some(title) = &title {
        push(SearchField::Title, title, LONGEST_NAME);
    }
    if let Some(description) = scan::member_text(raw, "description") {
        push(SearchField::Description, &description, LONGEST_DESCRIPTION);
    }
    push_parameters(raw, &mut texts);
    texts
}

/// Truncates a text to at most `most` bytes, at a character boundary.
pub(crate) fn truncate_text(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn annotated_title(raw: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    let span = scan::pointer(raw, &["annotations", "title"])?;
    string::decode(span.slice(raw))
}

fn push_parameters(raw: &[u8], texts: &mut Vec<(SearchField, Box<str>)>) {
    let Some(schema) = scan::member(raw, "inputSchema") else {
        return;
    };
    let schema = schema.slice(raw);
    if schema.len() <= LARGEST_SCHEMA {
        SchemaTextCollector { texts, left: MOST_PARAMETERS }.schema(schema, DEEPEST);
    }
}

fn describe(object: &[u8], texts: &mut Vec<(SearchField, Box<str>)>) {
    if let Some(text) = scan::member_text(object, "description") {
        texts.push((SearchField::Detail, truncate_text(&text, LONGEST_DETAIL).into()));
    }
}

/// Collects the texts of a schema within the limits.
struct SchemaTextCollector<'a> {
    texts: &'a mut Vec<(SearchField, Box<str>)>,
    left: usize,
}

impl SchemaTextCollector<'_> {
    /// Collects the parameters of a schema and of its nested schemas.
    fn schema(&mut self, schema: &[u8], depth: usize) {
        if depth == 0 || self.left == 0 {
            return;
        }
        for (key, span) in scan::members(schema) {
            let value = span.slice(schema);
            match key.as_ref() {
                "properties" => self.properties(value, depth),
                "items" | "additionalProperties" => self.schema(value, depth - 1),
                "enum" => self.values(value),
                "anyOf" | "oneOf" | "allOf" => {
                    for span in scan::elements(value).take(self.left) {
                        self.schema(span.slice(value), depth - 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn properties(&mut self, properties: &[u8], depth: usize) {
        for (name, span) in scan::members(properties) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let schema = span.slice(properties);
            self.texts.push((SearchField::Parameter, truncate_text(&name, LONGEST_NAME).into()));
            describe(schema, self.texts);
            self.schema(schema, depth - 1);
        }
    }

    fn values(&mut self, values: &[u8]) {
        for span in scan::elements(values).take(MOST_VALUES) {
            if let Some(text) = string::decode(span.slice(values)) {
                self.texts
                    .push((SearchField::Parameter, truncate_text(&text, LONGEST_NAME).into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str) -> Vec<(SearchField, String)> {
        let definition = Definition { name: "n".into(), raw: raw.as_bytes().to_vec().into() };
        texts(&definition).into_iter().map(|(field, text)| (field, text.into())).collect()
    }

    fn of(texts: &[(SearchField, String)], field: SearchField) -> Vec<&str> {
        texts.iter().filter(|text| text.0 == field).map(|text| text.1.as_str()).collect()
    }

    #[test]
    fn parameters_are_read_at_every_level_that_counts() {
        let texts = read(
            r#"{"title":"T","description":"D","inputSchema":{"type":"object","properties":{
                "unit":{"enum":["celsius","kelvin",3]},
                "place":{"type":"object","description":"where","properties":{"city":{}}},
                "list":{"type":"array","items":{"anyOf":[{"properties":{"deep":{}}}]}}}}}"#,
        );
        assert_eq!(of(&texts, SearchField::Title), ["T"]);
        assert_eq!(of(&texts, SearchField::Description), ["D"]);
        assert_eq!(
            of(&texts, SearchField::Parameter),
            ["unit", "celsius", "kelvin", "place", "city", "list", "deep"]
        );
        assert_eq!(of(&texts, SearchField::Detail), ["where"]);
    }

    #[test]
    fn what_is_not_a_schema_is_passed_over() {
        for raw in ["", "[]", "{", r#"{"inputSchema":7,"title":[],"description":null}"#] {
            assert_eq!(read(raw).len(), 1, "{raw}");
        }
    }

    #[test]
    fn depth_number_and_length_are_bounded() {
        let mut deep = String::from("{}");
        for _ in 0..1000 {
            deep = format!(r#"{{"properties":{{"p":{deep}}}}}"#);
        }
        let texts = read(&format!(r#"{{"inputSchema":{deep}}}"#));
        assert!(texts.len() <= 1 + DEEPEST);
        let many: Vec<String> = (0..1000).map(|at| format!(r#""p{at}":{{}}"#)).collect();
        let wide = format!(r#"{{"inputSchema":{{"properties":{{{}}}}}}}"#, many.join(","));
        assert_eq!(read(&wide).len(), 1 + MOST_PARAMETERS);
        let long = format!(r#"{{"description":"{}"}}"#, "ä".repeat(100_000));
        let texts = read(&long);
        assert!(of(&texts, SearchField::Description)[0].len() <= LONGEST_DESCRIPTION);
    }
}

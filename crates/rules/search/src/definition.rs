//! Reads the texts of a definition: what a person or a model would read of it.
//!
//! The definition comes from a server: every text, the depth of a schema and the number of its
//! parameters are bounded, and what is not as MCP says is passed over.

use toolgate_model::{CapabilityKind, Definition};
use toolgate_wire::{scan, string};

use crate::Field;

/// Bytes of a name, a title or a tag that are read.
pub(crate) const LONGEST_NAME: usize = 512;
/// Bytes of a description that are read: what comes later is seldom about what a tool is for.
const LONGEST_DESCRIPTION: usize = 8 * 1024;
/// Bytes of the description of one parameter.
const LONGEST_DETAIL: usize = 400;
/// Parameters read of one definition, nested ones included.
const MOST_PARAMETERS: usize = 128;
/// Values of an `enum` read of one parameter.
const MOST_VALUES: usize = 32;
/// How deep parameters within parameters are read.
const DEEPEST: usize = 5;
/// Bytes of a schema: a larger one is not read at all.
const LARGEST_SCHEMA: usize = 512 * 1024;
/// Tags read of one capability.
pub(crate) const MOST_TAGS: usize = 32;

/// The texts of a definition by field.
pub(crate) fn texts(kind: CapabilityKind, definition: &Definition) -> Vec<(Field, Box<str>)> {
    let raw = &definition.raw;
    let mut texts = vec![(Field::Name, Box::from(bounded(&definition.name, LONGEST_NAME)))];
    let mut push = |field, text: &str, most| texts.push((field, bounded(text, most).into()));
    let title = scan::text(raw, "title").or_else(|| annotated_title(raw));
    if let Some(title) = &title {
        push(Field::Title, title, LONGEST_NAME);
    }
    // What is named by a URI has a name of its own beside it.
    if matches!(kind, CapabilityKind::Resource | CapabilityKind::Template)
        && let Some(name) = scan::text(raw, "name")
    {
        push(Field::Title, &name, LONGEST_NAME);
    }
    if let Some(description) = scan::text(raw, "description") {
        push(Field::Description, &description, LONGEST_DESCRIPTION);
    }
    match kind {
        CapabilityKind::Tool => parameters(raw, &mut texts),
        CapabilityKind::Prompt => arguments(raw, &mut texts),
        CapabilityKind::Resource | CapabilityKind::Template | CapabilityKind::Method => {}
    }
    texts
}

/// The beginning of a text, at most so many bytes of it, cut between characters.
pub(crate) fn bounded(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

fn annotated_title(raw: &[u8]) -> Option<std::borrow::Cow<'_, str>> {
    let span = scan::pointer(raw, &["annotations", "title"])?;
    string::decode(span.of(raw))
}

fn arguments(raw: &[u8], texts: &mut Vec<(Field, Box<str>)>) {
    let Some(list) = scan::member(raw, "arguments") else {
        return;
    };
    let list = list.of(raw);
    for span in scan::elements(list).take(MOST_PARAMETERS) {
        let argument = span.of(list);
        if let Some(name) = scan::text(argument, "name") {
            texts.push((Field::Parameter, bounded(&name, LONGEST_NAME).into()));
        }
        describe(argument, texts);
    }
}

fn parameters(raw: &[u8], texts: &mut Vec<(Field, Box<str>)>) {
    let Some(schema) = scan::member(raw, "inputSchema") else {
        return;
    };
    let schema = schema.of(raw);
    if schema.len() <= LARGEST_SCHEMA {
        Reader { texts, left: MOST_PARAMETERS }.schema(schema, DEEPEST);
    }
}

fn describe(object: &[u8], texts: &mut Vec<(Field, Box<str>)>) {
    if let Some(text) = scan::text(object, "description") {
        texts.push((Field::Detail, bounded(&text, LONGEST_DETAIL).into()));
    }
}

/// Walks a schema and counts what it may still take.
struct Reader<'a> {
    texts: &'a mut Vec<(Field, Box<str>)>,
    left: usize,
}

impl Reader<'_> {
    /// The parameters of one schema, and of what it holds.
    fn schema(&mut self, schema: &[u8], depth: usize) {
        if depth == 0 || self.left == 0 {
            return;
        }
        for (key, span) in scan::members(schema) {
            let value = span.of(schema);
            match key.as_ref() {
                "properties" => self.properties(value, depth),
                "items" | "additionalProperties" => self.schema(value, depth - 1),
                "enum" => self.values(value),
                "anyOf" | "oneOf" | "allOf" => {
                    for span in scan::elements(value).take(self.left) {
                        self.schema(span.of(value), depth - 1);
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
            let schema = span.of(properties);
            self.texts.push((Field::Parameter, bounded(&name, LONGEST_NAME).into()));
            describe(schema, self.texts);
            self.schema(schema, depth - 1);
        }
    }

    fn values(&mut self, values: &[u8]) {
        for span in scan::elements(values).take(MOST_VALUES) {
            if let Some(text) = string::decode(span.of(values)) {
                self.texts.push((Field::Parameter, bounded(&text, LONGEST_NAME).into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: CapabilityKind, raw: &str) -> Vec<(Field, String)> {
        let definition = Definition { name: "n".into(), raw: raw.as_bytes().to_vec().into() };
        texts(kind, &definition).into_iter().map(|(field, text)| (field, text.into())).collect()
    }

    fn of(texts: &[(Field, String)], field: Field) -> Vec<&str> {
        texts.iter().filter(|text| text.0 == field).map(|text| text.1.as_str()).collect()
    }

    #[test]
    fn parameters_are_read_at_every_level_that_counts() {
        let texts = read(
            CapabilityKind::Tool,
            r#"{"title":"T","description":"D","inputSchema":{"type":"object","properties":{
                "unit":{"enum":["celsius","kelvin",3]},
                "place":{"type":"object","description":"where","properties":{"city":{}}},
                "list":{"type":"array","items":{"anyOf":[{"properties":{"deep":{}}}]}}}}}"#,
        );
        assert_eq!(of(&texts, Field::Title), ["T"]);
        assert_eq!(of(&texts, Field::Description), ["D"]);
        assert_eq!(
            of(&texts, Field::Parameter),
            ["unit", "celsius", "kelvin", "place", "city", "list", "deep"]
        );
        assert_eq!(of(&texts, Field::Detail), ["where"]);
    }

    #[test]
    fn what_is_not_a_schema_is_passed_over() {
        for raw in ["", "[]", "{", r#"{"inputSchema":7,"title":[],"description":null}"#] {
            assert_eq!(read(CapabilityKind::Tool, raw).len(), 1, "{raw}");
        }
    }

    #[test]
    fn depth_number_and_length_are_bounded() {
        let mut deep = String::from("{}");
        for _ in 0..1000 {
            deep = format!(r#"{{"properties":{{"p":{deep}}}}}"#);
        }
        let texts = read(CapabilityKind::Tool, &format!(r#"{{"inputSchema":{deep}}}"#));
        assert!(texts.len() <= 1 + DEEPEST);
        let many: Vec<String> = (0..1000).map(|at| format!(r#""p{at}":{{}}"#)).collect();
        let wide = format!(r#"{{"inputSchema":{{"properties":{{{}}}}}}}"#, many.join(","));
        assert_eq!(read(CapabilityKind::Tool, &wide).len(), 1 + MOST_PARAMETERS);
        let long = format!(r#"{{"description":"{}"}}"#, "ä".repeat(100_000));
        let texts = read(CapabilityKind::Tool, &long);
        assert!(of(&texts, Field::Description)[0].len() <= LONGEST_DESCRIPTION);
    }

    #[test]
    fn prompts_and_resources_have_their_own_texts() {
        let prompt = read(
            CapabilityKind::Prompt,
            r#"{"arguments":[{"name":"code","description":"to review"},{"name":"style"}]}"#,
        );
        assert_eq!(of(&prompt, Field::Parameter), ["code", "style"]);
        let resource = read(CapabilityKind::Resource, r#"{"name":"readme","description":"D"}"#);
        assert_eq!(of(&resource, Field::Title), ["readme"]);
    }
}

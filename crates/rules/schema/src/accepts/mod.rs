//! Whether a schema is within what a provider accepts.
//!
//! Written from what the providers document and answer, and from nothing that `adapt` uses: it is
//! there to find the mistakes of `adapt`, in tests and in the field. It says what would be refused,
//! not whether the schema means what it should.

mod google;
mod lenient;
mod strict;

use serde_json::Value;

use crate::Provider;

/// Whether a provider would take a schema as the input schema of a tool; else what it would refuse,
/// each with its JSON pointer.
pub fn accepts(provider: Provider, schema: &Value) -> Result<(), Vec<String>> {
    let refused = match provider {
        Provider::Gemini => google::refused(schema, false),
        Provider::Vertex => google::refused(schema, true),
        Provider::OpenAiStrict => strict::refused(schema),
        Provider::OpenAi => lenient::refused_by_openai(schema),
        Provider::Anthropic => lenient::refused_by_anthropic(schema),
    };
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

//! Checks whether a provider accepts a schema.
//!
//! The rules follow the documentation and the answers of the providers. They share no code with
//! `adapt`, so that they find its mistakes, in tests and in production. They check the form of a
//! schema, not its meaning.

mod google;
mod lenient;
mod strict;

use serde_json::Value;

use crate::ModelProvider;

/// Checks whether a provider accepts a schema as the input schema of a tool. The error lists what
/// the provider would refuse, each with its JSON pointer.
pub fn check_accepted(provider: ModelProvider, schema: &Value) -> Result<(), Vec<String>> {
    let refused = match provider {
        ModelProvider::Gemini => google::refused(schema, false),
        ModelProvider::Vertex => google::refused(schema, true),
        ModelProvider::OpenAiStrict => strict::refused(schema),
        ModelProvider::OpenAi => lenient::refused_by_openai(schema),
        ModelProvider::Anthropic => lenient::refused_by_anthropic(schema),
    };
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

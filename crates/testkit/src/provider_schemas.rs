//! Checks whether a model provider accepts a schema.
//!
//! The rules follow the documentation and the answers of the providers. They share no code with
//! Toolgate's `schema::adapt`, so that they find its mistakes. They check the form of a schema, not
//! its meaning.

mod google;
mod lenient;
mod strict;

use serde_json::Value;

/// Checks whether a provider accepts a schema as the input schema of a tool. The provider has the
/// name of its variant in `toolgate_schema::ModelProvider`. The error lists what the provider would
/// refuse, each with its JSON pointer.
pub fn check_accepted(provider: &str, schema: &Value) -> Result<(), Vec<String>> {
    let refused = match provider {
        "Gemini" => google::refused(schema, false),
        "Vertex" => google::refused(schema, true),
        "OpenAiStrict" => strict::refused(schema),
        "OpenAi" => lenient::refused_by_openai(schema),
        "Anthropic" => lenient::refused_by_anthropic(schema),
        other => vec![format!("unknown provider {other}")],
    };
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

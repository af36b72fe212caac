//! Adapts input schemas for model providers and reports what is lost.
//!
//! Invariant: every argument object that matches the original schema also matches the adapted one
//! (in strict mode: has a matching form, which [`AdaptedSchema::restore`] converts back). Adapting
//! may loosen a schema, and reports where; it never tightens it. The gate validates arguments
//! against the original, so a loss may cost a model a second try, but never a valid call.

mod absent;
mod constraints;
mod google;
mod hints;
mod losses;
mod rename;
mod restore;
mod root;
mod split;
mod strict;
mod types;
mod upgrade;

use serde_json::Value;

use crate::definition;
use constraints::SchemaAnalyzer;
use google::GoogleSchemaWriter;
use strict::StrictSchemaWriter;

/// A model provider, or one of its modes, with its own rules for schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModelProvider {
    /// The Gemini API, `parameters` of a function declaration.
    Gemini,
    /// Gemini on Vertex AI, which accepts less.
    Vertex,
    /// OpenAI with `strict: true`.
    OpenAiStrict,
    /// OpenAI with `strict: false`.
    OpenAi,
    /// Anthropic, `input_schema` of a tool.
    Anthropic,
}

impl ModelProvider {
    /// All providers.
    pub const ALL: [Self; 5] =
        [Self::Gemini, Self::Vertex, Self::OpenAiStrict, Self::OpenAi, Self::Anthropic];
}

/// A schema that was adapted for a provider.
#[derive(Clone, Debug)]
pub struct AdaptedSchema {
    /// The schema to send.
    pub schema: Value,
    /// What the original expresses and this schema does not.
    pub losses: Vec<AdaptationLoss>,
    /// True if the schema may be sent with `strict: true`; always false except for
    /// [`ModelProvider::OpenAiStrict`]. If strict mode cannot express the schema, this is false and
    /// `schema` is the one for [`ModelProvider::OpenAi`]: a tool without the guarantee is better
    /// than no tool or one with half its meaning.
    pub strict: bool,
    restorer: restore::AdaptedArgumentRestorer,
}

/// One thing that the original schema expresses and the adapted one does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptationLoss {
    /// The JSON pointer of the affected schema, after conversion to 2020-12.
    pub path: String,
    /// What is lost.
    pub what: String,
}

impl AdaptationLoss {
    fn new(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self { path: path.into(), what: what.into() }
    }
}

impl AdaptedSchema {
    /// Converts arguments from a model to the form of the original schema: removes placeholders for
    /// absent members and restores renamed members.
    #[must_use]
    pub fn restore(&self, arguments: Value) -> Value {
        self.restorer.restore(arguments)
    }
}

/// Adapts an input schema so that a provider accepts it.
///
/// The schema should be usable (see [`check_definition`](crate::check_definition)). If it is not,
/// the parts that are not understood are dropped.
#[must_use]
pub fn adapt(schema: &Value, provider: ModelProvider) -> AdaptedSchema {
    let draft = definition::dialect(schema).unwrap_or_default();
    let (modern, losses) = upgrade::to_latest_draft(schema, draft);
    let mut adapted = match provider {
        ModelProvider::Gemini | ModelProvider::Vertex => adapt_for_google(&modern, provider),
        ModelProvider::OpenAiStrict => adapt_for_strict(&modern),
        ModelProvider::OpenAi | ModelProvider::Anthropic => root::adapt(modern, provider),
    };
    adapted.losses.extend(losses);
    adapted
}

fn adapt_for_google(modern: &Value, provider: ModelProvider) -> AdaptedSchema {
    let mut google =
        GoogleSchemaWriter::new(SchemaAnalyzer::of(modern), provider == ModelProvider::Vertex);
    let schema = google.root(modern);
    let losses = google.analyzer.losses.into_found();
    AdaptedSchema {
        schema,
        losses,
        strict: false,
        restorer: restore::AdaptedArgumentRestorer::default(),
    }
}

fn adapt_for_strict(modern: &Value) -> AdaptedSchema {
    let mut strict = StrictSchemaWriter::new(SchemaAnalyzer::of(modern));
    match strict.root(modern) {
        Ok((schema, plan)) => AdaptedSchema {
            schema,
            losses: strict.analyzer.losses.into_found(),
            strict: true,
            restorer: plan,
        },
        Err(refusal) => {
            let mut adapted = root::adapt(modern.clone(), ModelProvider::OpenAi);
            adapted.losses.insert(0, refusal);
            adapted
        }
    }
}

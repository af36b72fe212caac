//! What an input schema must look like for a model provider, and what it loses on the way.
//!
//! One rule holds throughout: every argument object that fits the original fits what is made of it
//! (in strict mode: has a form that fits, which [`Adapted::restore`] turns back). Adapting may
//! loosen, and says where; it never tightens. The gate checks arguments against the original anyway,
//! so what was lost costs a model a second try, never a call that works.

mod absent;
mod facts;
mod google;
mod hints;
mod losses;
mod modern;
mod plan;
mod rename;
mod root;
mod split;
mod strict;
mod types;

use serde_json::Value;

use crate::definition;
use facts::Reader;
use google::Google;
use plan::Plan;
use strict::Strict;

/// Who is going to be given a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// The Gemini API, `parameters` of a function declaration.
    Gemini,
    /// Gemini on Vertex AI, which takes less.
    Vertex,
    /// OpenAI with `strict: true`.
    OpenAiStrict,
    /// OpenAI with `strict: false`.
    OpenAi,
    /// Anthropic, `input_schema` of a tool.
    Anthropic,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Gemini, Self::Vertex, Self::OpenAiStrict, Self::OpenAi, Self::Anthropic];
}

/// A schema for a provider.
#[derive(Clone, Debug)]
pub struct Adapted {
    /// The schema to send.
    pub schema: Value,
    /// What of the original it does not say.
    pub losses: Vec<Loss>,
    /// Whether it may be sent with `strict: true`. Only ever so for [`Provider::OpenAiStrict`];
    /// where that cannot express a schema, this is false and `schema` is the one for
    /// [`Provider::OpenAi`], because a tool that works without the guarantee is worth more than one
    /// that cannot be offered or is offered with half its meaning.
    pub strict: bool,
    plan: plan::Restore,
}

/// Something of the original that an adapted schema does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// JSON pointer of the schema it stood in; of old dialects, as it would be written today.
    pub path: String,
    /// What is lost, as a lower-case fragment.
    pub what: String,
}

impl Adapted {
    /// The arguments a model gave, as the original means them: what stands for an absent member is
    /// taken out, and members that had to be renamed get their names back.
    #[must_use]
    pub fn restore(&self, arguments: Value) -> Value {
        self.plan.restore(arguments)
    }
}

/// Makes of an input schema what a provider accepts.
///
/// The schema is expected to be usable (see [`check`](crate::check)); of one that is not, whatever
/// is not understood is dropped.
#[must_use]
pub fn adapt(schema: &Value, provider: Provider) -> Adapted {
    let draft = definition::dialect(schema).unwrap_or_default();
    let (modern, losses) = modern::of(schema, draft);
    let mut adapted = match provider {
        Provider::Gemini | Provider::Vertex => googles(&modern, provider),
        Provider::OpenAiStrict => strictly(&modern),
        Provider::OpenAi | Provider::Anthropic => root::adapt(modern, provider),
    };
    adapted.losses.extend(losses);
    adapted
}

fn googles(modern: &Value, provider: Provider) -> Adapted {
    let mut google = Google::new(Reader::of(modern), provider == Provider::Vertex);
    let schema = google.root(modern);
    let losses = google.reader.losses.into_found();
    Adapted { schema, losses, strict: false, plan: plan::Restore::default() }
}

fn strictly(modern: &Value) -> Adapted {
    let mut strict = Strict::new(Reader::of(modern));
    match strict.root(modern) {
        Ok((schema, plan)) => {
            Adapted { schema, losses: strict.reader.losses.into_found(), strict: true, plan }
        }
        Err(refusal) => {
            let mut adapted = root::adapt(modern.clone(), Provider::OpenAi);
            let what = format!("cannot be strict: {}", refusal.why);
            adapted.losses.insert(0, Loss { path: refusal.path, what });
            adapted
        }
    }
}

impl Plan {
    fn into_restore(self) -> plan::Restore {
        plan::Restore { root: self, defs: std::collections::BTreeMap::new() }
    }
}

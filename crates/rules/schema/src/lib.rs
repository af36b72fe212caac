//! JSON Schemas of tools: checks whether a schema is usable, validates arguments against it, and
//! adapts it for a model provider.
//!
//! Nothing is fetched: a reference out of the document makes a schema unusable. The size and cost
//! of a schema are limited before it is compiled. The gateway forwards schemas unchanged; only
//! components that talk to a model adapt them.

mod adapt;
mod argument_error;
mod arguments;
mod bounds;
mod definition;
mod definition_error;
mod faults;
mod numbers;
mod plain;
mod refs;
mod subschemas;

pub use adapt::{AdaptationLoss, AdaptedSchema, ModelProvider, adapt};
pub use argument_error::{ArgumentError, ArgumentFault};
pub use arguments::ArgumentValidator;
pub use definition::check_definition;
pub use definition_error::DefinitionError;

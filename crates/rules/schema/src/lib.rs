//! JSON Schemas of tools: whether one can be used, whether arguments fit it, and what it must look
//! like for a model provider.
//!
//! Nothing here is fetched: a reference that leads out of the document makes a schema unusable.
//! What a server sends is bounded before anything is compiled. The gateway passes schemas on as they
//! came; only a face that talks to a model adapts them.

mod accepts;
mod adapt;
mod arguments;
mod bounds;
mod definition;
mod faults;
mod misfit;
mod numbers;
mod places;
mod plain;
mod refs;
mod unusable;

pub use accepts::accepts;
pub use adapt::{Adapted, Loss, Provider, adapt};
pub use arguments::Arguments;
pub use definition::check;
pub use misfit::{Fault, Misfit};
pub use unusable::Unusable;

//! Configuration on disk: where files lie, which of them speak, and what they add up to.
//!
//! [`load`] turns files into a [`Plan`]; [`resolve`] expands the variables of one server when it is
//! about to be reached. The process environment and the consents given so far are brought by the
//! caller. Nothing here starts a server, and nothing but [`ensure_user_config`] and
//! [`Home::create`] writes.

mod consent;
mod error;
mod files;
mod first_run;
mod gateway;
mod home;
mod layers;
mod plan;
mod resolve;
mod settings;

pub use consent::consent_text;
pub use error::ConfigError;
pub use first_run::ensure_user_config;
pub use home::Home;
pub use layers::load;
pub use plan::{Entry, Plan, Sources, Standing};
pub use resolve::resolve;
pub use settings::Settings;
pub use toolgate_dialects::{Dialect, Interpolation};
pub use toolgate_model::Prefix;

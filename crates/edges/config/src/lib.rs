//! Configuration on disk: where files lie, which of them speak, and what they add up to.
//!
//! [`load`] turns files into a [`Plan`]; [`resolve`] expands the variables of one server when it is
//! about to be reached. The process environment and the consents given so far are brought by the
//! caller. Nothing here starts a server, and nothing but [`edit_file`], [`Secrets`],
//! [`ensure_user_config`] and [`Home::create`] writes.

mod amendments;
mod checks;
pub mod clients;
mod consent;
mod context;
mod credentials;
mod declare;
mod edit;
mod env_file;
mod environment;
mod error;
mod file_contents;
mod files;
mod first_run;
mod gateway;
mod governance;
mod hidden;
mod home;
mod hosts;
mod last_good;
mod layers;
mod pending;
mod places;
mod plan;
mod platform;
mod profiles;
mod proposed;
mod repeated;
mod resolve;
mod secrets;
mod settings;
mod standing;
mod steady;
mod strictest;
mod variables;
mod watch;

pub use consent::consent_text;
pub use declare::{Document, project_document, project_root};
pub use edit::{Access, Edited, Editing, edit_file, read_file};
pub use environment::Environment;
pub use error::ConfigError;
pub use first_run::{ensure_user_config, example};
pub use hidden::read_hidden;
pub use home::Home;
pub use last_good::LastGood;
pub use layers::{load, load_again};
pub use places::{KnownFile, known_files, watched_paths};
pub use plan::{Entry, Plan, PlanFile, Shadow, Sources, Standing, Surroundings};
pub use resolve::resolve;
pub use secrets::Secrets;
pub use settings::Settings;
pub use standing::check_address;
pub use toolgate_dialects::Dialect;
pub use toolgate_model::{Naming, Prefix};
pub use watch::Watch;

//! Configuration on disk: finds, reads and merges configuration files.
//!
//! [`load`] turns files into a [`Plan`]. [`resolve()`] expands the variables of one server right
//! before it is reached. The caller supplies the process environment and the consents. This crate
//! starts no servers, and only [`edit_file`], [`SecretStore`], [`ensure_user_config`] and
//! [`Home::create`] write to disk.

mod checks;
pub mod clients;
mod config_document;
mod consent;
mod context;
mod credentials;
mod duplicates;
mod edit;
mod env_file;
mod environment;
mod error;
mod file_contents;
mod file_locations;
mod file_watcher;
mod files;
mod first_run;
mod gateway_loop;
mod governance;
mod hidden_input;
mod home;
mod host_files;
mod last_good_files;
mod layers;
mod overrides;
mod plan;
mod platform;
mod profiles;
mod project_restrictions;
mod resolve;
mod secrets;
mod settings;
mod stable_read;
mod start_status;
mod strict_setting;
mod unenforced;
mod variables;

pub use config_document::{ConfigDocument, project_document, project_root};
pub use consent::consent_text;
pub use edit::{EditOptions, EditOutcome, FileAccess, edit_file, read_file};
pub use environment::Environment;
pub use error::ConfigError;
pub use file_locations::{known_files, watched_paths};
pub use file_watcher::FileWatcher;
pub use first_run::{ensure_user_config, example};
pub use hidden_input::read_hidden;
pub use home::Home;
pub use last_good_files::LastGoodFiles;
pub use layers::{load, reload};
pub use plan::{ConfigSources, Plan, PlanEntry, PlanSourceFile, StartStatus, VariableContext};
pub use resolve::resolve;
pub use secrets::SecretStore;
pub use settings::MergedSettings;
pub use start_status::check_address;
pub use toolgate_dialects::Dialect;
pub use toolgate_model::{NamingStyle, PrefixMode};

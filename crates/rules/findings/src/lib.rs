//! What is suspicious in the words of servers: told with a code, never the only gate.
//!
//! And what is done with characters nobody can see: they are removed from what a model reads
//! ([`text`]). Pins are taken of the words as they came.
//!
//! Patterns find careless attackers. What protects is elsewhere: pins, approvals, least privilege.

pub mod text;

mod catalog;
mod finding;
mod lookalike;
mod mention;
mod phrases;
mod poison;
mod secrets;
mod words;

pub use catalog::{across, of_server};
pub use finding::{Code, Finding, Severity};
pub use secrets::{SecretField, secret_asked};
pub use text::{hidden, strip_json, stripped};

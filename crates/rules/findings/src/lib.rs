//! Finds suspicious text in what servers say about themselves, and the characters that models must
//! not see ([`text`]). The gate removes those from what it delivers.
//!
//! Patterns only find careless attackers, so a finding is never the only protection. Pins,
//! approvals and least privilege are the real ones.

pub mod text;

mod catalog;
mod finding;
mod lookalike;
mod mention;
mod phrases;
mod poison;
mod secrets;
mod words;

pub use catalog::{find_across_servers, find_in_server};
pub use finding::{Finding, FindingCode, FindingSeverity};
pub use secrets::{RequestedSecret, find_secret_field};
pub use text::{hidden_chars, strip_text};

//! Usage reports and health scores of servers, computed from journal records.
//!
//! A [`UsageCollector`] takes records one by one and produces a deterministic `UsageReport` and
//! [`HealthScore`]s, which can be rendered as HTML or Markdown or serialized. Its memory use does
//! not grow with the number of records.

mod collect;
mod definition_status;
mod escape;
mod histogram;
mod markdown;
mod page;
mod report;
mod score;
mod server_stats;
mod slices;
mod tables;
#[cfg(test)]
mod tests;

pub use collect::UsageCollector;
pub use definition_status::{ServerDefinitionStatus, definition_statuses};
pub use markdown::render_markdown;
pub use page::render_html;
pub use score::{HealthScore, HealthScorePart};

//! Usage reports and health scores of servers, computed from journal records.
//!
//! This crate is pure: a [`UsageCollector`] takes records one by one and produces a deterministic
//! [`UsageReport`] and [`HealthScore`]s, which can be rendered as HTML or Markdown or serialized.
//! It does not read or verify the journal. Its memory use does not grow with the number of records.

mod collect;
mod escape;
mod histogram;
mod markdown;
mod page;
mod report;
mod score;
mod server_stats;
mod slices;
mod usage_record;

pub use collect::{TimeFormatter, UsageCollector};
pub use markdown::render_markdown;
pub use page::render_html;
pub use report::{
    CallCounts, DecisionReasonCount, LatencyPercentiles, ServerUsage, SliceUsage, ToolUsage,
    UsageReport,
};
pub use score::{HealthScore, ScoreBreakdown, ScorePart, ServerDefinitionStatus};
pub use usage_record::{CallOutcome, UsageEvent, UsageRecord};

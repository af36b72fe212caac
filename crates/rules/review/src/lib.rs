//! The operator's view: what servers are worth, and what happened, counted from the journal.
//!
//! Pure: records come in one after another ([`Collector`]), and what comes out is a value that is
//! the same for the same records ([`Report`], [`Score`]), written as a page, as Markdown, or by
//! whoever serializes it. Nothing here reads a journal, proves one, or decides anything; how much is
//! remembered does not grow with the number of records.

mod collect;
mod histogram;
mod markdown;
mod page;
mod record;
mod report;
mod score;
mod server;
mod slices;
mod text;

pub use collect::{Collector, Time};
pub use markdown::markdown;
pub use page::html;
pub use record::{Ended, Happened, Item};
pub use report::{Counts, Latency, Reason, Report, ServerReport, Slice, ToolReport};
pub use score::{Part, Parts, Score, Standing};

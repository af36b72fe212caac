//! Extraction from passages without a model: sentences that answer a question, the best passages
//! within a budget, open loops, decisions, and the contents of a meeting.
//!
//! Every result is a span of the input, so that callers can cite it. Nothing is rephrased.

mod abbreviations;
mod answer;
mod answer_fit;
mod cues;
mod dates;
mod decisions;
mod document_names;
mod layout;
mod lexicon;
mod meeting;
mod open_loops;
mod pack;
mod people;
mod question;
mod sections;
mod sentences;
mod source_passage;
mod speakers;
mod table;
mod unanswered;
mod units;
mod words;

pub use answer::{ExtractedAnswer, ground_answer};
pub use decisions::{ExtractedDecision, ExtractedDecisionStatus, extract_decisions};
pub use meeting::{MeetingExtract, extract_meeting};
pub use open_loops::{OpenLoop, OpenLoopKind, extract_open_loops};
pub use pack::pack;
pub use sentences::sentences;
pub use source_passage::{PassageSpan, SourcePassage};

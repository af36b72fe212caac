//! What can be gleaned from passages without a model: sentences that answer a question, the best
//! passages within a budget, what is still open, what was decided, and what a meeting was about.
//!
//! Everything given back is a span of what was given in, so that whoever shows it can cite it;
//! nothing is phrased here.

mod abbreviations;
mod answer;
mod blocks;
mod called;
mod cues;
mod dates;
mod decisions;
mod leaf;
mod lexicon;
mod looks;
mod meeting;
mod open_loops;
mod pack;
mod people;
mod question;
mod sections;
mod sentences;
mod speakers;
mod table;
mod unanswered;
mod units;
mod words;

pub use answer::{Answer, answer, ground};
pub use decisions::{Decision, Standing, decisions};
pub use leaf::{Leaf, Span};
pub use meeting::{Action, Meeting, meeting};
pub use open_loops::{Kind, OpenLoop, open_loops};
pub use pack::pack;
pub use sentences::sentences;

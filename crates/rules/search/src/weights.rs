//! Every number that was tuned, in one place, each with its reason. Measured on the tuning half of
//! the labelled set only.

use crate::Field;

/// What a word in a field counts: a name is chosen with care, a parameter's description is mostly
/// about formats.
pub(crate) fn of(field: Field) -> f32 {
    match field {
        Field::Name => 2.0,
        Field::Title => 1.3,
        Field::Description => 1.0,
        Field::Parameter => 0.6,
        Field::Detail => 0.35,
        Field::Server => 1.4,
        Field::Tag => 1.2,
    }
}

/// The length, in words, a field usually has. Constants instead of averages over the catalog: a
/// server that comes or goes must not change the order of others' tools.
pub(crate) fn usual_length(field: Field) -> f32 {
    match field {
        Field::Name | Field::Title => 4.0,
        Field::Description => 22.0,
        Field::Parameter => 6.0,
        Field::Detail => 24.0,
        Field::Server | Field::Tag => 2.0,
    }
}

/// How much longer fields are discounted: 0 not at all, 1 in full.
pub(crate) fn length_discount(field: Field) -> f32 {
    match field {
        Field::Name | Field::Title | Field::Server | Field::Tag => 0.3,
        Field::Description => 0.6,
        Field::Parameter | Field::Detail => 0.7,
    }
}

/// How soon more of the same word stops counting.
pub(crate) const SATURATION: f32 = 1.2;
/// A word of asking (`find`, `today`) beside one of content.
pub(crate) const ASKING: f32 = 0.3;
/// A synonym beside the word itself.
pub(crate) const SYNONYM: f32 = 0.9;
/// What a phrase or word points to (`umbrella` to `rain`), beside the word itself.
pub(crate) const POINTED: f32 = 0.5;
/// A synonym of what is pointed to.
pub(crate) const POINTED_SYNONYM: f32 = 0.5;
/// Each further meaning of a word makes one of them this much less likely.
pub(crate) const AMBIGUITY: f32 = 0.12;
/// A phrase of small words only (`how much`).
pub(crate) const SMALL_PHRASE: f32 = 0.5;
/// A word of a phrase, once the phrase itself was understood.
pub(crate) const IN_PHRASE: f32 = 0.6;
/// A word between quotes: it is a value for the tool, seldom about it.
pub(crate) const QUOTED: f32 = 0.4;
/// A word of a sentence that only tells the story around what is asked.
pub(crate) const TOLD: f32 = 0.5;
/// A number.
pub(crate) const NUMBER: f32 = 0.15;
/// What the form of a thing points to (an address to `url`).
pub(crate) const PATTERN: f32 = 0.7;
/// A word that was probably mistyped.
pub(crate) const TYPO: f32 = 0.75;
/// A word that begins like one nobody knows: it is probably made of the same.
pub(crate) const KIN: f32 = 0.4;
/// A part of a compound.
pub(crate) const PART: f32 = 0.35;
/// Two words written as one, or one as two.
pub(crate) const JOINED: f32 = 0.9;
/// How much of a score depends on how many of the query's concepts are covered.
pub(crate) const COVERAGE: f32 = 0.5;
/// What a document gets of what its server meets as a whole.
pub(crate) const LIFT: f32 = 0.2;
/// A tool that does something, for a question, or the other way round.
pub(crate) const OPPOSED: f32 = 0.7;
/// A word of the same subject beside the word itself.
pub(crate) const TOPIC: f32 = 0.7;

/// What one meaning of a word with several counts.
pub(crate) fn clarity(meanings: usize) -> f32 {
    1.0 / (1.0 + AMBIGUITY * meanings.saturating_sub(1) as f32)
}

//! All tuned numbers, each with its reason. They were measured on the tuning half of the labelled
//! set only.

use crate::SearchField;

/// How words of a field count.
pub(crate) struct FieldWeights {
    /// The weight of a word: names are chosen with care, while descriptions of parameters are mostly
    /// about formats.
    pub(crate) weight: f32,
    /// The usual length in words. These are constants, not averages over the catalog, so that adding
    /// or removing a server does not reorder the tools of others.
    pub(crate) usual_length: f32,
    /// How much long fields are discounted: 0 not at all, 1 in full.
    pub(crate) length_discount: f32,
}

/// Returns the weights of a field.
pub(crate) fn field_weights(field: SearchField) -> FieldWeights {
    let (weight, usual_length, length_discount) = match field {
        SearchField::Name => (2.0, 4.0, 0.3),
        SearchField::Title => (1.3, 4.0, 0.3),
        SearchField::Description => (1.0, 22.0, 0.6),
        SearchField::Parameter => (0.6, 6.0, 0.7),
        SearchField::Detail => (0.35, 24.0, 0.7),
        SearchField::Server => (1.4, 2.0, 0.3),
        SearchField::Tag => (1.2, 2.0, 0.3),
    };
    FieldWeights { weight, usual_length, length_discount }
}

/// How soon further occurrences of a word stop counting.
pub(crate) const SATURATION: f32 = 1.2;
/// A word of asking (`find`, `today`), relative to a content word.
pub(crate) const ASKING: f32 = 0.3;
/// A synonym, relative to the word itself.
pub(crate) const SYNONYM: f32 = 0.9;
/// A word that another one points to (`umbrella` to `rain`), relative to the word itself.
pub(crate) const POINTED: f32 = 0.5;
/// A synonym of a word that is pointed to.
pub(crate) const POINTED_SYNONYM: f32 = 0.5;
/// The reduction for each further meaning of an ambiguous word.
pub(crate) const AMBIGUITY: f32 = 0.12;
/// A phrase of stop words only (`how much`).
pub(crate) const SMALL_PHRASE: f32 = 0.5;
/// A word of a phrase that matched as a whole.
pub(crate) const IN_PHRASE: f32 = 0.6;
/// A word in quotes: it is an argument for the tool, seldom about it.
pub(crate) const QUOTED: f32 = 0.4;
/// A word of a sentence that only gives background.
pub(crate) const TOLD: f32 = 0.5;
/// A number.
pub(crate) const NUMBER: f32 = 0.15;
/// A word that the form of a value points to (a URL to `url`).
pub(crate) const PATTERN: f32 = 0.7;
/// A probable typing error.
pub(crate) const TYPO: f32 = 0.75;
/// A word with the same prefix as an unknown one.
pub(crate) const KIN: f32 = 0.4;
/// A part of a compound.
pub(crate) const PART: f32 = 0.35;
/// Two words written as one, or one as two.
pub(crate) const JOINED: f32 = 0.9;
/// The share of a score that depends on how many concepts of the query are covered.
pub(crate) const COVERAGE: f32 = 0.5;
/// The share of its server's score that a document receives.
pub(crate) const LIFT: f32 = 0.2;
/// A tool that writes, for a question, or the reverse.
pub(crate) const OPPOSED: f32 = 0.7;
/// A word of the same topic, relative to the word itself.
pub(crate) const TOPIC: f32 = 0.7;

/// Returns the weight of one meaning of a word with several.
pub(crate) fn clarity(meanings: usize) -> f32 {
    1.0 / (1.0 + AMBIGUITY * meanings.saturating_sub(1) as f32)
}

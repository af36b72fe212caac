//! A piece of a document without its place: what a config file says, kept as it was said.
//!
//! It carries what a dialect writes that Toolgate itself does not use, and what is about to be
//! written. Order of keys and the spelling of numbers survive; comments and layout do not, they
//! belong to the text.

/// One value of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Data {
    /// Nothing.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, as it is spelled.
    Fraction(String),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Data>),
    /// Values by their keys, in order.
    Table(Vec<(String, Data)>),
}

impl Data {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(members) => members.iter().find(|(name, _)| name == key).map(|(_, it)| it),
            _ => None,
        }
    }
}
